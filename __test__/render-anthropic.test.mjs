import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, toAnthropic } from './support/library.mjs';
import { assistant, calls, contextOf, plainTool, result, system, user } from './support/messages.mjs';

const NOT_RUN = '[not run: no result was recorded for this call]';
const OPENING = user('(continuing the conversation)');
const render = (recent, rest, options) => toAnthropic(contextOf(recent, rest), options);
const messages = (recent) => render(recent).messages;

const text = (value) => ({ type: 'text', text: value });
const use = (id, name = 'look_up', input = { of: id }) => ({ type: 'tool_use', id, name, input });
const answer = (id, content = `result of ${id}`) => ({ type: 'tool_result', tool_use_id: id, content });
const notRun = (id) => ({ ...answer(id, NOT_RUN), is_error: true });

describe('toAnthropic of no context', () => {
  test('throws', () => {
    assert.throws(() => toAnthropic(), TypeError);
    assert.throws(() => toAnthropic(null), TypeError);
  });
});

describe('toAnthropic puts into system', () => {
  for (const [what, recent, block, systemPrompt, expected] of [
    ['nothing when there is nothing', [], '', undefined, ''],
    ['the prompt', [], '', 'You are Mia.', 'You are Mia.'],
    ['the memory block', [], '## Known facts\n- a: b', undefined, '## Known facts\n- a: b'],
    ['the prompt and then the block', [], 'block', 'prompt', 'prompt\n\nblock'],
    ['the system messages of the window after them', [user('x'), system('be brief'), user('y'), system('be kind')], 'block', 'prompt',
      'prompt\n\nblock\n\nbe brief\n\nbe kind'],
    ['the system messages alone', [system('be brief')], '', undefined, 'be brief'],
    ['system messages as they are, even empty ones', [system(' a '), system(''), system('b')], '', 'p', 'p\n\n a \n\n\n\nb'],
  ]) {
    test(what, () => {
      assert.equal(render(recent, { system: block }, { systemPrompt }).system, expected);
    });
  }

  test('what it takes out of the messages', () => {
    assert.deepEqual(messages([user('x'), system('be brief'), user('y')]), [user('x\n\ny')]);
    assert.deepEqual(messages([system('be brief')]), []);
  });
});

describe('toAnthropic renders', () => {
  test('system and messages, in this order, and no messages for an empty window', () => {
    assert.equal(JSON.stringify(render([])), '{"system":"","messages":[]}');
  });

  test('turns without tools as plain strings, without names and anything of ours', () => {
    const recent = [user('hi', { name: 'Dana', meta: { x: 1 } }), assistant('hello'), user('bye')];
    assert.equal(
      JSON.stringify(messages(recent)),
      '[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"bye"}]',
    );
  });

  test('messages of the same role as one, a blank line between', () => {
    assert.deepEqual(messages([user('a'), user('b'), assistant('c'), assistant('d'), assistant('e'), user('f')]), [
      user('a\n\nb'), assistant('c\n\nd\n\ne'), user('f'),
    ]);
  });

  test('a user message in front of a window that begins with an assistant', () => {
    assert.deepEqual(messages([assistant('hello'), user('hi')]), [OPENING, assistant('hello'), user('hi')]);
    assert.deepEqual(messages([calls(['c1']), result('c1')]), [
      OPENING,
      { role: 'assistant', content: [use('c1')] },
      { role: 'user', content: [answer('c1')] },
    ]);
  });

  test('a call and its result as blocks', () => {
    const recent = [
      user('Any tables for six on Friday?'),
      assistant('', { toolCalls: [{ id: 'call_1', name: 'find_slots', arguments: { party: 6, day: 'friday' } }] }),
      { role: 'tool', toolCallId: 'call_1', name: 'find_slots', content: '7pm and 9pm are free' },
      assistant('Seven or nine - which do you prefer?'),
    ];
    assert.deepEqual(messages(recent), [
      { role: 'user', content: 'Any tables for six on Friday?' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'find_slots', input: { party: 6, day: 'friday' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '7pm and 9pm are free' }] },
      { role: 'assistant', content: 'Seven or nine - which do you prefer?' },
    ]);
  });

  test('the text of a calling turn before its calls, unless it is blank', () => {
    assert.deepEqual(messages([user('a'), calls(['c1'], 'let me see'), result('c1')])[1].content, [text('let me see'), use('c1')]);
    assert.deepEqual(messages([user('a'), calls(['c1'], ' \n\ufeff'), result('c1')])[1].content, [use('c1')]);
  });

  test('several calls and results of one turn in one message each', () => {
    assert.deepEqual(messages([user('a'), calls(['c1', 'c2']), result('c1'), result('c2'), user('b')]), [
      user('a'),
      { role: 'assistant', content: [use('c1'), use('c2')] },
      { role: 'user', content: [answer('c1'), answer('c2'), text('b')] },
    ]);
  });

  test('text and calls of neighbouring assistant turns as one list of blocks', () => {
    assert.deepEqual(messages([user('a'), assistant('one'), calls(['c1'], 'two'), result('c1'), user('b'), user('c')]), [
      user('a'),
      { role: 'assistant', content: [text('one'), text('two'), use('c1')] },
      { role: 'user', content: [answer('c1'), text('b'), text('c')] },
    ]);
    assert.deepEqual(messages([user('a'), assistant('one'), assistant('two'), calls(['c1'], 'three'), result('c1')])[1], {
      role: 'assistant',
      content: [text('one\n\ntwo'), text('three'), use('c1')],
    });
  });

  test('a tool message without an id as text of the user', () => {
    assert.deepEqual(messages([user('a'), plainTool('42', { name: 'calculator' }), plainTool('43'), assistant('so')]), [
      user('a\n\n[calculator] 42\n\n[tool] 43'), assistant('so'),
    ]);
  });

  test('arguments as an object: parsed, or under the name arguments when they are none', () => {
    const recent = [
      user('a'),
      assistant('', {
        toolCalls: [
          { id: '1', name: 'f', arguments: '{"b":1,"a":[2]}' },
          { id: '2', name: 'f', arguments: '' },
          { id: '3', name: 'f', arguments: '[1]' },
          { id: '4', name: 'f', arguments: 'party of six' },
          { id: '5', name: 'f', arguments: {} },
        ],
      }),
      ...['1', '2', '3', '4', '5'].map((id) => result(id)),
    ];
    assert.deepEqual(messages(recent)[1].content.map(({ input }) => input), [
      { b: 1, a: [2] }, {}, { arguments: '[1]' }, { arguments: 'party of six' }, {},
    ]);
  });

  test('keys of blocks in one order', () => {
    assert.equal(
      JSON.stringify(messages([user('a'), calls(['c1'], 't'), result('c1', 'r')]).slice(1)),
      '[{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c1","name":"look_up","input":{"of":"c1"}}]},'
        + '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}]',
    );
  });

  test('calls only for an assistant and results only for a tool', () => {
    const toolCalls = [{ id: 'c', name: 'f', arguments: {} }];
    assert.deepEqual(messages([user('u', { toolCalls }), assistant('v', { toolCallId: 'c' }), user('w', { toolCalls: [] })]), [
      user('u'), assistant('v'), user('w'),
    ]);
  });

  test('a context of a session', async () => {
    const session = createMemory().session('s');
    await session.pin('name', 'Dana');
    await session.add([user('hi'), assistant('hello')]);
    assert.deepEqual(toAnthropic(await session.context(), { systemPrompt: 'You are Mia.' }), {
      system: 'You are Mia.\n\n## Known facts\n- name: Dana',
      messages: [user('hi'), assistant('hello')],
    });
  });

  test('the same every time, and leaves the context as it was', () => {
    const context = contextOf([assistant(' '), calls(['c1', 'c1']), result('zz'), user('x'), result('c1')]);
    const before = structuredClone(context);
    assert.deepEqual(toAnthropic(context), toAnthropic(context));
    assert.deepEqual(context, before);
  });
});

describe('toAnthropic repairs', () => {
  const turn = (...blocks) => ({ role: 'assistant', content: blocks });
  const reply = (...blocks) => ({ role: 'user', content: blocks });
  const rows = [
    ['a user text between a call and its result: results first, then text',
      [user('a'), calls(['c1']), user('hurry'), result('c1')], [user('a'), turn(use('c1')), reply(answer('c1'), text('hurry'))]],
    ['a result that comes after the next answer, which moves up behind its call',
      [user('a'), calls(['c1']), user('hm'), assistant('moment'), result('c1'), user('ok')],
      [user('a'), turn(use('c1')), reply(answer('c1'), text('hm')), assistant('moment'), user('ok')]],
    ['results that come in another order than their calls',
      [user('a'), calls(['c1', 'c2', 'c3']), result('c3'), result('c1'), result('c2')],
      [user('a'), turn(use('c1'), use('c2'), use('c3')), reply(answer('c1'), answer('c2'), answer('c3'))]],
    ['a result without a call, which becomes quoted text',
      [user('a'), result('c9', 'lost', { name: 'f' }), assistant('b')], [user('a\n\n[f] lost'), assistant('b')]],
    ['a result without a call at the beginning', [result('c9', 'lost'), assistant('b')], [user('[tool] lost'), assistant('b')]],
    ['a result that comes before its call',
      [result('c1', 'early'), calls(['c1']), result('c1', 'in time')],
      [user('[tool] early'), turn(use('c1')), reply(answer('c1', 'in time'))]],
    ['a second result for a call',
      [user('a'), calls(['c1']), result('c1', 'first'), result('c1', 'second')],
      [user('a'), turn(use('c1')), reply(answer('c1', 'first'), text('[tool] second'))]],
    ['a stray result between a call and its result',
      [user('a'), calls(['c1']), result('zz', 'stray'), result('c1')],
      [user('a'), turn(use('c1')), reply(answer('c1'), text('[tool] stray'))]],
    ['a call without a result',
      [user('a'), calls(['c1']), user('never mind')], [user('a'), turn(use('c1')), reply(notRun('c1'), text('never mind'))]],
    ['a call without a result before an assistant text',
      [user('a'), calls(['c1']), assistant('done')], [user('a'), turn(use('c1')), reply(notRun('c1')), assistant('done')]],
    ['a call without a result at the end', [user('a'), calls(['c1'], 'wait')], [user('a'), turn(text('wait'), use('c1')), reply(notRun('c1'))]],
    ['one of two calls without a result',
      [user('a'), calls(['c1', 'c2']), result('c2')], [user('a'), turn(use('c1'), use('c2')), reply(notRun('c1'), answer('c2'))]],
    ['two calling turns whose results are interleaved',
      [user('a'), calls(['c1']), calls(['c2']), result('c1'), result('c2')],
      [user('a'), turn(use('c1'), use('c2')), reply(answer('c1'), answer('c2'))]],
    ['two calling turns whose results are interleaved, with text between the calls, which may not follow a call',
      [user('a'), calls(['c1'], 'one'), calls(['c2'], 'two'), result('c1'), result('c2')],
      [user('a'), turn(text('one'), use('c1')), reply(answer('c1')), turn(text('two'), use('c2')), reply(answer('c2'))]],
    ['blank text, which the API refuses',
      [user('a'), assistant(' \n'), user('\ufeff'), assistant('b'), user('')], [user('a'), assistant('b')]],
    ['blank text beside results', [user('a'), calls(['c1']), result('c1'), user(' ')], [user('a'), turn(use('c1')), reply(answer('c1'))]],
    ['a window of nothing but blank text, for which one message has to stand', [user(''), assistant(' '), user('\n')], [OPENING]],
    ['neighbours that are left when blank text is gone', [user('a'), assistant(''), user('b')], [user('a\n\nb')]],
    ['white space at the end of the last assistant text', [user('a '), assistant('Sure: \n')], [user('a '), assistant('Sure:')]],
    ['and only of the last one', [user('a'), assistant('Sure: \n'), user('b')], [user('a'), assistant('Sure: \n'), user('b')]],
  ];
  for (const [what, recent, expected] of rows) {
    test(what, () => {
      assert.deepEqual(messages(recent), expected);
    });
  }

  // The blocks of one type over the whole request.
  const blocks = (rendered, type) =>
    rendered.flatMap(({ content }) => (Array.isArray(content) ? content.filter((block) => block.type === type) : []));
  const repaired = (recent) => {
    const rendered = messages(recent);
    const uses = blocks(rendered, 'tool_use').map(({ id }) => id);
    for (const id of uses) assert.match(id, /^[a-zA-Z0-9_-]+$/);
    assert.equal(new Set(uses).size, uses.length, `the ids ${uses.join(', ')} are unique`);
    const answers = blocks(rendered, 'tool_result');
    return { uses, answers: answers.map(({ tool_use_id: id, content }) => [uses.indexOf(id), content]) };
  };

  test('an id that a later turn uses again', () => {
    const { uses, answers } = repaired([user('a'), calls(['call_0']), result('call_0', 'one'), calls(['call_0']), result('call_0', 'two')]);
    assert.equal(uses[0], 'call_0');
    assert.deepEqual(answers, [[0, 'one'], [1, 'two']]);
  });

  test('an id that one turn uses twice', () => {
    assert.deepEqual(repaired([user('a'), calls(['c', 'c']), result('c', 'one'), result('c', 'two')]).answers, [[0, 'one'], [1, 'two']]);
  });

  test('an id with characters that the API refuses', () => {
    assert.deepEqual(repaired([user('a'), calls(['functions.find:0', '日本', '\ud83d']), result('日本', 'b'), result('functions.find:0', 'a'), result('\ud83d', 'c')]).answers, [
      [0, 'a'], [1, 'b'], [2, 'c'],
    ]);
  });

  test('ids that become the same when they are cleaned', () => {
    assert.deepEqual(
      repaired([user('a'), calls(['a.b', 'a:b', 'a_b']), result('a_b', '3'), result('a.b', '1'), result('a:b', '2')]).answers,
      [[0, '1'], [1, '2'], [2, '3']],
    );
    assert.deepEqual(
      repaired([user('a'), calls(['a.b']), result('a.b', '1'), calls(['a_b']), result('a_b', '2'), calls(['a_b_2', 'a_b_1']), result('a_b_2', '3'), result('a_b_1', '4')]).answers,
      [[0, '1'], [1, '2'], [2, '3'], [3, '4']],
    );
  });
});
