// Notes which AsyncLocalStorage value each function of the app sees, under calls that come at the same time.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createMemory, MemoryStore, SqliteStore } from '../../support/library.mjs';

const storage = new AsyncLocalStorage();
const user = (content) => ({ role: 'user', content });
const seen = [];
// Notes the value at once and again after an await, together with the value that the call was made under.
const note = (place, value) => async (first) => {
  const id = JSON.stringify(first).match(/"?(request-\d)/)?.[1] ?? null;
  const before = storage.getStore() ?? null;
  await new Promise((resolve) => setImmediate(resolve));
  seen.push({ place, id, before, after: storage.getStore() ?? null });
  return value(first);
};

const create = (store, rest) => createMemory({
  store,
  summarize: note('summarize', () => 'S'),
  extractFacts: note('extractFacts', () => []),
  embed: note('embed', (texts) => texts.map(() => [1])),
  onArchive: note('onArchive', () => {}),
  countTokens: (text) => {
    seen.push({ place: 'countTokens', id: text.match(/request-\d/)?.[0] ?? null, before: storage.getStore() ?? null, after: storage.getStore() ?? null });
    return text.length;
  },
  budget: { maxTokens: 1, keepRecent: 1, perMessageOverhead: 0 },
  ...rest,
});

const states = new Map();
const ownStore = {
  load: note('load', (id) => states.get(id)),
  save: note('save', (state) => void states.set(state.id, structuredClone(state))),
  delete: note('delete', (id) => void states.delete(id)),
};

// Made outside of any request: the value must come from the call, not from where the memory was made.
const memories = [create(new MemoryStore()), create(new SqliteStore(':memory:')), create(ownStore)];
const searching = create(new MemoryStore(), { retrieve: note('retrieve', () => []) });
const failing = create(new MemoryStore(), {
  summarize: () => Promise.reject(new Error('down')),
  compaction: { onError: 'defer' },
  onError: (_, { sessionId }) => seen.push({ place: 'onError', id: sessionId, before: storage.getStore() ?? null, after: storage.getStore() ?? null }),
});

const results = [];
await Promise.all(
  Array.from({ length: 5 }, (_, index) => storage.run(`request-${index}`, async () => {
    const id = `request-${index}`;
    for (const memory of memories) {
      const session = memory.session(id);
      // The second is called while the first still runs, under another value: each must keep its own.
      await Promise.all([session.add([user(id), user(id)]), session.add(user(id))]);
      await session.context({ query: id });
      await memory.forget(id);
    }
    await searching.session(id).add([user(id), user(id)]);
    await searching.session(id).context({ query: id });
    await failing.session(id).add([user(id), user(id)]);
    results.push({ id, afterwards: storage.getStore() ?? null });
  })),
);

// One session, calls from different requests that wait for each other.
const shared = create(new MemoryStore()).session('shared');
await Promise.all(
  Array.from({ length: 5 }, (_, index) => storage.run(`request-${index}`, () => shared.add([user(`request-${index}`), user(`request-${index}`), user('end')]))),
);
console.log(JSON.stringify({ seen, results }));
