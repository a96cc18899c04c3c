import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, MemoryStore } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { user } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget } from './support/tokens.mjs';

describe('a store of the app that fails', () => {
  for (const [how, fail] of [
    ['throws', (failure) => { throw failure; }],
    ['rejects', (failure) => Promise.reject(failure)],
  ]) {
    test(`and ${how} in load makes every operation that reads reject with the same object`, async () => {
      const failure = new Error('down');
      const store = new JsonStore();
      store.load = () => fail(failure);
      const memory = createMemory({ store });
      const session = memory.session('s');
      for (const operate of [
        () => session.add(user('x')), () => session.context(), () => session.messages(), () => session.facts(), () => session.state(),
        () => session.pin('k', 'v'), () => session.unpin('k'), () => session.compact(), () => memory.export('s'),
      ]) {
        await assert.rejects(operate(), (error) => error === failure);
      }
      assert.equal(store.count('save'), 0);
    });

    test(`and ${how} in save makes every operation that changes reject with the same object and change nothing`, async () => {
      const failure = { code: 'not even an Error' };
      const store = new JsonStore();
      const memory = createMemory({ store });
      const session = memory.session('s');
      await session.add(user('kept'));
      await session.pin('k', 'v');
      const before = await session.state();
      const save = store.save.bind(store);
      store.save = () => fail(failure);
      for (const operate of [
        () => session.add(user('x')), () => session.pin('a', 'b'), () => session.unpin('k'), () => memory.import({ version: 1, id: 's' }),
      ]) {
        await assert.rejects(operate(), (error) => error === failure);
      }
      assert.deepEqual(await session.state(), before);
      store.save = save;
      await session.add(user('x'));
      assert.deepEqual((await session.messages()).map(({ id, content }) => [id, content]), [[1, 'kept'], [2, 'x']]);
    });

    test(`and ${how} in delete makes forget and clear reject with the same object`, async () => {
      const failure = new Error('down');
      const store = new JsonStore();
      store.delete = () => fail(failure);
      const memory = createMemory({ store });
      await memory.session('s').add(user('kept'));
      await assert.rejects(memory.forget('s'), (error) => error === failure);
      await assert.rejects(memory.session('s').clear(), (error) => error === failure);
      assert.equal((await memory.session('s').messages()).length, 1);
    });
  }

  test('by giving something that is no session makes operations reject', async () => {
    for (const [loaded, message] of [
      [5, 'session state must be an object'],
      ['text', 'session state must be an object'],
      [{ version: 2, id: 's' }, 'unsupported session state version 2'],
      [{ version: 1 }, 'session state needs an id'],
    ]) {
      const memory = createMemory({ store: { load: () => loaded, save() {}, delete() {} } });
      await assert.rejects(memory.session('s').add(user('x')), { name: 'TypeError', message: `memoryline: ${message}`, code: 'ERR_MEMORYLINE_INVALID_STATE' });
      await assert.rejects(memory.session('s').context(), { name: 'TypeError', message: `memoryline: ${message}` });
    }
  });

  test('makes an operation reject when it has not the method', async () => {
    await assert.rejects(createMemory({ store: {} }).session('s').add(user('x')), TypeError);
  });
});

describe('a store of the app', () => {
  test('needs load, save and delete and nothing else', async () => {
    const states = new Map();
    const store = {
      load: (id) => states.get(id),
      save: (state) => void states.set(state.id, structuredClone(state)),
      delete: (id) => void states.delete(id),
    };
    const memory = createMemory({ store });
    await memory.session('s').add(user('hi'));
    assert.equal(states.get('s').recent[0].content, 'hi');
    await memory.forget('s');
    assert.equal(states.size, 0);
  });

  for (const missing of [null, undefined]) {
    test(`may say ${missing} for a session that there is not`, async () => {
      const memory = createMemory({ store: new JsonStore({ missing }) });
      assert.equal(await memory.export('s'), null);
      assert.deepEqual(await memory.session('s').messages(), []);
      await memory.session('s').add(user('hi'));
      assert.equal((await memory.session('s').messages()).length, 1);
    });
  }

  test('is asked on every operation, so a change from outside is seen', async () => {
    const store = new JsonStore();
    const session = createMemory({ store }).session('s');
    await session.add(user('mine'));
    store.texts.set('s', store.texts.get('s').replace('mine', 'changed outside'));
    assert.equal((await session.messages())[0].content, 'changed outside');
    store.texts.clear();
    assert.deepEqual(await session.messages(), []);
  });

  test('is called as a method', async () => {
    const session = createMemory({ store: new JsonStore() }).session('s');
    await session.add(user('hi'));
    assert.equal((await session.messages()).length, 1);
  });

  test('is saved to once for an add that folds, with everything done', async () => {
    const store = new JsonStore();
    const saved = [];
    const save = store.save.bind(store);
    store.save = (state) => {
      saved.push(JSON.parse(JSON.stringify(state)));
      return save(state);
    };
    const session = createMemory({
      store, clock: createClock(), summarize: () => 'S', extractFacts: () => [{ key: 'k', value: 'v' }], embed: () => [[1]],
      ...wordBudget({ maxTokens: 1, keepRecent: 1 }),
    }).session('s');
    await session.add([user('a'), user('b')]);
    assert.equal(saved.length, 1);
    assert.deepEqual(saved[0], await session.state());
    assert.deepEqual([saved[0].archive.length, saved[0].recent.length, saved[0].summary, saved[0].facts.length], [1, 1, 'S', 1]);
  });

  test('may answer at once or with a promise', async () => {
    const state = { version: 1, id: 's', recent: [], archive: [], summary: 'S', facts: [], seq: 0, compactions: 0, createdAt: 1, updatedAt: 1 };
    for (const load of [() => state, async () => state, () => ({ then: (resolve) => resolve(state) })]) {
      const memory = createMemory({ store: { load, save() {}, delete() {} } });
      assert.equal((await memory.session('s').state()).summary, 'S');
    }
  });

  test('may be a Proxy or have its methods on a prototype', async () => {
    class Inherited extends JsonStore {}
    for (const store of [new Inherited(), new Proxy(new JsonStore(), {})]) {
      const session = createMemory({ store }).session('s');
      await session.add(user('hi'));
      assert.equal((await session.messages())[0].content, 'hi');
    }
  });
});

describe('a MemoryStore that the app has changed', () => {
  test('is asked through the methods of its subclass', async () => {
    const log = [];
    class Logged extends MemoryStore {
      load(id) {
        log.push(`load ${id}`);
        return super.load(id);
      }
      save(state) {
        log.push(`save ${state.id}`);
        super.save(state);
      }
      delete(id) {
        log.push(`delete ${id}`);
        super.delete(id);
      }
    }
    const store = new Logged();
    const memory = createMemory({ store });
    await memory.session('s').add(user('hi'));
    assert.deepEqual(log, ['load s', 'save s']);
    assert.equal(store.load('s').recent[0].content, 'hi');
    await memory.forget('s');
    assert.equal(log.at(-1), 'delete s');
    assert.equal(await memory.export('s'), null);
  });

  test('is asked through a method that was replaced on the object', async () => {
    const store = new MemoryStore();
    const failure = new Error('save was replaced');
    store.save = () => {
      throw failure;
    };
    await assert.rejects(createMemory({ store }).session('s').add(user('hi')), (error) => error === failure);
    assert.deepEqual(store.ids(), []);
  });

  test('is asked through a method that was replaced after the memory was made', async () => {
    const store = new MemoryStore();
    const session = createMemory({ store }).session('s');
    await session.add(user('hi'));
    const saved = [];
    const save = store.save.bind(store);
    store.save = (state) => {
      saved.push(state.id);
      save(state);
    };
    await session.add(user('again'));
    assert.deepEqual(saved, ['s']);
    assert.equal((await session.messages()).length, 2);
  });
});
