import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, RedisStore } from './support/library.mjs';
import { user } from './support/messages.mjs';
import { createIoRedis, createNodeRedis, createPlainRedis } from './support/redis.mjs';

const state = (id, rest = {}) => ({
  version: 1, id, recent: [], archive: [], summary: '', facts: [], seq: 0, compactions: 0, createdAt: 1, updatedAt: 7, ...rest,
});

describe('RedisStore with a client that cannot do what is asked', () => {
  test('throws at once when a time to live is set and the client has no expire', () => {
    const { client } = createPlainRedis({ expire: false });
    for (const ttlSeconds of [60, 0]) {
      assert.throws(() => new RedisStore(client, { ttlSeconds }), (error) => {
        assert.ok(error instanceof TypeError);
        assert.match(error.message, /^memoryline: /);
        assert.match(error.message, /ttlSeconds/);
        assert.match(error.message, /expire/);
        return true;
      });
    }
  });

  test('needs no expire without a time to live', async () => {
    const { client } = createPlainRedis({ expire: false });
    const store = new RedisStore(client);
    await store.save(state('a'));
    assert.deepEqual(await store.load('a'), state('a'));
    await new RedisStore(client, { ttlSeconds: undefined }).save(state('b'));
  });

  test('rejects with what the client throws, at once or later, as the same object', async () => {
    const failure = new Error('connection lost');
    for (const fail of [() => { throw failure; }, () => Promise.reject(failure)]) {
      const store = new RedisStore({ get: fail, set: fail, del: fail, expire: fail }, { ttlSeconds: 5 });
      for (const operate of [() => store.load('a'), () => store.save(state('a')), () => store.delete('a')]) {
        await assert.rejects(async () => operate(), (error) => error === failure);
      }
      await assert.rejects(createMemory({ store }).session('a').add(user('x')), (error) => error === failure);
    }
  });

  test('rejects for text that is not JSON', async () => {
    await assert.rejects(new RedisStore({ get: async () => '{' }).load('a'), { name: 'SyntaxError', code: 'ERR_MEMORYLINE_INVALID_STATE', message: /^memoryline: what is stored is no session state: / });
  });
});

describe('RedisStore over a client with get, set, del and expire', () => {
  test('keeps a session as JSON text under a key of its own', async () => {
    const { server, client } = createPlainRedis();
    const store = new RedisStore(client);
    await store.save(state('user:42'));
    assert.deepEqual([...server.values], [['memoryline:user:42', JSON.stringify(state('user:42'))]]);
    assert.equal(JSON.stringify(await store.load('user:42')), JSON.stringify(state('user:42')));
    await store.delete('user:42');
    assert.equal(server.values.size, 0);
    assert.equal(await store.load('user:42'), null);
  });

  test('takes another prefix, even an empty one', async () => {
    for (const [prefix, key] of [['chat:', 'chat:a'], ['', 'a'], [undefined, 'memoryline:a']]) {
      const { server, client } = createPlainRedis();
      await new RedisStore(client, { prefix }).save(state('a'));
      assert.deepEqual([...server.values.keys()], [key]);
    }
  });

  test('takes an empty or missing value for no session', async () => {
    for (const nothing of [null, undefined, '']) {
      assert.equal(await new RedisStore({ get: async () => nothing }).load('a'), null);
    }
  });

  test('sets no time to live unless it is asked to', async () => {
    const { server, client } = createPlainRedis();
    await new RedisStore(client).save(state('a'));
    assert.deepEqual(server.commands, [['SET', 'memoryline:a']]);
  });

  test('sets the value and then its time to live', async () => {
    const { server, client } = createPlainRedis();
    await new RedisStore(client, { prefix: 'p:', ttlSeconds: 60 }).save(state('a'));
    assert.deepEqual(server.commands, [['SET', 'p:a'], ['EXPIRE', 'p:a', 60]]);
    assert.equal(server.ttls.get('p:a'), 60);
  });

  test('counts a time to live of 0 as one', async () => {
    const { server, client } = createPlainRedis();
    await new RedisStore(client, { ttlSeconds: 0 }).save(state('a'));
    assert.deepEqual(server.commands, [['SET', 'memoryline:a'], ['EXPIRE', 'memoryline:a', 0]]);
    assert.equal(server.values.size, 0);
  });

  test('calls the methods on the client, which may need its this', async () => {
    class Client {
      values = new Map();
      async get(key) {
        return this.values.get(key) ?? null;
      }
      async set(key, value) {
        this.values.set(key, value);
      }
      async del(key) {
        this.values.delete(key);
      }
    }
    const store = new RedisStore(new Client());
    await store.save(state('a'));
    assert.deepEqual(await store.load('a'), state('a'));
    await store.delete('a');
    assert.equal(await store.load('a'), null);
  });
});

for (const [name, create] of [['node-redis', createNodeRedis], ['ioredis', createIoRedis]]) {
  describe(`RedisStore over ${name}`, () => {
    test('sets the value and its time to live in one round trip, every time', async () => {
      const { server, client } = create();
      const store = new RedisStore(client, { ttlSeconds: 2592000 });
      await store.save(state('a'));
      await store.save(state('a', { summary: 'again' }));
      assert.equal(server.commands.length, 2);
      assert.equal(server.ttls.get('memoryline:a'), 2592000);
      assert.equal((await store.load('a')).summary, 'again');
    });

    test('sets the value alone without a time to live', async () => {
      const { server, client } = create();
      await new RedisStore(client).save(state('a'));
      assert.deepEqual([server.commands, server.ttls.size], [[['SET', 'memoryline:a']], 0]);
    });

    test('lets a time to live of 0 remove the value, which the one command refuses', async () => {
      const { server, client } = create();
      await new RedisStore(client, { ttlSeconds: 0 }).save(state('a'));
      assert.deepEqual(server.commands, [['SET', 'memoryline:a'], ['EXPIRE', 'memoryline:a', 0]]);
      assert.equal(server.values.size, 0);
    });

    test('keeps a conversation', async () => {
      const { server, client } = create();
      const memory = createMemory({ store: new RedisStore(client, { prefix: 'chat:', ttlSeconds: 60 }) });
      await memory.session('s').add(user('half \ud83d'));
      await memory.session('s').pin('k', 'v');
      const again = createMemory({ store: new RedisStore(client, { prefix: 'chat:' }) });
      assert.equal((await again.session('s').messages())[0].content, 'half \ud83d');
      assert.deepEqual((await again.session('s').facts()).map(({ key }) => key), ['k']);
      await again.forget('s');
      assert.equal(server.values.size, 0);
    });
  });
}
