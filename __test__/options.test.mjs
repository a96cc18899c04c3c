import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, Memory } from './support/library.mjs';
import { assistant, user } from './support/messages.mjs';
import { wordBudget, words } from './support/tokens.mjs';

// Every numeric option with its smallest legal value, in the order in which they are checked.
const NUMBERS = [
  ['budget.maxTokens', 1],
  ['budget.targetTokens', 0],
  ['budget.keepRecent', 0],
  ['budget.summaryMaxTokens', 1],
  ['budget.perMessageOverhead', 0],
  ['recall.topK', 0],
  ['recall.maxTokens', 0],
  ['archive.max', 0],
];

// { 'budget.maxTokens': 5 } as the nested options object.
function nest(values) {
  const options = {};
  for (const [path, value] of Object.entries(values)) {
    const [group, name] = path.split('.');
    options[group] = { ...options[group], [name]: value };
  }
  return options;
}

const repeat = (count, make = user) => Array.from({ length: count }, (_, index) => make(`m${index + 1}`));

describe('a wrong option', () => {
  for (const [path, minimum] of NUMBERS) {
    const expected = {
      name: 'RangeError',
      message: `memoryline: ${path} must be a number >= ${minimum}`,
      code: 'ERR_MEMORYLINE_INVALID_OPTION',
    };
    for (const value of [minimum - 1, minimum - 0.5, NaN, Infinity, -Infinity, `${minimum + 1}`, '', true, {}, [5], 5n, () => 5]) {
      const shown = typeof value === 'bigint' ? '5n' : typeof value === 'string' ? `'${value}'` : String(value);
      test(`throws when ${path} is ${Array.isArray(value) ? '[5]' : shown}`, () => {
        assert.throws(() => createMemory(nest({ [path]: value })), expected);
        assert.throws(() => new Memory(nest({ [path]: value })), expected);
      });
    }
  }

  test('throws when the target is above the maximum', () => {
    const expected = { name: 'RangeError', code: 'ERR_MEMORYLINE_INVALID_OPTION' };
    assert.throws(() => createMemory({ budget: { maxTokens: 10, targetTokens: 11 } }), expected);
    assert.throws(() => createMemory({ budget: { maxTokens: 10, targetTokens: 10.5 } }), expected);
    assert.throws(() => createMemory({ budget: { targetTokens: 4001 } }), expected);
    assert.throws(() => createMemory({ budget: { targetTokens: 4001 } }), /^RangeError: memoryline: budget\.targetTokens .*must not exceed/);
  });

  test('is the first one in the order of checking when there are several', () => {
    const paths = NUMBERS.map(([path]) => path);
    paths.forEach((path, index) => {
      const values = Object.fromEntries(paths.slice(index).map((name) => [name, -1]));
      assert.throws(
        () => createMemory(nest(values)),
        (error) => error.message.startsWith(`memoryline: ${path} must be`),
        `${path} comes before ${paths.slice(index + 1).join(', ')}`,
      );
    });
  });

  test('is the target above the maximum before any option that is checked later', () => {
    assert.throws(() => createMemory({ budget: { maxTokens: 10, targetTokens: 11, keepRecent: -1 } }), /must not exceed/);
    assert.throws(() => createMemory({ budget: { maxTokens: 0, targetTokens: 11 } }), /budget\.maxTokens must be a number >= 1/);
  });

  for (const value of ['later', '', 'Throw', true, 1, {}, () => 'defer']) {
    test(`throws when compaction.onError is ${typeof value === 'string' ? `'${value}'` : String(value)}`, () => {
      assert.throws(() => createMemory({ compaction: { onError: value } }), {
        name: 'TypeError',
        message: "memoryline: compaction.onError must be 'throw' or 'defer'",
        code: 'ERR_MEMORYLINE_INVALID_OPTION',
      });
    });
  }

  test('throws when null stands for the options', () => {
    assert.throws(() => createMemory(null), TypeError);
    assert.throws(() => new Memory(null), TypeError);
  });
});

describe('an option', () => {
  for (const [path, minimum] of NUMBERS) {
    test(`may be null, undefined, a fraction or its minimum: ${path}`, () => {
      for (const value of [null, undefined, minimum + 0.5, minimum]) {
        const memory = createMemory(nest({ 'budget.maxTokens': 10, [path]: value }));
        assert.ok(memory instanceof Memory);
      }
    });
  }

  test('is not asked for its type when it is a function', () => {
    for (const name of ['summarize', 'extractFacts', 'embed', 'retrieve', 'onArchive', 'countTokens']) {
      assert.ok(createMemory({ [name]: 5 }) instanceof Memory, name);
    }
  });

  test('recall.minScore is not checked', () => {
    for (const minScore of [NaN, -5, Infinity, 'high', {}]) assert.ok(createMemory({ recall: { minScore } }) instanceof Memory);
  });

  test('compaction.onError takes its two words and may be left out', () => {
    for (const compaction of [undefined, {}, { onError: undefined }, { onError: 'throw' }, { onError: 'defer' }]) {
      assert.ok(createMemory({ compaction }) instanceof Memory);
    }
  });

  test('belongs to its group, and an absent group is a group of defaults', () => {
    assert.ok(createMemory({ budget: undefined, recall: undefined, archive: undefined }) instanceof Memory);
    assert.ok(createMemory({ budget: {}, recall: {}, archive: {} }) instanceof Memory);
  });
});

describe('by default', () => {
  test('the window may hold 4000 tokens, of which every message costs 4 on top of its text, and the last 4 messages stay', async () => {
    const session = createMemory({ countTokens: () => 996 }).session('s');
    const full = await session.add(repeat(4));
    assert.deepEqual([full.compacted, full.folded], [false, 0]);
    assert.deepEqual((await session.messages()).map(({ tokens }) => tokens), [1000, 1000, 1000, 1000]);
    const over = await session.add(user('one more'));
    assert.deepEqual([over.compacted, over.folded], [true, 1]);
    assert.equal((await session.messages()).length, 4);
  });

  test('a fold goes down to half of the maximum', async () => {
    const session = createMemory({ countTokens: () => 996, budget: { keepRecent: 0 } }).session('s');
    assert.equal((await session.add(repeat(5))).folded, 3);
  });

  test('half of an odd maximum is rounded down', async () => {
    const session = createMemory(wordBudget({ maxTokens: 7, keepRecent: 0 })).session('s');
    assert.equal((await session.add(repeat(8))).folded, 5);
  });

  test('a maximum of 1 makes a target of 0', async () => {
    const session = createMemory(wordBudget({ maxTokens: 1, keepRecent: 0 })).session('s');
    assert.equal((await session.add(repeat(2))).folded, 2);
  });

  test('null means the default as undefined does', async () => {
    const options = { countTokens: () => 996, budget: { maxTokens: null, targetTokens: null, keepRecent: null, perMessageOverhead: null } };
    const session = createMemory(options).session('s');
    assert.equal((await session.add(repeat(4))).folded, 0);
    assert.equal((await session.add(user('one more'))).folded, 1);
  });

  test('the summarizer is asked for about 500 tokens', async () => {
    const asked = [];
    const summarize = (input) => {
      asked.push(input.maxTokens);
      return 'summary';
    };
    await createMemory({ summarize, ...wordBudget({ maxTokens: 1, keepRecent: 0 }) }).session('s').add(repeat(2));
    await createMemory({ summarize, ...wordBudget({ maxTokens: 1, keepRecent: 0, summaryMaxTokens: 77 }) }).session('s').add(repeat(2));
    assert.deepEqual(asked, [500, 77]);
  });

  test('recall brings at most 3 messages of a score of 0.25 or more', async () => {
    const asked = [];
    const retrieve = ({ topK, minScore }) => {
      asked.push([topK, minScore]);
      return [];
    };
    for (const recall of [undefined, { topK: null, minScore: null }, { topK: 9, minScore: 0.75 }]) {
      const session = createMemory({ retrieve, recall, ...wordBudget({ maxTokens: 1, keepRecent: 0 }) }).session('s');
      await session.add(repeat(2));
      await session.context({ query: 'what' });
    }
    assert.deepEqual(asked, [[3, 0.25], [3, 0.25], [9, 0.75]]);
  });

  test('recalled messages may cost 800 tokens together', async () => {
    const options = { countTokens: () => 400, retrieve: ({ archive }) => archive.map((message) => ({ message, score: 1 })) };
    const session = createMemory({ ...options, budget: { maxTokens: 1, keepRecent: 0, perMessageOverhead: 0 } }).session('s');
    await session.add(repeat(3));
    assert.deepEqual((await session.context({ query: 'what' })).recalled.map(({ message }) => message.id), [1, 2]);
  });

  test('the archive holds 1000 messages, of which the oldest go first', async () => {
    const session = createMemory(wordBudget({ maxTokens: 1, keepRecent: 0 })).session('s');
    assert.equal((await session.add(repeat(1001))).folded, 1001);
    const { archive } = await session.state();
    assert.deepEqual([archive.length, archive[0].id, archive.at(-1).id], [1000, 2, 1001]);
  });

  test('times are those of Date.now', async () => {
    const before = Date.now();
    const session = createMemory().session('s');
    await session.add(user('hi'));
    const { createdAt, updatedAt, recent } = await session.state();
    const after = Date.now();
    for (const time of [createdAt, updatedAt, recent[0].at]) assert.ok(before <= time && time <= after);
  });

  test('a fold is extended until the window starts on a user turn, and alignToUser: false leaves that out', async () => {
    const conversation = [user('a'), assistant('b'), user('c'), assistant('d')];
    const budget = wordBudget({ maxTokens: 3, targetTokens: 3, keepRecent: 0 });
    const aligned = await createMemory(budget).session('s').add(conversation);
    const unaligned = await createMemory({ ...budget, alignToUser: false }).session('s').add(conversation);
    const explicit = await createMemory({ ...budget, alignToUser: true }).session('s').add(conversation);
    assert.deepEqual([aligned.folded, unaligned.folded, explicit.folded], [2, 1, 2]);
  });

  test('tokens are those of estimateTokens', async () => {
    const session = createMemory({ budget: { perMessageOverhead: 0 } }).session('s');
    await session.add([user('abcdefgh'), user('日本')]);
    assert.deepEqual((await session.messages()).map(({ tokens }) => tokens), [2, 2]);
  });

  test('a session lives in the process and another Memory does not see it', async () => {
    await createMemory().session('s').add(user('hi'));
    assert.equal(await createMemory().export('s'), null);
  });
});

describe('a fractional option', () => {
  test('is compared as the number it is', async () => {
    const budget = { maxTokens: 2.5, targetTokens: 1.5, keepRecent: 0, perMessageOverhead: 0.5 };
    const session = createMemory({ countTokens: words, budget }).session('s');
    assert.equal((await session.add(user('a'))).folded, 0);
    assert.equal((await session.add(user('b'))).folded, 1);
    assert.deepEqual((await session.messages()).map(({ tokens }) => tokens), [1.5]);
  });
});
