// Code as apps have written it against memoryline 0.2. All of it must go on compiling.
import {
  assertSessionState,
  cosine,
  createMemory,
  extractiveSummary,
  factsPrompt,
  Memory,
  MemoryStore,
  messageText,
  parseFacts,
  RedisStore,
  renderMemory,
  Session,
  SqlStore,
  summaryPrompt,
  toAnthropic,
  toolGroupAt,
  toOpenAI,
} from 'memoryline';
import type {
  AddResult,
  AnthropicContentBlock,
  AnthropicMessage,
  ArchivedMessage,
  CompactResult,
  ContextOptions,
  Embedder,
  ExtractFactsInput,
  Fact,
  FactExtractor,
  FactInput,
  MemoryContext,
  MemoryOptions,
  Message,
  OpenAIMessage,
  OpenAIToolCall,
  RecalledMessage,
  RedisLike,
  RedisStoreOptions,
  RenderOptions,
  RetrieveInput,
  Retriever,
  Role,
  SessionState,
  SqlDialect,
  SqlQuery,
  SqlStoreOptions,
  Store,
  StoredMessage,
  SummarizeInput,
  Summarizer,
  ToolCall,
  ToolGroup,
} from 'memoryline';

const embed: Embedder = async (texts) => texts.map(() => [1, 2]);
const embedNow: Embedder = (texts) => [[texts.length]];
const summarize: Summarizer = async (input) => input.previousSummary + input.messages.length;
const extractFacts: FactExtractor = ({ messages }) => parseFacts(messages.map((message) => message.content).join('\n'));
const retrieve: Retriever = ({ archive, topK, minScore }) =>
  archive.map((message) => ({ message, score: minScore })).slice(0, topK);
const query: SqlQuery = async (sql, params) => ({ rows: [{ sql, params }] });
const dialect: SqlDialect = 'sqlite';
const sqlOptions: SqlStoreOptions = { query, table: 'sessions', dialect };
const redisOptions: RedisStoreOptions = { prefix: 'chat:', ttlSeconds: 60 };
const headings: RenderOptions = { headings: { summary: '# Summary', facts: '# Facts', recalled: '# Earlier' } };

const values = new Map<string, string>();
const redis: RedisLike = {
  async get(key) {
    return values.get(key) ?? null;
  },
  async set(key, value) {
    values.set(key, value);
  },
  async del(key) {
    values.delete(key);
  },
  async expire(_key, _seconds) {},
};

class LayeredStore implements Store {
  constructor(private readonly inner: Store) {}
  async load(id: string): Promise<SessionState | null> {
    return (await this.inner.load(id)) ?? null;
  }
  async save(state: SessionState): Promise<void> {
    return this.inner.save(state);
  }
  delete(id: string): void | Promise<void> {
    return this.inner.delete(id);
  }
}

const states = new Map<string, SessionState>();
const plainStore: Store = {
  load: (id) => states.get(id),
  save: (state) => {
    states.set(state.id, state);
  },
  delete: (id) => {
    states.delete(id);
  },
};
const nullStore: Store = { load: () => null, save() {}, async delete() {} };
const stores: Store[] = [
  new MemoryStore(),
  new SqlStore(sqlOptions),
  new RedisStore(redis, redisOptions),
  new LayeredStore(plainStore),
  nullStore,
];

const archived: ArchivedMessage[] = [];
const options: MemoryOptions = {
  budget: { maxTokens: 4000, targetTokens: 2000, keepRecent: 4, summaryMaxTokens: 500, perMessageOverhead: 4 },
  alignToUser: true,
  recall: { topK: 3, minScore: 0.25, maxTokens: 800 },
  archive: { max: 1000 },
  summarize,
  extractFacts,
  embed,
  retrieve,
  onArchive: async (_sessionId, messages) => {
    archived.push(...messages);
  },
  countTokens: (text) => text.length,
  store: new LayeredStore(new MemoryStore()),
  clock: () => 0,
};

// An app that calls its own typed embedder, and reads rows of numbers from it.
export async function nearest(text: string): Promise<number> {
  const [row] = await embed([text]);
  const first: number[] | undefined = row;
  const now = await embedNow([text]);
  return cosine(first ?? [], now[0] ?? []);
}

export async function use(): Promise<MemoryContext> {
  const memory: Memory = createMemory(options);
  const other = new Memory();
  const session: Session = memory.session('user:42');
  const id: string = session.id;

  const one: Message = { role: 'user', content: 'Any tables for six?' };
  const call: ToolCall = { id: 'call_1', name: 'find_slots', arguments: { party: 6 } };
  const many: Message[] = [
    one,
    { role: 'assistant', content: '', toolCalls: [call, { id: 'call_2', name: 'find_slots', arguments: '{}' }] },
    { role: 'tool', toolCallId: 'call_1', name: 'find_slots', content: '7pm', at: 1, meta: { source: 'pos' } },
  ];
  await session.add(one);
  const result: AddResult = await session.add(many);
  const { added, compacted, folded, summary, facts } = result;
  const compact: CompactResult = await session.compact({ force: true });
  await session.compact();

  const fact: FactInput = { key: 'party_size', value: '6' };
  await session.pin('name', 'Dana');
  await session.pin(fact);
  const pinned: Fact[] = await session.pin([fact]);
  const removed: boolean = await session.unpin('party_size');
  const stored: StoredMessage[] = await session.messages();
  const firstId: number | undefined = stored[0]?.id;
  const calls: ToolCall[] = stored[0]?.toolCalls ?? [];
  const roles: Role[] = stored.map((message) => message.role);
  const state: SessionState = await session.state();
  const copy: SessionState | null = await memory.export(id);
  if (copy !== null) await other.import(copy);
  await other.import(JSON.parse(JSON.stringify(state)));
  await session.clear();
  await memory.forget(id);

  const contextOptions: ContextOptions = { query: 'parking', recall: false, topK: 2 };
  const context: MemoryContext = await session.context(contextOptions);
  const total: number = context.tokens.total + context.tokens.summary + context.tokens.facts;
  const hits: RecalledMessage[] = context.recalled;
  const recent: Message[] = context.recent;
  renderMemory(context, headings);
  renderMemory({ summary, facts, recalled: hits });

  const group: ToolGroup | null = toolGroupAt(recent, 0);
  const openai: OpenAIMessage[] = toOpenAI(context, { systemPrompt: 'Be brief.' });
  const openaiCalls: OpenAIToolCall[] = openai.flatMap((message) => message.tool_calls ?? []);
  const answered = openai.map((message) => message.tool_call_id).filter((value) => value !== undefined);
  const names = openai.map((message) => message.name ?? message.role);
  const { system, messages }: { system: string; messages: AnthropicMessage[] } = toAnthropic(context);
  const blocks: AnthropicContentBlock[] = messages.flatMap((message) =>
    typeof message.content === 'string' ? [] : message.content,
  );
  const uses = blocks.filter((block) => block.type === 'tool_use').map((block) => block.input['party']);

  const input: SummarizeInput = { previousSummary: '', messages: recent, facts, maxTokens: 500 };
  summaryPrompt(input);
  extractiveSummary(input);
  extractiveSummary(input, (text) => text.length);
  const factsInput: ExtractFactsInput = { messages: recent, facts, summary };
  factsPrompt(factsInput);

  const unknownState: unknown = state;
  assertSessionState(unknownState);
  const checked: SessionState = unknownState;

  return [
    added, compacted, folded, compact, pinned, removed, firstId, calls, roles, total, group, openaiCalls, answered,
    names, system, uses, checked, stores, messageText(one),
  ].length > 0
    ? context
    : Promise.reject(new Error());
}

// The retriever of an app that keeps its own index.
export function search(index: (vector: number[], k: number) => { id: number; score: number }[]): Retriever {
  return ({ embedding, topK, minScore, archive }: RetrieveInput) => {
    if (!embedding) return [];
    return index(embedding, topK)
      .filter((hit) => hit.score >= minScore)
      .flatMap((hit) => {
        const message = archive.find((item) => item.id === hit.id);
        return message ? [{ message, score: hit.score }] : [];
      });
  };
}

// A stand-in for a session in an app's own tests.
export const fake: Pick<Session, 'id' | 'add' | 'context'> = {
  id: 'user:42',
  add: async (messages: Message | Message[]) => ({
    added: Array.isArray(messages) ? messages.length : 1,
    compacted: false,
    folded: 0,
    summary: '',
    facts: [],
  }),
  context: async () => ({
    sessionId: 'user:42',
    summary: '',
    facts: [],
    recalled: [],
    recent: [],
    system: '',
    tokens: { summary: 0, facts: 0, recalled: 0, recent: 0, total: 0 },
  }),
};
