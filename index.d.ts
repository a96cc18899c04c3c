/// <reference lib="esnext.disposable" />

/**
 * Conversation memory for LLM apps: a token-budgeted window of recent messages, a running summary of what was folded
 * out of it, facts, and recall of earlier messages.
 *
 * Three rules hold for everything below.
 *
 * - Times are milliseconds since 1970-01-01 UTC, as `Date.now()` gives them, unless another `clock` is configured.
 * - Wrong arguments throw at once, before a promise exists; everything else rejects. See {@link MemorylineError}.
 * - Values that are passed in are never changed or kept, and values that come out are fresh.
 *
 * @packageDocumentation
 */

// ---------------------------------------------------------------------------------------------------------------------
// Messages
// ---------------------------------------------------------------------------------------------------------------------

/** Who a message is from: the person, the model, the app's instructions, or a tool that the model called. */
export type Role = 'user' | 'assistant' | 'system' | 'tool';

/** One function call that an assistant message asks for. */
export interface ToolCall {
  /** The provider's id of the call, which its result names as `toolCallId`. Not empty. */
  id: string;
  /** The name of the function. Not empty. */
  name: string;
  /**
   * The arguments, as the JSON text that the provider sent or as an object that is already parsed. Arrays are refused.
   * {@link parseArguments} reads both forms.
   */
  arguments: string | object;
  /**
   * Whether the tool takes free text instead of a JSON object, as OpenAI's custom tools do. `arguments` is that text
   * then.
   */
  custom?: true;
  /** The id of the item that made the call, where the provider gives items ids of their own. */
  itemId?: string;
  /** Members of the provider's call that only this provider knows. They go back to it with the call. */
  providerMetadata?: Record<string, unknown>;
}

/** What every part of a message's content can have. */
export interface PartOrigin {
  /**
   * Which provider the part came from, when that is another than the message's `provider`: one of
   * {@link ProviderName}, or the maker's own name (`'openai'`, `'anthropic'`, `'google'`).
   */
  provider?: string;
  /** The id of the item that held the part, where the provider gives items ids of their own. */
  itemId?: string;
  /** Members of the provider's block that only this provider knows. They go back to it with the part. */
  providerMetadata?: Record<string, unknown>;
  /** Members of the item around the part, in the same way. */
  itemMetadata?: Record<string, unknown>;
}

/** Text in the content of a message. */
export interface TextPart extends PartOrigin {
  /** The kind of part. */
  type: 'text';
  /** What is said. */
  text: string;
  /** Set when the model says why it does not answer. */
  refusal?: true;
}

/** A picture. One of `url`, `data` and `fileId` says where it is. */
export interface ImagePart extends PartOrigin {
  /** The kind of part. */
  type: 'image';
  /** An `http:`, `https:` or `data:` address. */
  url?: string;
  /** The bytes, as base64. */
  data?: string;
  /** The id of a file that was given to the provider. It is sent to that provider alone. */
  fileId?: string;
  /** The media type, such as `image/png`. Read from the first bytes when it is missing. */
  mediaType?: string;
  /** How closely the model is to look at it: `'low'`, `'high'` or `'auto'`. OpenAI reads it. */
  detail?: string;
  /** The width in pixels, for counting. Read from the bytes when it is missing. */
  width?: number;
  /** The height in pixels, for counting. Read from the bytes when it is missing. */
  height?: number;
}

/** A document. One of `url`, `data`, `fileId` and `text` says where it is. */
export interface FilePart extends PartOrigin {
  /** The kind of part. */
  type: 'file';
  /** An `http:`, `https:` or `data:` address. */
  url?: string;
  /** The bytes, as base64. */
  data?: string;
  /** The id of a file that was given to the provider. It is sent to that provider alone. */
  fileId?: string;
  /** The text of a document that is plain text. */
  text?: string;
  /** The media type, such as `application/pdf`. Read from the first bytes when it is missing. */
  mediaType?: string;
  /** The name of the file. */
  name?: string;
}

/** Sound. One of `url`, `data` and `id` says where it is. */
export interface AudioPart extends PartOrigin {
  /** The kind of part. */
  type: 'audio';
  /** An `http:`, `https:` or `data:` address. */
  url?: string;
  /** The bytes, as base64. */
  data?: string;
  /** The id of sound that the provider made. */
  id?: string;
  /** The media type, such as `audio/wav`. Read from the first bytes when it is missing. */
  mediaType?: string;
  /** What is said in it. It stands in the message's text. */
  transcript?: string;
}

/**
 * What the model thought. It goes back to the provider that made it, as it came and together with what it led to, and
 * to no other. It is not counted: providers do not charge for the thoughts of earlier turns.
 */
export interface ReasoningPart extends PartOrigin {
  /** The kind of part. */
  type: 'reasoning';
  /** The thought. */
  text?: string;
  /** Summaries of it, one for each paragraph. */
  summary?: string[];
  /** What proves to its maker that nothing was changed. */
  signature?: string;
  /** The thought in a form that only its maker reads. */
  encrypted?: string;
}

/** The place, among the other parts, of the next call in `toolCalls`. Calls without a place come last. */
export interface ToolCallPart extends PartOrigin {
  /** The kind of part. */
  type: 'toolCall';
  /** The id of the call. */
  id: string;
}

/** A block that is kept and not read. With a `provider` of its own, its `value` goes to that provider as it is. */
export interface CustomPart extends PartOrigin {
  /** The kind of part. */
  type: 'custom';
  /** The provider's own block, or anything that JSON can hold. */
  value?: unknown;
}

/** One part of a message's content. */
export type ContentPart = TextPart | ImagePart | FilePart | AudioPart | ReasoningPart | ToolCallPart | CustomPart;

/**
 * A part to add: a {@link ContentPart} whose `data` may also be bytes and whose `url` may be a `URL`. Bytes are kept,
 * and come out, as base64.
 */
export type ContentPartInput =
  | TextPart
  | (Omit<ImagePart, 'data' | 'url'> & MediaInput)
  | (Omit<FilePart, 'data' | 'url'> & MediaInput)
  | (Omit<AudioPart, 'data' | 'url'> & MediaInput)
  | ReasoningPart
  | ToolCallPart
  | CustomPart;

/** A `URL`, as far as it is read. */
export interface Address {
  /** The whole address. */
  readonly href: string;
}

/** Where the bytes of a part to add are. */
export interface MediaInput {
  /** An `http:`, `https:` or `data:` address, or a `URL`. */
  url?: string | Address | undefined;
  /** The bytes, or their base64. */
  data?: string | Uint8Array | ArrayBuffer | undefined;
}

/** The providers whose published rules say what a medium costs. */
export type MediaRules = 'openai' | 'anthropic' | 'gemini';

/** The APIs whose messages are read and written. */
export type ProviderName = 'openai' | 'openai-responses' | 'anthropic' | 'ai-sdk' | 'gemini';

/** A message as it comes out of a memory, and as the app's own functions receive it. */
export interface Message {
  /** Who the message is from. */
  role: Role;
  /**
   * The text; empty for an assistant message that only calls tools. Of a message with `parts` it is their text, with a
   * marker for each medium: `[image]`, `[file report.pdf]`, `[audio]`.
   */
  content: string;
  /** The name of the speaker or, in a `tool` message, of the function that gave the result. */
  name?: string;
  /** The calls that an assistant message makes. Their text counts towards the tokens of the message. */
  toolCalls?: ToolCall[];
  /** In a `tool` message, the id of the call that it answers. */
  toolCallId?: string;
  /** When the message was said, in milliseconds. */
  at?: number;
  /**
   * Anything JSON can hold that the app wants back with the message. It is stored, and neither rendered nor counted.
   */
  meta?: Record<string, unknown>;
  /** Everything that was said, in order, when it was more than text. */
  parts?: ContentPart[];
  /** Where the message came from: one of {@link ProviderName}, or what the app gave. */
  provider?: string;
  /** In a `tool` message, set when the tool failed. */
  isError?: true;
  /** Members of the provider's message that only this provider knows. They go back to it with the message. */
  providerMetadata?: Record<string, unknown>;
}

/**
 * A message to add. Every {@link Message} is one; beside it, content may be a list of parts, and read-only arrays and
 * members that are explicitly `undefined` are welcome. Members that are not listed here are not stored. Messages of
 * providers can be added as well: see {@link ProviderMessage}.
 *
 * @example
 * ```ts
 * const question: MessageInput = { role: 'user', content: 'Any tables for six on Friday?' };
 * messageText(question); // => 'Any tables for six on Friday?'
 * ```
 */
export interface MessageInput {
  /** Who the message is from. */
  readonly role: Role;
  /** The text, which may be empty, or a list of parts. */
  readonly content: string | readonly ContentPartInput[];
  /**
   * The name of the speaker or, in a `tool` message, of the function that gave the result. Stored as it is given, like
   * `at` and `meta`: of what is wrong with these three, nothing is said.
   */
  readonly name?: string | undefined;
  /** The calls that an assistant message makes, in the form of {@link ToolCall}. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** In a `tool` message, the id of the call that it answers. Without it the result is rendered as plain text. */
  readonly toolCallId?: string | undefined;
  /**
   * When the message was said, in milliseconds.
   *
   * @default the time of the `add`, from `clock`
   */
  readonly at?: number | undefined;
  /**
   * Anything JSON can hold that the app wants back with the message. It is stored, and neither rendered nor counted.
   */
  readonly meta?: object | undefined;
  /** The parts of a message that came out of a memory. They win over `content`. */
  readonly parts?: readonly ContentPartInput[] | undefined;
  /** Where the message came from: one of {@link ProviderName}, or any other text. */
  readonly provider?: string | undefined;
  /** In a `tool` message, whether the tool failed. */
  readonly isError?: boolean | undefined;
  /** Members of the provider's message that only this provider knows. */
  readonly providerMetadata?: object | undefined;
}

/**
 * A message, item or content as a provider's package types it. {@link Session.add} recognises it by its shape and
 * {@link from} reads it as what it is said to be:
 *
 * - a message of OpenAI's Chat Completions API, such as `response.choices[0].message`;
 * - an item of OpenAI's Responses API, such as those of `response.output`;
 * - a message of Anthropic's Messages API, its whole response included;
 * - a `ModelMessage` or `UIMessage` of the AI SDK;
 * - a `Content` of the Gemini API.
 *
 * OpenAI's role `developer` is not among the roles of this library: {@link from} reads such a message, as a system
 * message.
 */
export type ProviderMessage =
  | {
      /** Who the message is from. */
      readonly role: 'assistant';
      /** The text, blocks, or nothing beside calls. */
      readonly content?: string | null | readonly object[] | undefined;
      /** Calls of tools. */
      readonly tool_calls?: readonly object[] | undefined;
      /** Why the model does not answer. */
      readonly refusal?: string | null | undefined;
    }
  | {
      /** Who the message is from. */
      readonly role: 'user' | 'system';
      /** The text or blocks. */
      readonly content: string | readonly object[];
    }
  | {
      /** The result of a call. */
      readonly role: 'tool';
      /** The text or blocks. */
      readonly content: string | readonly object[];
      /** The id of the call. */
      readonly tool_call_id?: string | undefined;
    }
  | {
      /** Who the message is from. */
      readonly role?: string | undefined;
      /** What is in it. */
      readonly parts: readonly object[] | undefined;
    }
  | {
      /** The kind of item. */
      readonly type: string;
    };

/**
 * Reads a provider's message, item or content, or a list of them, as messages of this library. Nothing is lost: what
 * only that provider knows is kept for it. One value can be several messages: a message of Anthropic's user with two
 * results is two `tool` messages.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when there is no such provider, or the value is no
 * message of it.
 *
 * @example
 * ```ts
 * const messages = from('anthropic', { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] });
 * messages; // => [{ role: 'assistant', content: 'Hello', provider: 'anthropic' }]
 * ```
 */
export declare function from(provider: ProviderName, value: unknown): Message[];

/** A message in the recent window of a session, as {@link Session.messages} and {@link Session.state} show it. */
export interface StoredMessage extends Message {
  /** The number of the message in its session. The first is 1; numbers rise, and none is given twice. */
  id: number;
  /** When the message was said, in milliseconds. */
  at: number;
  /**
   * The tokens it is charged with: those of {@link messageText}, plus `budget.perMessageOverhead`. Counted once, when
   * it is added.
   */
  tokens: number;
}

/** A message that was folded out of the window, as the archive keeps it for recall. */
export interface ArchivedMessage extends StoredMessage {
  /** The number of the fold that took the message out of the window. The first fold is 1. */
  compaction: number;
  /**
   * The vector that `embed` gave for the message, always as a plain array with the values as given. Missing when there
   * is no embedder, or when it returned no row for this message.
   */
  embedding?: number[];
}

/** An archived message to import: an {@link ArchivedMessage} whose vector may also be a typed array. */
export interface ArchivedMessageInput extends Omit<ArchivedMessage, 'embedding'> {
  /** The vector of the message. Every number must be finite. */
  embedding?: Vector | undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sessions and what they hold
// ---------------------------------------------------------------------------------------------------------------------

/** One thing known about the conversation. A session has at most one fact for each key. */
export interface Fact {
  /** The key, in the form that {@link normalizeFactKey} gives. */
  key: string;
  /** The value, without white space around it. */
  value: string;
  /**
   * `'pinned'` when the app set it with {@link Session.pin}, `'extracted'` when `extractFacts` found it. Extracted
   * never replaces pinned.
   */
  source: 'pinned' | 'extracted';
  /** When this value was set, in milliseconds. */
  at: number;
}

/**
 * A fact to set. The key is normalized and the value trimmed when it is stored; if either is then empty, the fact is
 * skipped.
 */
export interface FactInput {
  /** The key, in any spelling: `Party Size`, `party-size` and `party_size` are one. */
  key: string;
  /** The value. */
  value: string;
}

/** Everything about one session, as plain data that survives `JSON.stringify`. This is what stores load and save. */
export interface SessionState {
  /** The version of this format. */
  version: 1;
  /** The id of the session. */
  id: string;
  /** The window: the messages that are sent as they are, oldest first. */
  recent: StoredMessage[];
  /** The folded messages that are kept for recall, oldest first. At most `archive.max`. */
  archive: ArchivedMessage[];
  /** The running summary of everything that was folded, or an empty string. */
  summary: string;
  /** The facts, in the order in which their keys first appeared. */
  facts: Fact[];
  /** The id of the newest message; 0 when there was none. */
  seq: number;
  /** How many folds there were. */
  compactions: number;
  /** When the session was first used, in milliseconds. */
  createdAt: number;
  /** When the session was last changed, in milliseconds. */
  updatedAt: number;
}

/** A state to import: a {@link SessionState} whose vectors may also be typed arrays. */
export interface SessionStateInput extends Omit<SessionState, 'archive'> {
  /** The folded messages, oldest first. */
  archive: readonly ArchivedMessageInput[];
}

/** What a fold did. */
export interface CompactResult {
  /** How many messages were folded; 0 when there was nothing to fold. */
  folded: number;
  /** The summary as it is now. */
  summary: string;
  /** All facts as they are now. */
  facts: Fact[];
  /**
   * Only with `compaction.onError: 'defer'`: the very object that an app function threw. The fold waits for the next
   * turn, except when `onArchive` threw it, which runs after the fold is saved.
   */
  error?: unknown;
}

/** What {@link Session.add} did. */
export interface AddResult extends CompactResult {
  /** How many messages were added. */
  added: number;
  /** Whether messages were folded. */
  compacted: boolean;
}

/** What {@link Session.context} takes. */
export interface ContextOptions {
  /**
   * The text to search the archive for. An empty string recalls nothing. Another type throws a TypeError with the code
   * `ERR_MEMORYLINE_INVALID_OPTION`.
   *
   * @default the content of the latest user message in the window
   */
  query?: string | undefined;
  /**
   * Whether to recall anything.
   *
   * @default true
   */
  recall?: boolean | undefined;
  /**
   * The most messages to recall. Unit: messages. Minimum: 0. Anything else than a finite number from there on throws a
   * RangeError with the code `ERR_MEMORYLINE_INVALID_OPTION`.
   *
   * @default `recall.topK` of the memory
   */
  topK?: number | undefined;
  /**
   * The lowest score that is recalled. Unit: cosine similarity, between -1 and 1. Minimum: none. `NaN` or another type
   * throws a RangeError with the code `ERR_MEMORYLINE_INVALID_OPTION`.
   *
   * @default `recall.minScore` of the memory
   */
  minScore?: number | undefined;
}

/** An archived message that fits the query. */
export interface RecalledMessage {
  /** The archived message. */
  message: ArchivedMessage;
  /** How well it fits; for the built-in search the cosine similarity, between -1 and 1. */
  score: number;
}

/**
 * Everything that the next call of a model should see. {@link toOpenAI} and {@link toAnthropic} turn it into a request.
 */
export interface MemoryContext {
  /** The id of the session. */
  sessionId: string;
  /** The running summary, or an empty string. */
  summary: string;
  /** All facts. */
  facts: Fact[];
  /** The archived messages that fit the query, oldest first. */
  recalled: RecalledMessage[];
  /** The window: the messages to send as they are, oldest first. */
  recent: Message[];
  /** Summary, facts and recalled messages as one Markdown block for the system prompt, or an empty string. */
  system: string;
  /** What each part costs, in tokens. */
  tokens: {
    /** Tokens of the summary. */
    summary: number;
    /** Tokens of the lines that list the facts. */
    facts: number;
    /** Tokens of the recalled messages, overhead included. */
    recalled: number;
    /** Tokens of the window, overhead included. */
    recent: number;
    /** Tokens of `system` and the window together: what the model will see. */
    total: number;
  };
  /**
   * The very object that `embed` threw, or the error about what it returned. `recalled` is then empty and everything
   * else is as usual.
   */
  recallError?: unknown;
}

// ---------------------------------------------------------------------------------------------------------------------
// The app's own functions
// ---------------------------------------------------------------------------------------------------------------------

/** What a summarizer works from. */
export interface SummarizeInput {
  /** The summary so far, or an empty string. */
  previousSummary: string;
  /** The messages being folded, oldest first. */
  messages: Message[];
  /** All facts so far. */
  facts: Fact[];
  /** The length to aim for, in tokens. It is a request: a longer summary is kept. */
  maxTokens: number;
}

/**
 * Returns the new summary: what the previous one said, and what the folded messages add.
 *
 * A result that is empty, blank, `null` or `undefined` is a failed fold with the code `ERR_MEMORYLINE_SUMMARY_EMPTY`,
 * so that it never erases the summary; an object, function or symbol fails with `ERR_MEMORYLINE_CALLBACK_RESULT`.
 */
export type Summarizer = (input: SummarizeInput) => string | Promise<string>;

/** What a fact extractor works from. */
export interface ExtractFactsInput {
  /** The messages being folded, oldest first. */
  messages: Message[];
  /** All facts so far. */
  facts: Fact[];
  /** The new summary, which includes these messages. */
  summary: string;
}

/**
 * Returns the facts that the folded messages state. `null` counts as none; anything else than an array fails with the
 * code `ERR_MEMORYLINE_CALLBACK_RESULT`.
 */
export type FactExtractor = (input: ExtractFactsInput) => FactInput[] | Promise<FactInput[]>;

/** One embedding. */
export type Vector = readonly number[] | Float32Array | Float64Array;

/** Embeddings in one flat list: the rows one after another. */
export interface FlatEmbeddings {
  /** All numbers. The length must be a multiple of `dimensions`. */
  readonly data: readonly number[] | Float32Array | Float64Array;
  /** The length of one row. */
  readonly dimensions: number;
}

/**
 * The embeddings of several texts, in their order: one {@link Vector} per text, or one typed array whose length is a
 * multiple of the number of texts, or {@link FlatEmbeddings}.
 *
 * A message for which there is no row is archived without a vector and is not found by the built-in search.
 */
export type Embeddings = readonly Vector[] | Float32Array | Float64Array | FlatEmbeddings;

/**
 * Returns one vector per text, in the same order. A number that is not finite, or another type, fails with a TypeError
 * and the code `ERR_MEMORYLINE_CALLBACK_RESULT`.
 *
 * `Embedder` alone returns arrays of numbers; name the result for another form. `embed` takes an embedder of any form.
 *
 * @typeParam Result - The form in which the vectors are returned.
 *
 * @example
 * ```ts
 * const lengths: Embedder = (texts) => texts.map((text) => [text.length, 1]);
 * const packed: Embedder<Float32Array> = (texts) => new Float32Array(texts.length * 1536);
 * ```
 */
export type Embedder<Result extends Embeddings = number[][]> = (texts: string[]) => Result | Promise<Result>;

/** What a retriever searches with. */
export interface RetrieveInput {
  /** The id of the session. */
  sessionId: string;
  /** The text to search for. Never empty. */
  query: string;
  /** The vector of the query, as a plain array. Missing when there is no embedder. */
  embedding?: number[];
  /** The most messages to return. */
  topK: number;
  /** The lowest score to return. */
  minScore: number;
  /** The archive of the session, oldest first. */
  archive: ArchivedMessage[];
}

/**
 * Returns the archived messages that fit the query, best first.
 *
 * The result is not cut to `topK` or `minScore`. It is cut to `recall.maxTokens`, and then put in the order of the
 * message ids.
 */
export type Retriever = (input: RetrieveInput) => RecalledMessage[] | Promise<RecalledMessage[]>;

/** Where an error that {@link MemoryOptions.onError} hears of came from. */
export interface ErrorInfo {
  /** The id of the session. */
  sessionId: string;
  /** The app function that failed. */
  stage: 'summarize' | 'extractFacts' | 'embed' | 'onArchive';
  /** The operation that called it. */
  operation: 'add' | 'compact' | 'context';
}

// ---------------------------------------------------------------------------------------------------------------------
// Options
// ---------------------------------------------------------------------------------------------------------------------

/**
 * What {@link createMemory} takes. `undefined`, and `null` from JavaScript, means the default.
 *
 * A number that is not finite or below its minimum throws a RangeError that names the option, with the code
 * `ERR_MEMORYLINE_INVALID_OPTION`. Fractions are accepted. Functions may return their result or a promise of it, except
 * `countTokens` and `clock`, which are synchronous.
 */
export interface MemoryOptions {
  /**
   * When the window is folded, and how far.
   *
   * @default every member at its default
   */
  budget?:
    | {
        /**
         * The window is folded when it costs more than this. Unit: tokens. Minimum: 1.
         *
         * @default 4000
         */
        maxTokens?: number | undefined;
        /**
         * Folding stops when the window costs this or less. Unit: tokens. Minimum: 0. More than `maxTokens` throws a
         * RangeError.
         *
         * @default half of `maxTokens`, rounded down
         */
        targetTokens?: number | undefined;
        /**
         * How many of the newest messages are never folded. Unit: messages. Minimum: 0. With 0, even a single message
         * that is over the budget is folded at once.
         *
         * @default 4
         */
        keepRecent?: number | undefined;
        /**
         * The length that the summarizer is asked for. Unit: tokens. Minimum: 1. The built-in summarizer keeps to it,
         * as far as one line allows.
         *
         * @default 500
         */
        summaryMaxTokens?: number | undefined;
        /**
         * What each message is charged on top of its text, for the framing that the provider adds. Unit: tokens.
         * Minimum: 0.
         *
         * @default 4
         */
        perMessageOverhead?: number | undefined;
        /**
         * What a picture costs. Unit: tokens. Minimum: 0. The name of a provider stands for its published rules: OpenAI
         * charges 85 tokens and 170 for each tile of 512 × 512 pixels, Anthropic a token for 750 pixels, at most 1,600,
         * Gemini 258 for each tile. A picture at an address is not fetched and taken for 1,024 × 1,024 pixels.
         *
         * @default the rules of the provider that the message came from, else those of OpenAI
         */
        imageTokens?: number | MediaRules | undefined;
        /**
         * What a file costs. Unit: tokens. Minimum: 0. By the rules of a provider, a text costs its tokens and any other
         * document so much a page: 2,250 for Anthropic, which publishes 1,500 to 3,000; 258 for Gemini; 1,500 for
         * OpenAI, which publishes no figure.
         *
         * @default the rules of the provider that the message came from, else those of OpenAI
         */
        fileTokens?: number | MediaRules | undefined;
        /**
         * What sound costs. Unit: tokens. Minimum: 0. By the rules of a provider it costs 10 a second for OpenAI and 32
         * for Gemini.
         *
         * @default the rules of the provider that the message came from, else those of OpenAI
         */
        audioTokens?: number | MediaRules | undefined;
      }
    | undefined;
  /**
   * Whether a fold goes on until the window starts with a user message, as far as `keepRecent` allows.
   *
   * @default true
   */
  alignToUser?: boolean | undefined;
  /**
   * What recall may bring back.
   *
   * @default every member at its default
   */
  recall?:
    | {
        /**
         * The most messages to recall. Unit: messages. Minimum: 0.
         *
         * @default 3
         */
        topK?: number | undefined;
        /**
         * The lowest score that is recalled. Unit: cosine similarity, between -1 and 1. Minimum: none; this number is
         * not checked.
         *
         * @default 0.25
         */
        minScore?: number | undefined;
        /**
         * What the recalled messages may cost together. A message that does not fit is left out, and a shorter one
         * after it may still come in. Unit: tokens. Minimum: 0.
         *
         * @default 800
         */
        maxTokens?: number | undefined;
      }
    | undefined;
  /**
   * What is kept of the folded messages.
   *
   * @default every member at its default
   */
  archive?:
    | {
        /**
         * How many folded messages a session keeps; the oldest are dropped. Unit: messages. Minimum: 0.
         *
         * @default 1000
         */
        max?: number | undefined;
      }
    | undefined;
  /**
   * How a fold that fails is treated.
   *
   * @default every member at its default
   */
  compaction?:
    | {
        /**
         * What happens when `summarize`, `extractFacts` or `embed` fails while messages are folded.
         *
         * - `'throw'`: `add` and `compact` reject with the very object that was thrown, and nothing changes. The new
         *   messages are not stored, so the same call can be made again.
         * - `'defer'`: the new messages are stored, the fold is left for the next turn, and the result carries the
         *   object as `error`. `context` goes on working.
         *
         * When `onArchive` throws, messages and fold are already saved: `'throw'` rejects all the same (do not add the
         * messages again), `'defer'` resolves with `compacted: true` and `error`.
         *
         * Any other value throws a TypeError with the code `ERR_MEMORYLINE_INVALID_OPTION`.
         *
         * @default 'throw'
         */
        onError?: 'throw' | 'defer' | undefined;
      }
    | undefined;
  /**
   * Writes the new summary when messages are folded, usually with a call of a model. {@link summaryPrompt} makes the
   * prompt.
   *
   * @default {@link extractiveSummary}, which keeps one line per message
   */
  summarize?: Summarizer | undefined;
  /**
   * Finds facts in the messages that are folded, usually with a call of a model. {@link factsPrompt} makes the prompt
   * and {@link parseFacts} reads the reply.
   *
   * @default none: facts are only pinned
   */
  extractFacts?: FactExtractor | undefined;
  /**
   * Embeds texts. It is called once per fold with the text of every folded message, and once per `context` with the
   * query alone. When it fails for a query, the context has no recalled messages and carries the error as
   * `recallError`.
   *
   * @default none: the built-in search finds nothing
   */
  embed?: Embedder<Embeddings> | undefined;
  /**
   * Searches in place of the built-in exact search, for example in an index of the app.
   *
   * @default the archived messages of the session with the highest cosine similarity
   */
  retrieve?: Retriever | undefined;
  /**
   * Hears of every fold, once, after it is saved. It receives all the folded messages, also when `archive.max` keeps
   * fewer. See `compaction.onError` for what happens when it throws.
   *
   * @default none
   */
  onArchive?: ((sessionId: string, messages: ArchivedMessage[]) => unknown) | undefined;
  /**
   * Hears of every failure that is not thrown to the caller: a deferred fold, and an embedder that failed for a query.
   * What it throws is ignored.
   *
   * @default none
   */
  onError?: ((error: unknown, info: ErrorInfo) => void) | undefined;
  /**
   * How tokens are counted: by {@link estimateTokens}, or exactly by an encoding. A message keeps the count that it got
   * when it was added.
   *
   * @default the encoding of `model`, else 'estimate'
   */
  tokenizer?: 'estimate' | Encoding | undefined;
  /**
   * The OpenAI model whose encoding counts, such as `'gpt-4.1-mini'`. A name that is not known throws a TypeError that
   * lists those that are. Other providers publish no tokenizer: give `countTokens` for them, or stay with the estimate.
   *
   * @default none
   */
  model?: string | undefined;
  /**
   * Counts the tokens of a text, synchronously. It goes before `tokenizer` and `model`. Anything else than a finite number from 0 on fails the operation with a
   * TypeError and the code `ERR_MEMORYLINE_CALLBACK_RESULT`.
   *
   * @default what `tokenizer` and `model` say
   */
  countTokens?: ((text: string) => number) | undefined;
  /**
   * Where sessions are kept: a store of this package, or any object with `load`, `save` and `delete`.
   *
   * @default a new {@link MemoryStore}
   */
  store?: Store | undefined;
  /**
   * Gives the time, synchronously. Unit: milliseconds. Minimum: none. Anything else than a number fails the operation
   * with a TypeError and the code `ERR_MEMORYLINE_CALLBACK_RESULT`.
   *
   * @default Date.now
   */
  clock?: (() => number) | undefined;
}

/** What {@link renderMemory} takes. */
export interface RenderOptions {
  /**
   * The heading of each section, with its Markdown marks. A heading that is left out keeps its default; one that is
   * explicitly `undefined` prints as that word.
   *
   * @default every member at its default
   */
  headings?: {
    /**
     * The heading of the summary.
     *
     * @default '## Conversation so far'
     */
    summary?: string | undefined;
    /**
     * The heading of the facts.
     *
     * @default '## Known facts'
     */
    facts?: string | undefined;
    /**
     * The heading of the recalled messages.
     *
     * @default '## Relevant earlier messages'
     */
    recalled?: string | undefined;
  };
}

// ---------------------------------------------------------------------------------------------------------------------
// Memories and sessions
// ---------------------------------------------------------------------------------------------------------------------

/**
 * Makes a memory; the same as `new Memory(options)`.
 *
 * @throws A RangeError or TypeError with the code `ERR_MEMORYLINE_INVALID_OPTION`, see {@link MemoryOptions}.
 *
 * @example
 * ```ts
 * const memory = createMemory({ budget: { maxTokens: 3000 } });
 * const session = memory.session('user:42');
 * await session.add({ role: 'user', content: 'A table for six, please.' });
 * (await session.context()).recent.length; // => 1
 * ```
 */
export declare function createMemory(options?: MemoryOptions): Memory;

/**
 * A set of sessions with one configuration and one store.
 *
 * Operations on one session run one after another, in the order in which they were called; different sessions run side
 * by side. Calling a session from inside one of its own running callbacks would wait for itself, so it rejects at once
 * with the code `ERR_MEMORYLINE_REENTRANT`.
 */
export declare class Memory {
  /**
   * Makes a memory; the same as {@link createMemory}.
   *
   * @throws A RangeError or TypeError with the code `ERR_MEMORYLINE_INVALID_OPTION`, see {@link MemoryOptions}.
   */
  constructor(options?: MemoryOptions);
  /**
   * The session with this id. Nothing is read or stored before it is used.
   *
   * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the id is not a string or is empty.
   */
  session(id: string): Session;
  /** Deletes everything about a session. Deleting one that does not exist is no error. */
  forget(id: string): Promise<void>;
  /** Everything about a session, or `null` when it does not exist. The state is not checked. */
  export(id: string): Promise<SessionState | null>;
  /**
   * Stores a state under its id, in place of the session that was there. Only version and id are checked here; an
   * operation that needs a part which is missing rejects with the code `ERR_MEMORYLINE_INVALID_STATE`.
   *
   * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_STATE` when the state is not an object, has another
   * version than 1, or has no id.
   */
  import(state: SessionStateInput): Promise<void>;
}

/**
 * One conversation, made by {@link Memory.session}. It is a cheap handle: everything it shows is read from the store
 * when it is asked for.
 *
 * Its methods reject with what the store throws, and with the code `ERR_MEMORYLINE_INVALID_STATE` when the store
 * returns something that is not the state of a session.
 */
export declare class Session {
  /** Sessions are made by {@link Memory.session}. */
  private constructor();
  /** The id of the session. */
  readonly id: string;
  /**
   * Appends messages and, when the window is then over `budget.maxTokens`, folds its oldest messages into summary,
   * facts and archive. All messages are checked before any is stored; an empty array changes nothing. Messages of
   * providers are recognised and converted, as {@link from} does.
   *
   * Rejects when a fold fails, unless `compaction.onError` is `'defer'`.
   *
   * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when a message has the wrong shape.
   *
   * @example
   * ```ts
   * const session = createMemory().session('user:42');
   * const result = await session.add([
   *   { role: 'user', content: 'Any tables for six?' },
   *   { role: 'assistant', content: 'Seven or nine, which do you prefer?' },
   * ]);
   * result; // => { added: 2, compacted: false, folded: 0, summary: '', facts: [] }
   * ```
   */
  add(
    messages: MessageInput | ProviderMessage | readonly (MessageInput | ProviderMessage)[],
  ): Promise<AddResult>;
  /**
   * Folds now what `add` would fold: nothing, while the window is within its budget.
   *
   * Rejects when a fold fails, unless `compaction.onError` is `'defer'`.
   */
  compact(options?: {
    /**
     * Whether to fold everything but the `budget.keepRecent` newest messages, whatever the window costs.
     *
     * @default false
     */
    force?: boolean | undefined;
  }): Promise<CompactResult>;
  /**
   * Sets one fact that extracted facts never replace, and returns all facts. An item without a key or a value is
   * skipped.
   *
   * @example
   * ```ts
   * const session = createMemory({ clock: () => 0 }).session('user:42');
   * await session.pin('Party Size', '6'); // => [{ key: 'party_size', value: '6', source: 'pinned', at: 0 }]
   * ```
   */
  pin(key: string, value: string): Promise<Fact[]>;
  /**
   * Sets facts that extracted facts never replace, and returns all facts. An item without a key or a value is skipped.
   */
  pin(facts: FactInput | readonly FactInput[]): Promise<Fact[]>;
  /**
   * Removes the fact with this key, pinned or extracted, and tells whether there was one.
   *
   * @throws A TypeError when the key is not a string.
   */
  unpin(key: string): Promise<boolean>;
  /** All facts, in the order in which their keys first appeared. */
  facts(): Promise<Fact[]>;
  /** The messages in the window, oldest first. */
  messages(): Promise<StoredMessage[]>;
  /** Everything about the session, for debugging or export. A session that was never used gives an empty state. */
  state(): Promise<SessionState>;
  /**
   * Everything that the next call of a model should see. Reading it changes nothing and creates no session.
   *
   * A failing embedder does not fail it, see {@link MemoryContext.recallError}. It rejects with what `retrieve` throws.
   *
   * @throws A TypeError or RangeError with the code `ERR_MEMORYLINE_INVALID_OPTION`, see {@link ContextOptions}.
   */
  context(options?: ContextOptions): Promise<MemoryContext>;
  /** Deletes everything about the session, like {@link Memory.forget}. */
  clear(): Promise<void>;
}

// ---------------------------------------------------------------------------------------------------------------------
// Stores
// ---------------------------------------------------------------------------------------------------------------------

/**
 * What a memory needs of a store. Any object with these methods is one; each may return its result or a promise of it.
 *
 * A store of the app's own is loaded for every operation and saved after every change, and the last writer wins when
 * several processes share a session.
 *
 * @example
 * ```ts
 * const sessions = new Map<string, string>();
 * const store: Store = {
 *   load: (id) => JSON.parse(sessions.get(id) ?? 'null'),
 *   save: (state) => void sessions.set(state.id, JSON.stringify(state)),
 *   delete: (id) => void sessions.delete(id),
 * };
 * ```
 */
export interface Store {
  /** The state that was last saved under this id; `null` or `undefined` when there is none. */
  load(id: string): SessionState | null | undefined | Promise<SessionState | null | undefined>;
  /** Keeps a state under `state.id`, in place of an earlier one. */
  save(state: SessionState): void | Promise<void>;
  /** Removes the state with this id, if there is one. */
  delete(id: string): void | Promise<void>;
}

/** Keeps sessions in this process. They are gone when it ends. */
export declare class MemoryStore implements Store {
  /** Makes an empty store. */
  constructor();
  /** A fresh copy of the state with this id, or `null`. */
  load(id: string): SessionState | null;
  /** Keeps a copy of a state. */
  save(state: SessionState): void;
  /** Removes the state with this id, if there is one. */
  delete(id: string): void;
  /** The ids of all sessions, in the order in which they were first saved. */
  ids(): string[];
}

/** What {@link SqliteStore} takes beside the path. */
export interface SqliteStoreOptions {
  /**
   * What a finished write survives. `'normal'` survives the end of the process; the latest writes may be missing after
   * the machine lost power, but the file stays whole. `'full'` waits for the disk and survives that too. Any other
   * value throws a TypeError.
   *
   * @default 'normal'
   */
  durability?: 'normal' | 'full' | undefined;
  /**
   * How long a write waits for another process that is writing. Unit: milliseconds. Minimum: 0. Anything else than a
   * finite number from there on throws a RangeError.
   *
   * @default 5000
   */
  busyTimeoutMs?: number | undefined;
}

/**
 * Keeps sessions in a SQLite file, one row per message, fact and fold. A turn adds rows and rewrites nothing. SQLite is
 * built in. One store may serve several memories.
 *
 * Operations reject with the code `ERR_MEMORYLINE_STORE` when SQLite fails, with `ERR_MEMORYLINE_CONFLICT` when other
 * writers keep changing the session, and with `ERR_MEMORYLINE_CLOSED` after {@link SqliteStore.close}.
 *
 * @example
 * ```ts
 * const store = new SqliteStore(':memory:');
 * const memory = createMemory({ store });
 * await memory.session('user:42').pin('name', 'Dana');
 * await store.ids(); // => ['user:42']
 * store.close();
 * ```
 */
export declare class SqliteStore implements Store, Disposable, AsyncDisposable {
  /**
   * Opens the file at this path, or makes it. `':memory:'` keeps everything in this process.
   *
   * @throws A TypeError or RangeError with the code `ERR_MEMORYLINE_INVALID_OPTION` when the path is not a string or is
   * empty, or an option is not valid; an Error with the code `ERR_MEMORYLINE_STORE` when the file cannot be opened.
   */
  constructor(path: string, options?: SqliteStoreOptions);
  /** A fresh copy of the state with this id, or `null`. */
  load(id: string): Promise<SessionState | null>;
  /** Keeps a state under `state.id`, in place of an earlier one. */
  save(state: SessionState): Promise<void>;
  /** Removes the state with this id, if there is one. */
  delete(id: string): Promise<void>;
  /** The ids of all sessions, in the order in which they were first saved. */
  ids(): Promise<string[]>;
  /** Closes the file. Closing it again does nothing. */
  close(): void;
  /** Closes the file at the end of a `using` block. */
  [Symbol.dispose](): void;
  /** Closes the file at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The SQL that {@link SqlStore} speaks: which placeholders, and how to insert or update. */
export type SqlDialect = 'postgres' | 'sqlite' | 'mysql';

/**
 * What a statement gives: an object with the rows, the rows themselves, or the `[rows, fields]` pair of mysql2. For a
 * statement that returns no rows it is not looked at.
 */
export type SqlResult =
  | {
      /** The rows, as objects with the column names as keys. */
      rows: unknown[];
    }
  | unknown[];

/** Runs one statement with a database client of the app. */
export type SqlQuery = (sql: string, params: (string | number)[]) => SqlResult | PromiseLike<SqlResult>;

/** What {@link SqlStore} takes. */
export interface SqlStoreOptions {
  /** Runs one statement. */
  query: SqlQuery;
  /**
   * The table. It is put into the SQL as it is, so it must never come from outside.
   *
   * @default 'memoryline_sessions'
   */
  table?: string | undefined;
  /**
   * The SQL that the database speaks.
   *
   * @default 'postgres'
   */
  dialect?: SqlDialect | undefined;
}

/**
 * Keeps sessions in a table of an SQL database, through a client of the app: one row per session, the state as JSON
 * text. It rejects with what `query` throws.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg';
 * import { createMemory, SqlStore } from 'memoryline';
 *
 * const pool = new Pool();
 * await pool.query(SqlStore.ddl());
 * const memory = createMemory({ store: new SqlStore({ query: (sql, params) => pool.query(sql, params) }) });
 * ```
 */
export declare class SqlStore implements Store {
  /** Makes a store. Nothing is sent to the database before it is used. */
  constructor(options: SqlStoreOptions);
  /**
   * The statement that makes the table, if it does not exist.
   *
   * @param table - The table; `'memoryline_sessions'` when it is left out.
   */
  static ddl(table?: string): string;
  /** The state with this id, or `null`. */
  load(id: string): Promise<SessionState | null>;
  /** Inserts or updates the row of a session. */
  save(state: SessionState): Promise<void>;
  /** Deletes the row of a session. */
  delete(id: string): Promise<void>;
}

/** What {@link RedisStore} needs of a client. Those of `redis` and of `ioredis` fit. */
export interface RedisLike {
  /** Reads a value; `null` when there is none. */
  get(key: string): PromiseLike<string | null | undefined>;
  /** Writes a value. */
  set(key: string, value: string): PromiseLike<unknown>;
  /** Removes a key. */
  del(key: string): PromiseLike<unknown>;
  /** Lets a key expire after this many seconds. Needed for `ttlSeconds`. */
  expire?(key: string, seconds: number): PromiseLike<unknown>;
}

/** What {@link RedisStore} takes beside the client. */
export interface RedisStoreOptions {
  /**
   * What stands before the session id in a key.
   *
   * @default 'memoryline:'
   */
  prefix?: string | undefined;
  /**
   * How long a session is kept after it was last changed. Unit: seconds. Minimum: none; with 0 it is removed at once. A
   * client without `expire` then throws a TypeError.
   *
   * @default none: sessions are kept until they are deleted
   */
  ttlSeconds?: number | undefined;
}

/**
 * Keeps sessions in Redis, through a client of the app: one key per session, the state as JSON text. It rejects with
 * what the client throws.
 *
 * @example
 * ```ts
 * import { createClient } from 'redis';
 * import { createMemory, RedisStore } from 'memoryline';
 *
 * const client = createClient();
 * await client.connect();
 * const memory = createMemory({ store: new RedisStore(client, { prefix: 'chat:', ttlSeconds: 60 * 60 * 24 * 30 }) });
 * ```
 */
export declare class RedisStore implements Store {
  /**
   * Makes a store. Nothing is sent to Redis before it is used.
   *
   * @throws A TypeError when `ttlSeconds` is given and the client has no `expire`.
   */
  constructor(client: RedisLike, options?: RedisStoreOptions);
  /** The state with this id, or `null`. */
  load(id: string): Promise<SessionState | null>;
  /** Writes the state of a session and, with `ttlSeconds`, lets it expire. */
  save(state: SessionState): Promise<void>;
  /** Deletes the key of a session. */
  delete(id: string): Promise<void>;
}

/**
 * Checks that a value is the state of a session, as far as version and id tell.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_STATE` when it is not an object, has another version than
 * 1, or has no id.
 */
export declare function assertSessionState(state: unknown): asserts state is SessionState;

// ---------------------------------------------------------------------------------------------------------------------
// Rendering
// ---------------------------------------------------------------------------------------------------------------------

/** Options of every renderer. */
export interface RequestOptions {
  /**
   * The app's own instructions, put before the memory block.
   *
   * @default none
   */
  systemPrompt?: string | undefined;
  /**
   * Where recalled messages stand: in the system text, or `'last'`, quoted just before the newest user message. They
   * change with every turn; with `'last'`, all that stands before them is the same as in the turn before, so that the
   * provider's prompt cache goes on hitting.
   *
   * @default 'system'
   */
  recall?: 'system' | 'last' | undefined;
  /**
   * What becomes of a call that was never answered: `'answer'` gives it a result that says so, `'omit'` leaves it out.
   *
   * @default 'answer'
   */
  openCalls?: 'answer' | 'omit' | undefined;
}

/** One part of a user message of the OpenAI Chat Completions API. */
export type OpenAIContentPart =
  | {
      /** The kind of part. */
      type: 'text';
      /** The text; never blank. */
      text: string;
    }
  | {
      /** The kind of part. */
      type: 'image_url';
      /** The picture. */
      image_url: {
        /** An address, or the bytes as a `data:` address. */
        url: string;
        /** How closely the model is to look at it. */
        detail?: 'auto' | 'low' | 'high';
      };
    }
  | {
      /** The kind of part. */
      type: 'input_audio';
      /** The sound. */
      input_audio: {
        /** The bytes, as base64. */
        data: string;
        /** The format of the bytes. */
        format: 'wav' | 'mp3';
      };
    }
  | {
      /** The kind of part. */
      type: 'file';
      /** The document. */
      file: {
        /** The name. */
        filename?: string;
        /** The bytes, as a `data:` address. */
        file_data?: string;
        /** The id under which the provider has it. */
        file_id?: string;
      };
    };

/** A function call in an assistant message of the OpenAI Chat Completions API. */
export interface OpenAIToolCall {
  /** The id of the call. */
  id: string;
  /** The kind of call; always a function. */
  type: 'function';
  /** The function that is called. */
  function: {
    /** The name of the function. */
    name: string;
    /** The arguments, as JSON text. */
    arguments: string;
  };
}

/** A system message of the OpenAI Chat Completions API. */
export interface OpenAISystemMessage {
  /** Who the message is from. */
  role: 'system';
  /** The text. */
  content: string;
  /** The name of the speaker. */
  name?: string;
  /** Only assistant messages have calls. */
  tool_calls?: undefined;
  /** Only tool messages answer a call. */
  tool_call_id?: undefined;
}

/** A user message of the OpenAI Chat Completions API. */
export interface OpenAIUserMessage {
  /** Who the message is from. */
  role: 'user';
  /** The text, or parts where the message holds more than text. */
  content: string | OpenAIContentPart[];
  /** The name of the speaker. */
  name?: string;
  /** Only assistant messages have calls. */
  tool_calls?: undefined;
  /** Only tool messages answer a call. */
  tool_call_id?: undefined;
}

/** An assistant message of the OpenAI Chat Completions API. */
export interface OpenAIAssistantMessage {
  /** Who the message is from. */
  role: 'assistant';
  /** The text; empty when the message only calls tools. */
  content: string;
  /** The name of the speaker. */
  name?: string;
  /** Why the model did not answer. */
  refusal?: string;
  /**
   * The calls. Every one of them is answered by a tool message behind it. Calls of custom tools, which take free text,
   * go back as they came and are not typed here.
   */
  tool_calls?: OpenAIToolCall[];
  /** Only tool messages answer a call. */
  tool_call_id?: undefined;
}

/** A tool message of the OpenAI Chat Completions API. */
export interface OpenAIToolMessage {
  /** Who the message is from. */
  role: 'tool';
  /** The result of the call. */
  content: string;
  /** The name of the function. */
  name?: string;
  /** Only assistant messages have calls. */
  tool_calls?: undefined;
  /**
   * The id of the call that this message answers. It is missing only where the message was added without a
   * `toolCallId`; the API refuses such a message, so add results with the id of their call.
   */
  tool_call_id: string;
}

/** A message of the OpenAI Chat Completions API, as {@link toOpenAI} makes it. */
export type OpenAIMessage = OpenAISystemMessage | OpenAIUserMessage | OpenAIAssistantMessage | OpenAIToolMessage;

/**
 * Renders a context for OpenAI's Chat Completions API: one system message with the prompt and the memory block, when
 * either has text, and then the window. The result fits `messages` of the `openai` package as it is.
 *
 * Every call is answered right behind it, also where the conversation did not keep to that: a late result moves up, a
 * call without a result gets one that says so, and a result without a call becomes text of the user. Pictures that a
 * tool returned stand in one user message behind the results of the turn.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the context has the wrong shape.
 *
 * @example
 * ```ts
 * const session = createMemory().session('user:42');
 * await session.add({ role: 'user', content: 'Hello' });
 * const messages = toOpenAI(await session.context(), { systemPrompt: 'Be brief.' });
 * messages; // => [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello' }]
 * ```
 */
export declare function toOpenAI(
  context: MemoryContext,
  options?: RequestOptions,
): OpenAIMessage[];

/**
 * One block of an Anthropic message. Blocks that the library does not read (of Anthropic's own tools, for example) go
 * back as they came and are not typed here, nor are files that were uploaded, which the package has beta types for.
 */
export type AnthropicContentBlock =
  | {
      /** The kind of block. */
      type: 'text';
      /** The text; never blank. */
      text: string;
      /** Set where a cache reaches to. */
      cache_control?: AnthropicCacheControl;
    }
  | {
      /** The kind of block. */
      type: 'image';
      /** Where the picture is. */
      source: AnthropicImageSource;
      /** Set where a cache reaches to. */
      cache_control?: AnthropicCacheControl;
    }
  | {
      /** The kind of block. */
      type: 'document';
      /** Where the document is. */
      source: AnthropicDocumentSource;
      /** The name of the document. */
      title?: string;
      /** Set where a cache reaches to. */
      cache_control?: AnthropicCacheControl;
    }
  | {
      /** The kind of block. */
      type: 'thinking';
      /** The thought, as it came. */
      thinking: string;
      /** Its signature. */
      signature: string;
    }
  | {
      /** The kind of block. */
      type: 'redacted_thinking';
      /** The thought, encrypted. */
      data: string;
    }
  | {
      /** The kind of block. */
      type: 'tool_use';
      /** The id of the call, unique in the request. */
      id: string;
      /** The name of the tool. */
      name: string;
      /** The arguments. Text that is not a JSON object is `{ arguments: text }`. */
      input: Record<string, unknown>;
      /** Set where a cache reaches to. */
      cache_control?: AnthropicCacheControl;
    }
  | {
      /** The kind of block. */
      type: 'tool_result';
      /** The id of the call that this block answers. */
      tool_use_id: string;
      /** The result of the call: text, or blocks where the tool returned more than text. */
      content:
        | string
        | (
            | {
                /** The kind of block. */
                type: 'text';
                /** The text; never blank. */
                text: string;
              }
            | {
                /** The kind of block. */
                type: 'image';
                /** Where the picture is. */
                source: AnthropicImageSource;
              }
          )[];
      /** Set for a call whose tool failed, or that has no result in the conversation. */
      is_error?: boolean;
      /** Set where a cache reaches to. */
      cache_control?: AnthropicCacheControl;
    };

/** Marks where a cache of the Anthropic Messages API reaches to. */
export interface AnthropicCacheControl {
  /** The kind of cache. */
  type: 'ephemeral';
}

/** Where a picture is, for the Anthropic Messages API. */
export type AnthropicImageSource =
  | {
      /** The bytes are here. */
      type: 'base64';
      /** The media type. */
      media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
      /** The bytes, as base64. */
      data: string;
    }
  | {
      /** The bytes are at an address. */
      type: 'url';
      /** The address. */
      url: string;
    };

/** Where a document is, for the Anthropic Messages API. */
export type AnthropicDocumentSource =
  | {
      /** The bytes are here. */
      type: 'base64';
      /** The media type. */
      media_type: 'application/pdf';
      /** The bytes, as base64. */
      data: string;
    }
  | {
      /** The text is here. */
      type: 'text';
      /** The media type. */
      media_type: 'text/plain';
      /** The text. */
      data: string;
    }
  | {
      /** The bytes are at an address. */
      type: 'url';
      /** The address. */
      url: string;
    };

/** A message of the Anthropic Messages API, as {@link toAnthropic} makes it. */
export interface AnthropicMessage {
  /** Who the message is from. The roles alternate, and the first is `'user'`. */
  role: 'user' | 'assistant';
  /** Plain text, or blocks where the message has tool calls or results. */
  content: string | AnthropicContentBlock[];
}

/**
 * Renders a context for Anthropic's Messages API: the system text and the turns. The result spreads into
 * `messages.create` of `@anthropic-ai/sdk` as it is.
 *
 * System text is the prompt, the memory block and every system message of the window. Neighbouring messages of one role
 * are merged, results come before text, and a window that begins with the assistant gets a short user message in front.
 * Calls and results are paired as {@link toOpenAI} describes.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the context has the wrong shape.
 *
 * @example
 * ```ts
 * import Anthropic from '@anthropic-ai/sdk';
 * import { createMemory, toAnthropic } from 'memoryline';
 *
 * const context = await createMemory().session('user:42').context();
 * const reply = await new Anthropic().messages.create({
 *   model: 'claude-sonnet-5',
 *   max_tokens: 600,
 *   ...toAnthropic(context, { systemPrompt: 'Be brief.' }),
 * });
 * ```
 */
export declare function toAnthropic<Cached extends boolean | undefined = undefined>(
  context: MemoryContext,
  options?: RequestOptions & {
    /**
     * Whether to mark how far a cache reaches: the end of the system text, the end of what the next turn repeats, and
     * the end of a run of tools that is under way. Use it with `recall: 'last'`: recalled messages in the system text
     * change all that comes after them, and only the system text is marked then. Every content, and the system text
     * unless it is empty, is a list of blocks.
     *
     * @default false
     */
    cacheControl?: Cached;
  },
): {
  /** The system text, or an empty string. */
  system: Cached extends true ? string | AnthropicSystemBlock[] : string;
  /** The turns, oldest first. */
  messages: AnthropicMessage[];
};

/** A block of the system text of the Anthropic Messages API. */
export interface AnthropicSystemBlock {
  /** The kind of block. */
  type: 'text';
  /** The text; never blank. */
  text: string;
  /** Set where a cache reaches to. */
  cache_control?: AnthropicCacheControl;
}

/** One item of the input of OpenAI's Responses API, as {@link toOpenAIResponses} makes it. */
export type OpenAIResponsesItem =
  | {
      /** The kind of item. */
      type: 'message';
      /** Who the message is from. */
      role: 'user' | 'assistant' | 'system';
      /** The text, or parts where the message holds more than text. */
      content: string | OpenAIResponsesContentPart[];
    }
  | {
      /** The kind of item. */
      type: 'message';
      /** The id that the API gave the item. */
      id: string;
      /** The model. */
      role: 'assistant';
      /** What it said. */
      content: (
        | {
            /** The kind of part. */
            type: 'output_text';
            /** The text. */
            text: string;
            /** What the text refers to. */
            annotations: never[];
          }
        | {
            /** The kind of part. */
            type: 'refusal';
            /** Why the model does not answer. */
            refusal: string;
          }
      )[];
      /** The state of the item. */
      status: 'in_progress' | 'completed' | 'incomplete';
    }
  | {
      /** The kind of item. */
      type: 'reasoning';
      /** The id that the API gave the item. */
      id: string;
      /** The summaries. */
      summary: {
        /** The kind of part. */
        type: 'summary_text';
        /** The text. */
        text: string;
      }[];
      /** The thought itself, where the API gave it. */
      content?: {
        /** The kind of part. */
        type: 'reasoning_text';
        /** The text. */
        text: string;
      }[];
      /** The thought, encrypted. */
      encrypted_content?: string;
    }
  | {
      /** The kind of item. */
      type: 'function_call';
      /** The id that the API gave the item. */
      id?: string;
      /** The id of the call, unique in the request. */
      call_id: string;
      /** The name of the function. */
      name: string;
      /** The arguments, as JSON text. */
      arguments: string;
    }
  | {
      /** The kind of item. */
      type: 'function_call_output';
      /** The id of the call that this item answers. */
      call_id: string;
      /** The result: text, or parts where the tool returned more than text. */
      output: string | OpenAIResponsesContentPart[];
    }
  | {
      /** The kind of item. */
      type: 'custom_tool_call';
      /** The id that the API gave the item. */
      id?: string;
      /** The id of the call, unique in the request. */
      call_id: string;
      /** The name of the tool. */
      name: string;
      /** The text it is called with. */
      input: string;
    }
  | {
      /** The kind of item. */
      type: 'custom_tool_call_output';
      /** The id of the call that this item answers. */
      call_id: string;
      /** The result: text, or parts where the tool returned more than text. */
      output: string | OpenAIResponsesContentPart[];
    };

/** One part of what goes into OpenAI's Responses API. */
export type OpenAIResponsesContentPart =
  | {
      /** The kind of part. */
      type: 'input_text';
      /** The text; never blank. */
      text: string;
    }
  | {
      /** The kind of part. */
      type: 'input_image';
      /** An address, or the bytes as a `data:` address. */
      image_url?: string;
      /** The id under which the provider has it. */
      file_id?: string;
      /** How closely the model is to look at it. */
      detail: 'auto' | 'low' | 'high';
    }
  | {
      /** The kind of part. */
      type: 'input_file';
      /** The name. */
      filename?: string;
      /** The bytes, as a `data:` address. */
      file_data?: string;
      /** The address. */
      file_url?: string;
      /** The id under which the provider has it. */
      file_id?: string;
    };

/**
 * Renders a context for OpenAI's Responses API. The result spreads into `responses.create` of the `openai` package.
 *
 * Items that came from this API go back with their ids and their reasoning, as they were; items of the API's own tools,
 * too, which are not typed here. Calls and results are paired as {@link toOpenAI} describes.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the context has the wrong shape.
 *
 * @example
 * ```ts
 * const session = createMemory().session('user:42');
 * await session.add({ role: 'user', content: 'Hello' });
 * const request = toOpenAIResponses(await session.context(), { systemPrompt: 'Be brief.' });
 * request; // => { instructions: 'Be brief.', input: [{ type: 'message', role: 'user', content: 'Hello' }] }
 * ```
 */
export declare function toOpenAIResponses(
  context: MemoryContext,
  options?: RequestOptions,
): {
  /** The prompt and the memory block; missing when neither has text. */
  instructions?: string;
  /** The items, oldest first. */
  input: OpenAIResponsesItem[];
};

/** The provider's own options of a message or part of the AI SDK, by provider. */
export type AISDKProviderOptions = Record<string, Record<string, any>>;

/** One part of a user message of the AI SDK. */
export type AISDKUserPart =
  | {
      /** The kind of part. */
      type: 'text';
      /** The text; never blank. */
      text: string;
      /** Options of the provider. */
      providerOptions?: AISDKProviderOptions;
    }
  | {
      /** The kind of part. */
      type: 'image';
      /** An address or base64. */
      image: string;
      /** The media type. */
      mediaType?: string;
      /** Options of the provider. */
      providerOptions?: AISDKProviderOptions;
    }
  | AISDKFilePart;

/** A file in a message of the AI SDK. */
export interface AISDKFilePart {
  /** The kind of part. */
  type: 'file';
  /** An address or base64. */
  data: string;
  /** The media type. */
  mediaType: string;
  /** The name. */
  filename?: string;
  /** Options of the provider. */
  providerOptions?: AISDKProviderOptions;
}

/** One part of an assistant message of the AI SDK. */
export type AISDKAssistantPart =
  | {
      /** The kind of part. */
      type: 'text' | 'reasoning';
      /** The text or thought. */
      text: string;
      /** Options of the provider. */
      providerOptions?: AISDKProviderOptions;
    }
  | AISDKFilePart
  | {
      /** The kind of part. */
      type: 'tool-call';
      /** The id of the call, unique in the request. */
      toolCallId: string;
      /** The name of the tool. */
      toolName: string;
      /** The arguments. */
      input: unknown;
      /** Options of the provider. */
      providerOptions?: AISDKProviderOptions;
    };

/** What a tool returned, in a message of the AI SDK. */
export type AISDKToolOutput =
  | {
      /** Text, or the text of a failure. */
      type: 'text' | 'error-text';
      /** The text. */
      value: string;
    }
  | {
      /** More than text. */
      type: 'content';
      /** The parts. */
      value: (
        | {
            /** The kind of part. */
            type: 'text';
            /** The text. */
            text: string;
          }
        | {
            /** The kind of part. */
            type: 'media';
            /** The bytes, as base64. */
            data: string;
            /** The media type. */
            mediaType: string;
          }
      )[];
    };

/** A `ModelMessage` of the AI SDK, as {@link toAISDK} makes it. */
export type AISDKMessage =
  | {
      /** The person. */
      role: 'user';
      /** The text, or parts where the message holds more than text. */
      content: string | AISDKUserPart[];
      /** Options of the provider. */
      providerOptions?: AISDKProviderOptions;
    }
  | {
      /** The model. */
      role: 'assistant';
      /** The text, or parts where the message holds more than text. */
      content: string | AISDKAssistantPart[];
      /** Options of the provider. */
      providerOptions?: AISDKProviderOptions;
    }
  | {
      /** The results of all calls of a turn. */
      role: 'tool';
      /** The results, in the order of the calls. */
      content: {
        /** The kind of part. */
        type: 'tool-result';
        /** The id of the call. */
        toolCallId: string;
        /** The name of the tool. */
        toolName: string;
        /** What the tool returned. */
        output: AISDKToolOutput;
      }[];
    };

/**
 * Renders a context for the AI SDK. The result spreads into `generateText` and `streamText` of the `ai` package.
 *
 * Any provider may stand behind the SDK, so the rules of the strictest hold, as {@link toAnthropic} describes them.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the context has the wrong shape.
 *
 * @example
 * ```ts
 * const session = createMemory().session('user:42');
 * await session.add({ role: 'user', content: 'Hello' });
 * const request = toAISDK(await session.context(), { systemPrompt: 'Be brief.' });
 * request; // => { system: 'Be brief.', messages: [{ role: 'user', content: 'Hello' }] }
 * ```
 */
export declare function toAISDK(
  context: MemoryContext,
  options?: RequestOptions & {
    /**
     * The maker of the model that the request goes to, such as `'anthropic'`. Only reasoning of this maker goes back,
     * also when it was not added through the AI SDK.
     *
     * @default none: only reasoning that was added through the AI SDK goes back
     */
    provider?: string | undefined;
  },
): {
  /** The prompt, the memory block and the system messages of the window; missing when there is no text. */
  system?: string;
  /** The messages, oldest first. */
  messages: AISDKMessage[];
};

/** One part of a content of the Gemini API. */
export interface GeminiPart {
  /** Text or, with `thought`, what the model thought. */
  text?: string;
  /** Set when `text` is what the model thought. */
  thought?: boolean;
  /** What proves to the API that a part is its own. */
  thoughtSignature?: string;
  /** Bytes. */
  inlineData?: {
    /** The media type. */
    mimeType: string;
    /** The bytes, as base64. */
    data: string;
  };
  /** A file. */
  fileData?: {
    /** The media type. */
    mimeType: string;
    /** The address. */
    fileUri: string;
  };
  /** A call of a function. */
  functionCall?: {
    /** The id of the call, when the API gave one. */
    id?: string;
    /** The name of the function. */
    name: string;
    /** The arguments. */
    args: Record<string, unknown>;
  };
  /** The result of a call. */
  functionResponse?: {
    /** The id of the call, when the API gave one. */
    id?: string;
    /** The name of the function. */
    name: string;
    /** The result: `output`, or `error` when the tool failed or never ran. */
    response: Record<string, unknown>;
  };
}

/** A content of the Gemini API, as {@link toGemini} makes it. */
export interface GeminiContent {
  /** The person or the model. The roles alternate, and the first is `'user'`. */
  role: 'user' | 'model';
  /** What is in it. Results of functions come first. */
  parts: GeminiPart[];
}

/**
 * Renders a context for the Gemini API, as `contents` and `config.systemInstruction` of the `@google/genai` package take
 * it.
 *
 * The rules are those of {@link toAnthropic}; what a function returned is `{ output }`, or `{ error }` when it failed.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the context has the wrong shape.
 *
 * @example
 * ```ts
 * const session = createMemory().session('user:42');
 * await session.add({ role: 'user', content: 'Hello' });
 * const { contents } = toGemini(await session.context());
 * contents; // => [{ role: 'user', parts: [{ text: 'Hello' }] }]
 * ```
 */
export declare function toGemini(
  context: MemoryContext,
  options?: RequestOptions,
): {
  /** The prompt, the memory block and the system messages of the window; missing when there is no text. */
  systemInstruction?: {
    /** One part with the text. */
    parts: {
      /** The text. */
      text: string;
    }[];
  };
  /** The contents, oldest first. */
  contents: GeminiContent[];
};

/**
 * Renders summary, facts and recalled messages as one Markdown block. Sections that are empty are left out.
 *
 * @example
 * ```ts
 * const parts = { summary: 'Dana wants a table.', facts: [], recalled: [] };
 * renderMemory(parts); // => '## Conversation so far\nDana wants a table.'
 * renderMemory(parts, { headings: { summary: '# Summary' } }); // => '# Summary\nDana wants a table.'
 * ```
 */
export declare function renderMemory(
  parts: {
    /** The summary. */
    readonly summary: string;
    /** The facts. */
    readonly facts: readonly Fact[];
    /** The recalled messages. */
    readonly recalled: readonly RecalledMessage[];
  },
  options?: RenderOptions,
): string;

/**
 * Renders facts as `- key: value` lines, without a heading.
 *
 * @example
 * ```ts
 * renderFacts([{ key: 'name', value: 'Dana', source: 'pinned', at: 0 }]); // => '- name: Dana'
 * ```
 */
export declare function renderFacts(facts: readonly Fact[]): string;

/** Renders recalled messages as `- speaker: text` lines, without a heading. Each message becomes one line. */
export declare function renderRecalled(recalled: readonly RecalledMessage[]): string;

// ---------------------------------------------------------------------------------------------------------------------
// Prompts, summaries and facts
// ---------------------------------------------------------------------------------------------------------------------

/** A prompt that asks a chat model for the new summary. Its reply is what `summarize` returns. */
export declare function summaryPrompt(input: SummarizeInput): string;

/**
 * A summary without a model: the previous one and one clipped line per message. The oldest lines are dropped until it
 * costs at most `input.maxTokens`, or one line is left. System messages are left out.
 *
 * @param countTokens - Counts the tokens of a text; {@link estimateTokens} when it is left out.
 *
 * @example
 * ```ts
 * const messages: Message[] = [{ role: 'user', content: 'Any tables for six?' }];
 * const input: SummarizeInput = { previousSummary: '', messages, facts: [], maxTokens: 500 };
 * extractiveSummary(input); // => '- user: Any tables for six?'
 * ```
 */
export declare function extractiveSummary(input: SummarizeInput, countTokens?: (text: string) => number): string;

/** A prompt that asks a chat model for the facts in messages. {@link parseFacts} reads its reply. */
export declare function factsPrompt(input: ExtractFactsInput): string;

/**
 * Reads the facts in a reply of a model: `key: value` lines, with or without bullets, a JSON array of
 * `{ key, value }`, or a JSON object. A code fence around them is ignored, and so is what cannot be read. Keys are
 * returned as they are written.
 *
 * @throws A TypeError when the text is not a string.
 *
 * @example
 * ```ts
 * parseFacts('- Party Size: 6'); // => [{ key: 'Party Size', value: '6' }]
 * parseFacts('{"name": "Dana"}'); // => [{ key: 'name', value: 'Dana' }]
 * parseFacts('none'); // => []
 * ```
 */
export declare function parseFacts(text: string): FactInput[];

/**
 * The form in which a fact key is stored: lower case, with `_` between the words and only `a` to `z`, `0` to `9` and
 * `_`. It is empty when nothing of that is left.
 *
 * @example
 * ```ts
 * normalizeFactKey('Party Size'); // => 'party_size'
 * ```
 */
export declare function normalizeFactKey(key: string): string;

// ---------------------------------------------------------------------------------------------------------------------
// Text, tools and numbers
// ---------------------------------------------------------------------------------------------------------------------

/**
 * Estimates the tokens of a text: one for every four ASCII characters, rounded up, and one for every other character.
 *
 * @example
 * ```ts
 * estimateTokens('Table for six'); // => 4
 * ```
 */
export declare function estimateTokens(text: string): number;

/** The encodings that can be counted exactly. */
export type Encoding = 'o200k_base' | 'cl100k_base';

/**
 * Counts the tokens of a text exactly, as OpenAI's `tiktoken` does. Text that reads like a special token is ordinary
 * text, and half of a surrogate pair is counted as U+FFFD. The encoding is `'o200k_base'`, that of GPT-4o and newer
 * models, unless another is given. The tables of an encoding are read with the first call that needs them.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the text is no string, or there is no such
 * encoding.
 *
 * @example
 * ```ts
 * countTokens('Table for six'); // => 3
 * ```
 */
export declare function countTokens(text: string, encoding?: Encoding): number;

/**
 * Gives the tokens of a text, as {@link countTokens} counts them.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the text is no string, or there is no such
 * encoding.
 *
 * @example
 * ```ts
 * Array.from(encode('hello world')); // => [24912, 2375]
 * ```
 */
export declare function encode(text: string, encoding?: Encoding): Uint32Array;

/**
 * Gives the text of some tokens. Bytes that are no UTF-8 become U+FFFD: a token can hold a part of a character.
 *
 * @throws A TypeError with the code `ERR_MEMORYLINE_INVALID_ARGUMENT` when the encoding has no such token, or there is no
 * such encoding.
 *
 * @example
 * ```ts
 * decode([24912, 2375]); // => 'hello world'
 * ```
 */
export declare function decode(tokens: readonly number[] | Uint32Array, encoding?: Encoding): string;

/**
 * The text of a message, as it is counted, embedded and quoted: its content, followed by its calls.
 *
 * @example
 * ```ts
 * const calls = [{ id: 'call_1', name: 'find_slots', arguments: { party: 6 } }];
 * messageText({ role: 'assistant', content: '', toolCalls: calls }); // => '[call find_slots({"party":6})]'
 * ```
 */
export declare function messageText(message: MessageInput): string;

/**
 * The messages as text, one `speaker: text` line each. The speaker is the name of a message, or else its role.
 *
 * @example
 * ```ts
 * const dana: MessageInput = { role: 'user', name: 'Dana', content: 'Hello' };
 * transcript([dana, { role: 'assistant', content: 'Hi' }]); // => 'Dana: Hello\nassistant: Hi'
 * ```
 */
export declare function transcript(messages: readonly MessageInput[]): string;

/**
 * A text on one line: runs of white space become one space, and none is left at the ends. A text that is longer than
 * `max` is cut, and ends in three dots.
 *
 * @param max - The most UTF-16 units, the dots included; without a limit when it is left out.
 *
 * @example
 * ```ts
 * oneLine('  A table\n for six '); // => 'A table for six'
 * oneLine('A table for six', 10); // => 'A table...'
 * ```
 */
export declare function oneLine(text: string, max?: number): string;

/**
 * The arguments of a call as JSON text. Text is returned as it is.
 *
 * @example
 * ```ts
 * argumentsText({ id: 'call_1', name: 'find_slots', arguments: { party: 6 } }); // => '{"party":6}'
 * ```
 */
export declare function argumentsText(call: ToolCall): string;

/**
 * The arguments of a call as an object, and never an error: blank text gives `{}`, and text that is not a JSON object
 * gives `{ arguments: text }`. An object is returned as it is.
 *
 * @example
 * ```ts
 * parseArguments({ id: 'call_1', name: 'find_slots', arguments: '{"party":6}' }); // => { party: 6 }
 * parseArguments({ id: 'call_2', name: 'find_slots', arguments: 'six' }); // => { arguments: 'six' }
 * ```
 */
export declare function parseArguments(call: ToolCall): Record<string, unknown>;

/** Where a call and its results stand in a list of messages. */
export interface ToolGroup {
  /** The index of the assistant message that makes the calls. */
  start: number;
  /** The index after the last result. */
  end: number;
}

/**
 * The call and results that the message at an index belongs to: an assistant message with calls, and the tool messages
 * directly behind it that answer them. `null` when the message belongs to none.
 *
 * @example
 * ```ts
 * const messages: Message[] = [
 *   { role: 'user', content: 'Any tables?' },
 *   { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'find_slots', arguments: '{}' }] },
 *   { role: 'tool', toolCallId: 'call_1', content: '7pm' },
 * ];
 * toolGroupAt(messages, 2); // => { start: 1, end: 3 }
 * toolGroupAt(messages, 0); // => null
 * ```
 */
export declare function toolGroupAt(messages: readonly MessageInput[], index: number): ToolGroup | null;

/**
 * The cosine similarity of two vectors, between -1 and 1. It is 0 when one of them has no length. When one is longer,
 * the rest of it is not looked at.
 *
 * @example
 * ```ts
 * cosine([3, 4], [3, 4]); // => 1
 * cosine([1, 0], new Float32Array([0, 1])); // => 0
 * ```
 */
export declare function cosine(a: Vector, b: Vector): number;

// ---------------------------------------------------------------------------------------------------------------------
// Errors
// ---------------------------------------------------------------------------------------------------------------------

/** What can go wrong, as a code that does not change between releases. */
export type MemorylineErrorCode =
  /**
   * An argument has the wrong type or shape. Thrown at once, as a TypeError that names the argument; a message that
   * JSON cannot hold (a BigInt or a circle in `meta`) makes `add` reject with it.
   */
  | 'ERR_MEMORYLINE_INVALID_ARGUMENT'
  /**
   * An option has the wrong type or is out of range. Thrown at once, as a TypeError or RangeError that names the
   * option.
   */
  | 'ERR_MEMORYLINE_INVALID_OPTION'
  /** A TypeError: stored or imported state is not the state of a session, or lacks the part that the message names. */
  | 'ERR_MEMORYLINE_INVALID_STATE'
  /** A session was called from inside one of its own running callbacks. The message names the session. */
  | 'ERR_MEMORYLINE_REENTRANT'
  /** `summarize` returned no text. The fold failed, and the summary stays. */
  | 'ERR_MEMORYLINE_SUMMARY_EMPTY'
  /** A TypeError: a function of the app returned a value of the wrong type. The message names the option. */
  | 'ERR_MEMORYLINE_CALLBACK_RESULT'
  /** SQLite failed. The message names the path and the cause. */
  | 'ERR_MEMORYLINE_STORE'
  /** The store was closed before. */
  | 'ERR_MEMORYLINE_CLOSED'
  /** Other writers changed the session every time this operation tried to save it. Nothing was saved; call again. */
  | 'ERR_MEMORYLINE_CONFLICT'
  /** A fault in this package. Please report it. */
  | 'ERR_MEMORYLINE_INTERNAL';

/**
 * The shape of the errors that this package makes: a TypeError, RangeError or Error with a code. There is no class of
 * this name; look at `code`.
 *
 * What a function of the app throws, and what a store or database client of the app throws, arrives as the very same
 * object, without a code of this package.
 *
 * @example
 * ```ts
 * const memory = createMemory();
 * let code: MemorylineErrorCode | undefined;
 * try {
 *   memory.session('');
 * } catch (error) {
 *   code = (error as MemorylineError).code;
 * }
 * code; // => 'ERR_MEMORYLINE_INVALID_ARGUMENT'
 * ```
 */
export interface MemorylineError extends Error {
  /** What went wrong. */
  readonly code: MemorylineErrorCode;
}
