import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, SqliteStore } from './support/library.mjs';
import { user } from './support/messages.mjs';
import { wordBudget } from './support/tokens.mjs';

const working = { summarize: () => 'S', extractFacts: () => [], embed: (texts) => texts.map(() => [1, 0]), onArchive() {} };
const budget = wordBudget({ maxTokens: 2, targetTokens: 1, keepRecent: 1 });
const codeOf = (option) => ({ name: 'TypeError', code: 'ERR_MEMORYLINE_CALLBACK_RESULT', message: new RegExp(`^memoryline: .*${option}`) });

describe('a function of the app that answers with the wrong type', () => {
  const rows = [
    ['summarize', 'an object', {}],
    ['summarize', 'an array', ['S']],
    ['summarize', 'a function', () => 'S'],
    ['summarize', 'a symbol', Symbol('S')],
    ['extractFacts', 'a string', 'k: v'],
    ['extractFacts', 'a number', 5],
    ['extractFacts', 'an object that is no array', { key: 'k', value: 'v' }],
    ['extractFacts', 'a function', () => []],
    ['embed', 'a string', 'vectors'],
    ['embed', 'a number', 5],
    ['embed', 'null', null],
    ['embed', 'undefined', undefined],
    ['embed', 'rows of text', [['a'], ['b'], ['c']]],
    ['embed', 'rows that are numbers', [1, 2, 3]],
    ['embed', 'rows with NaN', [[1, NaN], [1, 1], [1, 1]]],
    ['embed', 'rows with Infinity', [[1, 1], [1, Infinity], [1, 1]]],
    ['embed', 'rows with holes of undefined', [[1, undefined], [1, 1], [1, 1]]],
    ['embed', 'rows of BigInt', [[1n], [1n], [1n]]],
    ['embed', 'rows in an integer array', [Int8Array.of(1), Int8Array.of(1), Int8Array.of(1)]],
  ];
  for (const [option, what, value] of rows) {
    test(`makes add reject with an error that names it: ${option} with ${what}`, async () => {
      for (const answer of [() => value, async () => value]) {
        const session = createMemory({ ...working, [option]: answer, ...budget }).session('s');
        await session.add(user('kept'));
        const before = await session.state();
        await assert.rejects(session.add([user('a'), user('b'), user('c')]), codeOf(option));
        await assert.rejects(session.add([user('a'), user('b'), user('c')]), codeOf(option));
        assert.deepEqual(await session.state(), before);
      }
    });
  }

  for (const value of ['5', null, undefined, NaN, Infinity, -1, {}, 5n, [5], Promise.resolve(5)]) {
    const shown = value instanceof Promise ? 'a promise' : typeof value === 'string' ? `'${value}'` : typeof value === 'bigint' ? '5n' : String(value);
    test(`makes add reject with an error that names it: countTokens with ${shown}`, async () => {
      const memory = createMemory({ countTokens: () => value });
      await assert.rejects(memory.session('s').add(user('a')), codeOf('countTokens'));
      assert.equal(await memory.export('s'), null);
    });
  }

  for (const value of ['5', null, undefined, NaN, {}, new Date(), 5n, Promise.resolve(5)]) {
    const shown = value instanceof Promise ? 'a promise' : value instanceof Date ? 'a Date' : typeof value === 'string' ? `'${value}'` : String(value);
    test(`makes add reject with an error that names it: clock with ${shown}`, async () => {
      await assert.rejects(createMemory({ clock: () => value }).session('s').add(user('a')), codeOf('clock'));
    });
  }

  test('is not one of them when it is not a function at all: that fails when it is used', async () => {
    for (const option of ['summarize', 'extractFacts', 'embed', 'onArchive']) {
      const session = createMemory({ ...working, [option]: 'not a function', ...budget }).session('s');
      await assert.rejects(session.add([user('a'), user('b'), user('c')]), TypeError, option);
    }
    await assert.rejects(createMemory({ countTokens: 5 }).session('s').add(user('a')), TypeError);
  });
});

// What an app may throw: an error of its own class, something frozen, and things that are no errors at all.
class Refusal extends Error {
  constructor() {
    super('the model refused');
    this.name = 'Refusal';
    this.status = 429;
  }
}
const THROWN = [
  ['an error', () => new Error('plain')],
  ['an error of a class of the app', () => new Refusal()],
  ['a frozen error', () => Object.freeze(new TypeError('frozen'))],
  ['an object', () => ({ status: 500 })],
  ['a function', () => () => 'thrown'],
  ['a string', () => 'just a string'],
  ['an empty string', () => ''],
  ['a number', () => 0],
  ['null', () => null],
  ['undefined', () => undefined],
  ['a symbol', () => Symbol('thrown')],
];
const WAYS = [
  ['throws', (thrown) => { throw thrown; }],
  ['rejects with', (thrown) => Promise.reject(thrown)],
  ['later throws', async (thrown) => {
    await new Promise((resolve) => setImmediate(resolve));
    throw thrown;
  }],
];

// The reason a promise is rejected with, in a box, since the reason may be undefined.
const reasonOf = (promise) => promise.then(() => assert.fail('this should have been rejected'), (reason) => ({ reason }));

for (const [how, fail] of WAYS) {
  describe(`a function of the app that ${how}`, () => {
    for (const [what, make] of THROWN) {
      test(`${what} makes the operation reject with just that`, async () => {
        for (const option of ['summarize', 'extractFacts', 'embed']) {
          const thrown = make();
          const session = createMemory({ ...working, [option]: () => fail(thrown), ...budget }).session('s');
          assert.ok(Object.is((await reasonOf(session.add([user('a'), user('b'), user('c')]))).reason, thrown), `${option} in add`);
          await session.add([user('a'), user('b')]);
          assert.ok(Object.is((await reasonOf(session.compact({ force: true }))).reason, thrown), `${option} in compact`);
        }
        const thrown = make();
        const session = createMemory({ ...working, retrieve: () => fail(thrown), ...budget }).session('s');
        await session.add([user('a'), user('b'), user('c')]);
        assert.ok(Object.is((await reasonOf(session.context())).reason, thrown), 'retrieve in context');
      });
    }
  });
}

describe('an error of the app', () => {
  test('keeps its stack, its class and what was written on it', async () => {
    const summarize = async function summarizeOfTheApp() {
      throw Object.assign(new Refusal(), { cause: 'quota' });
    };
    const session = createMemory({ summarize, ...budget }).session('s');
    const { reason } = await reasonOf(session.add([user('a'), user('b'), user('c')]));
    assert.ok(reason instanceof Refusal);
    assert.deepEqual([reason.message, reason.status, reason.cause], ['the model refused', 429, 'quota']);
    assert.match(reason.stack, /summarizeOfTheApp/);
    assert.match(reason.stack, /errors-callbacks\.test\.mjs/);
    assert.equal('code' in reason, false);
  });

  test('comes from countTokens as the same object and changes nothing', async () => {
    const failure = new Error('no tokenizer');
    const memory = createMemory({
      countTokens: () => {
        throw failure;
      },
    });
    await assert.rejects(memory.session('s').add(user('a')), (error) => error === failure);
    assert.equal(await memory.export('s'), null);
  });

  test('comes from countTokens in context as the same object', async () => {
    const failure = new Error('no tokenizer');
    let broken = false;
    const countTokens = () => {
      if (broken) throw failure;
      return 1;
    };
    const session = createMemory({ countTokens }).session('s');
    await session.add(user('a'));
    await session.pin('k', 'v');
    broken = true;
    await assert.rejects(session.context(), (error) => error === failure);
  });

  test('in a getter of a message comes out of add', async () => {
    const failure = new Error('in a getter');
    const message = {
      role: 'user',
      get content() {
        throw failure;
      },
    };
    await assert.rejects(async () => createMemory().session('s').add(message), (error) => error === failure);
  });
});

describe('after a failed fold', () => {
  for (const option of ['summarize', 'extractFacts', 'embed']) {
    test(`nothing has changed and the same call can be made again: ${option}`, async () => {
      for (const store of [undefined, new SqliteStore(':memory:')]) {
        let broken = true;
        const functions = { ...working };
        const answer = functions[option];
        functions[option] = (...inputs) => {
          if (broken) throw new Error('down');
          return answer(...inputs);
        };
        const memory = createMemory({ ...functions, store, clock: () => 5, ...budget });
        const session = memory.session('s');
        const messages = [user('a'), user('b'), user('c')];
        for (let attempt = 0; attempt < 3; attempt++) await assert.rejects(session.add(messages), { message: 'down' });
        assert.equal(await memory.export('s'), null);
        broken = false;
        assert.equal((await session.add(messages)).folded, 2);
        const { archive, recent, compactions } = await session.state();
        assert.deepEqual([...archive, ...recent].map(({ id, content }) => [id, content]), [[1, 'a'], [2, 'b'], [3, 'c']]);
        assert.equal(compactions, 1);
      }
    });
  }

  test('a later step that fails undoes the steps before it', async () => {
    let broken = true;
    const session = createMemory({
      ...working,
      summarize: () => 'new summary',
      extractFacts: () => [{ key: 'new', value: 'fact' }],
      embed: (texts) => (broken ? Promise.reject(new Error('down')) : working.embed(texts)),
      ...budget,
    }).session('s');
    await session.pin('old', 'fact');
    await assert.rejects(session.add([user('a'), user('b'), user('c')]), { message: 'down' });
    const { summary, facts, archive, recent, compactions } = await session.state();
    assert.deepEqual([summary, facts.map(({ key }) => key), archive, recent, compactions], ['', ['old'], [], [], 0]);
    broken = false;
    assert.deepEqual((await session.add([user('a'), user('b'), user('c')])).facts.map(({ key }) => key), ['old', 'new']);
  });
});

describe('onArchive that fails', () => {
  for (const [how, fail] of WAYS) {
    test(`and ${how} an error makes add reject with it, although messages and fold are kept`, async () => {
      const failure = new Error('the index is down');
      const session = createMemory({ ...working, onArchive: () => fail(failure), ...budget }).session('s');
      await assert.rejects(session.add([user('a'), user('b'), user('c')]), (error) => error === failure);
      const { archive, recent, summary } = await session.state();
      assert.deepEqual([archive.map(({ id }) => id), recent.map(({ id }) => id), summary], [[1, 2], [3], 'S']);
    });
  }

  test('makes compact reject with it, although the fold is kept', async () => {
    const failure = new Error('the index is down');
    const session = createMemory({ ...working, onArchive: () => Promise.reject(failure), ...budget }).session('s');
    await session.add([user('a'), user('b')]);
    await assert.rejects(session.compact({ force: true }), (error) => error === failure);
    assert.deepEqual((await session.messages()).map(({ id }) => id), [2]);
  });

  test('is not told of the same fold again', async () => {
    const seen = [];
    const onArchive = (_, items) => {
      seen.push(items.map(({ id }) => id));
      throw new Error('down');
    };
    const session = createMemory({ ...working, onArchive, ...budget }).session('s');
    await assert.rejects(session.add([user('a'), user('b'), user('c')]));
    await session.add(user('d'));
    await assert.rejects(session.add(user('e')));
    assert.deepEqual(seen, [[1, 2], [3, 4]]);
  });
});

describe('a rejected operation', () => {
  test('raises nothing beside its rejection', async () => {
    const unhandled = [];
    const listen = (reason) => unhandled.push(reason);
    process.on('unhandledRejection', listen);
    process.on('uncaughtException', listen);
    try {
      for (const [, fail] of WAYS) {
        const failure = new Error('down');
        for (const option of ['summarize', 'extractFacts', 'embed', 'onArchive']) {
          const session = createMemory({ ...working, [option]: () => fail(failure), ...budget }).session('s');
          await assert.rejects(session.add([user('a'), user('b'), user('c')]), (error) => error === failure);
        }
      }
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', listen);
      process.off('uncaughtException', listen);
    }
    assert.deepEqual(unhandled, []);
  });
});
