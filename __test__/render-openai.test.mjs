import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, toOpenAI } from './support/library.mjs';
import { assistant, calls, contextOf, plainTool, result, system, user } from './support/messages.mjs';

const NOT_RUN = '[not run: no result was recorded for this call]';
const render = (recent, rest, options) => toOpenAI(contextOf(recent, rest), options);
// What matters of a repaired list: who says what, and which call a result answers.
const outline = (messages) =>
  messages.map(({ role, content, tool_calls: toolCalls, tool_call_id: id }) => {
    if (toolCalls) return `calls ${toolCalls.map((call) => call.id).join(' ')}`;
    return id === undefined ? `${role}: ${content}` : `result ${id}: ${content}`;
  });

describe('toOpenAI of no context', () => {
  test('throws', () => {
    assert.throws(() => toOpenAI(), TypeError);
    assert.throws(() => toOpenAI(null), TypeError);
  });
});

describe('toOpenAI puts into the system message', () => {
  for (const [what, systemPrompt, block, expected] of [
    ['nothing, and has none, when there is neither prompt nor memory', undefined, '', []],
    ['nothing, and has none, when both are blank', ' \n', '\ufeff ', []],
    ['the prompt', ' You are Mia. ', '', [system('You are Mia.')]],
    ['the memory block', undefined, '\n## Known facts\n- a: b\n', [system('## Known facts\n- a: b')]],
    ['the memory block when the prompt is empty', '', 'block', [system('block')]],
    ['the prompt and the block with a blank line between', 'You are Mia.\n', '\n## Known facts', [system('You are Mia.\n\n## Known facts')]],
  ]) {
    test(what, () => {
      assert.deepEqual(render([], { system: block }, { systemPrompt }), expected);
    });
  }

  test('nothing of the system messages of the window, which stay where they are', () => {
    assert.deepEqual(render([user('a'), system('be brief'), user('b')], { system: 'block' }), [
      system('block'), user('a'), system('be brief'), user('b'),
    ]);
  });
});

describe('toOpenAI renders', () => {
  test('the window in order, with its names and without anything of ours', () => {
    const recent = [
      user('hi', { name: 'Dana', meta: { x: 1 }, at: 5 }),
      assistant('hello', { name: '' }),
      user('', { name: null }),
      user('still here'),
    ];
    assert.equal(
      JSON.stringify(render(recent)),
      '[{"role":"user","content":"hi","name":"Dana"},{"role":"assistant","content":"hello"},'
        + '{"role":"user","content":""},{"role":"user","content":"still here"}]',
    );
  });

  test('a call and its result in the shape of the API', () => {
    const recent = [
      user('Any tables for six on Friday?'),
      assistant('', { toolCalls: [{ id: 'call_1', name: 'find_slots', arguments: { party: 6, day: 'friday' } }] }),
      { role: 'tool', toolCallId: 'call_1', name: 'find_slots', content: '7pm and 9pm are free' },
      assistant('Seven or nine - which do you prefer?'),
    ];
    assert.deepEqual(render(recent), [
      { role: 'user', content: 'Any tables for six on Friday?' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'find_slots', arguments: '{"party":6,"day":"friday"}' } }],
      },
      { role: 'tool', content: '7pm and 9pm are free', name: 'find_slots', tool_call_id: 'call_1' },
      { role: 'assistant', content: 'Seven or nine - which do you prefer?' },
    ]);
  });

  test('keys in one order', () => {
    const recent = [
      assistant('text', { name: 'mia', toolCalls: [{ arguments: '{"a": 1}', name: 'f', id: 'c1' }] }),
      { toolCallId: 'c1', name: 'f', content: 'r', role: 'tool' },
    ];
    assert.equal(
      JSON.stringify(render(recent)),
      '[{"role":"assistant","content":"text","name":"mia",'
        + '"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\\"a\\": 1}"}}]},'
        + '{"role":"tool","content":"r","name":"f","tool_call_id":"c1"}]',
    );
  });

  test('arguments as text: a string as it was given, an object as JSON', () => {
    const recent = [
      assistant('', {
        toolCalls: [
          { id: '1', name: 'f', arguments: ' {"b":1, "a":2}' },
          { id: '2', name: 'f', arguments: { b: 1, a: 2, 0: 'x' } },
          { id: '3', name: 'f', arguments: '' },
          { id: '4', name: 'f', arguments: 'not json' },
        ],
      }),
      ...['1', '2', '3', '4'].map((id) => result(id)),
    ];
    assert.deepEqual(render(recent)[0].tool_calls.map((call) => call.function.arguments), [
      ' {"b":1, "a":2}', '{"0":"x","b":1,"a":2}', '', 'not json',
    ]);
  });

  test('several results in the order in which they came', () => {
    assert.deepEqual(outline(render([calls(['c1', 'c2']), result('c1', 'one'), result('c2', 'two'), user('thanks')])), [
      'calls c1 c2', 'result c1: one', 'result c2: two', 'user: thanks',
    ]);
  });

  test('a tool message without an id as a plain tool message', () => {
    assert.deepEqual(render([plainTool('42', { name: 'calculator' }), plainTool('43')]), [
      { role: 'tool', content: '42', name: 'calculator' },
      { role: 'tool', content: '43' },
    ]);
  });

  test('calls only for an assistant and ids only for a tool', () => {
    const toolCalls = [{ id: 'c', name: 'f', arguments: {} }];
    assert.deepEqual(render([user('u', { toolCalls }), user('v', { toolCallId: 'c' }), assistant('w', { toolCalls: [] })]), [
      user('u'), user('v'), assistant('w'),
    ]);
  });

  test('a context of a session', async () => {
    const session = createMemory().session('s');
    await session.pin('name', 'Dana');
    await session.add([user('hi'), calls(['c1']), result('c1')]);
    assert.deepEqual(toOpenAI(await session.context(), { systemPrompt: 'You are Mia.' }), [
      system('You are Mia.\n\n## Known facts\n- name: Dana'),
      user('hi'),
      {
        role: 'assistant', content: '', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{"of":"c1"}' } }],
      },
      { role: 'tool', content: 'result of c1', tool_call_id: 'c1' },
    ]);
  });

  test('the same every time, and leaves the context as it was', () => {
    const context = contextOf([user('hi'), user('x'), calls(['c1', 'c1']), result('zz'), result('c1')]);
    const before = structuredClone(context);
    assert.deepEqual(toOpenAI(context), toOpenAI(context));
    assert.deepEqual(context, before);
  });
});

describe('toOpenAI repairs', () => {
  const rows = [
    ['a result without a call, which becomes quoted text of the user', [user('a'), result('c9', 'lost', { name: 'f' })], ['user: a', 'user: [f] lost']],
    ['a result without a call and without a name', [result('c9', 'lost'), user('a')], ['user: [tool] lost', 'user: a']],
    ['a result that comes before its call', [result('c1', 'early'), calls(['c1']), result('c1', 'in time')],
      ['user: [tool] early', 'calls c1', 'result c1: in time']],
    ['a second result for a call', [calls(['c1']), result('c1', 'first'), result('c1', 'second')],
      ['calls c1', 'result c1: first', 'user: [tool] second']],
    ['a result that comes late, which moves up behind its call', [calls(['c1']), user('waiting'), result('c1', 'late')],
      ['calls c1', 'result c1: late', 'user: waiting']],
    ['a result that comes after the next answer', [calls(['c1']), user('hm'), assistant('moment'), result('c1', 'late')],
      ['calls c1', 'result c1: late', 'user: hm', 'assistant: moment']],
    ['one of two results that comes late', [calls(['c1', 'c2']), result('c1', 'one'), user('hm'), result('c2', 'two'), user('ok')],
      ['calls c1 c2', 'result c1: one', 'result c2: two', 'user: hm', 'user: ok']],
    ['a stray result between a call and its result', [calls(['c1']), result('zz', 'stray'), result('c1', 'right')],
      ['calls c1', 'result c1: right', 'user: [tool] stray']],
    ['a call without a result', [user('a'), calls(['c1']), user('never mind')],
      ['user: a', 'calls c1', `result c1: ${NOT_RUN}`, 'user: never mind']],
    ['a call without a result at the end of the window', [user('a'), calls(['c1'])], ['user: a', 'calls c1', `result c1: ${NOT_RUN}`]],
    ['two calls whose results are interleaved', [calls(['c1']), calls(['c2']), result('c1', 'one'), result('c2', 'two')],
      ['calls c1', 'result c1: one', 'calls c2', 'result c2: two']],
    ['an id that a later turn uses again', [calls(['call_0']), result('call_0', 'one'), calls(['call_0']), result('call_0', 'two')],
      ['calls call_0', 'result call_0: one', 'calls call_0', 'result call_0: two']],
  ];
  for (const [what, recent, expected] of rows) {
    test(what, () => {
      assert.deepEqual(outline(render(recent)), expected);
    });
  }

  test('one of two calls without a result', () => {
    const lines = outline(render([calls(['c1', 'c2']), result('c2', 'two'), user('ok')]));
    assert.equal(lines[0], 'calls c1 c2');
    assert.deepEqual(lines.slice(1, 3).sort(), [`result c1: ${NOT_RUN}`, 'result c2: two']);
    assert.equal(lines[3], 'user: ok');
  });

  test('an id that one turn uses twice, so that each result answers one call', () => {
    const [turn, first, second] = render([calls(['c', 'c']), result('c', 'one'), result('c', 'two')]);
    const ids = turn.tool_calls.map(({ id }) => id);
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual([[first.tool_call_id, first.content], [second.tool_call_id, second.content]], [[ids[0], 'one'], [ids[1], 'two']]);
  });

  test('names that the API refuses', () => {
    const name = (given) => render([user('x', { name: given })])[0].name;
    assert.equal(name('Dana Q.'), 'Dana_Q_');
    assert.equal(name('ok-NAME_9'), 'ok-NAME_9');
    assert.equal(name('n'.repeat(64)), 'n'.repeat(64));
    assert.equal(name('n'.repeat(65)), 'n'.repeat(64));
    assert.match(name('日本😀\ud83d'), /^_{1,64}$/);
  });

  test('names of functions that the API refuses, of the call and of its result', () => {
    const [turn, answer] = render([
      assistant('', { toolCalls: [{ id: 'c', name: 'files.read all', arguments: {} }] }),
      result('c', 'r', { name: 'files.read all' }),
    ]);
    assert.equal(turn.tool_calls[0].function.name, 'files_read_all');
    assert.equal(answer.name, 'files_read_all');
  });
});
