/**
 * The judge itself: every rule of the request checkers has a request that it lets through and one
 * that it refuses, and the stand-in that uses them speaks to the official client packages.
 */
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { conversation, isAnswered, runTool, script, systemPrompt, tools } from '../examples/conversation.mjs';
import { checkAnthropic, checkOpenAI } from '../examples/provider/rules.mjs';
import { startProvider } from '../examples/provider/server.mjs';

const ruleOf = (violation) => violation.slice(0, violation.indexOf(':'));
const rulesOf = (violations) => violations.map(ruleOf);

const user = (content = 'Hello', extra) => ({ role: 'user', content, ...extra });
const assistant = (content = 'Hi', extra) => ({ role: 'assistant', content, ...extra });

const openAI = (...messages) => ({ model: 'm', messages });
const call = (id, name = 'find', args = '{}') => ({ id, type: 'function', function: { name, arguments: args } });
const calling = (...ids) => assistant('', { tool_calls: ids.map((id) => call(id)) });
const result = (id, content = 'found') => ({ role: 'tool', tool_call_id: id, content });
const openAITool = (name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });

const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
const called = call('a');

const openAICases = [
  ['request-shape', openAI(user()), null],
  ['request-shape', openAI(user()), { messages: [user()] }],
  ['messages-missing', openAI(user()), { model: 'm' }],
  ['messages-empty', openAI(user()), openAI()],
  ['message-shape', openAI(user()), openAI('Hello')],
  ['role', openAI({ role: 'developer', content: 'Be brief.' }), openAI({ role: 'human', content: 'Hello' })],
  ['role', openAI({ role: 'system', content: 'Be brief.' }), openAI({ role: 'toString', content: 'Hello' })],
  ['unknown-field', openAI(user('Hello', { name: 'Ann' })), openAI(user('Hello', { at: 1 }))],
  ['unknown-field', openAI(user()), openAI(user('Hello', { tool_call_id: 'a' }))],
  ['content-type', openAI(user('')), openAI({ role: 'user' })],
  ['content-type', openAI(user([{ type: 'text', text: 'Hello' }, picture])), openAI(user([{ type: 'text' }]))],
  ['content-type', openAI(calling('a'), result('a')), openAI(assistant(null))],
  ['content-type', openAI(assistant(null, { tool_calls: [called] }), result('a')), openAI(user([]))],
  ['content-type', openAI(user([picture])), openAI({ role: 'system', content: [picture] })],
  ['tool-content-text-only', openAI(calling('a'), result('a', [{ type: 'text', text: 'x' }]), user([picture])), openAI(calling('a'), result('a', [picture]))],
  ['name-pattern', openAI(user('Hello', { name: 'Ann_B-2' })), openAI(user('Hello', { name: 'Ann B' }))],
  ['name-pattern', openAI(user('Hello', { name: 'a'.repeat(64) })), openAI(user('Hello', { name: 'a'.repeat(65) }))],
  ['name-pattern', openAI(user()), openAI(user('Hello', { name: '' }))],
  ['function-name-pattern', openAI(assistant('', { tool_calls: [call('a', 'find_it')] }), result('a')), openAI(assistant('', { tool_calls: [call('a', 'find.it')] }), result('a'))],
  ['function-name-pattern', { ...openAI(user()), tools: [openAITool('find_it')] }, { ...openAI(user()), tools: [openAITool('find it')] }],
  ['tools-shape', { ...openAI(user()), tools: [openAITool('find')] }, { ...openAI(user()), tools: [] }],
  ['tools-shape', { ...openAI(user()), tools: undefined }, { ...openAI(user()), tools: [{ name: 'find' }] }],
  ['tool-calls-shape', openAI(calling('a', 'b'), result('b'), result('a')), openAI(assistant('', { tool_calls: [] }))],
  ['tool-calls-shape', openAI(calling('a'), result('a')), openAI(assistant('', { tool_calls: [{ id: 'a', name: 'find', arguments: '{}' }] }))],
  ['tool-calls-shape', openAI(calling('a'), result('a')), openAI(assistant('', { tool_calls: [call('a', 'find', {})] }), result('a'))],
  ['tool-call-id-duplicate', openAI(calling('a'), result('a'), calling('a'), result('a')), openAI(calling('a', 'a'), result('a'))],
  ['tool-result-id', openAI(calling('a'), result('a')), openAI({ role: 'tool', content: 'found' })],
  ['tool-result-id', openAI(calling('a'), result('a')), openAI({ role: 'tool', tool_call_id: '', content: 'found' })],
  ['tool-result-without-call', openAI(user(), calling('a'), result('a')), openAI(user(), result('a'))],
  ['tool-result-without-call', openAI(calling('a'), result('a'), user()), openAI(calling('a'), result('a'), user(), result('a'))],
  ['tool-result-duplicate', openAI(calling('a', 'b'), result('a'), result('b')), openAI(calling('a'), result('a'), result('a'))],
  ['tool-call-unanswered', openAI(calling('a'), result('a'), user()), openAI(calling('a'), user())],
  ['tool-call-unanswered', openAI(calling('a', 'b'), result('a'), result('b')), openAI(calling('a', 'b'), result('a'))],
];

const anthropic = (...messages) => ({ model: 'm', max_tokens: 10, messages });
const text = (value) => ({ type: 'text', text: value });
const use = (id, extra) => ({ type: 'tool_use', id, name: 'find', input: {}, ...extra });
const answer = (id, content = 'found') => ({ type: 'tool_result', tool_use_id: id, content });
const asking = (...ids) => [user(), assistant(ids.map((id) => use(id)))];
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
const anthropicTool = (name) => ({ name, input_schema: { type: 'object' } });

const anthropicCases = [
  ['request-shape', anthropic(user()), []],
  ['request-shape', anthropic(user()), { max_tokens: 10, messages: [user()] }],
  ['request-shape', anthropic(user()), { model: 'm', messages: [user()] }],
  ['request-shape', anthropic(user()), { ...anthropic(user()), max_tokens: 0 }],
  ['messages-missing', anthropic(user()), { model: 'm', max_tokens: 10 }],
  ['messages-empty', anthropic(user()), anthropic()],
  ['message-shape', anthropic(user()), anthropic(null)],
  ['system-shape', { ...anthropic(user()), system: 'Be brief.' }, { ...anthropic(user()), system: 7 }],
  ['system-shape', { ...anthropic(user()), system: [text('Be brief.')] }, { ...anthropic(user()), system: ['Be brief.'] }],
  ['system-role', { ...anthropic(user()), system: '' }, anthropic(user(), { role: 'system', content: 'Be brief.' })],
  ['role', anthropic(user(), assistant()), anthropic(user(), { role: 'tool', content: 'found' })],
  ['first-message-user', anthropic(user(), assistant()), anthropic(assistant(), user())],
  ['alternation', anthropic(user(), assistant(), user()), anthropic(user(), user())],
  ['alternation', anthropic(user(), assistant()), anthropic(user(), assistant(), assistant())],
  ['unknown-field', anthropic(user()), anthropic(user('Hello', { name: 'Ann' }))],
  ['content-type', anthropic(user([text('Hello')])), anthropic(user([]))],
  ['content-type', anthropic(user()), anthropic(user(null))],
  ['blank-text', anthropic(user(' x ')), anthropic(user(' \n'))],
  ['blank-text', anthropic(user([text('x')])), anthropic(user([text('')]))],
  ['blank-text', { ...anthropic(user()), system: [text('x')] }, { ...anthropic(user()), system: [text(' ')] }],
  ['blank-text', anthropic(...asking('a'), user([answer('a', '')])), anthropic(...asking('a'), user([answer('a', [text('')])]))],
  ['block-type', anthropic(user([text('x')])), anthropic(user([{ type: 'input_text', text: 'x' }]))],
  ['block-type', anthropic(...asking('a'), user([answer('a', [text('x')])])), anthropic(...asking('a'), user([answer('a', [thinking])]))],
  ['block-role', anthropic(user(), assistant([thinking, text('x')])), anthropic(user([thinking]))],
  ['block-shape', anthropic(user([text('x')])), anthropic(user([{ type: 'text' }]))],
  ['block-shape', anthropic(...asking('a'), user([answer('a')])), anthropic(user(), assistant([use('a', { input: '{}' })]), user([answer('a')]))],
  ['block-shape', anthropic(user(), assistant([use('a', { name: 'find it' })]), user([answer('a')])), anthropic(user(), assistant([use('a', { name: 'f'.repeat(201) })]), user([answer('a')]))],
  ['block-shape', anthropic(...asking('a'), user([answer('a', undefined)])), anthropic(...asking('a'), user([answer('a', 7)]))],
  ['thinking-signature', anthropic(user(), assistant([thinking, text('x')])), anthropic(user(), assistant([{ ...thinking, signature: undefined }, text('x')]))],
  ['thinking-signature', anthropic(user(), assistant([{ type: 'redacted_thinking', data: 'AA==' }, text('x')])), anthropic(user(), assistant([{ type: 'redacted_thinking' }, text('x')]))],
  ['tools-shape', { ...anthropic(user()), tools: [anthropicTool('find')] }, { ...anthropic(user()), tools: [openAITool('find')] }],
  ['tools-shape', { ...anthropic(user()), tools: [] }, { ...anthropic(user()), tools: [anthropicTool('find'), anthropicTool('find')] }],
  ['tools-shape', { ...anthropic(user()), tools: undefined }, { ...anthropic(user()), tools: {} }],
  ['tool-name-pattern', { ...anthropic(user()), tools: [anthropicTool('f'.repeat(128))] }, { ...anthropic(user()), tools: [anthropicTool('f'.repeat(129))] }],
  ['tool-id-pattern', anthropic(...asking('toolu_1-a'), user([answer('toolu_1-a')])), anthropic(...asking('a.1'), user([answer('a.1')]))],
  ['tool-id-duplicate', anthropic(...asking('a'), user([answer('a')]), assistant([use('b')]), user([answer('b')])), anthropic(...asking('a'), user([answer('a')]), assistant([use('a')]), user([answer('a')]))],
  ['after-tool-use', anthropic(user(), assistant([text('x'), use('a'), use('b')]), user([answer('a'), answer('b')])), anthropic(user(), assistant([use('a'), text('x')]), user([answer('a')]))],
  ['tool-use-unanswered', anthropic(...asking('a'), user([answer('a'), text('x')])), anthropic(...asking('a'), user('x'))],
  ['tool-use-unanswered', anthropic(...asking('a', 'b'), user([answer('a'), answer('b')])), anthropic(...asking('a', 'b'), user([answer('b')]))],
  ['tool-use-unanswered', anthropic(...asking('a'), user([answer('a')])), anthropic(...asking('a'))],
  ['tool-result-without-call', anthropic(...asking('a'), user([answer('a')])), anthropic(user([answer('a')]))],
  ['tool-result-without-call', anthropic(...asking('a'), user([answer('a')]), assistant(), user('x')), anthropic(...asking('a'), user([answer('a')]), assistant(), user([answer('a')]))],
  ['tool-result-duplicate', anthropic(...asking('a', 'b'), user([answer('a'), answer('b')])), anthropic(...asking('a'), user([answer('a'), answer('a')]))],
  ['tool-results-first', anthropic(...asking('a'), user([answer('a'), text('x')])), anthropic(...asking('a'), user([text('x'), answer('a')]))],
  ['tool-result-order', anthropic(...asking('a', 'b'), user([answer('a'), answer('b')])), anthropic(...asking('a', 'b'), user([answer('b'), answer('a')]))],
  ['trailing-white-space', anthropic(user(), assistant('x '), user()), anthropic(user(), assistant('x '))],
  ['trailing-white-space', anthropic(user(), assistant([text('x\n'), text('y')])), anthropic(user(), assistant([text('x\n')]))],
];

for (const [title, check, cases] of [
  ['checkOpenAI', checkOpenAI, openAICases],
  ['checkAnthropic', checkAnthropic, anthropicCases],
]) {
  describe(title, () => {
    cases.forEach(([rule, accepted, refused], index) => {
      it(`${rule} (case ${index + 1})`, () => {
        assert.deepEqual(check(accepted), []);
        // Only this rule: a case in which others speak too would not show that this one is needed.
        const rules = rulesOf(check(refused));
        assert.ok(rules.length > 0, 'the request was let through');
        assert.deepEqual([...new Set(rules)], [rule]);
      });
    });

    it('finds every violation of a request, each with the place', () => {
      const violations = check({ model: '', messages: [7, { role: 'human', content: 'x' }] });
      assert.ok(rulesOf(violations).includes('request-shape'));
      assert.ok(violations.some((line) => line.startsWith('message-shape: messages.0')));
      assert.ok(violations.some((line) => line.startsWith('role: messages.1')));
    });

    it('does not change the request', () => {
      for (const [, accepted, refused] of cases) {
        const copies = structuredClone([accepted, refused]);
        check(accepted);
        check(refused);
        assert.deepEqual([accepted, refused], copies);
      }
    });
  });
}

describe('the rules', () => {
  it('each have a case above', () => {
    const source = readFileSync(new URL('../examples/provider/rules.mjs', import.meta.url), 'utf8');
    const named = new Set([...source.matchAll(/report\(\s*'([a-z-]+)'/g)].map(([, name]) => name));
    const tested = new Set([...openAICases, ...anthropicCases].map(([name]) => name));
    assert.deepEqual([...named].filter((name) => !tested.has(name)), []);
    assert.ok(named.size > 20);
  });
});

describe('checkOpenAI with allowPlainToolMessages', () => {
  const plain = { role: 'tool', name: 'find', content: 'found' };
  const check = (...messages) => rulesOf(checkOpenAI(openAI(...messages), { allowPlainToolMessages: true }));

  it('lets a tool message without an id through, anywhere', () => {
    assert.deepEqual(check(plain), []);
    assert.deepEqual(check(user(), plain, assistant()), []);
    assert.deepEqual(check(calling('a'), plain, result('a')), []);
  });

  it('does not take it for an answer', () => {
    assert.deepEqual(check(calling('a'), plain), ['tool-call-unanswered']);
  });

  it('goes on checking the rest of it', () => {
    assert.deepEqual(check({ ...plain, name: 'find it' }), ['name-pattern']);
    assert.deepEqual(check({ ...plain, tool_call_id: null }), ['tool-result-id']);
    assert.deepEqual(check(result('a')), ['tool-result-without-call']);
  });
});

describe('startProvider', () => {
  let provider;
  let openai;
  let claude;

  before(async () => {
    provider = await startProvider({ script: conversation });
    openai = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'none', maxRetries: 0 });
    claude = new Anthropic({ baseURL: provider.url, apiKey: 'none', maxRetries: 0 });
  });
  after(() => provider.close());

  const complete = async (...messages) => (await openai.chat.completions.create(openAI(...messages))).choices[0];
  const post = (path, body) => fetch(provider.url + path, { method: 'POST', body });

  it('refuses with the error of OpenAI', async () => {
    const refused = await complete(user(), result('a')).catch((error) => error);
    assert.ok(refused instanceof OpenAI.BadRequestError);
    assert.equal(refused.type, 'invalid_request_error');
    assert.match(refused.message, /tool-result-without-call: messages\.1/);
    const { path, status, violations } = provider.requests.at(-1);
    assert.deepEqual([path, status, rulesOf(violations)], ['/v1/chat/completions', 400, ['tool-result-without-call']]);
  });

  it('refuses with the error of Anthropic', async () => {
    const refused = await claude.messages.create(anthropic(assistant())).catch((error) => error);
    assert.ok(refused instanceof Anthropic.BadRequestError);
    assert.equal(refused.error.type, 'error');
    assert.equal(refused.error.error.type, 'invalid_request_error');
    assert.match(refused.message, /first-message-user: messages\.0/);
  });

  it('refuses what is not JSON, what it does not know and what it cannot do', async () => {
    assert.equal((await post('/v1/chat/completions', '{')).status, 400);
    assert.equal((await post('/v1/models', '{}')).status, 404);
    assert.equal((await fetch(`${provider.url}/v1/messages`)).status, 404);
    assert.equal((await post('/v1/messages', JSON.stringify({ ...anthropic(user()), stream: true }))).status, 400);
  });

  it('refuses bad inputs of embeddings', async () => {
    const status = async (body) => (await post('/v1/embeddings', JSON.stringify({ model: 'm', ...body }))).status;
    assert.equal(await status({ input: 'x' }), 200);
    assert.equal(await status({ input: ['x', ''] }), 400);
    assert.equal(await status({ input: [] }), 400);
    assert.equal(await status({ input: [[1, 2]] }), 400);
    assert.equal(await status({ input: Array(2049).fill('x') }), 400);
    assert.equal(await status({ input: 'x', encoding_format: 'hex' }), 400);
    assert.equal(await status({ input: 'x', model: '' }), 400);
  });

  it('lets plain tool messages through when asked to', async () => {
    const body = JSON.stringify(openAI(user(), { role: 'tool', content: 'found' }));
    assert.equal((await post('/v1/chat/completions', body)).status, 400);
    const lenient = await startProvider({ allowPlainToolMessages: true });
    const response = await fetch(`${lenient.url}/v1/chat/completions`, { method: 'POST', body });
    await lenient.close();
    assert.equal(response.status, 200);
  });

  it('embeds into the same unit vectors, as base64 and as numbers', async () => {
    const input = ['A window seat for the cat', 'The seats at the windows', 'Bleed the radiators', '…'];
    const numbers = await openai.embeddings.create({ model: 'm', input, encoding_format: 'float' });
    // Without a format the package asks for base64 and decodes it.
    const decoded = await openai.embeddings.create({ model: 'm', input });
    assert.equal(provider.requests.at(-1).body.encoding_format, 'base64');
    const vectors = numbers.data.map(({ embedding }) => embedding);
    assert.deepEqual(decoded.data.map(({ embedding }) => [...embedding]), vectors);
    const dot = (a, b) => a.reduce((sum, value, index) => sum + value * b[index], 0);
    for (const vector of vectors) {
      assert.equal(vector.length, 64);
      assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-6);
    }
    assert.ok(dot(vectors[0], vectors[1]) > dot(vectors[0], vectors[2]));
  });

  const summaryRequest = [
    'Keep it to about 60 tokens.',
    'Previous summary:\nMarta: The house was built in the year 1931 and has seven windows.',
    'Known facts:\n- floor: oak',
    'New messages:\nsystem: Today is Monday 2 June 2025.\nJonas: I want the worktop to be 96 centimetres high. Or not?\nfind_it: Nothing was found in the year 1999 at all, sorry about that.',
    'Updated summary:',
  ].join('\n\n');

  it('answers a summary request from the text it is given', async () => {
    const { message } = await complete(user(summaryRequest));
    assert.equal(message.content, 'Marta: The house was built in the year 1931 and has seven windows.\nJonas: I want the worktop to be 96 centimetres high.');
  });

  it('keeps a summary to the size that is asked for', async () => {
    const said = Array.from({ length: 40 }, (_, index) => `Jonas: I want window number ${index} to be painted white today.`);
    const request = summaryRequest.replace('New messages:', `New messages:\n${said.join('\n')}`);
    const { message } = await complete(user(request));
    assert.ok(message.content.length <= 60 * 4);
  });

  it('answers a facts request with the lines it finds in the messages', async () => {
    const prompt = (messages) => user(`Known facts:\n- floor: oak\n\nMessages:\n${messages}`);
    const { message } = await complete(prompt('assistant: Written down:\n- move-in date: 30 August\n- door: 90 cm\nMarta: Our budget is 86,000 euros, no more.'));
    assert.equal(message.content, 'move-in date: 30 August\ndoor: 90 cm\nbudget: 86');
    assert.equal((await complete(prompt('Marta: Good night.'))).message.content, 'none');
  });

  it('answers other messages from what it is told, the same each time', async () => {
    const messages = [user('The key is under the green flower pot.'), assistant('Noted.'), user('Where is the flower pot with the key?')];
    const { message, finish_reason: reason } = await complete(...messages);
    assert.equal(message.content, 'What I have about that: The key is under the green flower pot.');
    assert.equal(reason, 'stop');
    assert.deepEqual((await complete(...messages)).message, message);
    const response = await claude.messages.create(anthropic(...messages));
    assert.deepEqual(response.content, [text(message.content)]);
  });

  const calls = conversation.findIndex(({ toolCalls }) => toolCalls?.length === 2);
  const question = conversation[calls - 1].content;
  const spoken = conversation[calls + 3].content;

  it('plays the assistant of the script to OpenAI clients', async () => {
    const { message, finish_reason: reason } = await complete(user(question));
    assert.equal(reason, 'tool_calls');
    assert.deepEqual(
      message.tool_calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: JSON.parse(args) })),
      conversation[calls].toolCalls,
    );
    const { content, tool_calls } = message;
    const results = tool_calls.map(({ id }) => result(id));
    assert.equal((await complete(user(question), { role: 'assistant', content, tool_calls }, ...results)).message.content, spoken);
  });

  it('plays the assistant of the script to Anthropic clients', async () => {
    const first = await claude.messages.create(anthropic(user(question)));
    assert.equal(first.stop_reason, 'tool_use');
    assert.deepEqual(first.content, conversation[calls].toolCalls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })));
    const results = first.content.map(({ id }) => answer(id));
    const second = await claude.messages.create(anthropic(user(question), assistant(first.content), user(results)));
    assert.deepEqual(second.content, [text(spoken)]);
  });

  it('answers a question about something old only if it is told', async () => {
    const asked = conversation.find(({ meta }) => meta?.needs);
    const forgotten = await complete(user(asked.content));
    assert.match(forgotten.message.content, /no longer have that/);
    const told = await complete({ role: 'system', content: asked.meta.needs.join(' ') }, user(asked.content));
    assert.equal(told.message.content, conversation[conversation.indexOf(asked) + 1].content);
  });

  it('closes once and for all', async () => {
    const other = await startProvider();
    assert.equal((await fetch(`${other.url}/v1/models`)).status, 404);
    await other.close();
    await other.close();
    await assert.rejects(fetch(other.url));
  });
});

describe('the recorded conversation', () => {
  const textOf = ({ content, toolCalls = [] }) => content + JSON.stringify(toolCalls);

  it('is long, calls many tools, and some of them in parallel', () => {
    const calling = conversation.filter(({ toolCalls }) => toolCalls);
    assert.ok(conversation.length >= 220);
    assert.ok(calling.length >= 25);
    assert.ok(calling.filter(({ toolCalls }) => toolCalls.length > 1).length >= 5);
    assert.ok(calling.some(({ content }) => content !== '') && calling.some(({ content }) => content === ''));
  });

  it('never says the same thing twice', () => {
    const said = conversation.filter(({ role }) => role === 'user' || role === 'assistant').map(textOf);
    assert.deepEqual(said.filter((line, index) => said.indexOf(line) !== index), []);
  });

  it('is accepted by OpenAI at every length that does not end between a call and its result', () => {
    const rendered = conversation.map(({ role, content, name, toolCalls, toolCallId }) => ({
      role,
      content,
      ...(name && { name }),
      ...(toolCalls && { tool_calls: toolCalls.map((it) => call(it.id, it.name, JSON.stringify(it.arguments))) }),
      ...(toolCallId && { tool_call_id: toolCallId }),
    }));
    for (let length = 1; length <= rendered.length; length++) {
      const waiting = conversation[length - 1].toolCalls || conversation[length]?.role === 'tool';
      const violations = checkOpenAI({ ...openAI(...rendered.slice(0, length)), tools });
      assert.deepEqual([...new Set(rulesOf(violations))], waiting ? ['tool-call-unanswered'] : [], `length ${length}`);
    }
  });

  it('is accepted by Anthropic, with the messages of one side merged', () => {
    const messages = [];
    for (const { role, content, toolCalls = [], toolCallId } of conversation) {
      if (role === 'system') continue;
      const side = role === 'assistant' ? 'assistant' : 'user';
      if (messages.at(-1)?.role !== side) messages.push({ role: side, content: [] });
      if (toolCallId) messages.at(-1).content.push(answer(toolCallId, content));
      else if (content) messages.at(-1).content.push(text(content));
      messages.at(-1).content.push(...toolCalls.map(({ id, name, arguments: input }) => use(id, { name, input })));
    }
    assert.deepEqual(checkAnthropic({ ...anthropic(...messages), system: systemPrompt }), []);
  });

  it('asks for old things that were said long before, and not in the question', () => {
    const asking = conversation.filter(({ meta }) => meta?.needs);
    assert.ok(asking.length >= 12);
    for (const asked of asking) {
      const index = conversation.indexOf(asked);
      for (const need of asked.meta.needs) {
        assert.ok(!asked.content.includes(need), need);
        const first = conversation.findIndex((message) => textOf(message).includes(need));
        assert.ok(first >= 0 && index - first > 80, `${need}: said in ${first}, asked in ${index}`);
      }
    }
  });

  it('adds up', () => {
    let committed = 0;
    for (const message of conversation) {
      for (const { id, name, arguments: args } of message.toolCalls ?? []) {
        if (name !== 'budget_add') continue;
        committed += args.euros;
        const [, total, ceiling, left] = /^Committed (.+) of (.+)\. Left: (.+)\.$/.exec(runTool({ id, name, arguments: '' })).map((figure) => Number(figure.replace(',', '')));
        assert.deepEqual([total, left], [committed, ceiling - committed], id);
      }
    }
    assert.equal(committed, 86_200);
  });

  it('names the right day of the week for every date', () => {
    const date = /\b(Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday) (\d+ (?:January|February|March|April|May|June|July|August|September|October))\b/g;
    const found = conversation.flatMap(({ content }) => [...content.matchAll(date)]);
    assert.ok(found.length > 40);
    for (const [written, weekday, day] of found) {
      const actual = new Date(`${day} 2025 12:00 UTC`).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
      assert.equal(actual, weekday, written);
    }
  });

  it('is played in turns that each end with the assistant', () => {
    assert.deepEqual(new Set(script.map(({ role }) => role)), new Set(['system', 'user']));
    const turnsOfAssistant = conversation.filter(({ role }, index) => role === 'assistant' && ['user', 'system'].includes(conversation[index - 1].role));
    assert.equal(script.filter(isAnswered).length, turnsOfAssistant.length);
    assert.equal(conversation.at(-1).role, 'assistant');
  });
});

describe('runTool', () => {
  it('gives a recorded call its own result', () => {
    for (const [index, message] of conversation.entries()) {
      message.toolCalls?.forEach((it, offset) => assert.equal(runTool(it), conversation[index + 1 + offset].content));
    }
  });

  it('gives another call the result of the nearest recorded one', () => {
    const answerOf = (name, args) => runTool({ id: 'x', name, arguments: JSON.stringify(args) });
    assert.match(answerOf('find_suppliers', { trade: 'window maker', area: 'Ghent' }), /Vensterhuis Claeys/);
    assert.match(answerOf('get_quote', { supplier: 'Volt & Maes', job: 'rewiring' }), /7,080/);
    assert.equal(answerOf('order_pizza', {}), 'There is no tool called order_pizza.');
  });
});
