import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, SqlStore } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { assistant, user } from './support/messages.mjs';
import { createSqlClient, openSqlite } from './support/sql.mjs';
import { wordBudget } from './support/tokens.mjs';

const DDL = 'CREATE TABLE IF NOT EXISTS memoryline_sessions (id VARCHAR(255) PRIMARY KEY, state TEXT NOT NULL, updated_at BIGINT NOT NULL)';
const state = (id, rest = {}) => ({
  version: 1, id, recent: [], archive: [], summary: '', facts: [], seq: 0, compactions: 0, createdAt: 1, updatedAt: 7, ...rest,
});
const answering = (answer) => new SqlStore({ query: async () => answer });

describe('SqlStore without what it needs', () => {
  test('throws when there are no options', () => {
    assert.throws(() => new SqlStore(), TypeError);
    assert.throws(() => new SqlStore(null), TypeError);
  });

  test('rejects with what the client throws, at once or later, as the same object', async () => {
    const failure = new Error('connection lost');
    for (const query of [() => { throw failure; }, () => Promise.reject(failure)]) {
      const store = new SqlStore({ query });
      for (const operate of [() => store.load('a'), () => store.save(state('a')), () => store.delete('a')]) {
        await assert.rejects(async () => operate(), (error) => error === failure);
      }
      await assert.rejects(createMemory({ store }).session('a').add(user('x')), (error) => error === failure);
    }
  });

  test('rejects for text that is not JSON', async () => {
    await assert.rejects(answering([{ state: '{"version":1,' }]).load('a'), { name: 'SyntaxError', code: 'ERR_MEMORYLINE_INVALID_STATE', message: /^memoryline: what is stored is no session state: / });
  });
});

describe('SqlStore.ddl', () => {
  test('creates the table unless it exists', () => {
    assert.equal(SqlStore.ddl(), DDL);
  });

  test('takes another name as it is, unquoted and unchecked', () => {
    assert.equal(SqlStore.ddl('app.chat sessions'), DDL.replace('memoryline_sessions', 'app.chat sessions'));
  });
});

describe('SqlStore says', () => {
  const upserts = {
    conflict: 'ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, updated_at = EXCLUDED.updated_at',
    duplicate: 'ON DUPLICATE KEY UPDATE state = VALUES(state), updated_at = VALUES(updated_at)',
  };
  const rows = [
    ['postgres by default', {}, 'memoryline_sessions', ['$1', '$2', '$3'], upserts.conflict],
    ['postgres', { dialect: 'postgres' }, 'memoryline_sessions', ['$1', '$2', '$3'], upserts.conflict],
    ['sqlite', { dialect: 'sqlite' }, 'memoryline_sessions', ['?', '?', '?'], upserts.conflict],
    ['mysql', { dialect: 'mysql' }, 'memoryline_sessions', ['?', '?', '?'], upserts.duplicate],
    ['another table', { table: 'chat.sessions', dialect: 'sqlite' }, 'chat.sessions', ['?', '?', '?'], upserts.conflict],
    ['another table in postgres', { table: '"Sessions"' }, '"Sessions"', ['$1', '$2', '$3'], upserts.conflict],
    ['another table in mysql', { table: '`s`', dialect: 'mysql' }, '`s`', ['?', '?', '?'], upserts.duplicate],
  ];
  for (const [what, options, table, [first, second, third], upsert] of rows) {
    test(`byte for byte: ${what}`, async () => {
      const client = createSqlClient();
      const store = new SqlStore({ query: (sql, params) => client.query(sql, params), ...options });
      await store.load('a');
      await store.save(state('a'));
      await store.delete('a');
      assert.deepEqual(client.statements, [
        { sql: `SELECT state FROM ${table} WHERE id = ${first}`, params: ['a'] },
        {
          sql: `INSERT INTO ${table} (id, state, updated_at) VALUES (${first}, ${second}, ${third}) ${upsert}`,
          params: ['a', JSON.stringify(state('a')), 7],
        },
        { sql: `DELETE FROM ${table} WHERE id = ${first}`, params: ['a'] },
      ]);
    });
  }
});

describe('SqlStore reads', () => {
  const given = state('a', { summary: 'S' });
  const text = JSON.stringify(given);
  for (const [what, answer, expected] of [
    ['an object with rows', { rows: [{ state: text }] }, given],
    ['an array of rows', [{ state: text }], given],
    ['the rows and fields of mysql2', [[{ state: text }], [{ name: 'state' }]], given],
    ['a state that the client has parsed', { rows: [{ state: given }] }, given],
    ['a state that mysql2 has parsed', [[{ state: given }], []], given],
    ['no row in an object', { rows: [] }, null],
    ['no row in an array', [], null],
    ['no row of mysql2', [[], [{ name: 'state' }]], null],
    ['a state that is null', [{ state: null }], null],
    ['a state that is null in mysql2', [[{ state: null }], []], null],
  ]) {
    test(what, async () => {
      assert.deepEqual(await answering(answer).load('a'), expected);
    });
  }

  test('an answer that did not need to be waited for', async () => {
    assert.deepEqual(await new SqlStore({ query: () => [{ state: text }] }).load('a'), given);
  });
});

const CLIENTS = [
  ['a client that answers with { rows }', async () => createSqlClient({ shape: 'rows' }), { dialect: 'postgres' }],
  ['a client that answers with an array', async () => createSqlClient({ shape: 'array' }), { dialect: 'sqlite' }],
  ['a client that answers as mysql2 does', async () => createSqlClient({ shape: 'mysql2' }), { dialect: 'mysql' }],
  ['a client that parses JSON columns', async () => createSqlClient({ column: (text) => JSON.parse(text) }), { dialect: 'postgres' }],
  [
    'a real SQLite database',
    async () => {
      const client = await openSqlite();
      client.query(SqlStore.ddl('chat_sessions'));
      // Again, since an app runs it at every start.
      client.query(SqlStore.ddl('chat_sessions'));
      return client;
    },
    { dialect: 'sqlite', table: 'chat_sessions' },
  ],
];

for (const [what, connect, options] of CLIENTS) {
  describe(`SqlStore over ${what}`, () => {
    const open = async () => {
      const client = await connect();
      return new SqlStore({ query: (sql, params) => client.query(sql, params), ...options });
    };

    test('keeps, replaces and deletes a state', async () => {
      const store = await open();
      assert.equal(await store.load('a'), null);
      await store.save(state('a', { summary: 'one' }));
      await store.save(state('b'));
      await store.save(state('a', { summary: 'two' }));
      assert.equal(JSON.stringify(await store.load('a')), JSON.stringify(state('a', { summary: 'two' })));
      assert.deepEqual(await store.load('b'), state('b'));
      await store.delete('a');
      await store.delete('a');
      assert.equal(await store.load('a'), null);
      assert.deepEqual(await store.load('b'), state('b'));
    });

    test('keeps any text: quotes, zero bytes, halves of surrogate pairs', async () => {
      const store = await open();
      const content = `'"\\\` -- ; \0 é 日本 😀 \ud83d and \ude00 \u2028 \ufeff`;
      const memory = createMemory({ store });
      await memory.session("o'neil \"x\"").add(user(content));
      assert.equal((await memory.session("o'neil \"x\"").messages())[0].content, content);
    });

    test('carries a conversation through folds and from one memory to the next', async () => {
      const store = await open();
      const create = () => createMemory({
        store, clock: createClock(), embed: (texts) => texts.map((text) => [text.length, 1]), summarize: ({ previousSummary }) => `${previousSummary}S`,
        extractFacts: ({ messages }) => [{ key: 'folded', value: messages.length }], ...wordBudget({ maxTokens: 3, keepRecent: 1 }),
      });
      const inProcess = createMemory({
        clock: createClock(), embed: (texts) => texts.map((text) => [text.length, 1]), summarize: ({ previousSummary }) => `${previousSummary}S`,
        extractFacts: ({ messages }) => [{ key: 'folded', value: messages.length }], ...wordBudget({ maxTokens: 3, keepRecent: 1 }),
      }).session('s');
      const memory = create();
      const session = memory.session('s');
      for (const word of ['a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff']) {
        assert.deepEqual(await session.add([user(word), assistant(word)]), await inProcess.add([user(word), assistant(word)]));
      }
      assert.deepEqual(await session.state(), await inProcess.state());
      assert.deepEqual(await create().session('s').state(), await session.state());
      assert.deepEqual(await create().session('s').context({ query: 'a' }), await inProcess.context({ query: 'a' }));
      await memory.forget('s');
      assert.equal(await store.load('s'), null);
    });
  });
}

describe('SqlStore under a Memory', () => {
  test('is given JSON in one order of keys and the time of the change', async () => {
    const client = createSqlClient();
    const memory = createMemory({ store: new SqlStore({ query: (sql, params) => client.query(sql, params) }), clock: createClock(), countTokens: () => 1 });
    await memory.session('s').add(user('hi', { name: 'Dana' }));
    const { params } = client.statements.at(-1);
    assert.equal(
      params[1],
      '{"version":1,"id":"s","recent":[{"role":"user","content":"hi","id":1,"at":1001,"tokens":5,"name":"Dana"}],"archive":[],"summary":"",'
        + `"facts":[],"seq":${JSON.parse(params[1]).seq},"compactions":0,"createdAt":1000,"updatedAt":1001}`,
    );
    assert.equal(params[2], 1001);
  });

  test('is given text that every database takes, even for half of a surrogate pair', async () => {
    const client = createSqlClient();
    const memory = createMemory({ store: new SqlStore({ query: (sql, params) => client.query(sql, params) }) });
    await memory.session('s').add(user('half \ud83d', { name: '\ude00', meta: { '\ud83d': 1 } }));
    const [, json] = client.statements.at(-1).params;
    assert.equal(Buffer.from(json, 'utf8').toString('utf8'), json);
    assert.ok(json.includes('half \\ud83d'));
  });

  test('is asked once to read and once to write for an add', async () => {
    const client = createSqlClient();
    const memory = createMemory({ store: new SqlStore({ query: (sql, params) => client.query(sql, params) }), ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    await memory.session('s').add([user('a'), user('b'), user('c')]);
    assert.deepEqual(client.statements.map(({ sql }) => sql.split(' ')[0]), ['SELECT', 'INSERT']);
  });

  test('does not lose a session because mysql2 answers with two things', async () => {
    const client = createSqlClient({ shape: 'mysql2' });
    const store = new SqlStore({ dialect: 'mysql', query: (sql, params) => client.query(sql, params) });
    const session = createMemory({ store }).session('s');
    await session.add(user('first'));
    await session.add(user('second'));
    assert.deepEqual((await session.messages()).map(({ id, content }) => [id, content]), [[1, 'first'], [2, 'second']]);
  });

  test('makes an operation reject when the row is not a session', async () => {
    const memory = createMemory({ store: answering([{ state: '{"version":3,"id":"s"}' }]) });
    const expected = { name: 'TypeError', message: 'memoryline: unsupported session state version 3', code: 'ERR_MEMORYLINE_INVALID_STATE' };
    const session = memory.session('s');
    for (const operate of [
      () => session.add(user('x')), () => session.context(), () => session.messages(), () => session.facts(), () => session.state(),
      () => session.pin('k', 'v'), () => session.unpin('k'), () => session.compact(),
    ]) {
      await assert.rejects(operate(), expected);
    }
    assert.deepEqual(await memory.export('s'), { version: 3, id: 's' });
    await assert.rejects(createMemory({ store: answering([{ state: '{"version":1}' }]) }).session('s').messages(), {
      name: 'TypeError', message: 'memoryline: session state needs an id', code: 'ERR_MEMORYLINE_INVALID_STATE',
    });
    await assert.rejects(createMemory({ store: answering([{ state: '5' }]) }).session('s').messages(), {
      name: 'TypeError', message: 'memoryline: session state must be an object', code: 'ERR_MEMORYLINE_INVALID_STATE',
    });
  });
});
