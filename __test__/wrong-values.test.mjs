// What is wrong is said with a code and by its name, wherever it comes in.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as library from './support/library.mjs';
import { contextOf, user } from './support/messages.mjs';

const { createMemory, MemoryStore, RedisStore, SqlStore } = library;
const budget = { maxTokens: 1, keepRecent: 0 };
const wrongs = ['x', 5, true, {}, []];

describe('a function option that is no function', () => {
  const cases = {
    summarize: (session) => session.add(user('a')),
    extractFacts: (session) => session.add(user('a')),
    embed: (session) => session.add(user('a')),
    onArchive: (session) => session.add(user('a')),
    countTokens: (session) => session.add(user('a')),
    clock: (session) => session.add(user('a')),
    retrieve: async (session) => {
      await session.add(user('a'));
      await session.context({ query: 'a' });
    },
  };
  for (const [name, use] of Object.entries(cases)) {
    for (const wrong of wrongs) {
      test(`${name}: ${JSON.stringify(wrong)} rejects the call that needs it`, async () => {
        const session = createMemory({ budget, [name]: wrong }).session('s');
        await assert.rejects(use(session), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_OPTION', message: `memoryline: ${name} must be a function` });
      });
    }
    test(`${name}: null is none`, async () => {
      await createMemory({ [name]: null }).session('s').add(user('a'));
    });
  }

  test('onError is checked at once', () => {
    for (const onError of wrongs) {
      assert.throws(() => createMemory({ onError }), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_OPTION', message: 'memoryline: onError must be a function' });
    }
  });

  test('so are the methods of a store, when they are called', async () => {
    for (const store of [{}, 5, 'x', { load: 5 }]) {
      await assert.rejects(createMemory({ store }).session('s').messages(), { code: 'ERR_MEMORYLINE_INVALID_OPTION', message: 'memoryline: store.load must be a function' });
    }
    await assert.rejects(createMemory({ store: { load: () => null } }).session('s').add(user('a')), { message: 'memoryline: store.save must be a function' });
    await assert.rejects(createMemory({ store: { load: () => null } }).forget('s'), { message: 'memoryline: store.delete must be a function' });
  });
});

describe('the answer of a database that cannot be read', () => {
  const state = { version: 1, id: 's', recent: [], archive: [], summary: '', facts: [], seq: 0, compactions: 0, createdAt: 1, updatedAt: 1 };
  for (const answer of [undefined, null, 5, 'rows', {}, { recordset: [{ state }] }, { rows: { state } }, { rows: 5 }, [5], [{ STATE: 'x' }], { rows: [{ State: 'x' }] }, [['x']]]) {
    test(`is no "there is no session": ${JSON.stringify(answer)}`, async () => {
      const written = [];
      const query = (sql, params) => (sql.startsWith('SELECT') ? answer : void written.push(params));
      const session = createMemory({ store: new SqlStore({ query }) }).session('s');
      await assert.rejects(session.add(user('a')), (error) => {
        assert.ok(error instanceof TypeError);
        assert.equal(error.code, 'ERR_MEMORYLINE_CALLBACK_RESULT');
        assert.match(error.message, /^memoryline: query must return /);
        return true;
      });
      assert.deepEqual(written, [], 'nothing is overwritten');
    });
  }
  for (const answer of [[], { rows: [] }, [[], []], { rows: [{ state: null }] }, [{ state: null }], [[{ state: null }], []]]) {
    test(`is one when it has no row or no state: ${JSON.stringify(answer)}`, async () => {
      assert.equal(await new SqlStore({ query: () => answer }).load('s'), null);
    });
  }
  for (const answer of [[{ state }], { rows: [{ state: JSON.stringify(state) }] }, [[{ state: Buffer.from(JSON.stringify(state)) }], []]]) {
    test(`is read in every documented form: ${JSON.stringify(answer).slice(0, 40)}`, async () => {
      assert.deepEqual(await new SqlStore({ query: () => answer }).load('s'), state);
    });
  }
  test('what INSERT and DELETE give is not looked at', async () => {
    const store = new SqlStore({ query: (sql) => (sql.startsWith('SELECT') ? [] : undefined) });
    await store.save(state);
    await store.delete('s');
  });
});

describe('stores throw at once', () => {
  const cases = [
    ['SqlStore without options', () => new SqlStore(), TypeError, 'query must be a function'],
    ['SqlStore without a query', () => new SqlStore({}), TypeError, 'query must be a function'],
    ['a dialect that every object has', () => new SqlStore({ query() {}, dialect: 'toString' }), TypeError, 'dialect must be one of postgres, sqlite, mysql'],
    ['RedisStore without a client', () => new RedisStore(), TypeError, 'client must be a Redis client'],
    ['RedisStore over a string', () => new RedisStore('redis://'), TypeError, 'client must be a Redis client'],
    ...[NaN, -1, 1.5, Infinity, '60', {}].map((ttlSeconds) => [
      `ttlSeconds ${String(ttlSeconds)}`, () => new RedisStore({ expire() {} }, { ttlSeconds }), RangeError, 'ttlSeconds must be a whole number >= 0',
    ]),
  ];
  for (const [what, make, ErrorClass, message] of cases) {
    test(`for ${what}`, () => {
      assert.throws(make, { name: ErrorClass.name, code: 'ERR_MEMORYLINE_INVALID_OPTION', message: `memoryline: ${message}` });
    });
  }
  test('but not for ttlSeconds null, which is none', async () => {
    const commands = [];
    await new RedisStore({ set: async (...command) => commands.push(command), get: async () => null, del: async () => 0 }, { ttlSeconds: null }).save({ id: 's' });
    assert.equal(commands.length, 1);
  });
});

describe('pure functions throw a coded TypeError that names the argument', () => {
  const message = user('a');
  const cases = [
    ...[undefined, null, 5, 'x'].flatMap((wrong) => [
      ['renderMemory', [wrong], 'parts must be an object'], ['messageText', [wrong], 'message must be an object'], ['argumentsText', [wrong], 'call must be an object'],
      ['parseArguments', [wrong], 'call must be an object'], ['summaryPrompt', [wrong], 'input must be an object'], ['factsPrompt', [wrong], 'input must be an object'],
      ['extractiveSummary', [wrong], 'input must be an object'], ['extractiveSummary', [wrong, () => 1], 'input must be an object'],
    ]),
    ...[undefined, null, 5, 'x', {}].flatMap((wrong) => [
      ['transcript', [wrong], 'messages must be a list'], ['renderRecalled', [wrong], 'recalled must be a list'], ['toolGroupAt', [wrong, 0], 'messages must be a list'],
      ['summaryPrompt', [{ messages: wrong }], 'input.messages must be a list'],
    ]),
    ['transcript', [[message, null]], 'every one of messages must be an object'], ['renderRecalled', [[{}]], 'every message of recalled must be an object'],
    ['renderMemory', [{ recalled: [5] }], 'every one of recalled must be an object'],
  ];
  for (const [name, inputs, text] of cases) {
    test(`${name}(${JSON.stringify(inputs).slice(1, -1)})`, () => {
      assert.throws(() => library[name](...inputs), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_ARGUMENT', message: `memoryline: ${text}` });
    });
  }
  test('renderFacts()', () => {
    for (const wrong of [undefined, null, 5, {}]) assert.throws(() => library.renderFacts(wrong), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_ARGUMENT', message: /the facts cannot be read/ });
  });
  test('and lists of any kind are read', () => {
    assert.equal(library.transcript(new Set([message])), 'user: a');
    assert.equal(library.renderRecalled(new Map([[1, 2]]).size === 1 ? [{ message, score: 1 }].values() : []), '- user: a');
  });
});

describe('renderers throw at once', () => {
  for (const name of ['toOpenAI', 'toOpenAIResponses', 'toAnthropic', 'toAISDK', 'toGemini']) {
    test(`${name}`, () => {
      const error = (code, message) => ({ name: 'TypeError', code: `ERR_MEMORYLINE_${code}`, message: `memoryline: ${message}` });
      for (const wrong of [undefined, null, 5, {}, { recent: {} }]) assert.throws(() => library[name](wrong), error('INVALID_ARGUMENT', 'context must be one of session.context()'));
      const promise = createMemory().session('s').context();
      assert.throws(() => library[name](promise), error('INVALID_ARGUMENT', 'context must be one of session.context() (a promise was given: is an await missing?)'));
      assert.throws(() => library[name](contextOf([]), { systemPrompt: 5 }), error('INVALID_OPTION', 'systemPrompt must be a string'));
      assert.throws(() => library[name](contextOf([]), { provider: 5 }), error('INVALID_OPTION', 'provider must be a string'));
      for (const wrong of ['yes', 1, {}]) assert.throws(() => library[name](contextOf([]), { cacheControl: wrong }), error('INVALID_OPTION', 'cacheControl must be true or false'));
      library[name](contextOf([]), { systemPrompt: null, provider: null, cacheControl: null });
    });
  }
});

describe('what functions of the app give', () => {
  test('embed: the answer of a service is told from vectors', async () => {
    for (const answer of [{ object: 'list', data: [{ index: 0, embedding: [1] }] }, { data: [{ embedding: [1] }], dimensions: 1 }]) {
      const session = createMemory({ budget, embed: () => answer }).session('s');
      await assert.rejects(session.add(user('a')), { code: 'ERR_MEMORYLINE_CALLBACK_RESULT', message: /embed must return vectors, not the answer of a service: give response\.data\.map\(\(item\) => item\.embedding\)/ });
    }
  });

  test('embed: numbers that are no whole rows are told with their figures', async () => {
    const cases = [[{ data: [1, 2, 3], dimensions: 2 }, /3 numbers are not rows of 2/], [new Float32Array(3), /3 numbers are not 2 rows of one length/], [{ data: [1, 2] }, /2 numbers are not 2 rows of one length/]];
    for (const [answer, message] of cases) {
      const session = createMemory({ budget, embed: () => answer }).session('s');
      await assert.rejects(session.add([user('a'), user('b')]), { code: 'ERR_MEMORYLINE_CALLBACK_RESULT', message });
    }
  });

  test('retrieve: a message without its id or tokens does not vanish', async () => {
    const whole = { role: 'user', content: 'b', id: 1, at: 1, tokens: 5, compaction: 1 };
    for (const member of ['id', 'tokens']) {
      for (const wrong of [undefined, null, NaN, '5']) {
        const session = createMemory({ budget, retrieve: () => [{ message: { ...whole, [member]: wrong }, score: 1 }] }).session('s');
        await session.add(user('a'));
        await assert.rejects(session.context({ query: 'a' }), { code: 'ERR_MEMORYLINE_CALLBACK_RESULT', message: /retrieve must return messages of the archive, each with the id and the tokens/ });
      }
    }
  });
});

describe('a Redis client', () => {
  for (const answer of [false, true, 0, 5, {}, []]) {
    test(`whose get gives ${JSON.stringify(answer)} has not said that there is no session`, async () => {
      const written = [];
      const client = { get: async () => answer, set: async (...values) => written.push(values), del: async () => 0 };
      const session = createMemory({ store: new RedisStore(client) }).session('s');
      await assert.rejects(session.add(user('a')), { code: 'ERR_MEMORYLINE_CALLBACK_RESULT', message: 'memoryline: client.get must return the stored text, or null when there is none' });
      assert.deepEqual(written, []);
    });
  }
  test('without a command is told which', async () => {
    await assert.rejects(new RedisStore({}).load('s'), { code: 'ERR_MEMORYLINE_INVALID_OPTION', message: 'memoryline: client.get must be a function' });
    await assert.rejects(new RedisStore({}).save({ id: 's' }), { message: 'memoryline: client.set must be a function' });
    await assert.rejects(new RedisStore({}).delete('s'), { message: 'memoryline: client.del must be a function' });
  });
  test('that gives bytes is read', async () => {
    assert.deepEqual(await new RedisStore({ get: async () => Buffer.from('{"a":1}') }).load('s'), { a: 1 });
    for (const none of [null, undefined, '']) assert.equal(await new RedisStore({ get: async () => none }).load('s'), null);
  });
});

test('a memory over a store whose methods are its own still uses them', async () => {
  class Store extends MemoryStore {
    load(id) {
      return super.load(id);
    }
  }
  const session = createMemory({ store: new Store() }).session('s');
  await session.add(user('a'));
  assert.equal((await session.messages()).length, 1);
});
