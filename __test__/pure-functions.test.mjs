import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  argumentsText,
  assertSessionState,
  cosine,
  createMemory,
  estimateTokens,
  extractiveSummary,
  factsPrompt,
  messageText,
  oneLine,
  parseArguments,
  parseFacts,
  summaryPrompt,
  transcript,
} from './support/library.mjs';
import { assistant, plainTool, system, user } from './support/messages.mjs';
import { words } from './support/tokens.mjs';

const shown = (value) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

describe('assertSessionState', () => {
  for (const [state, text] of [
    [undefined, 'session state must be an object'],
    [null, 'session state must be an object'],
    ['state', 'session state must be an object'],
    [1, 'session state must be an object'],
    [{}, 'unsupported session state version undefined'],
    [{ version: 0, id: 'a' }, 'unsupported session state version 0'],
    [{ version: null, id: 'a' }, 'unsupported session state version null'],
    [{ version: '1', id: 'a' }, 'unsupported session state version 1'],
    [{ version: 1 }, 'session state needs an id'],
    [{ version: 1, id: '' }, 'session state needs an id'],
    [{ version: 1, id: {} }, 'session state needs an id'],
  ]) {
    test(`throws for ${typeof state === 'object' ? JSON.stringify(state) : shown(state)}`, () => {
      assert.throws(() => assertSessionState(state), { name: 'TypeError', message: `memoryline: ${text}` });
    });
  }

  test('lets a state pass, and looks no deeper than version and id', async () => {
    const memory = createMemory();
    await memory.session('s').add(user('hi'));
    assert.equal(assertSessionState(await memory.export('s')), undefined);
    assert.equal(assertSessionState({ version: 1, id: 'a' }), undefined);
  });
});

describe('parseFacts', () => {
  for (const wrong of [undefined, null, 5, {}, [], new Map()]) {
    test(`throws at once for ${wrong instanceof Map ? 'a Map' : JSON.stringify(wrong)}`, () => {
      assert.throws(() => parseFacts(wrong), TypeError);
    });
  }

  const fact = (key, value) => ({ key, value });
  const rows = [
    ['an empty text', '', []],
    ['blanks', ' \n ', []],
    ['none', 'none', []],
    ['none with a dot', 'none.', []],
    ['None in another case', ' NoNe. ', []],
    ['none in a fence', '```\nnone\n```', []],
    ['a line', 'name: Dana', [fact('name', 'Dana')]],
    ['lines with bullets', '- a: 1\n* b: 2\n• c: 3\nd: 4', [fact('a', '1'), fact('b', '2'), fact('c', '3'), fact('d', '4')]],
    ['indented lines', '   - a: 1\n\tb:2', [fact('a', '1'), fact('b', '2')]],
    ['lines that end as in Windows', 'a: 1\r\nb: 2\r\n', [fact('a', '1'), fact('b', '2')]],
    ['a value that has colons', 'time: 19:30', [fact('time', '19:30')]],
    ['an address, whose key is its scheme', 'http://x', [fact('http', '//x')]],
    ['keys that are not normalized', 'Party Size: 6\nparty-size.x/y_z: 7', [fact('Party Size', '6'), fact('party-size.x/y_z', '7')]],
    ['a key that begins with a digit', '2nd guest: Eve', [fact('2nd guest', 'Eve')]],
    ['a line without a value', 'a:\nb:  \nc: 1', [fact('c', '1')]],
    ['a line without a key', ': 1\n- : 2', []],
    ['a line without a colon', 'Here are the facts\na: 1', [fact('a', '1')]],
    ['keys outside ASCII', 'größe: 6\n名前: Dana', []],
    ['a key that begins with a sign', '_a: 1\n.b: 2', []],
    ['lines in a fence', '```\na: 1\nb: 2\n```', [fact('a', '1'), fact('b', '2')]],
    ['lines in a fence with a language', '```text\na: 1\n```', [fact('a', '1')]],
    ['an array', '[{"key":"a","value":"1"},{"key":"b","value":2}]', [fact('a', '1'), fact('b', '2')]],
    ['an array with blanks around', ' \n [{"key":"a","value":"1"}] \n', [fact('a', '1')]],
    ['an array in a fence', '```json\n[{"key":"a","value":"1"}]\n```', [fact('a', '1')]],
    ['an array whose values are missing', '[{"key":"a"},{"key":"b","value":null}]', [fact('a', ''), fact('b', '')]],
    ['an array whose keys are no text', '[{"key":5,"value":true}]', [fact('5', 'true')]],
    ['an array with items that are no facts', '["a: 1",null,5,{"value":"x"},{"key":"b","value":"2"}]', [fact('b', '2')]],
    ['an array of strings', '["a: 1","b: 2"]', []],
    ['an empty array', '[]', []],
    ['an object', '{"a":"1","b":2,"c":null,"d":false}', [fact('a', '1'), fact('b', '2'), fact('c', ''), fact('d', 'false')]],
    ['an object in the order of its keys, integers first', '{"b":"1","2":"two","1":"one"}', [fact('1', 'one'), fact('2', 'two'), fact('b', '1')]],
    ['an object in a fence', '```json\n{"Party Size": 6}\n```', [fact('Party Size', '6')]],
    ['an empty object', '{}', []],
    ['numbers as JavaScript prints them', '{"a":1e21,"b":1.50,"c":-0,"d":0.1}', [fact('a', '1e+21'), fact('b', '1.5'), fact('c', '0'), fact('d', '0.1')]],
    ['JSON that does not end', '{"a": 1', []],
    ['lines that follow a broken bracket', '[facts]\na: 1', [fact('a', '1')]],
  ];
  for (const [what, text, expected] of rows) {
    test(`reads ${what}`, () => {
      assert.deepEqual(parseFacts(text), expected);
    });
  }

  test('does not take a fence with a language in capitals for a fence', () => {
    assert.deepEqual(parseFacts('```JSON\n{"a":"1"}\n```'), []);
  });

  test('turns nested values into what String makes of them', () => {
    assert.deepEqual(parseFacts('{"a":{"b":1},"c":[1,[2,null]]}'), [fact('a', '[object Object]'), fact('c', '1,2,')]);
  });

  test('makes facts that a session can extract', async () => {
    const budget = { maxTokens: 1, keepRecent: 0, perMessageOverhead: 0 };
    const session = createMemory({ budget, extractFacts: () => parseFacts('- Party Size: 6\n- name: Dana') }).session('s');
    const { facts } = await session.add([user('hello there'), user('hello again')]);
    assert.deepEqual(facts.map(({ key, value }) => [key, value]), [['party_size', '6'], ['name', 'Dana']]);
  });
});

describe('estimateTokens', () => {
  for (const [text, expected] of [
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['abcdefgh', 2],
    [' \n\t\0', 1],
    ['\x7f', 1],
    ['\x80', 1],
    ['é', 1],
    ['éé', 2],
    ['日本語', 3],
    ['😀', 1],
    ['😀😀', 2],
    ['\ud83d', 1],
    ['\ude00\ud83d', 2],
    ['a😀', 2],
    ['abcdé', 2],
    ['abcdeé', 3],
    ['👩‍👩‍👧', 5],
    ['x'.repeat(4001), 1001],
  ]) {
    test(`estimates ${expected} for ${text.length > 20 ? 'a long text' : JSON.stringify(text)}`, () => {
      assert.equal(estimateTokens(text), expected);
    });
  }
});

describe('cosine', () => {
  const rows = [
    [[], [], 0],
    [[], [1], 0],
    [[0, 0], [1, 2], 0],
    [[1, 2], [0, 0], 0],
    [[1, 0], [1, 0], 1],
    [[1, 0], [0, 1], 0],
    [[1, 0], [-1, 0], -1],
    [[3, 4], [1, 0], 0.6],
    [[1, 0, 5], [1, 0], 1],
    [[1, 0], [1, 0, 5], 1],
    [[0, 1], [0], 0],
  ];
  for (const [left, right, expected] of rows) {
    test(`of ${JSON.stringify(left)} and ${JSON.stringify(right)} is ${expected}`, () => {
      assert.equal(cosine(left, right), expected);
    });
  }

  test('adds in order, in doubles, and takes one root of the product', () => {
    const left = Array.from({ length: 1537 }, (_, index) => Math.sin(index * 12.9898) * 43758.5453 % 1);
    const right = Array.from({ length: 1536 }, (_, index) => Math.cos(index * 78.233) * 12543.8531 % 1);
    let dot = 0;
    let leftNorm = 0;
    let rightNorm = 0;
    for (let index = 0; index < right.length; index++) {
      dot += left[index] * right[index];
      leftNorm += left[index] * left[index];
      rightNorm += right[index] * right[index];
    }
    assert.equal(cosine(left, right), dot / Math.sqrt(leftNorm * rightNorm));
  });

  test('is no number when the sums overflow', () => {
    assert.equal(cosine([1e200, 1e200], [1e200, 1e200]), NaN);
  });

  test('takes typed arrays as it takes arrays', () => {
    assert.equal(cosine(Float32Array.of(3, 4), [1, 0]), 0.6);
    assert.equal(cosine(Float64Array.of(3, 4), Float32Array.of(1, 0)), 0.6);
    assert.equal(cosine([0.1, 0.7], Float64Array.of(0.3, 0.2)), cosine([0.1, 0.7], [0.3, 0.2]));
    assert.equal(cosine(Float32Array.of(0.1, 0.7), [0.3, 0.2]), cosine(Array.from(Float32Array.of(0.1, 0.7)), [0.3, 0.2]));
  });
});

describe('oneLine', () => {
  const rows = [
    ['', undefined, ''],
    ['  a \n\n b\tc  ', undefined, 'a b c'],
    ['a\u00a0\ufeff\u2003b', undefined, 'a b'],
    ['a\u0085b', undefined, 'a\u0085b'],
    ['\ufeffa\ufeff', undefined, 'a'],
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abc...'],
    ['ab cdefg', 6, 'ab...'],
    ['ab    cdefg', 6, 'ab...'],
    ['abcd', 3, '...'],
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab...'],
    ['abcdef', 1, 'abcd...'],
    ['abcdef', 0, 'abc...'],
    ['abcdef', -1, 'ab...'],
    ['😀😀😀', 6, '😀😀😀'],
    ['😀😀😀😀', 7, '😀😀...'],
    ['😀😀😀😀', 6, '😀\ud83d...'],
  ];
  for (const [text, max, expected] of rows) {
    test(`makes ${JSON.stringify(expected)} of ${JSON.stringify(text)} with a limit of ${max}`, () => {
      assert.equal(oneLine(text, max), expected);
    });
  }

  test('has a limit only when it is given one', () => {
    const long = 'word '.repeat(500).trim();
    assert.equal(oneLine(long), long);
  });

  test('counts the length after the white space was made one', () => {
    assert.equal(oneLine('a    b    c', 5), 'a b c');
  });
});

describe('messageText and argumentsText', () => {
  const call = (name, args) => ({ id: 'c', name, arguments: args });

  test('give the text of arguments: a string as it is, an object as JSON', () => {
    assert.equal(argumentsText(call('f', '{ "a" : 1 }')), '{ "a" : 1 }');
    assert.equal(argumentsText(call('f', '')), '');
    assert.equal(argumentsText(call('f', {})), '{}');
    assert.equal(
      argumentsText(call('f', { b: 1, 2: NaN, a: undefined, 1: new Date(0), t: 'é\u2028\ud83d' })),
      JSON.stringify({ b: 1, 2: NaN, a: undefined, 1: new Date(0), t: 'é\u2028\ud83d' }),
    );
  });

  test('leave content alone when there are no calls', () => {
    for (const content of ['', ' ', ' padded\n']) {
      assert.equal(messageText(user(content)), content);
      assert.equal(messageText(assistant(content, { toolCalls: [] })), content);
    }
  });

  test('put the calls after the content, which stays as it is unless it is blank', () => {
    const toolCalls = [call('find_slots', { party: 6, day: 'friday' }), call('g', '')];
    const text = '[call find_slots({"party":6,"day":"friday"})] [call g()]';
    assert.equal(messageText(assistant('', { toolCalls })), text);
    assert.equal(messageText(assistant(' \ufeff\n', { toolCalls })), text);
    assert.equal(messageText(assistant(' one \n', { toolCalls })), ` one \n ${text}`);
    assert.equal(messageText(user('x', { toolCalls })), `x ${text}`);
  });
});

describe('parseArguments', () => {
  const parse = (args) => parseArguments({ id: 'c', name: 'f', arguments: args });

  test('gives an object back as the very object', () => {
    const object = { a: { b: [1] } };
    assert.equal(parse(object), object);
  });

  for (const [text, expected] of [
    ['', {}],
    [' \n', {}],
    ['\ufeff', {}],
    ['{}', {}],
    [' {"a":1,"b":{"c":[null]}} ', { a: 1, b: { c: [null] } }],
    ['{"a":', { arguments: '{"a":' }],
    ['[1]', { arguments: '[1]' }],
    ['null', { arguments: 'null' }],
    ['5', { arguments: '5' }],
    [' "text" ', { arguments: ' "text" ' }],
    ['party of six', { arguments: 'party of six' }],
  ]) {
    test(`makes ${JSON.stringify(expected)} of ${JSON.stringify(text)}`, () => {
      assert.deepEqual(parse(text), expected);
    });
  }

  test('reads a key called __proto__ as a key', () => {
    const parsed = parse('{"__proto__":1}');
    assert.deepEqual(Object.keys(parsed), ['__proto__']);
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
  });
});

describe('transcript', () => {
  test('is empty without messages', () => {
    assert.equal(transcript([]), '');
  });

  test('has one line a message: its name or else its role, and its text trimmed', () => {
    assert.equal(
      transcript([
        system(' be kind '),
        user('\ufeffhi\n', { name: 'Dana' }),
        user('anonymous', { name: '' }),
        assistant('', { toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] }),
        plainTool('two\nlines'),
        user('no name', { name: null }),
      ]),
      'system: be kind\nDana: hi\n: anonymous\nassistant: [call f({})]\ntool: two\nlines\nuser: no name',
    );
  });
});

describe('extractiveSummary', () => {
  const summarize = (input, count) =>
    extractiveSummary({ previousSummary: '', messages: [], facts: [], maxTokens: 1000, ...input }, count);

  test('is empty when there is nothing to say', () => {
    assert.equal(summarize({}), '');
    assert.equal(summarize({ previousSummary: ' \n \n' }), '');
    assert.equal(summarize({ messages: [system('be kind')] }), '');
  });

  test('has one line for each message that is not a system message', () => {
    const messages = [
      system('be kind'),
      user('two\n lines', { name: 'Dana' }),
      assistant('', { toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] }),
      plainTool('', { name: '' }),
    ];
    assert.equal(summarize({ messages }), '- Dana: two lines\n- assistant: [call f({})]\n- : ');
  });

  test('clips the text of a message at 160 UTF-16 units', () => {
    assert.equal(summarize({ messages: [user('x'.repeat(160))] }), `- user: ${'x'.repeat(160)}`);
    assert.equal(summarize({ messages: [user('x'.repeat(161))] }), `- user: ${'x'.repeat(157)}...`);
  });

  test('begins with the lines of the summary before, trimmed and without the blank ones', () => {
    assert.equal(summarize({ previousSummary: '\n one \n\n\ufefftwo\n', messages: [user('three')] }), 'one\ntwo\n- user: three');
  });

  test('drops lines from the front until it fits', () => {
    const input = { previousSummary: 'a b c\nd', messages: [user('e f'), user('g')] };
    assert.equal(summarize({ ...input, maxTokens: 11 }, words), 'a b c\nd\n- user: e f\n- user: g');
    assert.equal(summarize({ ...input, maxTokens: 10 }, words), 'd\n- user: e f\n- user: g');
    assert.equal(summarize({ ...input, maxTokens: 7 }, words), '- user: e f\n- user: g');
    assert.equal(summarize({ ...input, maxTokens: 6 }, words), '- user: g');
  });

  test('keeps the last line, however long', () => {
    assert.equal(summarize({ messages: [user('a'), user('b c d e f')], maxTokens: 1 }, words), '- user: b c d e f');
    assert.equal(summarize({ previousSummary: 'one two three', maxTokens: 1 }, words), 'one two three');
  });

  test('estimates when it is given no counter', () => {
    const messages = Array.from({ length: 40 }, (_, index) => user(`message number ${index}`));
    const summary = summarize({ messages, maxTokens: 50 });
    assert.ok(estimateTokens(summary) <= 50);
    const longer = `- user: message number ${40 - summary.split('\n').length - 1}\n${summary}`;
    assert.ok(estimateTokens(longer) > 50);
  });

  test('does not count anything twice when nothing has to be dropped, and counts a long one less than once a line squared', () => {
    let counted = 0;
    const count = (text) => {
      counted += text.length;
      return words(text);
    };
    const measure = (lines) => {
      counted = 0;
      const messages = Array.from({ length: lines }, () => user('one two three'));
      assert.equal(summarize({ messages, maxTokens: 50 }, count).split('\n').length, 10);
      return counted;
    };
    const [short, long] = [measure(200), measure(2000)];
    assert.ok(long < short * 20, `ten times the lines cost ${long / short} times the counting`);
  });
});

describe('summaryPrompt', () => {
  const prompt = (input) => summaryPrompt({ previousSummary: '', messages: [], facts: [], maxTokens: 500, ...input });

  test('has its blocks in order and ends with the last label', () => {
    const text = prompt({
      previousSummary: 'Dana wants a table.',
      facts: [{ key: 'name', value: 'Dana', source: 'pinned', at: 1 }, { key: 'party_size', value: '6', source: 'extracted', at: 1 }],
      messages: [user('hi', { name: 'Dana' }), assistant('hello')],
    });
    assert.ok(
      text.endsWith(
        '\n\nPrevious summary:\nDana wants a table.'
          + '\n\nKnown facts:\n- name: Dana\n- party_size: 6'
          + '\n\nNew messages:\nDana: hi\nassistant: hello'
          + '\n\nUpdated summary:',
      ),
      text,
    );
  });

  test('says how long the summary may be', () => {
    assert.match(prompt({ maxTokens: 123 }), /about 123 tokens/);
  });

  test('says (none) for each of the three blocks that is empty', () => {
    const count = (text) => text.split('(none)').length - 1;
    assert.equal(count(prompt({})), 3);
    assert.ok(prompt({}).endsWith('Previous summary:\n(none)\n\nKnown facts:\n(none)\n\nNew messages:\n(none)\n\nUpdated summary:'));
    assert.equal(count(prompt({ previousSummary: 'x' })), 2);
    assert.equal(count(prompt({ previousSummary: 'x', messages: [user('y')] })), 1);
  });

  test('says something to the model before the blocks', () => {
    assert.match(prompt({}).split('Previous summary:')[0], /\w+ \w+ \w+/);
  });
});

describe('factsPrompt', () => {
  const prompt = (input) => factsPrompt({ messages: [], facts: [], summary: '', ...input });

  test('asks for lines of snake_case keys, or none', () => {
    const instructions = prompt({}).split('Known facts:')[0];
    assert.match(instructions, /key: value/);
    assert.match(instructions, /snake_case/);
    assert.match(instructions, /\bnone\b/);
  });

  test('has its blocks in order', () => {
    const text = prompt({ facts: [{ key: 'name', value: 'Dana', source: 'pinned', at: 1 }], messages: [user('hi'), assistant('hello')] });
    assert.ok(text.includes('Known facts:\n- name: Dana\n\nMessages:\nuser: hi\nassistant: hello'), text);
  });

  test('says (none) for each of the two blocks that is empty', () => {
    const count = (text) => text.split('(none)').length - 1;
    assert.equal(count(prompt({})), 2);
    assert.equal(count(prompt({ messages: [user('x')] })), 1);
    assert.equal(count(prompt({ messages: [user('x')], facts: [{ key: 'k', value: 'v', source: 'pinned', at: 1 }] })), 0);
  });
});
