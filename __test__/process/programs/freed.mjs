// Makes many of one thing, forgets them, and counts how many the garbage collector gave back. Needs --expose-gc.
import { createMemory, MemoryStore, SqliteStore } from '../../support/library.mjs';

const COUNT = 50;
const ROUNDS = 200;
const user = (content) => ({ role: 'user', content });
const two = () => [user('a'), user('b')];
const budget = { countTokens: (text) => text.length, budget: { maxTokens: 1, keepRecent: 1, perMessageOverhead: 0 } };

let freed = 0;
const registry = new FinalizationRegistry(() => (freed += 1));
const watched = [];
const watch = (object) => {
  registry.register(object);
  watched.push(new WeakRef(object));
  return object;
};

// A memory with functions of its own that have been used, each function watched.
async function used(options = {}) {
  const functions = {
    summarize: watch(async () => 'S'),
    extractFacts: watch(() => [{ key: 'k', value: 'v' }]),
    embed: watch(async (texts) => texts.map(() => Float32Array.of(1, 2))),
    retrieve: watch(async ({ archive }) => archive.map((message) => ({ message, score: 1 }))),
    onArchive: watch(() => {}),
    onError: watch(() => {}),
    clock: watch(() => 5),
    countTokens: watch((text) => text.length),
  };
  const memory = watch(createMemory({ ...budget, ...functions, ...options }));
  const session = watch(memory.session('s'));
  await session.add(two());
  await session.add(two());
  await session.context();
  return memory;
}

const cases = {
  async 'memories that were never used'() {
    for (let index = 0; index < COUNT; index++) {
      watch(createMemory({ summarize: watch(() => 'S'), embed: watch(() => []), ...budget }));
    }
  },
  async 'sessions of a memory that stays'() {
    globalThis.kept = createMemory({ summarize: async () => 'S', ...budget });
    for (let index = 0; index < COUNT; index++) await watch(globalThis.kept.session(`s${index}`)).add(two());
  },
  async 'memories with their sessions and functions'() {
    for (let index = 0; index < COUNT; index++) await used();
  },
  async 'memories over stores of their own'() {
    for (let index = 0; index < COUNT; index++) await used({ store: watch(index % 2 === 0 ? new MemoryStore() : new SqliteStore(':memory:')) });
  },
  async 'memories over a store that stays'() {
    globalThis.kept = [new MemoryStore(), new SqliteStore(':memory:')];
    for (let index = 0; index < COUNT; index++) await used({ store: globalThis.kept[index % 2] });
  },
  async 'memories over a store of the app'() {
    const states = new Map();
    for (let index = 0; index < COUNT; index++) {
      const store = watch({ load: (id) => states.get(id), save: (state) => void states.set(state.id, state), delete: (id) => void states.delete(id) });
      await used({ store });
    }
  },
  async 'memories whose functions failed'() {
    for (let index = 0; index < COUNT; index++) {
      const summarize = watch(async () => {
        throw watch(new Error('down'));
      });
      const memory = watch(createMemory({ summarize, ...budget }));
      await memory.session('s').add(two()).catch(() => {});
    }
  },
  async 'what the functions were given and gave'() {
    globalThis.kept = createMemory({
      summarize: (input) => {
        watch(input);
        watch(input.messages[0]);
        return Promise.resolve('S');
      },
      embed: (texts) => watch(texts.map(() => watch(Float32Array.of(1, 2)))),
      onArchive: (_, items) => void watch(items[0]),
      ...budget,
    });
    for (let index = 0; index < COUNT; index++) watch(await globalThis.kept.session('s').add(watch(two())));
  },
};

const [name] = process.argv.slice(2);
if (name === 'list') {
  console.log(JSON.stringify(Object.keys(cases)));
} else {
  await cases[name]();
  // Rounds, not time: each lets promises, native queues and finalizers run.
  let round = 0;
  while (round < ROUNDS && (freed < watched.length || watched.some((reference) => reference.deref() !== undefined))) {
    round += 1;
    await new Promise((resolve) => setImmediate(resolve));
    global.gc();
  }
  console.log(JSON.stringify({ made: watched.length, freed, alive: watched.filter((reference) => reference.deref() !== undefined).length }));
}
