import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, MemoryStore, SqliteStore } from './support/library.mjs';
import { user } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget } from './support/tokens.mjs';

const fold = wordBudget({ maxTokens: 1, keepRecent: 0 });
const open = (options) => createMemory({ summarize: () => 'S', ...fold, ...options }).session('s');
const badResult = { name: 'TypeError', code: 'ERR_MEMORYLINE_CALLBACK_RESULT', message: /^memoryline: .*embed/ };
const vectors = async (session) => (await session.state()).archive.map(({ embedding }) => embedding);

describe('embed with a wrong flat result', () => {
  for (const [what, answer] of [
    ['a flat array that does not divide by the number of texts', new Float32Array(5)],
    ['a flat array of NaN', Float32Array.of(1, NaN)],
    ['a flat array with Infinity', Float64Array.of(-Infinity, 1)],
    ['a flat array of integers', Int32Array.of(1, 2)],
    ['a flat array of bytes', new Uint8Array(4)],
    ['a flat array of BigInt', BigInt64Array.of(1n, 2n)],
    ['data without dimensions', { data: [1, 2, 3, 4] }],
    ['dimensions without data', { dimensions: 2 }],
    ['dimensions that do not fit', { data: [1, 2, 3, 4, 5], dimensions: 2 }],
    ['dimensions of 0', { data: [1, 2], dimensions: 0 }],
    ['a negative dimension', { data: [1, 2], dimensions: -1 }],
    ['half a dimension', { data: [1, 2], dimensions: 0.5 }],
    ['dimensions in text', { data: [1, 2], dimensions: '1' }],
    ['data that is text', { data: '12', dimensions: 1 }],
    ['data with NaN', { data: [1, NaN], dimensions: 1 }],
    ['data in rows', { data: [[1], [2]], dimensions: 1 }],
  ]) {
    test(`makes add reject with an error that names embed: ${what}`, async () => {
      const session = open({ embed: () => answer });
      await assert.rejects(session.add([user('a'), user('b')]), badResult);
      assert.deepEqual(await session.messages(), []);
    });
  }
});

// The same two vectors in every form that an embedder may answer with.
const rows = [[1, -2.5, 0.125], [0.5, 0, 3]];
const FORMS = [
  ['arrays', (list) => list],
  ['Float32Arrays', (list) => list.map((row) => Float32Array.from(row))],
  ['Float64Arrays', (list) => list.map((row) => Float64Array.from(row))],
  ['a mixture', (list) => list.map((row, index) => (index % 2 === 0 ? Float32Array.from(row) : row))],
  ['one flat Float32Array', (list) => Float32Array.from(list.flat())],
  ['one flat Float64Array', (list) => Float64Array.from(list.flat())],
  ['a view into a larger Float32Array', (list) => Float32Array.from([9, 9, ...list.flat(), 9]).subarray(2, 2 + list.flat().length)],
  ['data in a Float32Array with dimensions', (list) => ({ data: Float32Array.from(list.flat()), dimensions: 3 })],
  ['data in a Float64Array with dimensions', (list) => ({ data: Float64Array.from(list.flat()), dimensions: 3 })],
  ['data in an array with dimensions', (list) => ({ data: list.flat(), dimensions: 3 })],
];

for (const [form, shape] of FORMS) {
  describe(`vectors as ${form}`, () => {
    const embed = (texts) => shape(texts.map((text) => rows[Number(text)]));

    for (const [name, create] of [['MemoryStore', () => new MemoryStore()], ['a store of the app', () => new JsonStore()], ['SqliteStore', () => new SqliteStore(':memory:')]]) {
      test(`come out as plain arrays of the same numbers from ${name}`, async () => {
        const session = open({ store: create(), embed: async (texts) => embed(texts) });
        await session.add([user('0'), user('1')]);
        assert.deepEqual(await vectors(session), rows);
        assert.ok((await vectors(session)).every(Array.isArray));
      });
    }

    test('are found by the built-in search', async () => {
      const session = open({ embed });
      await session.add([user('0'), user('1')]);
      const { recalled } = await session.context({ query: '1', minScore: 0.99 });
      assert.deepEqual(recalled.map(({ message, score }) => [message.id, message.embedding, score]), [[2, rows[1], 1]]);
    });

    test('reach onArchive and retrieve as plain arrays', async () => {
      const seen = [];
      const session = open({
        embed,
        onArchive: (_, items) => void seen.push(...items.map(({ embedding }) => embedding)),
        retrieve: ({ embedding, archive }) => {
          seen.push(embedding, ...archive.map((item) => item.embedding));
          return [];
        },
      });
      await session.add([user('0'), user('1')]);
      await session.context({ query: '1' });
      assert.deepEqual(seen, [rows[0], rows[1], rows[1], rows[0], rows[1]]);
      assert.ok(seen.every(Array.isArray));
    });
  });
}

describe('the numbers of a vector', () => {
  const awkward = [0.1, 1 / 3, -1e-7, 123456.789, 5e-324, 1.7976931348623157e308, 2 ** 53, 0.1 + 0.2];

  for (const [name, create] of [['MemoryStore', () => new MemoryStore()], ['a store of the app', () => new JsonStore()], ['SqliteStore', () => new SqliteStore(':memory:')]]) {
    test(`stay as they were given, to the last bit: doubles in ${name}`, async () => {
      const session = open({ store: create(), embed: (texts) => texts.map(() => awkward) });
      await session.add([user('a'), user('b')]);
      assert.deepEqual(await vectors(session), [awkward, awkward]);
    });

    test(`stay as they were given, to the last bit: single precision in ${name}`, async () => {
      const single = Float32Array.of(0.1, 1 / 3, -1e-7, 123456.789, 1e-45, 3.4e38);
      const session = open({ store: create(), embed: (texts) => texts.map(() => single) });
      await session.add([user('a'), user('b')]);
      assert.deepEqual(await vectors(session), [Array.from(single), Array.from(single)]);
    });
  }

  test('are those of the moment of the answer, even if the app uses its array again', async () => {
    const buffer = new Float32Array(2);
    const embed = (texts) => texts.map((text) => buffer.fill(Number(text)).slice());
    const shared = (texts) => {
      buffer.fill(texts.length);
      return buffer;
    };
    const session = open({ embed });
    await session.add([user('1'), user('2')]);
    buffer.fill(99);
    assert.deepEqual(await vectors(session), [[1, 1], [2, 2]]);
    const flat = open({ embed: shared });
    await flat.add([user('1'), user('2')]);
    buffer.fill(99);
    assert.deepEqual(await vectors(flat), [[2], [2]]);
  });
});

describe('an embedder', () => {
  test('may answer with vectors of different lengths', async () => {
    const session = open({ embed: (texts) => texts.map((text) => Array(Number(text)).fill(1)) });
    await session.add([user('1'), user('3')]);
    assert.deepEqual(await vectors(session), [[1], [1, 1, 1]]);
  });

  test('may answer with more vectors than texts, and the rest is not used', async () => {
    const session = open({ embed: (texts) => [...texts.map(() => [1]), [2], [3]] });
    await session.add([user('a'), user('b')]);
    assert.deepEqual(await vectors(session), [[1], [1]]);
  });

  test('may answer with an empty array for vectors that it does not have', async () => {
    const session = open({ embed: () => [] });
    await session.add([user('a'), user('b')]);
    const { archive } = await session.state();
    assert.ok(archive.every((item) => !('embedding' in item)));
  });

  test('may be replaced by one of another width, and old vectors are compared over the shorter length', async () => {
    const store = new MemoryStore();
    await open({ store, embed: (texts) => texts.map(() => [1, 0]) }).add([user('a'), user('b')]);
    const session = open({ store, embed: (texts) => texts.map(() => Float32Array.of(1, 0, 0, 0)) });
    await session.add([user('c'), user('d')]);
    const { recalled } = await session.context({ query: 'q', topK: 9 });
    assert.deepEqual(recalled.map(({ score }) => score), [1, 1, 1, 1]);
  });

  test('of real width keeps and finds a thousand vectors', async () => {
    const width = 384;
    const vectorOf = (text) => Float32Array.from({ length: width }, (_, index) => (index === Number(text) % width ? 1 : 0.01));
    const session = open({ embed: (texts) => texts.map(vectorOf) });
    await session.add(Array.from({ length: 1000 }, (_, index) => user(String(index))));
    const { recalled } = await session.context({ query: '7', minScore: 0.9, topK: 9 });
    assert.deepEqual(recalled.map(({ message }) => message.content), ['7', '391', '775']);
  });
});

describe('import of vectors', () => {
  const stateWith = (embedding) => ({
    version: 1, id: 's', recent: [],
    archive: [{ role: 'user', content: 'old', id: 1, at: 1, tokens: 1, compaction: 1, embedding }],
    summary: '', facts: [], seq: 1, compactions: 1, createdAt: 1, updatedAt: 1,
  });

  for (const [what, make] of [
    ['arrays', (row) => row],
    ['Float32Arrays', (row) => Float32Array.from(row)],
    ['Float64Arrays', (row) => Float64Array.from(row)],
  ]) {
    test(`takes ${what} and gives arrays`, async () => {
      for (const store of [new MemoryStore(), new JsonStore(), new SqliteStore(':memory:')]) {
        const memory = createMemory({ store, embed: () => [[3, 4]] });
        await memory.import(stateWith(make([0.75, 1])));
        assert.equal(JSON.stringify((await memory.export('s')).archive[0].embedding), '[0.75,1]');
        assert.deepEqual((await memory.session('s').context({ query: 'q' })).recalled.map(({ score }) => score), [1]);
      }
    });
  }
});
