import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, MemoryStore, SqliteStore } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { user } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget } from './support/tokens.mjs';

const working = { summarize: () => 'S', extractFacts: () => [], embed: (texts) => texts.map(() => [1, 0]), onArchive() {} };
const budget = wordBudget({ maxTokens: 2, targetTokens: 1, keepRecent: 1 });
const three = () => [user('a'), user('b'), user('c')];

// A memory in which the function called `option` fails until it is repaired, and which keeps what onError hears.
function failing(option, options = {}) {
  const failure = options.failure === undefined ? new Error('down') : options.failure;
  const heard = [];
  let broken = true;
  const answer = working[option];
  const memory = createMemory({
    ...working,
    [option]: (...inputs) => {
      if (broken) throw failure;
      return answer(...inputs);
    },
    compaction: { onError: 'defer' },
    onError: (error, info) => heard.push([error, info]),
    ...budget,
    ...options,
  });
  const repair = () => {
    broken = false;
  };
  return { memory, session: memory.session('s'), failure, heard, repair };
}

describe('what is deferred', () => {
  test('is not a wrong argument: that still throws at once', () => {
    const { session } = failing('summarize');
    assert.throws(() => session.add([user('a'), { role: 'user' }]), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_ARGUMENT' });
  });

  test('is not a failing store: that still rejects', async () => {
    const down = new Error('the disk is full');
    const store = new JsonStore();
    const { session, heard } = failing('summarize', { store });
    store.save = () => Promise.reject(down);
    await assert.rejects(session.add(user('a')), (error) => error === down);
    await assert.rejects(session.add(three()), (error) => error === down);
    store.load = () => Promise.reject(down);
    await assert.rejects(session.add(user('a')), (error) => error === down);
    assert.ok(heard.every(([error]) => error !== down));
  });

  test('is not a failing tokenizer: that still rejects and stores nothing', async () => {
    const down = new Error('no tokenizer');
    const { memory, session } = failing('summarize', {
      countTokens: () => {
        throw down;
      },
    });
    await assert.rejects(session.add(user('a')), (error) => error === down);
    assert.equal(await memory.export('s'), null);
  });

  test('is nothing when the two words are "throw": the fold rejects the add', async () => {
    const { memory, session, failure } = failing('summarize', { compaction: { onError: 'throw' } });
    await assert.rejects(session.add(three()), (error) => error === failure);
    assert.equal(await memory.export('s'), null);
  });
});

for (const option of ['summarize', 'extractFacts', 'embed']) {
  describe(`a deferred fold in which ${option} fails`, () => {
    test('keeps the messages and says in the result, last, what was thrown', async () => {
      for (const store of [new MemoryStore(), new JsonStore(), new SqliteStore(':memory:')]) {
        const { session, failure } = failing(option, { store });
        const result = await session.add(three());
        assert.deepEqual(Object.keys(result), ['added', 'compacted', 'folded', 'summary', 'facts', 'error']);
        assert.equal(result.error, failure);
        assert.deepEqual([result.added, result.compacted, result.folded, result.summary, result.facts], [3, false, 0, '', []]);
        assert.deepEqual((await session.messages()).map(({ id, content }) => [id, content]), [[1, 'a'], [2, 'b'], [3, 'c']]);
        const { archive, compactions, summary } = await session.state();
        assert.deepEqual([archive, compactions, summary], [[], 0, '']);
      }
    });

    test('is told to onError once, with the session, the stage and the operation', async () => {
      const { session, failure, heard } = failing(option);
      await session.add(three());
      assert.equal(heard.length, 1);
      assert.equal(heard[0][0], failure);
      assert.deepEqual(heard[0][1], { sessionId: 's', stage: option, operation: 'add' });
    });

    test('is tried again at the next turn and then folds what has come together', async () => {
      const { session, repair, heard } = failing(option);
      await session.add(three());
      await session.add(user('d'));
      assert.equal(heard.length, 2);
      repair();
      const result = await session.add(user('e'));
      assert.deepEqual([result.compacted, result.folded, 'error' in result], [true, 4, false]);
      const { archive, recent, compactions } = await session.state();
      assert.deepEqual([archive.map(({ id }) => id), recent.map(({ id }) => id), compactions], [[1, 2, 3, 4], [5], 1]);
      assert.equal(heard.length, 2);
    });

    test('leaves a context that works, with the whole window', async () => {
      const { session } = failing(option);
      await session.add(three());
      const context = await session.context({ recall: false });
      assert.deepEqual(context.recent.map(({ content }) => content), ['a', 'b', 'c']);
      assert.equal(context.tokens.recent, 3);
    });

    test('can be asked for by compact, which resolves and says what was thrown', async () => {
      const { session, failure, heard, repair } = failing(option);
      await session.add([user('a'), user('b')]);
      const result = await session.compact({ force: true });
      assert.deepEqual([result.folded, result.summary, result.facts], [0, '', []]);
      assert.deepEqual([Object.keys(result).at(-1), result.error === failure], ['error', true]);
      assert.equal(heard[0][0], failure);
      assert.deepEqual(heard[0][1], { sessionId: 's', stage: option, operation: 'compact' });
      repair();
      assert.equal(JSON.stringify(await session.compact({ force: true })), '{"folded":1,"summary":"S","facts":[]}');
    });
  });
}

describe('a deferred fold', () => {
  test('takes nothing over from the steps that worked before the one that failed', async () => {
    const { session } = failing('embed', { summarize: () => 'new', extractFacts: () => [{ key: 'k', value: 'v' }] });
    const result = await session.add(three());
    assert.deepEqual([result.summary, result.facts], ['', []]);
    assert.deepEqual(await session.facts(), []);
  });

  test('keeps the summary and the facts of before', async () => {
    let broken = false;
    const session = createMemory({
      summarize: () => (broken ? '' : 'said before'), extractFacts: () => [{ key: 'k', value: 'v' }], compaction: { onError: 'defer' }, ...budget,
    }).session('s');
    await session.add(three());
    broken = true;
    const result = await session.add([user('d'), user('e')]);
    assert.equal(result.error.code, 'ERR_MEMORYLINE_SUMMARY_EMPTY');
    assert.deepEqual([result.compacted, result.folded, result.summary, result.facts.map(({ key }) => key)], [false, 0, 'said before', ['k']]);
    assert.equal((await session.context()).summary, 'said before');
  });

  test('is one for a result of the wrong type as for an error', async () => {
    const session = createMemory({ summarize: () => ({}), compaction: { onError: 'defer' }, ...budget }).session('s');
    const { error, added } = await session.add(three());
    assert.deepEqual([added, error.code, error.name], [3, 'ERR_MEMORYLINE_CALLBACK_RESULT', 'TypeError']);
  });

  for (const failure of ['a string', 0, null, false]) {
    test(`says that ${JSON.stringify(failure)} was thrown, as it is`, async () => {
      const { session, heard } = failing('summarize', { failure });
      const result = await session.add(three());
      assert.deepEqual(['error' in result, result.error, heard.map(([error]) => error)], [true, failure, [failure]]);
    });
  }

  test('goes on for as long as the model is away, and no message is lost', async () => {
    const { session, repair } = failing('summarize', { clock: createClock() });
    for (let turn = 0; turn < 30; turn++) await session.add(user(`m${turn}`));
    repair();
    assert.equal((await session.add(user('last'))).folded, 30);
    const { archive, recent } = await session.state();
    assert.deepEqual([...archive, ...recent].map(({ id }) => id), Array.from({ length: 31 }, (_, index) => index + 1));
  });

  test('is not tried again by reading', async () => {
    const { session, heard } = failing('summarize');
    await session.add(three());
    await session.context();
    await session.messages();
    await session.pin('k', 'v');
    assert.equal(heard.length, 1);
  });

  test('is tried again by compact() without force, since the window is over its budget', async () => {
    const { session, repair } = failing('summarize');
    await session.add(three());
    repair();
    assert.equal((await session.compact()).folded, 2);
  });

  test('does no harm when onError is missing, throws, or rejects', async () => {
    const unhandled = [];
    const listen = (reason) => unhandled.push(reason);
    process.on('unhandledRejection', listen);
    try {
      for (const onError of [undefined, () => { throw new Error('in the handler'); }, () => Promise.reject(new Error('in the handler'))]) {
        const { session, failure } = failing('summarize', { onError });
        assert.equal((await session.add(three())).error, failure);
      }
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', listen);
    }
    assert.deepEqual(unhandled, []);
  });

  test('is told to onError before the add resolves', async () => {
    const steps = [];
    const { session } = failing('summarize', { onError: () => steps.push('heard') });
    await session.add(three());
    steps.push('added');
    assert.deepEqual(steps, ['heard', 'added']);
  });
});

describe('a deferred onArchive that fails', () => {
  test('leaves the fold done and says in the result, last, what was thrown', async () => {
    const { session, failure, heard } = failing('onArchive');
    const result = await session.add(three());
    assert.deepEqual(Object.keys(result), ['added', 'compacted', 'folded', 'summary', 'facts', 'error']);
    assert.deepEqual([result.compacted, result.folded, result.summary], [true, 2, 'S']);
    assert.equal(result.error, failure);
    assert.equal(heard.length, 1);
    assert.equal(heard[0][0], failure);
    assert.deepEqual(heard[0][1], { sessionId: 's', stage: 'onArchive', operation: 'add' });
    assert.deepEqual((await session.state()).archive.map(({ id }) => id), [1, 2]);
  });

  test('is told from compact as from add', async () => {
    const { session, failure, heard } = failing('onArchive');
    await session.add([user('a'), user('b')]);
    const result = await session.compact({ force: true });
    assert.deepEqual([result.folded, result.error === failure], [1, true]);
    assert.deepEqual(heard[0][1], { sessionId: 's', stage: 'onArchive', operation: 'compact' });
  });
});

describe('a turn in which nothing fails', () => {
  test('has the same result as without compaction.onError', async () => {
    const create = (compaction) => createMemory({ ...working, clock: () => 5, compaction, ...budget }).session('s');
    const [deferring, throwing] = [create({ onError: 'defer' }), create(undefined)];
    for (let turn = 0; turn < 4; turn++) {
      assert.equal(JSON.stringify(await deferring.add(three())), JSON.stringify(await throwing.add(three())));
    }
    assert.equal(JSON.stringify(await deferring.state()), JSON.stringify(await throwing.state()));
  });
});
