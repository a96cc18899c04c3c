import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, MemoryStore, SqliteStore } from './support/library.mjs';
import { deferred } from './support/deferred.mjs';
import { user } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget } from './support/tokens.mjs';

const fold = (rest = {}) => ({ ...wordBudget({ maxTokens: 1, keepRecent: 1 }), summarize: () => 'S', ...rest });

// A memory whose next fold of the session waits until the test lets it go on.
function held(options = {}) {
  const started = deferred();
  const gate = deferred();
  let waits = true;
  const summarize = async () => {
    if (!waits) return 'S';
    waits = false;
    started.resolve();
    await gate.promise;
    return 'held';
  };
  return { memory: createMemory({ ...fold(), summarize, ...options }), started: started.promise, release: gate.resolve, fail: gate.reject };
}

describe('an operation that is refused', () => {
  test('throws at once even while another one holds the session', async () => {
    const { memory, started, release } = held();
    const session = memory.session('s');
    const first = session.add([user('a'), user('b')]);
    await started;
    assert.throws(() => session.add({ role: 'user' }), TypeError);
    assert.throws(() => session.context({ topK: -1 }), RangeError);
    assert.throws(() => session.unpin(5), TypeError);
    release();
    assert.equal((await first).added, 2);
  });

  test('or fails does not stop those behind it', async () => {
    const { memory, started, fail } = held();
    const session = memory.session('s');
    await session.add(user('a'));
    const failure = new Error('no model');
    const first = session.add(user('b'));
    const second = session.add(user('c'));
    const third = session.messages();
    await started;
    fail(failure);
    await assert.rejects(first, (error) => error === failure);
    assert.equal((await second).summary, 'S');
    assert.deepEqual((await third).map(({ id, content }) => [id, content]), [[2, 'c']]);
  });

  test('or fails many times in a row leaves the session as it was', async () => {
    let failing = true;
    const session = createMemory(fold({ summarize: () => (failing ? Promise.reject(new Error('down')) : 'S') })).session('s');
    await session.add(user('first'));
    const before = await session.state();
    const results = await Promise.allSettled(Array.from({ length: 50 }, (_, index) => session.add(user(`m${index}`))));
    assert.ok(results.every(({ status }) => status === 'rejected'));
    assert.deepEqual(await session.state(), before);
    failing = false;
    assert.deepEqual((await session.add(user('m'))).folded, 1);
  });
});

describe('operations on one session', () => {
  test('run in the order of their calls, whatever their kind', async () => {
    const order = [];
    const { memory, started, release } = held();
    const session = memory.session('s');
    const note = (name) => (value) => {
      order.push(name);
      return value;
    };
    const other = memory.session('s');
    const all = [
      session.add([user('a'), user('b')]).then(note('add')),
      session.context().then(note('context')),
      other.pin('k', 'v').then(note('pin')),
      session.facts().then(note('facts')),
      memory.export('s').then(note('export')),
      other.compact({ force: true }).then(note('compact')),
      session.unpin('k').then(note('unpin')),
      session.messages().then(note('messages')),
      session.state().then(note('state')),
      memory.forget('s').then(note('forget')),
      session.messages().then(note('messages after forget')),
      memory.import({ version: 1, id: 's', recent: [], archive: [], summary: 'I', facts: [], seq: 0, compactions: 0, createdAt: 1, updatedAt: 1 }).then(note('import')),
      session.clear().then(note('clear')),
      session.add(user('last')).then(note('add again')),
    ];
    await started;
    assert.deepEqual(order, []);
    release();
    const results = await Promise.all(all);
    assert.deepEqual(order, [
      'add', 'context', 'pin', 'facts', 'export', 'compact', 'unpin', 'messages', 'state', 'forget', 'messages after forget', 'import', 'clear', 'add again',
    ]);
    const [, context, pinned, facts, exported, , unpinned, , state, , afterForget] = results;
    assert.deepEqual([context.summary, pinned.length, facts.length, exported.facts.length, unpinned], ['held', 1, 1, 1, true]);
    assert.deepEqual([state.facts, afterForget], [[], []]);
    assert.deepEqual((await session.messages()).map(({ id, content }) => [id, content]), [[1, 'last']]);
  });

  test('keep the order of many adds that were not awaited', async () => {
    for (const store of [new MemoryStore(), new JsonStore(), new SqliteStore(':memory:')]) {
      const session = createMemory({ store, ...wordBudget({ maxTokens: 10, keepRecent: 2 }), summarize: async () => 'S' }).session('s');
      await Promise.all(Array.from({ length: 100 }, (_, index) => session.add([user(`m${2 * index}`), user(`m${2 * index + 1}`)])));
      const { archive, recent } = await session.state();
      assert.deepEqual(
        [...archive, ...recent].map(({ id, content }) => [id, content]),
        Array.from({ length: 200 }, (_, index) => [index + 1, `m${index}`]),
      );
    }
  });

  test('wait for the model of the one before, so a fold and an add do not mix', async () => {
    const inputs = [];
    const { memory, started, release } = held();
    const session = memory.session('s');
    const first = session.add([user('a'), user('b')]);
    const second = session.add(user('c')).then((result) => inputs.push(result.folded));
    await started;
    assert.deepEqual(inputs, []);
    release();
    await Promise.all([first, second]);
    const { archive, recent } = await session.state();
    assert.deepEqual([archive.map(({ content, compaction }) => [content, compaction]), recent.map(({ content }) => content)], [[['a', 1], ['b', 2]], ['c']]);
  });

  test('wait behind a fold also when they only read', async () => {
    const { memory, started, release } = held();
    const session = memory.session('s');
    const adding = session.add([user('a'), user('b')]);
    await started;
    const reading = session.context();
    release();
    await adding;
    assert.equal((await reading).summary, 'held');
  });

  test('see what was done before them in the same tick', async () => {
    const session = createMemory().session('s');
    session.add(user('a'));
    session.pin('k', 'v');
    assert.deepEqual([(await session.messages()).length, (await session.facts()).length], [1, 1]);
  });

  test('take messages and states as they were when the call was made', async () => {
    const { memory, started, release } = held();
    const session = memory.session('s');
    const first = session.add([user('a'), user('b')]);
    await started;
    const message = user('as called');
    const fact = { key: 'k', value: 'as called' };
    const second = session.add(message);
    const third = session.pin(fact);
    message.content = 'changed since';
    fact.value = 'changed since';
    release();
    await Promise.all([first, second, third]);
    assert.equal((await session.messages()).at(-1).content, 'as called');
    assert.equal((await session.facts())[0].value, 'as called');
  });
});

describe('operations on different sessions', () => {
  test('do not wait for each other', async () => {
    const { memory, started, release } = held();
    const slow = memory.session('slow').add([user('a'), user('b')]);
    await started;
    const fast = memory.session('fast');
    assert.equal((await fast.add([user('c'), user('d')])).summary, 'S');
    await fast.pin('k', 'v');
    assert.equal((await fast.context()).facts.length, 1);
    assert.notEqual(await memory.export('fast'), null);
    await memory.forget('fast');
    release();
    assert.equal((await slow).summary, 'held');
  });

  test('can wait for the model at the same time', async () => {
    const gates = Array.from({ length: 20 }, deferred);
    let running = 0;
    const all = deferred();
    const summarize = async () => {
      const gate = gates[running++];
      if (running === gates.length) all.resolve();
      await gate.promise;
      return 'S';
    };
    const memory = createMemory(fold({ summarize }));
    const adding = gates.map((_, index) => memory.session(`s${index}`).add([user('a'), user('b')]));
    await all.promise;
    for (const gate of gates.reverse()) gate.resolve();
    assert.equal((await Promise.all(adding)).length, 20);
  });

  test('of two memories are two sessions, even under one id', async () => {
    const { memory, started, release } = held();
    const slow = memory.session('s').add([user('a'), user('b')]);
    await started;
    assert.equal((await createMemory().session('s').add(user('c'))).added, 1);
    release();
    assert.equal((await slow).added, 2);
  });
});

describe('two memories over one store of the app', () => {
  test('are not coordinated: the last writer wins', async () => {
    const store = new JsonStore();
    const { memory: slow, started, release } = held({ store });
    const quick = createMemory({ store });
    const adding = slow.session('s').add([user('a'), user('b')]);
    await started;
    await quick.session('s').add(user('lost'));
    release();
    await adding;
    const { archive, recent } = await quick.session('s').state();
    assert.deepEqual([...archive, ...recent].map(({ content }) => content), ['a', 'b']);
  });
});

for (const [name, create] of [['MemoryStore', () => new MemoryStore()], ['SqliteStore', () => new SqliteStore(':memory:')]]) {
  describe(`two memories over one ${name}`, () => {
    test('lose nothing when one writes while the other waits for its model', async () => {
      const store = create();
      const { memory: slow, started, release } = held({ store });
      const quick = createMemory({ store });
      await quick.session('s').add(user('before'));
      const adding = slow.session('s').add([user('a'), user('b')]);
      await started;
      await quick.session('s').add(user('meanwhile'));
      await quick.session('s').pin('k', 'v');
      release();
      await adding;
      const { archive, recent, facts } = await quick.session('s').state();
      const all = [...archive, ...recent];
      assert.deepEqual(all.map(({ content }) => content).sort(), ['a', 'b', 'before', 'meanwhile']);
      assert.deepEqual(all.map(({ id }) => id), [1, 2, 3, 4]);
      assert.deepEqual(facts.map(({ key }) => key), ['k']);
    });

    test('lose nothing when both write as fast as they can', async () => {
      const store = create();
      const memories = [0, 1, 2].map(() => createMemory({ store, ...wordBudget({ maxTokens: 9, keepRecent: 3 }), summarize: async () => 'S' }));
      await Promise.all(Array.from({ length: 90 }, (_, index) => memories[index % 3].session('s').add(user(`m${index}`))));
      const { archive, recent } = await memories[0].session('s').state();
      const all = [...archive, ...recent];
      assert.deepEqual(all.map(({ id }) => id), Array.from({ length: 90 }, (_, index) => index + 1));
      assert.equal(new Set(all.map(({ content }) => content)).size, 90);
    });
  });
}
