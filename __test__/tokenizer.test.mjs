// Exact token counts, beside the `tiktoken` package. MEMORYLINE_LONG=1 compares ten times as many texts.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { get_encoding } from 'tiktoken';
import { countTokens, createMemory, decode, encode, estimateTokens } from './support/library.mjs';

const ENCODINGS = ['o200k_base', 'cl100k_base'];
const reference = Object.fromEntries(ENCODINGS.map((name) => [name, get_encoding(name)]));
after(() => ENCODINGS.forEach((name) => reference[name].free()));

function assertSame(text) {
  for (const name of ENCODINGS) {
    const expected = reference[name].encode_ordinary(text);
    assert.deepEqual(encode(text, name), expected, `${name}: ${JSON.stringify(text).slice(0, 300)}`);
    assert.equal(countTokens(text, name), expected.length);
  }
}

describe('wrong arguments throw at once', () => {
  for (const call of [countTokens, encode]) {
    for (const wrong of [undefined, null, 5, {}, ['a']]) {
      test(`${call.name}(${JSON.stringify(wrong)})`, () => {
        assert.throws(() => call(wrong), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_ARGUMENT', message: 'memoryline: text must be a string' });
      });
    }
  }
  for (const call of [() => countTokens('a', 'p50k_base'), () => encode('a', 'toString'), () => decode([], 5)]) {
    test(`an encoding that is not there: ${call}`, () => {
      assert.throws(call, { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_ARGUMENT', message: 'memoryline: encoding must be one of o200k_base, cl100k_base' });
    });
  }
  for (const wrong of [undefined, 'x', 5, [1.5], [-1], ['1'], [2 ** 32], new Float64Array(1)]) {
    test(`decode(${JSON.stringify(wrong)})`, () => {
      assert.throws(() => decode(wrong), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_ARGUMENT', message: 'memoryline: tokens must be a list of whole numbers >= 0' });
    });
  }
  test('a token that the encoding does not have', () => {
    for (const token of [199_998, 200_018, 2 ** 32 - 1]) assert.throws(() => decode([token]), { code: 'ERR_MEMORYLINE_INVALID_ARGUMENT', message: /tokens has one that o200k_base does not have/ });
    assert.throws(() => decode([100_256], 'cl100k_base'), /tokens has one that cl100k_base does not have/);
  });
  for (const tokenizer of ['gpt-4o', 'p50k_base', 5, {}, '']) {
    test(`tokenizer ${JSON.stringify(tokenizer)}`, () => {
      assert.throws(() => createMemory({ tokenizer }), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_OPTION', message: 'memoryline: tokenizer must be one of estimate, o200k_base, cl100k_base' });
    });
  }
  for (const model of ['claude-sonnet-5', 'gpt-9', 'text-davinci-003', 'gpt', 5, {}, '', 'gpt-4turbo']) {
    test(`model ${JSON.stringify(model)}`, () => {
      assert.throws(() => createMemory({ model }), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_OPTION', message: /^memoryline: model .* is not known; known are gpt-5, .*gpt-4o.*o4-mini, gpt-4, / });
    });
  }
});

describe('tokens are those of tiktoken', () => {
  const alphabets = {
    anything: fc.string({ unit: 'binary', maxLength: 40 }),
    'anything in the basic plane': fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 40 }),
    'words, numbers and symbols': fc.string({
      unit: fc.constantFrom(...'aAbBeErRsStTdDmMlLvV01239 \n\r\t\'"/.,;-_=(){}[]<>|^*#', '  ', '\u00a0', '\u0085', '\u3000', '\u017f', 'é', 'Ä', 'ǅ', '\u0301', 'ʰ', 'あ', '中', '٣', 'Ⅳ', '½', '😀', '\ufeff', '\u200d'),
      maxLength: 60,
    }),
    prose: fc.array(fc.constantFrom('the', 'The', 'THE', 'bicycle', 'workshop', "don't", "WE'LL", 'iPhone', 'naïve', '12', '3.14', 'Straße', 'café', '¿qué?', 'привет', '안녕', '<|endoftext|>', 'https://a.example/b?c=d', '```js\n', '    '), { maxLength: 30 }).map((list) => list.join(' ')),
  };
  const runs = process.env.MEMORYLINE_LONG === '1' ? 25_000 : 2_500;
  for (const [what, arbitrary] of Object.entries(alphabets)) {
    test(`for ${runs} texts of ${what}`, () => {
      fc.assert(fc.property(arbitrary, assertSame), { numRuns: runs });
    });
  }

  test('for every character of Unicode, alone and between letters', () => {
    for (let start = 0; start < 0x11_0000; start += 0x400) {
      const characters = Array.from({ length: 0x400 }, (_, index) => start + index).filter((code) => code < 0xd800 || code > 0xdfff).map((code) => String.fromCodePoint(code));
      assertSame(characters.join(''));
      assertSame(characters.map((character) => `a${character}B ${character}1`).join(''));
    }
  });

  test('for text that reads like a special token, and for half of a surrogate pair', () => {
    assertSame('<|endoftext|><|fim_prefix|><|endofprompt|><|im_start|>');
    assertSame('a\ud83d b\ude00 \ud83d\ude00');
  });

  const hard = {
    carets: '^'.repeat(20_000), spaces: ' '.repeat(20_000), 'line ends': '\n'.repeat(5000), 'one word': 'abcdefghij'.repeat(2000), 'one letter': 'a'.repeat(5000),
    'combining marks': `a${'\u0301'.repeat(5000)}`, CJK: '自行车修理'.repeat(1000), digits: '1234567890'.repeat(1000), 'spaces and a letter': `${' '.repeat(5000)}a`, emoji: '👩‍👩‍👧‍👦'.repeat(500),
  };
  for (const [what, text] of Object.entries(hard)) test(`for long ${what}`, () => assertSame(text));
});

describe('tokens become the text again', () => {
  for (const name of ENCODINGS) {
    test(name, () => {
      fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        assert.equal(decode(encode(text, name), name), text);
        assert.equal(decode(Array.from(encode(text, name)), name), text);
      }), { numRuns: 500 });
      assert.equal(decode(encode('\ud83d', name), name), '\ufffd');
      const tokens = encode('\u{12000}', name);
      assert.ok(tokens.length > 1);
      assert.equal(decode(tokens.subarray(0, 1), name), '\ufffd');
      assert.equal(decode([], name), '');
    });
  }
});

describe('a memory that counts exactly', () => {
  const content = 'Der Straßenbelag ist naß, "foo(bar)" costs 12345 € 你好';
  const tokensOf = async (options) => {
    const session = createMemory({ budget: { perMessageOverhead: 0 }, ...options }).session('s');
    await session.add({ role: 'user', content });
    return (await session.messages())[0].tokens;
  };
  const exact = (name) => reference[name].encode_ordinary(content).length;

  test('estimates unless it is told otherwise', async () => {
    for (const options of [{}, { tokenizer: 'estimate' }, { tokenizer: null, model: null }, { tokenizer: 'estimate', model: 'gpt-4o' }]) assert.equal(await tokensOf(options), estimateTokens(content));
    assert.notEqual(exact('o200k_base'), exact('cl100k_base'));
    assert.notEqual(exact('o200k_base'), estimateTokens(content));
  });

  const models = {
    o200k_base: ['gpt-5', 'gpt-5-mini', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-2024-08-06', 'chatgpt-4o-latest', 'o1', 'o3-mini', 'o4-mini', 'ft:gpt-4o-mini:acme::abc', 'gpt-oss-120b'],
    cl100k_base: ['gpt-4', 'gpt-4-turbo', 'gpt-4-0613', 'gpt-3.5-turbo-16k', 'gpt-35-turbo', 'text-embedding-3-small', 'ft:gpt-3.5-turbo:acme'],
  };
  for (const [name, list] of Object.entries(models)) {
    test(`by ${name} for its models`, async () => {
      assert.equal(await tokensOf({ tokenizer: name }), exact(name));
      for (const model of list) assert.equal(await tokensOf({ model }), exact(name), model);
    });
  }

  test('by the tokenizer before the model, and by the app\'s own count before both', async () => {
    assert.equal(await tokensOf({ tokenizer: 'cl100k_base', model: 'gpt-4o' }), exact('cl100k_base'));
    assert.equal(await tokensOf({ tokenizer: 'cl100k_base', countTokens: () => 7 }), 7);
  });

  test('counts the parts of a context and the summary without a model', async () => {
    const session = createMemory({ model: 'gpt-4o', budget: { maxTokens: 30, targetTokens: 0, keepRecent: 1, alignToUser: false, summaryMaxTokens: 20, perMessageOverhead: 0 } }).session('s');
    await session.pin('note', content);
    await session.add([{ role: 'user', content }, { role: 'assistant', content }, { role: 'user', content: 'Thanks' }]);
    const { tokens, summary, system } = await session.context();
    assert.equal(tokens.summary, countTokens(summary));
    assert.equal(tokens.facts, countTokens(`- note: ${content}`));
    assert.equal(tokens.total, countTokens(system) + tokens.recent);
    assert.equal(tokens.recent, countTokens('Thanks'));
    assert.equal(summary.split('\n').length, 1, 'a second line would be over the budget of the summary');
  });

  test('counts a long message away from the thread of JavaScript', async () => {
    const session = createMemory({ tokenizer: 'o200k_base', budget: { maxTokens: 1e9, perMessageOverhead: 0 } }).session('s');
    const long = 'The quick brown fox. '.repeat(50_000);
    let turns = 0;
    let done = false;
    const added = session.add({ role: 'user', content: long }).finally(() => (done = true));
    while (!done) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    await added;
    assert.ok(turns > 1, 'the event loop goes on meanwhile');
    assert.equal((await session.messages())[0].tokens, countTokens(long));
  });
});
