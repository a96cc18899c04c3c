// The public types: what comes out exactly, what goes in, and what is refused.
import {
  assertSessionState,
  argumentsText,
  cosine,
  createMemory,
  Memory,
  MemoryStore,
  messageText,
  parseArguments,
  Session,
  SqliteStore,
  toOpenAI,
  toolGroupAt,
  transcript,
} from 'memoryline';
import type {
  AddResult,
  ArchivedMessage,
  CompactResult,
  Embedder,
  Embeddings,
  ErrorInfo,
  Fact,
  MemoryContext,
  OpenAIContentPart,
  MemorylineError,
  MemorylineErrorCode,
  MemoryOptions,
  MessageInput,
  OpenAIMessage,
  Role,
  SessionState,
  SessionStateInput,
  SqliteStoreOptions,
  Store,
  Vector,
} from 'memoryline';

/** Compiles only when both types are the same, `any` and optional members included. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(...proof: Same<A, B> extends true ? [] : ['the types differ']): void;

declare const session: Session;
declare const memory: Memory;

// --- What comes out

same<Awaited<ReturnType<Session['add']>>, AddResult>();
same<Awaited<ReturnType<Session['compact']>>, CompactResult>();
same<Awaited<ReturnType<Session['context']>>, MemoryContext>();
same<Awaited<ReturnType<Memory['export']>>, SessionState | null>();
same<Role, 'user' | 'assistant' | 'system' | 'tool'>();
same<Fact['source'], 'pinned' | 'extracted'>();
same<NonNullable<ArchivedMessage['embedding']>, number[]>();
same<OpenAIMessage['role'], Role>();
same<ErrorInfo['stage'], 'summarize' | 'extractFacts' | 'embed' | 'onArchive'>();
same<ErrorInfo['operation'], 'add' | 'compact' | 'context'>();
same<MemorylineError['code'], MemorylineErrorCode>();
same<ReturnType<MemoryStore['ids']>, string[]>();
same<ReturnType<SqliteStore['ids']>, Promise<string[]>>();
same<AddResult['error'], unknown>();
same<MemoryContext['recallError'], unknown>();

// @ts-expect-error The number of tokens is not text: `same` tells types apart.
same<MemoryContext['tokens']['total'], string>();

// --- Messages that go in

const constant = [
  { role: 'user', content: 'Any tables for six?' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'find_slots', arguments: { party: 6 } }] },
  { role: 'tool', content: '7pm', toolCallId: 'call_1' },
] as const;
session.add(constant);
session.add(constant[1]);
messageText(constant[0]);
transcript(constant);
toolGroupAt(constant, 1);
argumentsText(constant[1].toolCalls[0]);
parseArguments(constant[1].toolCalls[0]);

// Members that may be undefined, as an app's own rows have them.
declare const row: {
  role: 'user' | 'assistant';
  content: string;
  name: string | undefined;
  at: number | undefined;
  toolCalls: readonly { id: string; name: string; arguments: string }[] | undefined;
};
session.add(row);
session.add([row]);
const frozen: readonly MessageInput[] = Object.freeze([row]);
session.add(frozen);

// Interfaces without an index signature, as arguments and as meta.
interface Slots {
  party: number;
}
declare const slots: Slots;
const call = { id: 'call_1', name: 'find_slots', arguments: slots };
session.add({ role: 'assistant', content: '', toolCalls: [call], meta: slots });

// @ts-expect-error A role that does not exist.
session.add({ role: 'developer', content: '' });
// @ts-expect-error The content is needed.
session.add({ role: 'user' });
// @ts-expect-error The content is text.
session.add({ role: 'user', content: null });
// @ts-expect-error A member that would be dropped.
session.add({ role: 'user', content: '', tool_calls: [] });
// @ts-expect-error A call needs an id.
session.add({ role: 'assistant', content: '', toolCalls: [{ name: 'find_slots', arguments: '{}' }] });
// @ts-expect-error Arguments are text or an object.
session.add({ role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'find_slots', arguments: 6 }] });
// @ts-expect-error `null` is not a list of calls.
session.add({ role: 'assistant', content: '', toolCalls: null });
// @ts-expect-error There is no message.
session.add();
// @ts-expect-error Text is not a message.
session.add('Hello');

// --- Sessions and facts

// @ts-expect-error Sessions are made by `memory.session`.
new Session();
// @ts-expect-error An id is text.
memory.session(42);
// @ts-expect-error The id of a session does not change.
session.id = 'other';
// @ts-expect-error A key needs a value.
session.pin('name');
// @ts-expect-error The value is text.
session.pin('party_size', 6);
session.pin([{ key: 'name', value: 'Dana' }] as const);
session.context({ query: undefined, recall: undefined, topK: undefined, minScore: 0.3 });
// @ts-expect-error The query is text.
session.context({ query: 42 });
// @ts-expect-error A number is needed.
session.context({ topK: '3' });
// @ts-expect-error An option that does not exist.
session.context({ limit: 3 });

// --- Options

createMemory();
createMemory({});
createMemory({ budget: undefined, recall: undefined, summarize: undefined, store: undefined, clock: undefined });
createMemory({ budget: { maxTokens: undefined }, archive: { max: undefined }, compaction: { onError: undefined } });
createMemory({
  compaction: { onError: 'defer' },
  onError: (error, { sessionId, stage, operation }) => console.error(error, sessionId, stage, operation),
});
createMemory({ onArchive: (_sessionId, messages) => messages.length });
createMemory({ onError: async () => {} });
// @ts-expect-error An option that does not exist.
createMemory({ maxTokens: 4000 });
// @ts-expect-error A misspelt member.
createMemory({ budget: { maxToken: 4000 } });
// @ts-expect-error A number is needed.
createMemory({ budget: { maxTokens: '4000' } });
// @ts-expect-error Another word than the two.
createMemory({ compaction: { onError: 'ignore' } });
// @ts-expect-error Tokens are counted synchronously.
createMemory({ countTokens: async (text) => text.length });
// @ts-expect-error The time is a number.
createMemory({ clock: () => new Date() });
// @ts-expect-error A summary is text.
createMemory({ summarize: () => null });
// @ts-expect-error A fact needs a value.
createMemory({ extractFacts: () => [{ key: 'name' }] });
// @ts-expect-error A store needs `delete`.
createMemory({ store: { load: () => null, save: () => {} } });

const shared: Readonly<MemoryOptions> = Object.freeze({ budget: Object.freeze({ maxTokens: 100 }) });
createMemory(shared);

// --- Embeddings

const rows: Embedder<Float32Array[]> = (texts) => texts.map(() => new Float32Array(3));
const flat: Embedder<Float64Array> = async (texts) => new Float64Array(texts.length * 3);
const sized: Embedder<{ data: number[]; dimensions: number }> = () => ({ data: [1, 2, 3], dimensions: 3 });
const either: Embedder<Embeddings> = Math.random() < 0.5 ? rows : flat;
const plain: Embedder = async () => [[1, 2]];
for (const embed of [rows, flat, sized, either, plain]) createMemory({ embed });
createMemory({ embed: (texts) => texts.map(() => [1, 2]) });
createMemory({ embed: async (texts) => texts.map((text) => (text ? new Float32Array(2) : new Float64Array(2))) });
createMemory({ embed: async () => ({ data: new Float32Array(3), dimensions: 3 }) });
createMemory({ embed: async () => [[1, 2]] as const });
// @ts-expect-error A plain list of numbers has no row length.
createMemory({ embed: () => [1, 2, 3] });
// @ts-expect-error The row length is missing.
createMemory({ embed: () => ({ data: [1, 2, 3] }) });
// @ts-expect-error Whole numbers of eight bits are not an embedding.
createMemory({ embed: () => new Uint8Array(3) });
// @ts-expect-error Numbers are needed.
createMemory({ embed: () => [['1', '2']] });

const vector: Vector = new Float32Array(2);
cosine(vector, [1, 2]);
cosine([1, 2] as const, new Float64Array(2));
// @ts-expect-error A list of vectors is not a vector.
cosine([[1]], [1]);

// --- States

declare const state: SessionState;
const packed: SessionStateInput = {
  ...state,
  archive: state.archive.map((message) => ({ ...message, embedding: Float32Array.from(message.embedding ?? []) })),
};
memory.import(state);
memory.import(packed);
// @ts-expect-error Another version.
memory.import({ ...state, version: 2 });
// @ts-expect-error `null` is what `export` gives for an unknown session.
memory.import(null);

export function check(value: unknown): string {
  // @ts-expect-error Not known to be a state before it is checked.
  void value.summary;
  assertSessionState(value);
  return value.summary;
}

// --- Stores

export const memoryStore: Store = new MemoryStore();
const sqliteOptions: SqliteStoreOptions = { durability: 'full', busyTimeoutMs: undefined };
const sqlite = new SqliteStore('chat.db', sqliteOptions);
export const sqliteStore: Store = sqlite;
export const disposable: Disposable & AsyncDisposable = sqlite;
same<ReturnType<SqliteStore['close']>, void>();
same<Awaited<ReturnType<SqliteStore['load']>>, SessionState | null>();
export async function scope(): Promise<string[]> {
  using first = new SqliteStore(':memory:');
  await using second = new SqliteStore(':memory:');
  return [...(await first.ids()), ...(await second.ids())];
}
// @ts-expect-error A path is needed.
new SqliteStore();
// @ts-expect-error Another word than the two.
new SqliteStore(':memory:', { durability: 'off' });
// @ts-expect-error A number is needed.
new SqliteStore(':memory:', { busyTimeoutMs: '5s' });

// --- Rendered messages

for (const message of toOpenAI({} as MemoryContext)) {
  if (message.role === 'tool') same<typeof message.tool_call_id, string>();
  if (message.role === 'user') same<typeof message.tool_calls, undefined>();
  if (message.role === 'user') same<typeof message.content, string | OpenAIContentPart[]>();
  else same<typeof message.content, string>();
}
// @ts-expect-error An option that does not exist.
toOpenAI({} as MemoryContext, { system: 'Be brief.' });

// --- Errors

export function explain(error: unknown): string {
  const code = (error as MemorylineError).code;
  switch (code) {
    case 'ERR_MEMORYLINE_INVALID_ARGUMENT':
    case 'ERR_MEMORYLINE_INVALID_OPTION':
    case 'ERR_MEMORYLINE_INVALID_STATE':
      return 'wrong input';
    case 'ERR_MEMORYLINE_REENTRANT':
    case 'ERR_MEMORYLINE_SUMMARY_EMPTY':
    case 'ERR_MEMORYLINE_CALLBACK_RESULT':
      return 'the app';
    case 'ERR_MEMORYLINE_STORE':
    case 'ERR_MEMORYLINE_CLOSED':
    case 'ERR_MEMORYLINE_CONFLICT':
      return 'the store';
    case 'ERR_MEMORYLINE_INTERNAL':
      return 'the package';
    default: {
      const none: never = code;
      return none;
    }
  }
}
