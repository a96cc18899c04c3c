import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { createMemory, MemoryStore, SqliteStore } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { deferred } from './support/deferred.mjs';
import { assistant, calls, result, user } from './support/messages.mjs';
import { wordBudget } from './support/tokens.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'memoryline-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = () => path.join(folder, `${(files += 1)}.db`);

const state = (id, rest = {}) => ({
  version: 1, id, recent: [], archive: [], summary: '', facts: [], seq: 0, compactions: 0, createdAt: 1, updatedAt: 1, ...rest,
});
const closed = { name: 'Error', code: 'ERR_MEMORYLINE_CLOSED', message: /^memoryline: / };
const optionError = (name) => ({ name, code: 'ERR_MEMORYLINE_INVALID_OPTION', message: /^memoryline: / });

describe('new SqliteStore with wrong arguments', () => {
  for (const wrong of [undefined, null, '', 5, true, {}, ['a.db'], Symbol('path')]) {
    test(`throws a TypeError for the path ${wrong === '' ? "''" : Array.isArray(wrong) ? "['a.db']" : String(wrong)}`, () => {
      assert.throws(() => new SqliteStore(wrong), optionError('TypeError'));
    });
  }

  for (const durability of ['fast', '', 'FULL', 1, true, {}]) {
    test(`throws a TypeError that names durability when it is ${typeof durability === 'string' ? `'${durability}'` : String(durability)}`, () => {
      assert.throws(() => new SqliteStore(':memory:', { durability }), { ...optionError('TypeError'), message: /^memoryline: .*durability/ });
    });
  }

  for (const busyTimeoutMs of [-1, NaN, Infinity, '5', true, {}]) {
    test(`throws a RangeError that names busyTimeoutMs when it is ${typeof busyTimeoutMs === 'string' ? `'${busyTimeoutMs}'` : String(busyTimeoutMs)}`, () => {
      assert.throws(() => new SqliteStore(':memory:', { busyTimeoutMs }), { ...optionError('RangeError'), message: /^memoryline: .*busyTimeoutMs/ });
    });
  }

  test('throws when it is called without new', () => {
    assert.throws(() => SqliteStore(':memory:'), TypeError);
  });

  test('creates no file', () => {
    const file = newPath();
    assert.throws(() => new SqliteStore(file, { durability: 'fast' }));
    assert.equal(existsSync(file), false);
  });
});

// A store that cannot work fails when it is made or when it is first used; both are fine, with the same error.
const opened = (file) => async () => {
  const store = new SqliteStore(file);
  try {
    await store.ids();
  } finally {
    store.close();
  }
};

describe('a SqliteStore that cannot work', () => {
  const storeError = (file) => (error) => {
    assert.ok(error instanceof Error);
    assert.equal(error.code, 'ERR_MEMORYLINE_STORE');
    assert.match(error.message, /^memoryline: /);
    assert.ok(error.message.includes(file), `${error.message} names ${file}`);
    return true;
  };

  test('says which file it could not open', async () => {
    const file = path.join(folder, 'no such folder', 'a.db');
    await assert.rejects(opened(file), storeError(file));
  });

  test('says which folder is no file', async () => {
    const file = path.join(folder, 'folder.db');
    mkdirSync(file);
    await assert.rejects(opened(file), storeError(file));
  });

  test('says which file is no database, and leaves it as it is', async () => {
    const file = newPath();
    writeFileSync(file, 'This is a letter and not a database. '.repeat(100));
    await assert.rejects(opened(file), storeError(file));
  });

  for (const wrong of [undefined, null, 5, {}, { version: 1 }, { version: 1, id: '' }]) {
    test(`refuses to save ${JSON.stringify(wrong)}`, async () => {
      const store = new SqliteStore(':memory:');
      await assert.rejects(async () => store.save(wrong), TypeError);
      assert.deepEqual(await store.ids(), []);
    });
  }

  test('refuses an id that is not text', async () => {
    const store = new SqliteStore(':memory:');
    for (const wrong of [undefined, null, 5, {}]) {
      await assert.rejects(async () => store.load(wrong), TypeError);
      await assert.rejects(async () => store.delete(wrong), TypeError);
    }
  });
});

describe('SqliteStore', () => {
  test('answers with promises', async () => {
    const store = new SqliteStore(':memory:');
    for (const promise of [store.load('a'), store.save(state('a')), store.ids(), store.delete('a')]) {
      assert.ok(promise instanceof Promise);
      await promise;
    }
  });

  test('keeps, replaces, lists and deletes states', async () => {
    const store = new SqliteStore(':memory:');
    assert.deepEqual([await store.load('a'), await store.ids()], [null, []]);
    const full = state('a', {
      recent: [{ role: 'user', content: 'hi', id: 2, at: 5.5, tokens: 1.5, name: null, toolCalls: [], meta: { z: 1, a: [2] } }],
      archive: [{ role: 'tool', content: 'old', id: 1, at: -1, tokens: 1, toolCallId: 'c', compaction: 1, embedding: [0.1, -2, 3e-7] }],
      summary: 'S', facts: [{ key: 'k', value: 'v', source: 'pinned', at: 1 }, { key: 'a', value: 'w', source: 'extracted', at: 2 }],
      seq: 2, compactions: 1, createdAt: 3, updatedAt: 4,
    });
    assert.equal(await store.save(full), undefined);
    assert.equal(JSON.stringify(await store.load('a')), JSON.stringify(full));
    await store.save(state('b'));
    await store.save(state('a', { summary: 'replaced' }));
    assert.deepEqual(await store.load('a'), state('a', { summary: 'replaced' }));
    assert.deepEqual(await store.ids(), ['a', 'b']);
    assert.equal(await store.delete('a'), undefined);
    await store.delete('a');
    assert.deepEqual([await store.load('a'), await store.ids()], [null, ['b']]);
  });

  test('lists ids in the order in which they first came', async () => {
    const store = new SqliteStore(':memory:');
    for (const id of ['b', 'a', '10', '2', '__proto__']) await store.save(state(id));
    await store.save(state('b', { summary: 'again' }));
    assert.deepEqual(await store.ids(), ['b', 'a', '10', '2', '__proto__']);
    await store.delete('a');
    await store.save(state('a'));
    assert.deepEqual(await store.ids(), ['b', '10', '2', '__proto__', 'a']);
  });

  test('gives a fresh copy each time and keeps one of its own', async () => {
    const store = new SqliteStore(':memory:');
    const given = state('a', { facts: [{ key: 'k', value: 'v', source: 'pinned', at: 1 }] });
    const saving = store.save(given);
    given.facts[0].value = 'changed';
    await saving;
    (await store.load('a')).facts[0].value = 'changed too';
    assert.equal((await store.load('a')).facts[0].value, 'v');
  });

  test('keeps a state whose parts are missing, as import takes it', async () => {
    const store = new SqliteStore(':memory:');
    const memory = createMemory({ store });
    await memory.import({ version: 1, id: 'a' });
    assert.deepEqual(await memory.export('a'), { version: 1, id: 'a' });
    assert.deepEqual(await store.load('a'), { version: 1, id: 'a' });
    await assert.rejects(memory.session('a').messages(), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_STATE' });
    await memory.forget('a');
    await memory.session('a').add(user('new'));
    assert.equal((await memory.session('a').messages()).length, 1);
  });

  test('keeps nothing beyond itself when it is called :memory:', async () => {
    const [one, two] = [new SqliteStore(':memory:'), new SqliteStore(':memory:')];
    await one.save(state('a'));
    assert.deepEqual(await two.ids(), []);
    one.close();
    assert.deepEqual(await new SqliteStore(':memory:').ids(), []);
    assert.equal(existsSync(':memory:'), false);
  });

  test('takes both of its words for durability, and options that say nothing', async () => {
    for (const options of [
      undefined, {}, { durability: undefined, busyTimeoutMs: undefined }, { durability: 'normal' }, { durability: 'full' }, { busyTimeoutMs: 0 }, { busyTimeoutMs: 250.5 },
    ]) {
      const file = newPath();
      const store = new SqliteStore(file, options);
      await store.save(state('a'));
      store.close();
      const again = new SqliteStore(file);
      assert.deepEqual(await again.ids(), ['a']);
      again.close();
    }
  });

  test('takes a path with spaces, signs and letters from anywhere', async () => {
    for (const name of ["it's a file.db", 'größe 日本 😀.db', '100% "sure"?.db', 'no extension', 'a#b&c=d.db']) {
      const file = path.join(folder, name);
      const store = new SqliteStore(file);
      await store.save(state('a'));
      store.close();
      assert.equal(existsSync(file), true);
      const again = new SqliteStore(file);
      assert.deepEqual(await again.ids(), ['a']);
      again.close();
    }
  });
});

// The same conversation, with everything that a session can hold, in any store.
async function converse(store) {
  const memory = createMemory({
    store,
    clock: createClock(),
    summarize: ({ previousSummary, messages }) => `${previousSummary}+${messages.length}`,
    extractFacts: ({ messages }) => [{ key: `from ${messages[0].role}`, value: messages[0].content }, { key: 'count', value: messages.length }],
    embed: (texts) => texts.map((text) => [text.length, 0.1 * text.length, 1]),
    archive: { max: 12 },
    ...wordBudget({ maxTokens: 9, keepRecent: 2 }),
  });
  const session = memory.session('conversation');
  const seen = [];
  for (let turn = 0; turn < 12; turn++) {
    seen.push(await session.add([user(`question ${turn}`, { name: 'Dana', meta: { turn, nested: { list: [turn, null] } } })]));
    seen.push(await session.add([calls([`c${turn}`], 'let me see'), result(`c${turn}`)]));
    seen.push(await session.add(assistant(`answer ${turn}`, { at: turn })));
    if (turn % 3 === 0) seen.push(await session.pin(`turn_${turn % 2}`, turn));
    if (turn % 4 === 0) seen.push(await session.unpin('count'));
    if (turn % 5 === 0) seen.push(await session.compact({ force: true }));
    seen.push(await session.context({ query: `question ${turn}` }));
    seen.push(await memory.export('conversation'));
  }
  return JSON.stringify(seen);
}

describe('a conversation in SQLite', () => {
  test('is in every answer the one that it is in memory', async () => {
    const expected = await converse(new MemoryStore());
    assert.equal(await converse(new SqliteStore(':memory:')), expected);
    const store = new SqliteStore(newPath());
    assert.equal(await converse(store), expected);
    store.close();
  });

  test('goes on where it was when the file is opened again', async () => {
    const file = newPath();
    const options = { clock: createClock(), embed: (texts) => texts.map((text) => [text.length, 1]), ...wordBudget({ maxTokens: 3, keepRecent: 1 }) };
    const first = new SqliteStore(file);
    const before = createMemory({ store: first, ...options }).session('s');
    await before.add([user('a', { meta: { half: '\ud83d' } }), assistant('bb'), user('ccc'), assistant('dddd')]);
    await before.pin('k', 'v');
    const kept = JSON.stringify([await before.state(), await before.context({ query: 'a' })]);
    first.close();
    const second = new SqliteStore(file);
    const session = createMemory({ store: second, ...options }).session('s');
    assert.equal(JSON.stringify([await session.state(), await session.context({ query: 'a' })]), kept);
    await session.add(user('eeeee'));
    assert.equal((await session.messages()).at(-1).id, 5);
    second.close();
  });

  test('is seen alike through two stores on one file, whoever writes', async () => {
    const file = newPath();
    const stores = [new SqliteStore(file), new SqliteStore(file)];
    const [one, two] = stores.map((store) => createMemory({ store, ...wordBudget({ maxTokens: 3, keepRecent: 1 }) }).session('s'));
    for (let turn = 0; turn < 10; turn++) {
      await one.add(user(`one ${turn}`));
      assert.equal((await two.messages()).at(-1).content, `one ${turn}`);
      await two.add(user(`two ${turn}`));
      assert.equal((await one.messages()).at(-1).content, `two ${turn}`);
      assert.equal(JSON.stringify(await one.state()), JSON.stringify(await two.state()));
    }
    await one.clear();
    assert.deepEqual(await two.messages(), []);
    await two.add(user('anew'));
    assert.deepEqual((await one.messages()).map(({ id, content }) => [id, content]), [[1, 'anew']]);
    for (const store of stores) store.close();
  });

  test('loses nothing when two stores on one file write at the same time', async () => {
    const file = newPath();
    const stores = [new SqliteStore(file), new SqliteStore(file)];
    const sessions = stores.map((store) => createMemory({ store, summarize: async () => 'S', ...wordBudget({ maxTokens: 9, keepRecent: 3 }) }).session('s'));
    await Promise.all(Array.from({ length: 100 }, (_, index) => sessions[index % 2].add(user(`m${index}`))));
    const { archive, recent } = await sessions[0].state();
    const all = [...archive, ...recent];
    assert.deepEqual(all.map(({ id }) => id), Array.from({ length: 100 }, (_, index) => index + 1));
    assert.equal(new Set(all.map(({ content }) => content)).size, 100);
    for (const store of stores) store.close();
  });

  test('may share its file with many others, under ids of any kind', async () => {
    const file = newPath();
    const store = new SqliteStore(file);
    const memory = createMemory({ store });
    const ids = ['__proto__', "it's", 'a\0b', 'a', '\ud83d', 'é', 'e\u0301', ...Array.from({ length: 50 }, (_, index) => `user:${index}`)];
    await Promise.all(ids.map((id, index) => memory.session(id).add(user(`m${index}`))));
    store.close();
    const again = new SqliteStore(file);
    assert.deepEqual((await again.ids()).sort(), [...ids].sort());
    for (const [index, id] of ids.entries()) assert.equal((await again.load(id)).recent[0].content, `m${index}`);
    again.close();
  });
});

describe('a SqliteStore that is closed', () => {
  test('stays closed when it is closed again', () => {
    const store = new SqliteStore(newPath());
    assert.equal(store.close(), undefined);
    assert.equal(store.close(), undefined);
  });

  test('rejects everything that comes later', async () => {
    const store = new SqliteStore(newPath());
    const memory = createMemory({ store });
    const session = memory.session('s');
    await session.add(user('kept'));
    store.close();
    for (const operate of [
      () => store.load('s'), () => store.save(state('s')), () => store.delete('s'), () => store.ids(),
      () => session.add(user('x')), () => session.pin('k', 'v'), () => session.compact({ force: true }), () => session.context(), () => session.messages(),
      () => session.facts(), () => session.state(), () => session.clear(), () => memory.export('s'), () => memory.forget('s'), () => memory.import(state('s')),
    ]) {
      await assert.rejects(operate(), closed);
    }
  });

  test('is closed by the end of a using block', { skip: Symbol.dispose === undefined && 'this Node has no Symbol.dispose' }, async () => {
    const store = new SqliteStore(':memory:');
    assert.equal(store[Symbol.dispose](), undefined);
    await assert.rejects(store.ids(), closed);
  });

  test('is closed by the end of an await using block', { skip: Symbol.asyncDispose === undefined && 'this Node has no Symbol.asyncDispose' }, async () => {
    const store = new SqliteStore(':memory:');
    assert.equal(await store[Symbol.asyncDispose](), undefined);
    await assert.rejects(store.ids(), closed);
    await store[Symbol.asyncDispose]();
  });

  test('has finished or refused what was under way, and kept all that it said it kept', async () => {
    const file = newPath();
    const store = new SqliteStore(file);
    const memory = createMemory({ store });
    await memory.session('s').add(user('before'));
    const adding = Array.from({ length: 50 }, (_, index) => memory.session(`s${index % 5}`).add(user(`m${index}`)));
    store.close();
    const results = await Promise.allSettled(adding);
    const again = new SqliteStore(file);
    const kept = [];
    for (const id of await again.ids()) kept.push(...(await again.load(id)).recent.map(({ content }) => content));
    results.forEach(({ status, reason }, index) => {
      if (status === 'fulfilled') assert.ok(kept.includes(`m${index}`), `m${index} was acknowledged`);
      else assert.equal(reason.code, 'ERR_MEMORYLINE_CLOSED');
    });
    assert.ok(kept.includes('before'));
    again.close();
  });

  test('while a fold waits for the model makes that add reject, and keeps nothing of it', async () => {
    const file = newPath();
    const store = new SqliteStore(file);
    const started = deferred();
    const gate = deferred();
    const summarize = async () => {
      started.resolve();
      await gate.promise;
      return 'S';
    };
    const session = createMemory({ store, summarize, ...wordBudget({ maxTokens: 1, keepRecent: 1 }) }).session('s');
    await session.add(user('before'));
    const adding = session.add(user('after'));
    await started.promise;
    store.close();
    gate.resolve();
    await assert.rejects(adding, closed);
    const again = new SqliteStore(file);
    assert.deepEqual((await again.load('s')).recent.map(({ content }) => content), ['before']);
    again.close();
  });

  test('does not touch another store on the same file', async () => {
    const file = newPath();
    const [one, two] = [new SqliteStore(file), new SqliteStore(file)];
    await one.save(state('a'));
    one.close();
    assert.deepEqual(await two.ids(), ['a']);
    await two.save(state('b'));
    assert.deepEqual(await two.ids(), ['a', 'b']);
    two.close();
  });
});
