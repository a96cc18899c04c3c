import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, normalizeFactKey } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { user } from './support/messages.mjs';
import { wordBudget } from './support/tokens.mjs';

const open = (options) => createMemory(options).session('s');
const pairs = (facts) => facts.map(({ key, value }) => [key, value]);

// A session in which each add of two messages folds and extracts the next list of facts.
function extracting(lists, options = {}) {
  const queue = [...lists];
  const session = open({
    clock: createClock(), summarize: () => 'S', extractFacts: () => queue.shift(), ...wordBudget({ maxTokens: 1, keepRecent: 0 }), ...options,
  });
  return { session, extract: () => session.add([user('a'), user('b')]) };
}

describe('unpin() of something that is no key', () => {
  for (const key of [undefined, null, 5, {}, []]) {
    test(`throws at once for ${JSON.stringify(key)}`, () => {
      assert.throws(() => open().unpin(key), TypeError);
    });
  }
});

describe('pin() of something that is no fact', () => {
  for (const odd of [null, undefined, 5, true, [], {}, [null, undefined, 5, 'text', [], {}], { key: 'k' }, { value: 'v' }, [{ key: 'k' }]]) {
    test(`ignores ${JSON.stringify(odd)}`, async () => {
      const memory = createMemory();
      assert.deepEqual(await memory.session('s').pin(odd), []);
      assert.deepEqual((await memory.export('s')).facts, []);
    });
  }

  test('takes the facts that stand beside it', async () => {
    assert.deepEqual(pairs(await open().pin([null, { key: 'a', value: '1' }, 5, { key: 'b', value: '2' }, {}])), [['a', '1'], ['b', '2']]);
  });

  test('skips a key or a value of which nothing is left', async () => {
    const session = open();
    await session.pin('', 'v');
    await session.pin(' !? ', 'v');
    await session.pin('日本', 'v');
    await session.pin('k', '');
    await session.pin('k', ' \u00a0\ufeff\n');
    assert.deepEqual(await session.facts(), []);
  });

  test('leaves the value of before when the new one is blank', async () => {
    const session = open();
    await session.pin('k', 'v');
    assert.deepEqual(pairs(await session.pin('k', '  ')), [['k', 'v']]);
  });
});

describe('pin()', () => {
  test('takes a key and a value, one fact, or several', async () => {
    const session = open();
    await session.pin('name', 'Dana');
    await session.pin({ key: 'party_size', value: '6' });
    const all = await session.pin([{ key: 'day', value: 'Friday' }, { key: 'time', value: 'late' }]);
    assert.deepEqual(pairs(all), [['name', 'Dana'], ['party_size', '6'], ['day', 'Friday'], ['time', 'late']]);
    assert.deepEqual(await session.facts(), all);
  });

  test('gives facts with their keys in one order', async () => {
    const session = open({ clock: () => 5 });
    assert.equal(
      JSON.stringify(await session.pin({ at: 1, source: 'extracted', value: 'v', key: 'k', extra: 1 })),
      '[{"key":"k","value":"v","source":"pinned","at":5}]',
    );
  });

  test('makes text of what is not text, and trims the value as JavaScript does', async () => {
    const session = open();
    await session.pin([{ key: 6, value: 6 }, { key: 'yes', value: true }, { key: 'none', value: 0 }, { key: 't', value: '\ufeff\u00a0 x y \u0085\n' }]);
    assert.deepEqual(pairs(await session.facts()), [['6', '6'], ['yes', 'true'], ['none', '0'], ['t', 'x y \u0085']]);
  });

  test('treats spellings of one key as one fact', async () => {
    const session = open();
    await session.pin('Party Size', '4');
    await session.pin('party-size', '5');
    assert.deepEqual(pairs(await session.pin('PARTY.SIZE', '6')), [['party_size', '6']]);
  });

  test('updates a fact in its place and appends a new one', async () => {
    const session = open({ clock: createClock() });
    await session.pin([{ key: 'a', value: '1' }, { key: 'b', value: '2' }]);
    await session.pin('a', '3');
    await session.pin('c', '4');
    assert.deepEqual((await session.facts()).map(({ key, value, at }) => [key, value, at]), [['a', '3', 1002], ['b', '2', 1001], ['c', '4', 1003]]);
  });

  test('lets the later of two in one batch win', async () => {
    assert.deepEqual(pairs(await open().pin([{ key: 'a', value: '1' }, { key: 'b', value: '2' }, { key: 'A', value: '3' }])), [['a', '3'], ['b', '2']]);
  });

  test('hands out copies', async () => {
    const session = open();
    const handed = await session.pin('k', 'v');
    handed[0].value = 'changed';
    handed.length = 0;
    (await session.facts())[0].value = 'changed';
    assert.deepEqual(pairs(await session.facts()), [['k', 'v']]);
  });
});

describe('unpin()', () => {
  test('says whether there was such a fact', async () => {
    const session = open();
    await session.pin('k', 'v');
    assert.deepEqual([await session.unpin('other'), await session.unpin('k'), await session.unpin('k')], [false, true, false]);
    assert.deepEqual(await session.facts(), []);
  });

  test('finds a fact by any spelling of its key', async () => {
    const session = open();
    await session.pin('preferred_day', 'Friday');
    assert.equal(await session.unpin(' Preferred-Day '), true);
  });

  test('removes an extracted fact too', async () => {
    const { session, extract } = extracting([[{ key: 'k', value: 'v' }]]);
    await extract();
    assert.equal(await session.unpin('k'), true);
    assert.deepEqual(await session.facts(), []);
  });

  test('creates no session', async () => {
    const memory = createMemory();
    assert.equal(await memory.session('s').unpin('k'), false);
    assert.equal(await memory.export('s'), null);
  });
});

describe('an extracted fact', () => {
  test('is appended, normalized and marked as extracted', async () => {
    const { session, extract } = extracting([[{ key: 'Party Size', value: ' 6 ' }, { key: 'n', value: 7 }]]);
    await session.pin('name', 'Dana');
    const { facts } = await extract();
    assert.deepEqual(facts, [
      { key: 'name', value: 'Dana', source: 'pinned', at: 1001 },
      { key: 'party_size', value: '6', source: 'extracted', at: 1003 },
      { key: 'n', value: '7', source: 'extracted', at: 1003 },
    ]);
  });

  test('overwrites what was extracted before, in its place', async () => {
    const { extract } = extracting([[{ key: 'a', value: '1' }, { key: 'b', value: '2' }], [{ key: 'a', value: '3' }]]);
    await extract();
    assert.deepEqual((await extract()).facts, [
      { key: 'a', value: '3', source: 'extracted', at: 1004 },
      { key: 'b', value: '2', source: 'extracted', at: 1002 },
    ]);
  });

  test('never overwrites a pinned one', async () => {
    const { session, extract } = extracting([[{ key: 'name', value: 'Eve' }, { key: 'NAME', value: 'Mallory' }]]);
    await session.pin('name', 'Dana');
    assert.deepEqual((await extract()).facts, [{ key: 'name', value: 'Dana', source: 'pinned', at: 1001 }]);
  });

  test('becomes a pinned one when it is pinned, and is then safe', async () => {
    const { session, extract } = extracting([[{ key: 'k', value: '1' }], [{ key: 'k', value: '3' }]]);
    await extract();
    await session.pin('k', '2');
    assert.deepEqual((await extract()).facts.map(({ value, source }) => [value, source]), [['2', 'pinned']]);
  });

  test('of one batch gives way to a later one of the same key', async () => {
    const { extract } = extracting([[{ key: 'k', value: '1' }, { key: 'K', value: '2' }]]);
    assert.deepEqual(pairs((await extract()).facts), [['k', '2']]);
  });

  test('without a usable key or value is skipped', async () => {
    const { extract } = extracting([[{ key: '?', value: '1' }, { key: 'k', value: ' ' }, { key: 'good', value: '1' }]]);
    assert.deepEqual(pairs((await extract()).facts), [['good', '1']]);
  });
});

describe('normalizeFactKey', () => {
  const rows = [
    ['', ''],
    ['   ', ''],
    ['!?', ''],
    ['name', 'name'],
    ['Party Size', 'party_size'],
    ['party-size', 'party_size'],
    ['party.size', 'party_size'],
    ['party/size', 'party_size'],
    ['party - . / size', 'party_size'],
    ['  trimmed  ', 'trimmed'],
    ['__a__b__', 'a__b'],
    ['-a-', 'a'],
    ['a_-_b', 'a___b'],
    ['9 Lives!', '9_lives'],
    ['Straße', 'strae'],
    ['\u212a', 'k'],
    ['İSTANBUL', 'istanbul'],
    ['a\u00a0b', 'a_b'],
    ['a\ufeffb', 'a_b'],
    ['a\u2028b', 'a_b'],
    ['a\u3000b', 'a_b'],
    ['a\u0085b', 'ab'],
    ['a\u180eb', 'ab'],
    ['café au lait', 'caf_au_lait'],
    ['日本', ''],
    ['\ud83d', ''],
    ['e\u0301té', 'et'],
    ['a,b;c:d', 'abcd'],
    ['TAB\tNEW\nLINE', 'tab_new_line'],
  ];
  for (const [key, expected] of rows) {
    test(`makes ${JSON.stringify(expected)} of ${JSON.stringify(key)}`, () => {
      assert.equal(normalizeFactKey(key), expected);
    });
  }

  test('changes nothing when it is applied again', () => {
    for (const [key] of rows) assert.equal(normalizeFactKey(normalizeFactKey(key)), normalizeFactKey(key));
  });
});
