// A conversation with pictures, tools and reasoning through the providers' own packages, against a stand-in on 127.0.0.1
// that refuses what the services would refuse.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import OpenAI from 'openai';
import { createMemory, SqliteStore, toAISDK, toAnthropic, toGemini, toOpenAI, toOpenAIResponses } from './support/library.mjs';
import { checkAnthropic, checkOpenAI } from '../examples/provider/rules.mjs';
import { checkGemini, checkResponses } from './support/requests.mjs';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAA';
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, prompt_tokens: 1, completion_tokens: 1 };

/** An item of a request with what the service takes as given. */
const inFull = ({ role, ...item }) => ({
  type: 'message', ...item, ...(role && { role: role === 'developer' ? 'system' : role }), ...(item.id && role && { status: 'completed' }),
});

/** What the stand-in answers: in turns a call, a text. */
const ANSWERS = {
  '/v1/chat/completions': {
    check: (body) => checkOpenAI(body),
    call: (n) => chat({ content: null, tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'look_up', arguments: `{"n":${n}}` } }] }),
    text: (n) => chat({ content: `Answer ${n}.` }),
  },
  '/v1/responses': {
    check: (body) => checkResponses({ ...body, input: body.input.map(inFull) }),
    call: (n) => response([thought(n), { type: 'function_call', id: `fc_${n}`, call_id: `call_${n}`, name: 'look_up', arguments: `{"n":${n}}`, status: 'completed' }]),
    text: (n) => response([thought(n), { type: 'message', id: `msg_${n}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: `Answer ${n}.`, annotations: [] }] }]),
  },
  '/v1/messages': {
    check: (body) => checkAnthropic(body),
    call: (n) => message('tool_use', [{ type: 'thinking', thinking: `Thought ${n}.`, signature: `c2ln${n}` }, { type: 'tool_use', id: `toolu_${n}`, name: 'look_up', input: { n } }]),
    text: (n) => message('end_turn', [{ type: 'thinking', thinking: `Thought ${n}.`, signature: `c2ln${n}` }, { type: 'text', text: `Answer ${n}.` }]),
  },
  '/v1beta/models/gemini:generateContent': {
    check: (body) => checkGemini(body),
    call: (n) => ({ candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'look_up', args: { n } }, thoughtSignature: `c2ln${n}` }] } }] }),
    text: (n) => ({ candidates: [{ content: { role: 'model', parts: [{ text: `Answer ${n}.` }] } }] }),
  },
};

const chat = (message_) => ({
  id: 'chatcmpl', object: 'chat.completion', created: 1, model: 'm', usage,
  choices: [{ index: 0, finish_reason: message_.tool_calls ? 'tool_calls' : 'stop', logprobs: null, message: { role: 'assistant', refusal: null, annotations: [], ...message_ } }],
});
const thought = (n) => ({ type: 'reasoning', id: `rs_${n}`, summary: [{ type: 'summary_text', text: `Thought ${n}.` }], encrypted_content: `ZW5j${n}` });
const response = (output) => ({
  id: 'resp', object: 'response', created_at: 1, status: 'completed', model: 'm', output, error: null, incomplete_details: null,
  usage: { ...usage, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
});
const message = (stop, content) => ({ id: 'msg', type: 'message', role: 'assistant', model: 'm', content, stop_reason: stop, stop_sequence: null, usage });

let server;
let url;
let requests;

before(async () => {
  server = createServer(async (request, answer) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const { pathname } = new URL(request.url, url);
    const route = ANSWERS[pathname];
    const violations = route === undefined ? [`there is no ${pathname}`] : route.check(body);
    requests.push({ pathname, body, violations });
    answer.writeHead(violations.length > 0 ? 400 : 200, { 'content-type': 'application/json' });
    const turn = requests.length;
    answer.end(JSON.stringify(violations.length > 0 ? { error: { message: violations.join('\n'), type: 'invalid_request_error' } } : turn % 2 === 1 ? route.call(turn) : route.text(turn)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${server.address().port}`;
});

after(() => server.close());

const QUESTIONS = [
  [{ type: 'text', text: 'What is this?' }, { type: 'image', data: png, mediaType: 'image/png' }],
  'And how much is it?',
  [{ type: 'text', text: 'Here is the bill.' }, { type: 'file', data: 'JVBERi0xLjQK', mediaType: 'application/pdf', name: 'bill.pdf' }],
  'Thank you.',
];

/** Plays the conversation: `ask` renders and sends a context, and gives what the provider answered. */
async function play(budget, ask, calledIn) {
  requests = [];
  const store = new SqliteStore(':memory:');
  const session = createMemory({ store, budget, embed: (texts) => texts.map((it) => [it.length, 1]), recall: { minScore: -1 } }).session('s');
  for (const question of QUESTIONS) {
    await session.add({ role: 'user', content: question });
    for (;;) {
      const answer = await ask(await session.context());
      await session.add(answer);
      const last = (await session.messages()).at(-1);
      if (last.toolCalls === undefined || calledIn !== undefined) break;
      for (const { id, name } of last.toolCalls) {
        await session.add({ role: 'tool', toolCallId: id, name, content: [{ type: 'text', text: 'found' }, { type: 'image', data: png, mediaType: 'image/png' }] });
      }
    }
  }
  const state = await session.state();
  store.close();
  assert.ok(requests.length >= QUESTIONS.length * 2);
  assert.deepEqual(requests.flatMap(({ violations }) => violations), []);
  return state;
}

const BUDGETS = [['that holds everything', { maxTokens: 100_000 }], ['that folds', { maxTokens: 900, targetTokens: 300, keepRecent: 2 }]];

for (const [what, budget] of BUDGETS) {
  describe(`with a budget ${what}`, () => {
    for (const options of [{}, { recall: 'last' }]) {
      const how = options.recall === undefined ? '' : ', recall at the end';

      test(`openai, Chat Completions${how}`, async () => {
        const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
        await play(budget, async (context) => {
          const { choices } = await client.chat.completions.create({ model: 'm', messages: toOpenAI(context, { systemPrompt: 'Be brief.', ...options }) });
          return choices[0].message;
        });
      });

      test(`openai, Responses${how}`, async () => {
        const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
        const state = await play(budget, async (context) => {
          const { output } = await client.responses.create({ model: 'm', ...toOpenAIResponses(context, { systemPrompt: 'Be brief.', ...options }) });
          return output;
        });
        const sent = requests.at(-1).body.input.filter(({ type }) => type === 'reasoning');
        assert.ok(sent.every(({ encrypted_content: secret }) => secret.startsWith('ZW5j')) && sent.length > 0, 'reasoning goes back');
        assert.equal(state.recent.at(-1).parts[0].encrypted, `ZW5j${requests.length}`);
      });

      test(`@anthropic-ai/sdk${how}`, async () => {
        const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
        await play(budget, (context) =>
          client.messages.create({ model: 'm', max_tokens: 100, ...toAnthropic(context, { systemPrompt: 'Be brief.', cacheControl: options.recall === 'last', ...options }) }));
        assert.ok(JSON.stringify(requests.at(-1).body).includes('"signature":"c2ln'), 'thinking goes back');
        if (options.recall === 'last') assert.ok(JSON.stringify(requests.at(-1).body).includes('cache_control'));
      });

      for (const [maker, model] of [['anthropic', () => createAnthropic({ apiKey: 'none', baseURL: `${url}/v1` })('m')], ['openai', () => createOpenAI({ apiKey: 'none', baseURL: `${url}/v1` })('m')]]) {
        test(`ai with @ai-sdk/${maker}${how}`, async () => {
          const lookUp = tool({ inputSchema: jsonSchema({ type: 'object', properties: { n: { type: 'number' } } }), execute: async () => ({ found: true }) });
          await play(
            budget,
            async (context) => {
              const result = await generateText({
                model: model(), tools: { look_up: lookUp },
                // Whole items instead of references to what the service has stored.
                providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } }, stopWhen: stepCountIs(5), maxRetries: 0, ...toAISDK(context, { systemPrompt: 'Be brief.', ...options }),
              });
              return result.response.messages;
            },
            'the SDK',
          );
          assert.ok(JSON.stringify(requests.at(-1).body).includes(maker === 'anthropic' ? '"signature":"c2ln' : 'ZW5j'), 'thinking goes back');
        });
      }

      test(`the REST interface of Gemini${how}`, async () => {
        await play(budget, async (context) => {
          const reply = await fetch(`${url}/v1beta/models/gemini:generateContent`, { method: 'POST', body: JSON.stringify(toGemini(context, { systemPrompt: 'Be brief.', ...options })) });
          const body = await reply.json();
          assert.equal(reply.status, 200, JSON.stringify(body));
          return body.candidates[0].content;
        });
        assert.ok(JSON.stringify(requests.at(-1).body).includes('"thoughtSignature":"c2ln'), 'signatures go back');
      });
    }
  });
}
