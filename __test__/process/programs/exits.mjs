// Does one thing with the library and then has nothing left to do, so the process should end by itself.
import { rmSync } from 'node:fs';
import { createMemory, MemoryStore, SqliteStore } from '../../support/library.mjs';

const [name, file] = process.argv.slice(2);
const never = () => new Promise(() => {});
const budget = { countTokens: (text) => text.length, budget: { maxTokens: 1, keepRecent: 1, perMessageOverhead: 0 } };
const user = (content) => ({ role: 'user', content });
const two = () => [user('a'), user('b')];

const functions = {
  summarize: async () => 'S',
  extractFacts: async () => [{ key: 'k', value: 'v' }],
  embed: async (texts) => texts.map(() => [1, 2]),
  retrieve: async () => [],
  onArchive: async () => {},
  onError() {},
  clock: () => 5,
  ...budget,
};

const cases = {
  async 'only loads the library'() {},
  async 'makes a memory and uses it not'() {
    createMemory();
  },
  async 'uses the store in memory'() {
    await createMemory().session('s').add(user('hi'));
    await createMemory().session('s').context();
  },
  async 'registers functions and never uses them'() {
    const memory = createMemory(functions);
    await memory.session('s').add(user('a'));
  },
  async 'uses all its functions'() {
    const memory = createMemory(functions);
    await memory.session('s').add(two());
    await memory.session('s').context();
    globalThis.kept = memory;
  },
  async 'leaves an add that was not awaited'() {
    createMemory(functions).session('s').add(two());
  },
  async 'opens a file and closes it'() {
    const store = new SqliteStore(file);
    await createMemory({ store, ...functions }).session('s').add(two());
    store.close();
  },
  async 'opens a file and does not close it'() {
    const store = new SqliteStore(file);
    await createMemory({ store, ...functions }).session('s').add(two());
    globalThis.kept = store;
  },
  async 'opens a file and does nothing with it'() {
    globalThis.kept = new SqliteStore(file);
  },
  async 'closes a file in the middle of an add'() {
    const store = new SqliteStore(file);
    createMemory({ store, ...functions }).session('s').add(two()).catch(() => {});
    store.close();
  },
  async 'leaves many files open'() {
    globalThis.kept = Array.from({ length: 20 }, () => new SqliteStore(':memory:'));
    await Promise.all(globalThis.kept.map((store) => createMemory({ store }).session('s').add(user('a'))));
  },
  async 'has its file deleted under it'() {
    const store = new SqliteStore(file);
    await createMemory({ store }).session('s').add(user('a'));
    rmSync(file);
  },
  async 'exits in the middle of an add'() {
    createMemory(functions).session('s').add(two());
    process.exit(0);
  },
  async 'exits inside a function of the app'() {
    createMemory({ ...functions, summarize: () => process.exit(0) }).session('s').add(two());
  },
};
for (const stage of ['summarize', 'extractFacts', 'embed', 'onArchive']) {
  cases[`waits for a ${stage} that never settles`] = async () => {
    createMemory({ ...functions, [stage]: never }).session('s').add(two());
  };
  cases[`waits for a ${stage} that never settles, with more queued behind it`] = async () => {
    const session = createMemory({ ...functions, [stage]: never }).session('s');
    for (const operation of [session.add(two()), session.add(two()), session.context(), session.clear()]) operation.catch(() => {});
  };
  cases[`waits for a ${stage} that never settles, over a file`] = async () => {
    const store = new SqliteStore(file);
    const session = createMemory({ store, ...functions, [stage]: never }).session('s');
    session.add(two());
    session.add(two());
  };
}
cases['waits for a retrieve that never settles'] = async () => {
  const session = createMemory({ ...functions, retrieve: never }).session('s');
  await session.add(two());
  session.context({ query: 'q' });
  session.add(user('c'));
};
cases['waits for a store that never settles'] = async () => {
  const store = { load: never, save: never, delete: never };
  createMemory({ store }).session('s').add(user('a'));
  createMemory({ store }).session('s').clear();
};
cases['closes a file while a function never settles'] = async () => {
  const store = new SqliteStore(file);
  createMemory({ store, ...functions, summarize: never }).session('s').add(two()).catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  store.close();
};
// Nothing but the library's own work keeps these alive: ending too early would leave out the last line and the code 0.
for (const [kind, create] of [['the store in memory', () => new MemoryStore()], ['a file', () => new SqliteStore(file)]]) {
  cases[`awaits many folds one after the other, over ${kind}`] = async () => {
    const session = createMemory({ store: create(), ...functions }).session('s');
    for (let turn = 0; turn < 1000; turn++) await session.add(two());
  };
  cases[`awaits many folds at once, over ${kind}`] = async () => {
    const memory = createMemory({ store: create(), ...functions });
    await Promise.all(Array.from({ length: 1000 }, (_, turn) => memory.session(`s${turn % 7}`).add(two())));
  };
}
cases['has a store of each kind at once'] = async () => {
  const memories = [new MemoryStore(), new SqliteStore(':memory:'), new SqliteStore(file)].map((store) => createMemory({ store, ...functions }));
  await Promise.all(memories.map((memory) => memory.session('s').add(two())));
};

if (name === 'list') {
  console.log(JSON.stringify(Object.keys(cases)));
} else {
  // Whatever is printed here must be printed: an exit in the middle of things would leave it out.
  process.on('exit', (code) => console.log(`exit ${code}`));
  await cases[name]();
  console.log('done');
}
