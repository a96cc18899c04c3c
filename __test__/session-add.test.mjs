import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { assistant, calls, result, user } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget, words } from './support/tokens.mjs';

const open = (options) => createMemory(options).session('s');
const argumentError = (message) => ({ name: 'TypeError', message: `memoryline: ${message}`, code: 'ERR_MEMORYLINE_INVALID_ARGUMENT' });

describe('session() with a wrong id', () => {
  for (const id of [undefined, null, '', 0, 42, true, {}, ['a'], Symbol('a')]) {
    test(`throws at once for ${id === '' ? 'an empty string' : Array.isArray(id) ? 'an array' : String(id)}`, () => {
      assert.throws(() => createMemory().session(id), argumentError('session id must be a non-empty string'));
    });
  }
});

describe('add() with a wrong message', () => {
  const good = { id: 'c1', name: 'f', arguments: {} };
  const call = (part) => ({ role: 'assistant', content: '', toolCalls: [{ ...good, ...part }] });
  const wrong = [
    ['nothing', undefined, 'message must be an object'],
    ['null', null, 'message must be an object'],
    ['a string', 'hello', 'message must be an object'],
    ['a number', 42, 'message must be an object'],
    ['a boolean', true, 'message must be an object'],
    ['no role', { content: 'x' }, 'unknown message role undefined'],
    ['a null role', { role: null, content: 'x' }, 'unknown message role null'],
    ['an unknown role', { role: 'developer', content: 'x' }, 'unknown message role developer'],
    ['a role in capitals', { role: 'User', content: 'x' }, 'unknown message role User'],
    ['a number for a role', { role: 3, content: 'x' }, 'unknown message role 3'],
    ['a symbol for a role', { role: Symbol('user'), content: 'x' }, 'unknown message role Symbol(user)'],
    ['a role in an array', { role: ['user'], content: 'x' }, 'unknown message role user'],
    ['no content', { role: 'user' }, 'message content must be a string'],
    ['null content', { role: 'user', content: null }, 'message content must be a string'],
    ['a number for content', { role: 'user', content: 5 }, 'message content must be a string'],
    ['an object for content', { role: 'user', content: { type: 'text', text: 'x' } }, 'message content must be a string'],
    ['a String object', { role: 'user', content: new String('x') }, 'message content must be a string'],
    ['null tool calls', { role: 'assistant', content: '', toolCalls: null }, 'toolCalls must be an array'],
    ['one tool call that is not in an array', { role: 'assistant', content: '', toolCalls: good }, 'toolCalls must be an array'],
    ['a string for tool calls', { role: 'assistant', content: '', toolCalls: 'c1' }, 'toolCalls must be an array'],
    ['a tool call without an id', call({ id: undefined }), 'every tool call needs a string id'],
    ['a tool call with an empty id', call({ id: '' }), 'every tool call needs a string id'],
    ['a tool call with a number for an id', call({ id: 1 }), 'every tool call needs a string id'],
    ['a tool call without a name', call({ name: undefined }), 'every tool call needs a string name'],
    ['a tool call with an empty name', call({ name: '' }), 'every tool call needs a string name'],
    ['a tool call with a number for a name', call({ name: 1 }), 'every tool call needs a string name'],
    ['a tool call without arguments', call({ arguments: undefined }), 'tool call arguments must be a string or an object'],
    ['a tool call with null arguments', call({ arguments: null }), 'tool call arguments must be a string or an object'],
    ['a tool call with an array of arguments', call({ arguments: [1] }), 'tool call arguments must be a string or an object'],
    ['a tool call with a number for arguments', call({ arguments: 5 }), 'tool call arguments must be a string or an object'],
    ['a null toolCallId', { role: 'tool', content: '', toolCallId: null }, 'toolCallId must be a string'],
    ['a number for a toolCallId', { role: 'tool', content: '', toolCallId: 1 }, 'toolCallId must be a string'],
  ];
  for (const [what, message, text] of wrong) {
    test(`throws at once for ${what}`, () => {
      assert.throws(() => open().add(message), argumentError(text));
      assert.throws(() => open().add([message]), argumentError(text));
    });
  }

  test('throws for the second of two tool calls as for the first', () => {
    const message = { role: 'assistant', content: '', toolCalls: [good, { ...good, name: '' }] };
    assert.throws(() => open().add(message), argumentError('every tool call needs a string name'));
  });

  test('names the first fault in the order role, content, tool calls, toolCallId', () => {
    const faults = { role: 'x', content: 5, toolCalls: [{ id: '', name: '', arguments: 5 }], toolCallId: 5 };
    assert.throws(() => open().add(faults), argumentError('unknown message role x'));
    assert.throws(() => open().add({ ...faults, role: 'user' }), argumentError('message content must be a string'));
    assert.throws(() => open().add({ ...faults, role: 'user', content: '' }), argumentError('every tool call needs a string id'));
    const named = [{ id: 'c', name: '', arguments: 5 }];
    assert.throws(() => open().add({ ...faults, role: 'user', content: '', toolCalls: named }), argumentError('every tool call needs a string name'));
    const typed = [{ id: 'c', name: 'f', arguments: 5 }];
    assert.throws(
      () => open().add({ ...faults, role: 'user', content: '', toolCalls: typed }),
      argumentError('tool call arguments must be a string or an object'),
    );
    assert.throws(() => open().add({ ...faults, role: 'user', content: '', toolCalls: [] }), argumentError('toolCallId must be a string'));
  });

  test('stores nothing of a batch that has one wrong message, wherever it stands', async () => {
    const memory = createMemory();
    const session = memory.session('s');
    assert.throws(() => session.add([user('good'), user('good too'), { role: 'user' }]), argumentError('message content must be a string'));
    assert.throws(() => session.add([null, user('good')]), argumentError('message must be an object'));
    assert.equal(await memory.export('s'), null);
    await session.add(user('first'));
    assert.deepEqual((await session.messages()).map(({ id, content }) => [id, content]), [[1, 'first']]);
  });

  test('rejects or throws for meta that JSON cannot say, and stores nothing', async () => {
    const memory = createMemory();
    const circular = {};
    circular.self = circular;
    for (const meta of [circular, { big: 1n }]) {
      await assert.rejects(async () => memory.session('s').add(user('x', { meta })), TypeError);
    }
    assert.equal(await memory.export('s'), null);
  });
});

describe('add() accepts', () => {
  test('each of the four roles', async () => {
    const session = open();
    await session.add(['user', 'assistant', 'system', 'tool'].map((role) => ({ role, content: role })));
    assert.deepEqual((await session.messages()).map(({ role }) => role), ['user', 'assistant', 'system', 'tool']);
  });

  test('one message as it accepts an array of one', async () => {
    const clock = () => 5;
    const one = open({ clock });
    const array = open({ clock });
    assert.deepEqual(await one.add(user('hi')), await array.add([user('hi')]));
    assert.deepEqual(await one.state(), await array.state());
  });

  test('empty content, empty tool calls and an empty toolCallId', async () => {
    const session = open();
    await session.add([user(''), assistant('', { toolCalls: [] }), { role: 'tool', content: '', toolCallId: '' }]);
    const [, withCalls, withId] = await session.messages();
    assert.deepEqual([withCalls.toolCalls, withId.toolCallId], [[], '']);
  });

  test('undefined for every optional field as it accepts its absence', async () => {
    const session = open({ clock: () => 5 });
    const bare = { role: 'user', content: 'hi' };
    await session.add({ ...bare, name: undefined, toolCalls: undefined, toolCallId: undefined, at: undefined, meta: undefined });
    assert.equal(JSON.stringify(await session.messages()), '[{"role":"user","content":"hi","id":1,"at":5,"tokens":5}]');
  });

  test('a frozen message and leaves it as it was', async () => {
    const message = Object.freeze(user('hi', { meta: Object.freeze({ a: 1 }) }));
    await open().add(Object.freeze([message]));
    assert.deepEqual(message, { role: 'user', content: 'hi', meta: { a: 1 } });
  });

  test('a message with a prototype of its own and getters', async () => {
    class Turn {
      get role() {
        return 'user';
      }
      get content() {
        return 'from a getter';
      }
    }
    const session = open();
    await session.add(new Turn());
    assert.equal((await session.messages())[0].content, 'from a getter');
  });
});

describe('a stored message', () => {
  test('has its keys in one order, whatever order they were given in', async () => {
    const session = open({ clock: () => 5, countTokens: () => 1 });
    await session.add({ meta: { z: 1, a: 2 }, toolCallId: 't', toolCalls: [], name: 'n', at: 9, content: 'c', role: 'tool' });
    assert.equal(
      JSON.stringify(await session.messages()),
      '[{"role":"tool","content":"c","id":1,"at":9,"tokens":5,"name":"n","toolCalls":[],"toolCallId":"t","meta":{"z":1,"a":2}}]',
    );
  });

  test('keeps a null name and a null meta, and drops every field that is not one of a message', async () => {
    const session = open({ clock: () => 5, countTokens: () => 1 });
    await session.add({ role: 'user', content: 'c', name: null, meta: null, extra: 1, id: 77, tokens: 99, embedding: [1] });
    assert.equal(
      JSON.stringify(await session.messages()),
      '[{"role":"user","content":"c","id":1,"at":5,"tokens":5,"name":null,"meta":null}]',
    );
  });

  test('has ids that start at 1 and are never given twice, whatever is folded', async () => {
    const session = open(wordBudget({ maxTokens: 2, targetTokens: 1, keepRecent: 1 }));
    for (const text of ['a', 'b', 'c', 'd']) await session.add(user(text));
    const { archive, recent } = await session.state();
    assert.deepEqual([...archive, ...recent].map(({ id, content }) => [id, content]), [[1, 'a'], [2, 'b'], [3, 'c'], [4, 'd']]);
  });

  test('has ids that start at 1 again when the session was deleted', async () => {
    const session = open();
    await session.add([user('a'), user('b')]);
    await session.clear();
    await session.add(user('c'));
    assert.deepEqual((await session.messages()).map(({ id }) => id), [1]);
  });

  test('has ids of its own in each session', async () => {
    const memory = createMemory();
    await memory.session('a').add([user('x'), user('y')]);
    await memory.session('b').add(user('z'));
    assert.deepEqual((await memory.session('b').messages()).map(({ id }) => id), [1]);
  });

  test('has the time it was given, or that of the operation when that is null or undefined', async () => {
    const session = open({ clock: () => 5 });
    await session.add([user('a', { at: 0 }), user('b', { at: null }), user('c', { at: undefined }), user('d', { at: -1.5 })]);
    assert.deepEqual((await session.messages()).map(({ at }) => at), [0, 5, 5, -1.5]);
  });

  test('counts the tokens of its text and of its tool calls, whatever its role, and the overhead', async () => {
    const session = open({ countTokens: words, budget: { perMessageOverhead: 10 } });
    const toolCalls = [{ id: 'c', name: 'f', arguments: '{}' }];
    await session.add([user('one two'), user('', { toolCalls }), user('one', { toolCalls }), assistant('', { toolCalls })]);
    assert.deepEqual((await session.messages()).map(({ tokens }) => tokens), [12, 12, 13, 12]);
  });

  test('is counted once, when it is added, and its count goes with it into the archive', async () => {
    const counted = [];
    const countTokens = (text) => {
      counted.push(text);
      return 1;
    };
    const session = open({ countTokens, summarize: () => 'S', budget: { maxTokens: 1, keepRecent: 1, perMessageOverhead: 2 } });
    await session.add(assistant('text', { toolCalls: [{ id: 'c', name: 'f', arguments: { a: 1 } }] }));
    await session.add(user('next'));
    assert.deepEqual(counted, ['text [call f({"a":1})]', 'next']);
    assert.deepEqual((await session.state()).archive.map(({ tokens }) => tokens), [3]);
  });

  test('keeps tool arguments as they were given: a string unit by unit, an object key by key', async () => {
    const session = open();
    const text = '{ "b" : 1.0,\n"a": 2 }';
    const object = { b: 1, a: { 10: 'x', 2: 'y', z: [1.5, null, true] } };
    await session.add(assistant('', { toolCalls: [{ id: '1', name: 'f', arguments: text }, { id: '2', name: 'g', arguments: object }] }));
    const [{ toolCalls }] = await session.messages();
    assert.equal(JSON.stringify(toolCalls), JSON.stringify([{ id: '1', name: 'f', arguments: text }, { id: '2', name: 'g', arguments: object }]));
  });

  test('keeps meta as JSON says it: integer keys first, undefined dropped, NaN as null, a Date as its text', async () => {
    const session = open();
    const meta = { b: 1, 2: 'two', a: undefined, 1: 'one', n: NaN, d: new Date(0), deep: { u: undefined, list: [undefined, 1e21, 0.1] } };
    await session.add(user('x', { meta }));
    const [stored] = await session.messages();
    assert.equal(JSON.stringify(stored.meta), JSON.stringify(meta));
    assert.deepEqual(stored.meta, JSON.parse(JSON.stringify(meta)));
  });

  test('keeps meta that is not an object', async () => {
    const session = open();
    for (const meta of ['text', 0, false, [1, 'two']]) await session.add(user('x', { meta }));
    assert.deepEqual((await session.messages()).map(({ meta }) => meta), ['text', 0, false, [1, 'two']]);
  });

  test('keeps numbers of meta to the last digit', async () => {
    const session = open();
    const meta = [0.1 + 0.2, Number.MAX_SAFE_INTEGER, 1e300, 5e-324, -0.5, 1e21, 123456789012345680000];
    await session.add(user('x', { meta }));
    assert.deepEqual((await session.messages())[0].meta, meta);
  });

  test('does not change when the app changes the message that it gave', async () => {
    const message = { ...calls(['c1'], 'text'), meta: { a: { b: 1 } } };
    const session = open();
    const pending = session.add(message);
    message.content = 'changed';
    message.toolCalls[0].name = 'changed';
    message.meta.a.b = 'changed';
    await pending;
    const [stored] = await session.messages();
    assert.deepEqual([stored.content, stored.toolCalls[0].name, stored.meta], ['text', 'look_up', { a: { b: 1 } }]);
  });

  test('does not change when the app changes what it was handed', async () => {
    const session = open();
    await session.add({ ...calls(['c1'], 'text'), meta: { a: { b: 1 } } });
    for (const read of [
      async () => (await session.messages())[0],
      async () => (await session.state()).recent[0],
      async () => (await session.context()).recent[0],
    ]) {
      const handed = await read();
      handed.content = 'changed';
      handed.toolCalls[0].arguments.of = 'changed';
      handed.meta.a.b = 'changed';
      const [stored] = await session.messages();
      assert.deepEqual([stored.content, stored.toolCalls[0].arguments, stored.meta], ['text', { of: 'c1' }, { a: { b: 1 } }]);
    }
  });

  test('has an id and tokens in messages(), and neither in the context', async () => {
    const session = open({ clock: () => 5, countTokens: () => 1 });
    await session.add({ role: 'tool', content: 'c', name: 'n', toolCalls: [], toolCallId: 't', meta: 1 });
    await session.add(user('hi'));
    assert.equal(
      JSON.stringify((await session.context()).recent),
      '[{"role":"tool","content":"c","at":5,"name":"n","toolCalls":[],"toolCallId":"t","meta":1},{"role":"user","content":"hi","at":5}]',
    );
    assert.deepEqual(Object.keys((await session.messages())[1]), ['role', 'content', 'id', 'at', 'tokens']);
  });
});

describe('the result of add()', () => {
  test('says what was added, whether and what was folded, the summary and the facts, in this order', async () => {
    const session = open({ clock: () => 5, summarize: () => 'S', ...wordBudget({ maxTokens: 2, targetTokens: 1, keepRecent: 0 }) });
    await session.pin('name', 'Dana');
    const facts = '[{"key":"name","value":"Dana","source":"pinned","at":5}]';
    assert.equal(JSON.stringify(await session.add(user('a'))), `{"added":1,"compacted":false,"folded":0,"summary":"","facts":${facts}}`);
    assert.equal(
      JSON.stringify(await session.add([user('b'), user('c')])),
      `{"added":2,"compacted":true,"folded":2,"summary":"S","facts":${facts}}`,
    );
    assert.equal(JSON.stringify(await session.add([])), `{"added":0,"compacted":false,"folded":0,"summary":"S","facts":${facts}}`);
  });

  test('is all zeros for an empty array, which neither saves nor creates the session', async () => {
    const store = new JsonStore();
    const memory = createMemory({ store });
    assert.equal(
      JSON.stringify(await memory.session('s').add([])),
      '{"added":0,"compacted":false,"folded":0,"summary":"","facts":[]}',
    );
    assert.equal(store.count('save'), 0);
    assert.equal(await memory.export('s'), null);
  });
});

describe('the state of a session', () => {
  test('has its keys in one order', async () => {
    const session = open({ clock: createClock(), ...wordBudget({ maxTokens: 1, keepRecent: 1 }), summarize: () => 'S' });
    await session.add([user('a'), user('b')]);
    const state = await session.state();
    assert.equal(
      JSON.stringify(state),
      '{"version":1,"id":"s",'
        + '"recent":[{"role":"user","content":"b","id":2,"at":1001,"tokens":1}],'
        + '"archive":[{"role":"user","content":"a","id":1,"at":1001,"tokens":1,"compaction":1}],'
        + `"summary":"S","facts":[],"seq":${state.seq},"compactions":1,"createdAt":1000,"updatedAt":1001}`,
    );
  });

  test('counts one further with every message', async () => {
    const session = open();
    const { seq } = await session.state();
    await session.add([user('a'), user('b'), user('c')]);
    assert.equal((await session.state()).seq, seq + 3);
  });

  test('is what export gives', async () => {
    const memory = createMemory();
    await memory.session('s').add(user('a'));
    await memory.session('s').pin('name', 'Dana');
    assert.equal(JSON.stringify(await memory.export('s')), JSON.stringify(await memory.session('s').state()));
  });

  test('is empty for an unknown session, which reading does not create', async () => {
    const store = new JsonStore();
    const memory = createMemory({ store, clock: () => 5 });
    const session = memory.session('s');
    const { seq, ...state } = await session.state();
    assert.deepEqual(state, {
      version: 1, id: 's', recent: [], archive: [], summary: '', facts: [], compactions: 0, createdAt: 5, updatedAt: 5,
    });
    assert.deepEqual([await session.messages(), await session.facts()], [[], []]);
    assert.equal(await memory.export('s'), null);
    assert.equal(store.count('save'), 0);
  });

  test('goes from one memory to another by export and import', async () => {
    const from = createMemory({ clock: createClock(), ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    await from.session('s').add([user('a'), user('b', { name: 'Dana', meta: { x: 1 } })]);
    await from.session('s').pin('k', 'v');
    const state = JSON.parse(JSON.stringify(await from.export('s')));
    const into = createMemory({ clock: createClock(9000) });
    await into.import(state);
    assert.equal(JSON.stringify(await into.export('s')), JSON.stringify(state));
    await into.session('s').add(user('c'));
    assert.deepEqual((await into.session('s').messages()).map(({ id }) => id), [2, 3]);
  });

  test('replaces the session of the same id when it is imported', async () => {
    const memory = createMemory();
    await memory.session('s').add(user('old'));
    const state = await memory.export('s');
    await memory.session('s').add([user('x'), user('y')]);
    await memory.import(state);
    assert.deepEqual((await memory.session('s').messages()).map(({ content }) => content), ['old']);
  });

  test('is not tied to the object that was imported', async () => {
    const memory = createMemory();
    await memory.session('s').add(user('a'));
    const state = await memory.export('s');
    await memory.import(state);
    state.recent[0].content = 'changed';
    assert.equal((await memory.session('s').messages())[0].content, 'a');
  });
});

describe('import() of a wrong state', () => {
  const wrong = [
    [undefined, 'session state must be an object'],
    [null, 'session state must be an object'],
    ['{}', 'session state must be an object'],
    [5, 'session state must be an object'],
    [{}, 'unsupported session state version undefined'],
    [{ version: 2, id: 'a' }, 'unsupported session state version 2'],
    [{ version: '1', id: 'a' }, 'unsupported session state version 1'],
    [{ version: 1 }, 'session state needs an id'],
    [{ version: 1, id: '' }, 'session state needs an id'],
    [{ version: 1, id: 5 }, 'session state needs an id'],
  ];
  for (const [state, text] of wrong) {
    test(`throws at once for ${JSON.stringify(state)}`, () => {
      const expected = { name: 'TypeError', message: `memoryline: ${text}`, code: 'ERR_MEMORYLINE_INVALID_STATE' };
      assert.throws(() => createMemory().import(state), expected);
    });
  }

  test('looks no deeper than version and id', async () => {
    const memory = createMemory();
    await memory.import({ version: 1, id: 'a' });
    assert.deepEqual(await memory.export('a'), { version: 1, id: 'a' });
  });

  test('makes an operation that needs a missing part reject with the name of the part', async () => {
    const whole = { version: 1, id: 'a', recent: [], archive: [], summary: '', facts: [], seq: 0, compactions: 0, createdAt: 1, updatedAt: 1 };
    for (const [part, operate] of [
      ['recent', (session) => session.messages()],
      ['recent', (session) => session.add(user('x'))],
      ['facts', (session) => session.facts()],
      ['facts', (session) => session.context()],
    ]) {
      const { [part]: _, ...rest } = whole;
      const memory = createMemory();
      await memory.import(rest);
      const expected = { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_STATE', message: new RegExp(`^memoryline: .*${part}`) };
      await assert.rejects(operate(memory.session('a')), expected);
    }
  });

  test('leaves a session that can be cleared and begun anew', async () => {
    const memory = createMemory();
    await memory.import({ version: 1, id: 'a' });
    await memory.forget('a');
    await memory.session('a').add(user('x'));
    assert.deepEqual((await memory.session('a').messages()).map(({ id, content }) => [id, content]), [[1, 'x']]);
  });
});

describe('the clock', () => {
  test('is asked once for a new session and once more for every operation that changes it', async () => {
    const clock = createClock();
    const session = open({ clock });
    await session.add(user('a'));
    const first = await session.state();
    assert.deepEqual([first.createdAt, first.updatedAt, first.recent[0].at], [1000, 1001, 1001]);
    await session.add([user('b'), user('c')]);
    const second = await session.state();
    assert.deepEqual([second.createdAt, second.updatedAt, second.recent[1].at, second.recent[2].at], [1000, 1002, 1002, 1002]);
    await session.pin('k', 'v');
    assert.deepEqual([(await session.facts())[0].at, (await session.state()).updatedAt], [1003, 1003]);
    await session.unpin('k');
    assert.equal((await session.state()).updatedAt, 1004);
  });

  test('is asked once more in a fold, for the time of extracted facts, while updatedAt stays that before the model call', async () => {
    const clock = createClock();
    const options = { clock, summarize: () => 'S', extractFacts: () => [{ key: 'k', value: 'v' }] };
    const session = open({ ...options, ...wordBudget({ maxTokens: 1, keepRecent: 0 }) });
    const added = await session.add([user('a'), user('b')]);
    assert.deepEqual(added.facts, [{ key: 'k', value: 'v', source: 'extracted', at: 1002 }]);
    assert.equal((await session.state()).updatedAt, 1001);
    assert.equal(clock.calls, 3);
  });

  test('is asked by a fold that extracts no facts too', async () => {
    const clock = createClock();
    const session = open({ clock, summarize: () => 'S', ...wordBudget({ maxTokens: 1, keepRecent: 0 }) });
    await session.add([user('a'), user('b')]);
    assert.equal(clock.calls, 3);
  });

  test('is asked in the order of the operations, also when they were not awaited', async () => {
    const session = open({ clock: createClock(), summarize: async () => 'S', ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    await Promise.all([session.add([user('a'), user('b')]), session.add(user('c')), session.pin('k', 'v')]);
    const { archive, recent, facts, updatedAt } = await session.state();
    assert.deepEqual([...archive, ...recent, ...facts].map(({ at }) => at), [1001, 1001, 1003, 1005]);
    assert.equal(updatedAt, 1005);
  });

  test('is asked twice by compact() when it folds', async () => {
    const clock = createClock();
    const session = open({ clock, extractFacts: () => [{ key: 'k', value: 'v' }], ...wordBudget({ maxTokens: 9, keepRecent: 0 }) });
    await session.add(user('a'));
    await session.compact({ force: true });
    const { updatedAt, facts } = await session.state();
    assert.deepEqual([updatedAt, facts[0].at], [1002, 1003]);
  });

  test('is not asked by an operation that only reads a known session', async () => {
    const clock = createClock();
    const memory = createMemory({ clock });
    const session = memory.session('s');
    await session.add(user('a'));
    const { calls: before } = clock;
    await session.context();
    await session.messages();
    await session.facts();
    await session.state();
    await memory.export('s');
    assert.equal(clock.calls, before);
  });

  test('is asked for the beginning of a session when pin creates it', async () => {
    const session = open({ clock: createClock() });
    await session.pin('k', 'v');
    const { createdAt, updatedAt, facts } = await session.state();
    assert.deepEqual([createdAt, updatedAt, facts[0].at], [1000, 1001, 1001]);
  });
});

describe('a session', () => {
  test('is the same session through every handle of its id', async () => {
    const memory = createMemory();
    await memory.session('s').add(user('a'));
    await memory.session('s').add(user('b'));
    assert.equal((await memory.session('s').messages()).length, 2);
  });

  for (const id of ['__proto__', 'constructor', 'toString', 'user:42:thread:7', ' ', '日本 😀', '\ud83d', 'a\0b', "'; DROP TABLE x --"]) {
    test(`may be called ${JSON.stringify(id)}`, async () => {
      const memory = createMemory();
      await memory.session(id).add(user('hi'));
      await memory.session(`${id}2`).add(user('other'));
      assert.deepEqual((await memory.session(id).messages()).map(({ content }) => content), ['hi']);
      assert.equal((await memory.export(id)).id, id);
    });
  }

  test('is forgotten by forget and by clear, with everything that it held', async () => {
    const memory = createMemory(wordBudget({ maxTokens: 1, keepRecent: 1 }));
    for (const remove of [() => memory.forget('s'), () => memory.session('s').clear()]) {
      await memory.session('s').add([user('a'), user('b')]);
      await memory.session('s').pin('k', 'v');
      await memory.session('other').add(user('kept'));
      assert.equal(await remove(), undefined);
      assert.equal(await memory.export('s'), null);
      const context = await memory.session('s').context();
      assert.deepEqual([context.summary, context.facts, context.recent], ['', [], []]);
      assert.notEqual(await memory.export('other'), null);
    }
  });

  test('may be forgotten when it never was', async () => {
    assert.equal(await createMemory().forget('nobody'), undefined);
    assert.equal(await createMemory().session('nobody').clear(), undefined);
  });

  test('survives the change of what export handed out', async () => {
    const memory = createMemory();
    await memory.session('s').add(user('a'));
    const state = await memory.export('s');
    state.recent.length = 0;
    state.id = 'other';
    assert.equal((await memory.export('s')).recent.length, 1);
  });
});

describe('the store is told', () => {
  const scenario = async (operate, { before = [user('a')] } = {}) => {
    const store = new JsonStore();
    const memory = createMemory({ store, summarize: () => 'S', ...wordBudget({ maxTokens: 2, targetTokens: 1, keepRecent: 0 }) });
    if (before.length > 0) await memory.session('s').add(before);
    store.log.length = 0;
    await operate(memory.session('s'), memory);
    return [store.count('load') > 0, store.count('save'), store.count('delete')];
  };
  const rows = [
    ['add() of one message saves once', (session) => session.add(user('b')), [true, 1, 0]],
    ['add() of several messages saves once', (session) => session.add([user('b'), user('c'), user('d')]), [true, 1, 0]],
    ['add() of no message does not save', (session) => session.add([]), [true, 0, 0]],
    ['pin() saves', (session) => session.pin('k', 'v'), [true, 1, 0]],
    ['pin() of nothing usable saves', (session) => session.pin(null), [true, 1, 0]],
    ['unpin() of an unknown key does not save', (session) => session.unpin('nothing'), [true, 0, 0]],
    ['compact() under budget does not save', (session) => session.compact(), [true, 0, 0]],
    ['compact() by force saves once', (session) => session.compact({ force: true }), [true, 1, 0]],
    ['context() does not save', (session) => session.context(), [true, 0, 0]],
    ['messages() does not save', (session) => session.messages(), [true, 0, 0]],
    ['facts() does not save', (session) => session.facts(), [true, 0, 0]],
    ['state() does not save', (session) => session.state(), [true, 0, 0]],
    ['export() does not save', (session, memory) => memory.export('s'), [true, 0, 0]],
    ['forget() deletes', (session, memory) => memory.forget('s'), [false, 0, 1]],
    ['clear() deletes', (session) => session.clear(), [false, 0, 1]],
    ['import() saves', (session, memory) => memory.import({ version: 1, id: 's' }), [false, 1, 0]],
  ];
  for (const [name, operate, [loads, saves, deletes]] of rows) {
    test(name, async () => {
      const [loaded, saved, deleted] = await scenario(operate);
      assert.deepEqual([saved, deleted], [saves, deletes]);
      if (loads) assert.equal(loaded, true);
    });
  }

  test('unpin() of a known key saves once', async () => {
    const [, saved] = await scenario(async (session) => {
      await session.pin('k', 'v');
      await session.unpin('k');
    });
    assert.equal(saved, 2);
  });

  test('compact() by force saves nothing when there is nothing to fold', async () => {
    assert.deepEqual(await scenario((session) => session.compact({ force: true }), { before: [] }), [true, 0, 0]);
  });

  test('pin() creates a session even when nothing was usable', async () => {
    const memory = createMemory();
    await memory.session('s').pin(null);
    assert.equal((await memory.export('s')).id, 's');
  });

  test('tool results are stored like any other message', async () => {
    const session = open();
    await session.add([calls(['c1']), result('c1', 'fine', { name: 'look_up' })]);
    const [, stored] = await session.messages();
    assert.deepEqual([stored.role, stored.toolCallId, stored.name, stored.content], ['tool', 'c1', 'look_up', 'fine']);
  });
});
