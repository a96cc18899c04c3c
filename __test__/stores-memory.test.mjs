import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, MemoryStore } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { user } from './support/messages.mjs';
import { wordBudget } from './support/tokens.mjs';

const state = (id, rest = {}) => ({
  version: 1, id, recent: [], archive: [], summary: '', facts: [], seq: 0, compactions: 0, createdAt: 1, updatedAt: 1, ...rest,
});
const stored = (content, id = 1) => ({ role: 'user', content, id, at: 1, tokens: 1 });

describe('MemoryStore with wrong arguments', () => {
  test('throws when something that is no state is saved', () => {
    const store = new MemoryStore();
    for (const wrong of [undefined, null]) assert.throws(() => store.save(wrong), TypeError);
    assert.deepEqual(store.ids(), []);
  });

  test('throws when a state is saved that JSON cannot say', () => {
    const circular = state('a');
    circular.self = circular;
    const store = new MemoryStore();
    assert.throws(() => store.save(circular), TypeError);
    assert.equal(store.load('a'), null);
  });

  test('knows no session that was never saved', () => {
    const store = new MemoryStore();
    for (const id of ['a', '', '__proto__', 'constructor', 'toString']) assert.equal(store.load(id), null);
    assert.equal(store.delete('a'), undefined);
  });
});

describe('MemoryStore', () => {
  test('answers at once, without promises', () => {
    const store = new MemoryStore();
    assert.equal(store.save(state('a')), undefined);
    assert.deepEqual(store.load('a'), state('a'));
    assert.deepEqual(store.ids(), ['a']);
    assert.equal(store.delete('a'), undefined);
    assert.equal(store.load('a'), null);
    assert.deepEqual(store.ids(), []);
  });

  test('gives back the text of what was saved, key by key', () => {
    const store = new MemoryStore();
    const given = state('a', {
      recent: [{ ...stored('hi', 2), name: 'Dana', meta: { z: 1, a: [2, { 5: 'x' }] } }],
      archive: [{ ...stored('old'), compaction: 1, embedding: [0.1, -2, 3e-7] }],
      summary: 'S', facts: [{ key: 'k', value: 'v', source: 'pinned', at: 1 }], seq: 2, compactions: 1,
    });
    store.save(given);
    assert.equal(JSON.stringify(store.load('a')), JSON.stringify(given));
  });

  test('gives a fresh copy each time and keeps one of its own', () => {
    const store = new MemoryStore();
    const given = state('a', { recent: [stored('hi')] });
    store.save(given);
    given.recent[0].content = 'changed';
    const first = store.load('a');
    first.recent[0].content = 'changed too';
    first.summary = 'changed';
    assert.equal(store.load('a').recent[0].content, 'hi');
    assert.equal(store.load('a').summary, '');
    assert.notEqual(store.load('a'), store.load('a'));
  });

  test('lists ids in the order in which they first came', () => {
    const store = new MemoryStore();
    for (const id of ['b', 'a', '10', '2', 'c']) store.save(state(id));
    store.save(state('b', { summary: 'again' }));
    assert.deepEqual(store.ids(), ['b', 'a', '10', '2', 'c']);
    store.delete('a');
    store.save(state('a'));
    assert.deepEqual(store.ids(), ['b', '10', '2', 'c', 'a']);
  });

  test('hands out a list of ids that is not its own', () => {
    const store = new MemoryStore();
    store.save(state('a'));
    store.ids().length = 0;
    assert.deepEqual(store.ids(), ['a']);
  });

  for (const id of ['__proto__', 'constructor', 'hasOwnProperty', 'ключ 😀', '\ud83d', 'a\0b']) {
    test(`keeps a session called ${JSON.stringify(id)}`, () => {
      const store = new MemoryStore();
      store.save(state(id, { summary: 'S' }));
      assert.equal(store.load(id).summary, 'S');
      assert.deepEqual(store.ids(), [id]);
      store.delete(id);
      assert.equal(store.load(id), null);
    });
  }

  test('keeps a state whose parts are missing', () => {
    const store = new MemoryStore();
    store.save({ version: 1, id: 'a' });
    assert.deepEqual(store.load('a'), { version: 1, id: 'a' });
  });

  test('keeps fields that it does not know', () => {
    const store = new MemoryStore();
    store.save({ ...state('a'), extra: { x: 1 } });
    assert.deepEqual(store.load('a').extra, { x: 1 });
  });
});

describe('MemoryStore under a Memory', () => {
  test('shows what the sessions hold, and what is put into it is what they see', async () => {
    const store = new MemoryStore();
    const memory = createMemory({ store, clock: createClock() });
    await memory.session('a').add(user('hi'));
    assert.deepEqual(store.load('a'), await memory.export('a'));
    assert.deepEqual(store.ids(), ['a']);
    store.save(state('b', { recent: [stored('from outside')], seq: 1 }));
    assert.deepEqual((await memory.session('b').messages()).map(({ content }) => content), ['from outside']);
    store.save(state('a', { summary: 'replaced' }));
    assert.equal((await memory.session('a').state()).summary, 'replaced');
    store.delete('a');
    assert.equal(await memory.export('a'), null);
  });

  test('is told of forget', async () => {
    const store = new MemoryStore();
    const memory = createMemory({ store });
    await memory.session('a').add(user('hi'));
    await memory.forget('a');
    assert.deepEqual([store.load('a'), store.ids()], [null, []]);
  });

  test('serves several memories, which see each other\'s changes', async () => {
    const store = new MemoryStore();
    const [one, two] = [createMemory({ store }), createMemory({ store })];
    await one.session('a').add(user('from one'));
    await two.session('a').add(user('from two'));
    await one.session('a').add(user('one again'));
    assert.deepEqual((await two.session('a').messages()).map(({ id, content }) => [id, content]), [
      [1, 'from one'], [2, 'from two'], [3, 'one again'],
    ]);
  });

  test('loses nothing when two memories change one session at the same time', async () => {
    const store = new MemoryStore();
    const options = { store, summarize: async () => 'S', ...wordBudget({ maxTokens: 8, keepRecent: 2 }) };
    const memories = [createMemory(options), createMemory(options)];
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => memories[index % 2].session('a').add(user(`m${index}`))),
    );
    const { archive, recent } = store.load('a');
    const all = [...archive, ...recent];
    assert.deepEqual(all.map(({ content }) => content).sort(), Array.from({ length: 60 }, (_, index) => `m${index}`).sort());
    assert.deepEqual(all.map(({ id }) => id), Array.from({ length: 60 }, (_, index) => index + 1));
  });

  test('rejects a session whose stored state is not one of ours, but exports it', async () => {
    const store = new MemoryStore();
    store.save({ version: 9, id: 'a' });
    const memory = createMemory({ store });
    await assert.rejects(memory.session('a').messages(), {
      name: 'TypeError', message: 'memoryline: unsupported session state version 9', code: 'ERR_MEMORYLINE_INVALID_STATE',
    });
    assert.deepEqual(await memory.export('a'), { version: 9, id: 'a' });
  });
});
