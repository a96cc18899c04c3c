// Messages of providers go in as they are, and go back to the same provider as they were.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convertToModelMessages } from 'ai';
import { createMemory, from, toAISDK, toOpenAI, toOpenAIResponses } from './support/library.mjs';
import { contextOf } from './support/messages.mjs';
import { FORMATS } from './support/requests.mjs';

const listOf = (request) => request.messages ?? request.input ?? request.contents ?? request;
const formatOf = (provider) => FORMATS.find(({ name }) => name === provider);

async function recentOf(messages) {
  const session = createMemory({ clock: () => 1 }).session('s');
  await session.add(messages);
  return (await session.context()).recent;
}

/** The messages without their times. */
const timeless = (messages) => messages.map(({ at, ...message }) => message);

describe('from() throws', () => {
  const cases = [
    ['openai', 5, /an OpenAI message must be an object/],
    ['openai', { role: 'bot' }, /unknown message role bot/],
    ['openai', { role: 'user', content: 5 }, /message content must be a string or a list of parts/],
    ['openai', { role: 'user', content: [{ type: 'image_url' }] }, /content\[0\]\.image_url\.url must be a string/],
    ['openai', { role: 'user', content: [{ type: 'file', file: {} }] }, /content\[0\]\.file needs file_data or file_id/],
    ['openai', { role: 'user', content: [{ type: 'input_audio', input_audio: { data: '?' } }] }, /content\[0\]\.input_audio\.data must be bytes or base64/],
    ['openai', { role: 'assistant', tool_calls: [{ id: 'a', function: { arguments: '' } }] }, /tool_calls\[0\]\.function\.name must be a non-empty string/],
    ['openai', { role: 'assistant', tool_calls: {} }, /tool_calls must be a list/],
    ['openai', { role: 'tool', content: '', tool_call_id: 5 }, /tool_call_id must be a string/],
    ['openai', { id: 'chatcmpl', choices: [] }, /this is a whole answer of a provider: add response\.choices\[0\]\.message/],
    ['openai-responses', null, /item 0 must be an object/],
    ['openai-responses', { role: 'bot', content: '' }, /unknown message role bot/],
    ['openai-responses', { type: 'function_call', name: 'f' }, /item 0\.call_id must be a non-empty string/],
    ['openai-responses', [{ role: 'user', content: '' }, { type: 'function_call_output' }], /item 1\.call_id must be a string/],
    ['openai-responses', { role: 'user', content: [{ type: 'input_image' }] }, /item 0\.content\[0\] needs image_url or file_id/],
    ['openai-responses', { id: 'resp_1', output: [] }, /add response\.output/],
    ['anthropic', 'x', /an Anthropic message must be an object/],
    ['anthropic', { role: 'tool', content: '' }, /unknown message role tool/],
    ['anthropic', { role: 'user', content: null }, /message content must be a string or a list of blocks/],
    ['anthropic', { role: 'user', content: [5] }, /content\[0\] must be an object/],
    ['anthropic', { role: 'user', content: [{ type: 'image' }] }, /content\[0\]\.source must be an object/],
    ['anthropic', { role: 'user', content: [{ type: 'image', source: { type: 'base64', data: '?' } }] }, /content\[0\]\.source\.data must be bytes or base64/],
    ['anthropic', { role: 'user', content: [{ type: 'tool_result', content: '' }] }, /content\[0\]\.tool_use_id must be a string/],
    ['anthropic', { role: 'assistant', content: [{ type: 'tool_use', name: 'f' }] }, /content\[0\]\.id must be a non-empty string/],
    ['ai-sdk', { role: 'model' }, /unknown message role model/],
    ['ai-sdk', { role: 'user', content: [{ type: 'image', image: 5 }] }, /content\[0\]\.image must be a string, a URL or bytes/],
    ['ai-sdk', { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a' }] }, /content\[0\]\.output must be an object/],
    ['ai-sdk', { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '' }] }, /content\[0\]\.toolCallId must be a non-empty string/],
    ['gemini', { role: 'user' }, /parts must be a list/],
    ['gemini', { role: 'bot', parts: [] }, /unknown message role bot/],
    ['gemini', { parts: [{ functionCall: {} }] }, /parts\[0\]\.functionCall\.name must be a non-empty string/],
    ['gemini', { parts: [{ inlineData: { data: 5 } }] }, /parts\[0\]\.inlineData\.data must be bytes or base64/],
    ['gemini', { candidates: [] }, /add response\.candidates\[0\]\.content/],
    ['mistral', [], /provider must be one of openai, openai-responses, anthropic, ai-sdk, gemini/],
    [undefined, [], /provider must be one of/],
    ['toString', [], /provider must be one of/],
  ];
  for (const [provider, value, message] of cases) {
    test(`${provider}: ${JSON.stringify(value)}`, () => {
      assert.throws(() => from(provider, value), (error) => {
        assert.ok(error instanceof TypeError);
        assert.equal(error.code, 'ERR_MEMORYLINE_INVALID_ARGUMENT');
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test('and so does add, before anything is stored', async () => {
    const session = createMemory().session('s');
    assert.throws(() => session.add([{ role: 'user', content: 'a' }, { role: 'user', content: [{ type: 'tool_result', content: '' }] }]), /content\[0\]\.tool_use_id/);
    assert.throws(() => session.add({ id: 'r', object: 'response', output: [] }), /add response\.output/);
    assert.throws(() => session.add({ role: 'developer', content: 'a' }), /unknown message role developer/);
    assert.throws(() => session.add({ index: 0, message: { role: 'assistant', content: 'a' } }), /this is a choice of an answer: add its message/);
    for (const type of ['text', 'tool_use', 'tool_result', 'tool-result']) assert.throws(() => session.add([{ type, text: 'a' }]), /this is a block of content, a tool|this is a block of content, a text/);
    assert.deepEqual(await session.messages(), []);
  });
});

const png = 'iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAA';
const url = 'https://a.example/b.png';
const text = (value) => ({ type: 'text', text: value });
const place = (id) => ({ type: 'toolCall', id });

/** What each provider's message is here. Every one goes back as it came unless `back` says how. */
const CASES = [
  // OpenAI Chat Completions
  {
    what: 'an answer of text', provider: 'openai',
    value: { role: 'assistant', content: 'Hello', refusal: null, annotations: [] },
    ours: [{ role: 'assistant', content: 'Hello', provider: 'openai' }],
    back: [{ role: 'assistant', content: 'Hello' }],
  },
  {
    what: 'calls of functions and of custom tools', provider: 'openai', open: true,
    value: {
      role: 'assistant', content: null, refusal: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"b": 1}' }, extra_content: { google: { thought_signature: 'c2ln' } } },
        { id: 'b', type: 'custom', custom: { name: 'g', input: 'free text' } },
      ],
    },
    ours: [{
      role: 'assistant', content: '', provider: 'openai',
      toolCalls: [
        { id: 'a', name: 'f', arguments: '{"b": 1}', providerMetadata: { extra_content: { google: { thought_signature: 'c2ln' } } } },
        { id: 'b', name: 'g', arguments: 'free text', custom: true },
      ],
    }],
    back: [{
      role: 'assistant', content: '',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"b": 1}' }, extra_content: { google: { thought_signature: 'c2ln' } } },
        { id: 'b', type: 'custom', custom: { name: 'g', input: 'free text' } },
      ],
    }],
  },
  {
    what: 'a refusal', provider: 'openai',
    value: { role: 'assistant', content: null, refusal: 'No.' },
    ours: [{ role: 'assistant', content: 'No.', parts: [{ ...text('No.'), refusal: true }], provider: 'openai' }],
    back: [{ role: 'assistant', content: '', refusal: 'No.' }],
  },
  {
    what: 'thoughts that a compatible service sends as text', provider: 'openai',
    value: { role: 'assistant', content: 'Hello', reasoning_content: 'They greet me.' },
    ours: [{
      role: 'assistant', content: 'Hello', provider: 'openai',
      parts: [{ type: 'reasoning', text: 'They greet me.', providerMetadata: { reasoning_content: 'They greet me.' } }, text('Hello')],
    }],
  },
  {
    what: 'pictures, files and sound', provider: 'openai',
    value: {
      role: 'user', name: 'Dana',
      content: [
        text('See'), { type: 'image_url', image_url: { url, detail: 'low' } }, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }, { type: 'file', file: { file_id: 'file-1' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
      ],
    },
    ours: [{
      role: 'user', content: 'See\n[image]\n[image]\n[audio]\n[file]\n[file a.pdf]', name: 'Dana', provider: 'openai',
      parts: [
        text('See'), { type: 'image', url, detail: 'low' }, { type: 'image', url: `data:image/png;base64,${png}` }, { type: 'audio', data: 'AAAA', mediaType: 'audio/mpeg' },
        { type: 'file', fileId: 'file-1' }, { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', name: 'a.pdf' },
      ],
    }],
  },
  {
    what: 'sound that the model made', provider: 'openai',
    value: { role: 'assistant', content: null, audio: { id: 'audio_1', data: 'AAAA', expires_at: 5, transcript: 'Hello' } },
    ours: [{
      role: 'assistant', content: 'Hello', provider: 'openai',
      parts: [{ type: 'audio', data: 'AAAA', id: 'audio_1', transcript: 'Hello', providerMetadata: { expires_at: 5 } }],
    }],
    // The service forgets its sound after an hour and refuses the id then.
    back: [{ role: 'assistant', content: 'Hello' }],
  },
  // OpenAI Responses
  {
    what: 'reasoning, what it led to, and the result', provider: 'openai-responses',
    value: [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Look it up.' }], encrypted_content: 'c2VjcmV0' },
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'One moment.', annotations: [] }] },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}', status: 'completed' },
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
    ],
    ours: [
      {
        role: 'assistant', content: 'One moment.', provider: 'openai-responses',
        toolCalls: [{ id: 'call_1', name: 'f', arguments: '{}', itemId: 'fc_1', providerMetadata: { status: 'completed' } }],
        parts: [{ type: 'reasoning', summary: ['Look it up.'], encrypted: 'c2VjcmV0', itemId: 'rs_1' }, { ...text('One moment.'), itemId: 'msg_1' }, place('call_1')],
      },
      { role: 'tool', content: 'done', name: 'f', toolCallId: 'call_1', provider: 'openai-responses' },
    ],
  },
  {
    what: 'the API\'s own tools, quotations and refusals', provider: 'openai-responses',
    value: [
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'brakes' } },
      {
        type: 'message', id: 'msg_1', role: 'assistant', status: 'incomplete',
        content: [
          { type: 'output_text', text: 'Pads.', annotations: [{ type: 'url_citation', url, title: 'b', start_index: 0, end_index: 4 }] },
          { type: 'refusal', refusal: 'No more.' },
        ],
      },
    ],
    ours: [{
      role: 'assistant', content: 'Pads.\nNo more.', provider: 'openai-responses',
      parts: [
        {
          type: 'custom', provider: 'openai-responses', itemId: 'ws_1',
          value: { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'brakes' } },
        },
        {
          ...text('Pads.'), itemId: 'msg_1', itemMetadata: { status: 'incomplete' },
          providerMetadata: { annotations: [{ type: 'url_citation', url, title: 'b', start_index: 0, end_index: 4 }] },
        },
        { ...text('No more.'), refusal: true, itemId: 'msg_1', itemMetadata: { status: 'incomplete' } },
      ],
    }],
  },
  {
    what: 'free text for a custom tool, and a picture back', provider: 'openai-responses',
    value: [
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'draw', input: 'a bicycle' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'here' }, { type: 'input_image', image_url: url, detail: 'auto' }] },
    ],
    ours: [
      {
        role: 'assistant', content: '', provider: 'openai-responses',
        toolCalls: [{ id: 'call_1', name: 'draw', arguments: 'a bicycle', custom: true, itemId: 'ctc_1' }],
      },
      { role: 'tool', content: 'here\n[image]', name: 'draw', toolCallId: 'call_1', parts: [text('here'), { type: 'image', url, detail: 'auto' }], provider: 'openai-responses' },
    ],
  },
  {
    what: 'input with pictures and files', provider: 'openai-responses',
    value: [{
      type: 'message', role: 'user',
      content: [
        { type: 'input_text', text: 'See' }, { type: 'input_image', image_url: url, detail: 'high' }, { type: 'input_image', file_id: 'file-1', detail: 'auto' },
        { type: 'input_file', file_url: 'https://a.example/c.pdf' }, { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
      ],
    }],
    ours: [{
      role: 'user', content: 'See\n[image]\n[image]\n[file]\n[file a.pdf]', provider: 'openai-responses',
      parts: [
        text('See'), { type: 'image', url, detail: 'high' }, { type: 'image', fileId: 'file-1', detail: 'auto' }, { type: 'file', url: 'https://a.example/c.pdf' },
        { type: 'file', url: 'data:application/pdf;base64,JVBERi0=', name: 'a.pdf' },
      ],
    }],
  },
  // Anthropic
  {
    what: 'thinking, text and a call, and the result with a picture', provider: 'anthropic', opens: 'assistant',
    value: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Look it up.', signature: 'c2ln' }, { type: 'redacted_thinking', data: 'ZW5j' }, text('One moment.'),
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [text('here'), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }], is_error: true },
          { ...text('And?'), cache_control: { type: 'ephemeral' } },
        ],
      },
    ],
    ours: [
      {
        role: 'assistant', content: 'One moment.', provider: 'anthropic', toolCalls: [{ id: 'toolu_1', name: 'f', arguments: { a: 1 } }],
        parts: [{ type: 'reasoning', text: 'Look it up.', signature: 'c2ln' }, { type: 'reasoning', encrypted: 'ZW5j' }, text('One moment.'), place('toolu_1')],
      },
      {
        role: 'tool', content: 'here\n[image]', toolCallId: 'toolu_1', parts: [text('here'), { type: 'image', data: png, mediaType: 'image/png' }], provider: 'anthropic',
        isError: true,
      },
      { role: 'user', content: 'And?', parts: [{ ...text('And?'), providerMetadata: { cache_control: { type: 'ephemeral' } } }], provider: 'anthropic' },
    ],
  },
  {
    what: 'a whole answer with the API\'s own tools', provider: 'anthropic', opens: 'assistant',
    value: {
      id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 },
      content: [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'brakes' } }, text('Pads.')],
    },
    ours: [{
      role: 'assistant', content: 'Pads.', provider: 'anthropic',
      parts: [{ type: 'custom', provider: 'anthropic', value: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'brakes' } } }, text('Pads.')],
    }],
    back: [{ role: 'assistant', content: [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'brakes' } }, text('Pads.')] }],
  },
  {
    what: 'documents of every kind', provider: 'anthropic',
    value: [{
      role: 'user',
      content: [
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, title: 'a.pdf', context: 'from Dana' },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'the text' } }, { type: 'document', source: { type: 'url', url: 'https://a.example/c' } },
        { type: 'document', source: { type: 'file', file_id: 'file_1' } }, { type: 'image', source: { type: 'url', url } },
      ],
    }],
    ours: [{
      role: 'user', content: '[file a.pdf]\n[file]\n[file]\n[file]\n[image]', provider: 'anthropic',
      parts: [
        { type: 'file', data: 'JVBERi0=', mediaType: 'application/pdf', name: 'a.pdf', providerMetadata: { context: 'from Dana' } },
        { type: 'file', text: 'the text', mediaType: 'text/plain' }, { type: 'file', url: 'https://a.example/c', mediaType: 'application/pdf' }, { type: 'file', fileId: 'file_1' },
        { type: 'image', url },
      ],
    }],
  },
  // AI SDK
  {
    what: 'reasoning with a signature, a call and its result', provider: 'ai-sdk', opens: 'assistant',
    value: [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Look it up.', providerOptions: { anthropic: { signature: 'c2ln' } } }, { ...text('One moment.'), providerOptions: { openai: { itemId: 'msg_1' } } },
          { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: { a: 1 }, providerOptions: { google: { thoughtSignature: 'c2ln' } } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'f', output: { type: 'json', value: { b: [1] } } }] },
    ],
    ours: [
      {
        role: 'assistant', content: 'One moment.', provider: 'ai-sdk',
        toolCalls: [{ id: 'a', name: 'f', arguments: { a: 1 }, providerMetadata: { providerOptions: { google: { thoughtSignature: 'c2ln' } } } }],
        parts: [
          { type: 'reasoning', text: 'Look it up.', provider: 'anthropic', signature: 'c2ln', providerMetadata: { providerOptions: { anthropic: { signature: 'c2ln' } } } },
          { ...text('One moment.'), providerMetadata: { providerOptions: { openai: { itemId: 'msg_1' } } } }, place('a'),
        ],
      },
      {
        role: 'tool', content: '{"b":[1]}', name: 'f', toolCallId: 'a', provider: 'ai-sdk', providerMetadata: { output: { type: 'json', value: { b: [1] } } },
      },
    ],
  },
  {
    what: 'pictures and files, at addresses and as bytes', provider: 'ai-sdk',
    value: [{
      role: 'user',
      content: [
        text('See'), { type: 'image', image: new URL(url), mediaType: 'image/png' }, { type: 'image', image: Buffer.from(png, 'base64'), mediaType: 'image/png' },
        { type: 'file', data: 'JVBERi0=', mediaType: 'application/pdf', filename: 'a.pdf' },
      ],
    }],
    ours: [{
      role: 'user', content: 'See\n[image]\n[image]\n[file a.pdf]', provider: 'ai-sdk',
      parts: [text('See'), { type: 'image', url, mediaType: 'image/png' }, { type: 'image', data: png, mediaType: 'image/png' }, { type: 'file', data: 'JVBERi0=', mediaType: 'application/pdf', name: 'a.pdf' }],
    }],
    back: [{
      role: 'user',
      content: [
        text('See'), { type: 'image', image: url, mediaType: 'image/png' }, { type: 'image', image: png, mediaType: 'image/png' },
        { type: 'file', data: 'JVBERi0=', mediaType: 'application/pdf', filename: 'a.pdf' },
      ],
    }],
  },
  // Gemini
  {
    what: 'thoughts, signatures and parallel calls without ids', provider: 'gemini', opens: 'model',
    value: [
      {
        role: 'model',
        parts: [
          { text: 'Look both up.', thought: true }, { text: 'One moment.', thoughtSignature: 'c2ln' },
          { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2lu' }, { functionCall: { name: 'f', args: { a: 2 } } },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'f', response: { output: 'one' } } }, { functionResponse: { name: 'f', response: { rows: [2] } } }],
      },
    ],
    ours: [
      {
        role: 'assistant', content: 'One moment.', provider: 'gemini',
        toolCalls: [
          { id: 'gemini_0', name: 'f', arguments: { a: 1 }, providerMetadata: { thoughtSignature: 'c2lu', generatedId: true } },
          { id: 'gemini_1', name: 'f', arguments: { a: 2 }, providerMetadata: { generatedId: true } },
        ],
        parts: [{ type: 'reasoning', text: 'Look both up.' }, { ...text('One moment.'), providerMetadata: { thoughtSignature: 'c2ln' } }, place('gemini_0'), place('gemini_1')],
      },
      { role: 'tool', content: 'one', name: 'f', toolCallId: 'gemini_0', provider: 'gemini' },
      { role: 'tool', content: '{"rows":[2]}', name: 'f', toolCallId: 'gemini_1', provider: 'gemini', providerMetadata: { response: { rows: [2] } } },
    ],
  },
  {
    what: 'media, code, and calls with ids', provider: 'gemini',
    value: [
      { role: 'user', parts: [{ text: 'See' }, { inlineData: { mimeType: 'image/png', data: png } }, { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/c' } }] },
      { role: 'model', parts: [{ executableCode: { language: 'PYTHON', code: '1' } }, { functionCall: { id: 'fc1', name: 'f', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'fc1', name: 'f', response: { error: 'broken' } } }] },
    ],
    ours: [
      {
        role: 'user', content: 'See\n[image]\n[file]', provider: 'gemini',
        parts: [text('See'), { type: 'image', data: png, mediaType: 'image/png' }, { type: 'file', url: 'https://a.example/c', mediaType: 'application/pdf' }],
      },
      {
        role: 'assistant', content: '', provider: 'gemini', toolCalls: [{ id: 'fc1', name: 'f', arguments: {} }],
        parts: [{ type: 'custom', provider: 'gemini', value: { executableCode: { language: 'PYTHON', code: '1' } } }, place('fc1')],
      },
      { role: 'tool', content: 'broken', name: 'f', toolCallId: 'fc1', provider: 'gemini', isError: true },
    ],
  },
];

for (const provider of FORMATS.map(({ name }) => name)) {
  describe(`of ${provider}`, () => {
    for (const { what, value, ours, back, opens, open } of CASES.filter((it) => it.provider === provider)) {
      test(`${what}: is read`, async () => {
        const given = structuredClone(Array.isArray(value) ? value.map((it) => JSON.parse(JSON.stringify(it))) : value);
        assert.deepEqual(from(provider, value), ours);
        assert.deepEqual(timeless(await recentOf(value)), ours, 'add recognises it');
        assert.deepEqual(timeless(await recentOf(from(provider, value))), ours, 'add takes what from gives');
        if (!Array.isArray(value)) assert.deepEqual(value, given, 'what was given is not changed');
      });

      test(`${what}: goes back`, async () => {
        const { render, check } = formatOf(provider);
        const request = render(contextOf(await recentOf(value)));
        // Without an opening of the person, one is put in front.
        const sent = listOf(request).slice(opens === undefined ? 0 : 1);
        assert.deepEqual(open ? sent.slice(0, 1) : sent, back ?? (Array.isArray(value) ? value : [value]));
        if (provider !== 'openai') assert.deepEqual(check(request), []);
      });

      test(`${what}: every other provider takes it`, async () => {
        const context = contextOf(await recentOf(value));
        for (const { name, render, check } of FORMATS) if (name !== provider && name !== 'openai') assert.deepEqual(check(render(context)), [], name);
        // Through the AI SDK speak many makers, so that what came through it can be of another's making.
        if (provider === 'ai-sdk') return;
        const others = FORMATS.filter(({ name }) => name !== provider).map(({ render }) => JSON.stringify(render(context)));
        for (const secret of ['c2ln', 'ZW5j', 'c2VjcmV0', 'reasoning_content']) {
          assert.ok(!others.some((request) => request.includes(secret)), `${secret} goes to its maker only`);
        }
      });
    }
  });
}

describe('a UIMessage of the AI SDK', () => {
  const ui = [
    { id: '1', role: 'user', parts: [text('Two things'), { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${png}`, filename: 'a.png' }] },
    {
      id: '2', role: 'assistant', metadata: { model: 'm' },
      parts: [
        { type: 'step-start' }, { type: 'reasoning', text: 'Hm.', state: 'done', providerMetadata: { anthropic: { signature: 'c2ln' } } },
        { type: 'tool-look_up', toolCallId: 'a', state: 'output-available', input: { q: 1 }, output: { rows: [1] } },
        { type: 'dynamic-tool', toolName: 'other', toolCallId: 'b', state: 'output-error', input: {}, errorText: 'broken' }, { type: 'step-start' },
        { type: 'text', text: 'Found one.', state: 'done' }, { type: 'source-url', sourceId: 's', url }, { type: 'data-note', data: { a: 1 } },
      ],
    },
  ];

  test('becomes a message for each step and each result', async () => {
    const messages = timeless(await recentOf(ui));
    assert.deepEqual(messages.map(({ role, content, toolCallId }) => [role, content, toolCallId]), [
      ['user', 'Two things\n[image]', undefined], ['assistant', '', undefined], ['tool', '{"rows":[1]}', 'a'], ['tool', 'broken', 'b'], ['assistant', 'Found one.', undefined],
    ]);
    assert.deepEqual(messages[1].toolCalls.map(({ id, name }) => [id, name]), [['a', 'look_up'], ['b', 'other']]);
    assert.equal(messages[3].isError, true);
    assert.deepEqual(messages[1].providerMetadata.uiMessage, { id: '2', metadata: { model: 'm' } });
  });

  test('is sent as the SDK itself would send it', async () => {
    const { messages } = toAISDK(contextOf(await recentOf(ui)));
    const theirs = await convertToModelMessages(ui);
    const plain = (value) => JSON.parse(JSON.stringify(value));
    const unified = plain(messages).map((message) => {
      if (typeof message.content === 'string') return { ...message, content: [text(message.content)] };
      return { ...message, content: message.content.map(({ providerExecuted, ...part }) => part) };
    });
    const expected = plain(theirs).map((message) => ({
      ...message,
      content: message.content.map(({ providerExecuted, filename, ...part }) =>
        part.type === 'file' ? { type: 'image', image: part.data.replace(/^data:.*,/, ''), mediaType: part.mediaType } : part),
    }));
    const withoutNames = unified.map((message) => ({ ...message, content: message.content.map(({ filename, ...part }) => part) }));
    assert.deepEqual(withoutNames, expected);
  });

  test('with a call that is still being written, or waits, or was denied', async () => {
    const parts = [
      { type: 'tool-f', toolCallId: 'a', state: 'input-streaming', input: undefined }, { type: 'tool-f', toolCallId: 'b', state: 'input-available', input: { a: 1 } },
      { type: 'tool-f', toolCallId: 'c', state: 'output-denied', input: {}, approval: { id: 'x', approved: false, reason: 'not now' } },
    ];
    const messages = timeless(await recentOf({ id: '1', role: 'assistant', parts }));
    assert.deepEqual(messages[0].toolCalls.map(({ id }) => id), ['b', 'c']);
    assert.deepEqual(messages.slice(1).map(({ content, toolCallId, isError }) => [content, toolCallId, isError]), [['not now', 'c', true]]);
  });
});

describe('in one list', () => {
  test('messages of several providers and of this library are told apart', async () => {
    const messages = timeless(await recentOf([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'b' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'c', annotations: [] }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'd' }] },
      { role: 'model', parts: [{ text: 'e' }] },
      { role: 'user', content: [text('f'), { type: 'image', url }] },
    ]));
    assert.deepEqual(messages.map(({ role, content, provider }) => [role, content, provider]), [
      ['user', 'a', undefined], ['assistant', '', 'openai'], ['tool', 'b', 'openai'], ['assistant', 'c', 'openai-responses'], ['tool', 'd', 'anthropic'],
      ['assistant', 'e', 'gemini'], ['user', 'f\n[image]', undefined],
    ]);
  });

  test('developer messages are system messages for from()', () => {
    assert.deepEqual(from('openai', { role: 'developer', content: 'a' }), [{ role: 'system', content: 'a', provider: 'openai', providerMetadata: { role: 'developer' } }]);
    assert.deepEqual(from('openai-responses', { role: 'developer', content: 'a' }), [
      { role: 'system', content: 'a', provider: 'openai-responses', providerMetadata: { role: 'developer' } },
    ]);
  });

  test('items that are added one by one make the same request', async () => {
    const items = CASES.find(({ what }) => what.startsWith('reasoning, what it led to')).value;
    const session = createMemory().session('s');
    for (const item of items) await session.add(item);
    assert.deepEqual(toOpenAIResponses(await session.context()).input, items);
  });

  test('deeply nested arguments and long texts are read', async () => {
    const long = 'x'.repeat(3_000_000);
    const [message] = await recentOf({ role: 'user', content: [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }] });
    assert.equal(message.content.length, long.length);
    assert.equal(toOpenAI(contextOf([message]))[0].content[0].text.length, long.length);
  });
});

describe('nothing that a provider said is lost', () => {
  const cite = [{ type: 'url_citation', url_citation: { url, title: 'b', start_index: 0, end_index: 1 } }];
  const openai = (value) => ({ role: 'assistant', provider: 'openai', ...value });
  const cases = [
    [
      'the thoughts that OpenRouter sends beside plain text', { role: 'assistant', content: 'Hi', reasoning: 'A greeting.' },
      openai({ content: 'Hi', parts: [{ type: 'reasoning', text: 'A greeting.', providerMetadata: { reasoning: 'A greeting.' } }, text('Hi')] }),
    ],
    ['quotations beside plain text', { role: 'assistant', content: 'Hi', annotations: cite }, openai({ content: 'Hi', providerMetadata: { annotations: cite } })],
    [
      'members inside what a part or call wraps',
      {
        role: 'assistant', content: [{ type: 'image_url', image_url: { url, format: 'image/png' } }],
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}', parsed_arguments: {}, mark: { x: 1 } } }],
      },
      openai({
        content: '[image]', toolCalls: [{ id: 'a', name: 'f', arguments: '{}', providerMetadata: { function: { mark: { x: 1 } } } }],
        parts: [{ type: 'image', url, providerMetadata: { image_url: { format: 'image/png' } } }, place('a')],
      }),
    ],
    [
      'what an item of the person has beside its content', { type: 'message', role: 'user', id: 'msg_1', status: 'completed', content: [{ type: 'input_text', text: 'a' }] },
      { role: 'user', content: 'a', provider: 'openai-responses', providerMetadata: { id: 'msg_1' } },
    ],
    [
      'options of a whole message of results',
      {
        role: 'tool', providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
        content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'f', output: { type: 'text', value: 'b' } }],
      },
      {
        role: 'tool', content: 'b', name: 'f', toolCallId: 'a', provider: 'ai-sdk',
        providerMetadata: { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
      },
    ],
  ];
  for (const [what, value, expected] of cases) {
    test(what, async () => {
      assert.deepEqual(from(expected.provider, value), [expected]);
      assert.deepEqual(timeless(await recentOf(value)), [expected]);
    });
  }

  test('and what OpenAI gives but does not take stays behind', async () => {
    const [quoted] = toOpenAI(contextOf(await recentOf({ role: 'assistant', content: 'Hi', annotations: cite })));
    assert.deepEqual(quoted, { role: 'assistant', content: 'Hi' });
    const [called] = toOpenAI(contextOf(await recentOf(cases[2][1])));
    assert.deepEqual(called.tool_calls, [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]);
  });

  // One of each type that the package's `ResponseItem` and `ResponseInputItem` have beside messages, reasoning and calls of functions.
  const items = [
    'file_search_call', 'computer_call', 'computer_call_output', 'web_search_call', 'tool_search_call', 'tool_search_output', 'additional_tools', 'compaction',
    'image_generation_call', 'code_interpreter_call', 'local_shell_call', 'local_shell_call_output', 'shell_call', 'shell_call_output', 'apply_patch_call',
    'apply_patch_call_output', 'mcp_list_tools', 'mcp_approval_request', 'mcp_approval_response', 'mcp_call', 'compaction_trigger', 'item_reference', 'program',
    'program_output',
  ];
  for (const type of items) {
    test(`an item ${type} is kept as it came`, async () => {
      const item = { type, id: 'x_1', role: type === 'additional_tools' ? 'developer' : undefined, call_id: 'y', more: [{ a: null }] };
      const value = JSON.parse(JSON.stringify(item));
      const [message] = timeless(await recentOf(item));
      assert.deepEqual(message, {
        role: 'assistant', content: '', provider: 'openai-responses', parts: [{ type: 'custom', provider: 'openai-responses', itemId: 'x_1', value }],
      });
      assert.deepEqual(toOpenAIResponses(contextOf([message])).input, [value]);
    });
  }

  for (const type of ['compaction', 'fallback', 'mcp_tool_use', 'mcp_tool_result', 'mcp_tool_listing', 'tool_addition', 'advisor_tool_result', 'container_upload']) {
    test(`a block ${type} of Anthropic is kept as it came`, async () => {
      const block = { type, more: [1] };
      const [message] = timeless(await recentOf({ role: 'assistant', content: [block, text('a')] }));
      assert.deepEqual(message.parts, [{ type: 'custom', provider: 'anthropic', value: block }, text('a')]);
    });
  }
});

describe('calls of Gemini without ids', () => {
  const calls = (...names) => ({ role: 'model', parts: names.map((name) => ({ functionCall: { name, args: {} } })) });
  const answer = (name, output) => ({ functionResponse: { name, response: { output } } });
  const user = (...parts) => ({ role: 'user', parts });
  const pairs = (messages) => messages.filter(({ role }) => role === 'tool').map(({ content, toolCallId }) => [content, toolCallId]);

  const cases = [
    ['by name, when the answers come in another order', [calls('f', 'g'), user(answer('g', 'G'), answer('f', 'F'))], [['G', 'gemini_1'], ['F', 'gemini_0']]],
    ['by order among those of one name', [calls('f', 'g', 'f'), user(answer('f', '1'), answer('f', '2'), answer('g', 'G'))], [['1', 'gemini_0'], ['2', 'gemini_2'], ['G', 'gemini_1']]],
    ['over several contents', [calls('f', 'f'), user(answer('f', '1')), user(answer('f', '2'))], [['1', 'gemini_0'], ['2', 'gemini_1']]],
    ['with the calls of the latest content', [calls('f', 'f'), user(answer('f', '1')), calls('f'), user(answer('f', '2'))], [['1', 'gemini_0'], ['2', 'gemini_0']]],
    ['by order alone, when no name fits', [calls('f', 'g'), user(answer('x', '1'), answer('g', 'G'))], [['1', 'gemini_0'], ['G', 'gemini_1']]],
    ['by their place, when the calls are not there', [user(answer('f', '1'), answer('g', '2'))], [['1', 'gemini_0'], ['2', 'gemini_1']]],
    [
      'beside calls that have ids',
      [
        { role: 'model', parts: [{ functionCall: { id: 'a', name: 'f', args: {} } }, { functionCall: { name: 'f', args: {} } }] },
        user(answer('f', '2'), { functionResponse: { id: 'a', name: 'f', response: { output: '1' } } }),
      ],
      [['2', 'gemini_1'], ['1', 'a']],
    ],
  ];
  for (const [what, contents, expected] of cases) {
    test(`are answered ${what}`, async () => {
      assert.deepEqual(pairs(from('gemini', contents)), expected);
      assert.deepEqual(pairs(await recentOf(contents)), expected);
    });
  }

  test('are the model\'s, also when the content has no role', () => {
    assert.deepEqual(from('gemini', [{ parts: [{ function_call: { name: 'f', args: {} } }] }, { parts: [{ text: 'a' }] }]).map(({ role }) => role), ['assistant', 'user']);
  });
});

describe('files of the AI SDK', () => {
  const pdf = 'application/pdf';
  const cases = [
    ['an address as a string', { data: 'https://a.example/c.pdf', mediaType: pdf }, { type: 'file', url: 'https://a.example/c.pdf', mediaType: pdf }],
    ['an address that says so', { data: { type: 'url', url: new URL('https://a.example/c.pdf') }, mediaType: pdf }, { type: 'file', url: 'https://a.example/c.pdf', mediaType: pdf }],
    ['bytes that say so', { data: { type: 'data', data: new Uint8Array([1, 2, 3]) }, mediaType: 'image/png' }, { type: 'image', data: 'AQID', mediaType: 'image/png' }],
    ['a text', { data: { type: 'text', text: 'the text' }, mediaType: 'text/plain' }, { type: 'file', text: 'the text', mediaType: 'text/plain' }],
    ['base64 in the alphabet of addresses', { data: '-_-_', mediaType: 'image/png', filename: 'a.png' }, { type: 'image', data: '+/+/', mediaType: 'image/png', providerMetadata: { filename: 'a.png' } }],
  ];
  for (const [what, part, expected] of cases) {
    test(`${what}`, async () => {
      const value = { role: 'user', content: [text('See'), { type: 'file', ...part }] };
      assert.deepEqual(from('ai-sdk', value)[0].parts, [text('See'), expected]);
      const messages = await recentOf(value);
      assert.deepEqual(messages[0].parts, [text('See'), expected]);
      for (const { name, render, check } of FORMATS) assert.deepEqual(check(render(contextOf(messages))), [], name);
    });
  }

  test('the ids of a file at its providers go back as they came', async () => {
    const part = { type: 'file', data: { type: 'reference', reference: { openai: 'file-1', anthropic: 'file_1' } }, mediaType: pdf };
    const messages = await recentOf({ role: 'user', content: [text('See'), part] });
    assert.deepEqual(toAISDK(contextOf(messages)).messages, [{ role: 'user', content: [text('See'), part] }]);
  });

  for (const [data, message] of [[{ type: 'odd' }, /content\[0\]\.data has the unknown type odd/], [{ type: 'text' }, /content\[0\]\.data\.text must be a string/], [{ type: 'url' }, /content\[0\]\.data\.url must be a string, a URL or bytes/]]) {
    test(`not ${JSON.stringify(data)}`, () => assert.throws(() => from('ai-sdk', { role: 'user', content: [{ type: 'file', data, mediaType: pdf }] }), message));
  }
});

describe('a tool that the provider of a UIMessage ran', () => {
  const call = { type: 'tool-web_search', toolCallId: 'srvtoolu_1', input: { query: 'brakes' }, providerExecuted: true };
  const meta = { anthropic: { a: 1 } };
  const ui = (part) => ({ id: '1', role: 'assistant', parts: [{ type: 'step-start' }, { ...call, ...part }, { type: 'text', text: 'Pads.' }] });

  for (const part of [
    { state: 'output-available', output: { rows: [1] } }, { state: 'output-available', output: 'found', callProviderMetadata: meta },
    { state: 'output-available', output: 'found', resultProviderMetadata: meta }, { state: 'output-error', errorText: 'broken', resultProviderMetadata: meta },
  ]) {
    test(`is sent as the SDK itself would send it: ${JSON.stringify(part)}`, async () => {
      const messages = await recentOf(ui(part));
      assert.deepEqual(messages.map(({ role }) => role), ['assistant']);
      // What comes before the model's first words is only said where a request has to begin with the person.
      const sent = toAISDK(contextOf(messages)).messages.at(-1);
      assert.deepEqual(JSON.parse(JSON.stringify(sent)), JSON.parse(JSON.stringify((await convertToModelMessages([ui(part)]))[0])));
    });
  }

  test('is kept but not sent before its result is there', async () => {
    const messages = await recentOf(ui({ state: 'input-available' }));
    assert.deepEqual(messages[0].parts, [{ type: 'custom', provider: 'ai-sdk-ui', value: { ...call, state: 'input-available' } }, text('Pads.')]);
    assert.doesNotMatch(JSON.stringify(toAISDK(contextOf(messages))), /srvtoolu_1/);
  });

  test('parts of later versions are sent as their model messages have them', async () => {
    const parts = [
      { type: 'reasoning-file', mediaType: 'image/png', url, providerMetadata: meta }, { type: 'custom', kind: 'anthropic.compaction', providerMetadata: meta }, text('Pads.'),
    ];
    const [message] = await recentOf({ id: '1', role: 'assistant', parts });
    assert.deepEqual(message.parts.map(({ value }) => value), [
      { type: 'reasoning-file', data: url, mediaType: 'image/png', providerOptions: meta }, { type: 'custom', kind: 'anthropic.compaction', providerOptions: meta }, undefined,
    ]);
  });

  for (const [parts, message] of [[[5], /parts\[0\] must be an object/], [[{}], /parts\[0\]\.type must be a string/], [[{ ...call, state: 'output-available', toolCallId: '' }], /parts\[0\]\.toolCallId/]]) {
    test(`throws for ${JSON.stringify(parts)}`, () => assert.throws(() => from('ai-sdk', { role: 'assistant', parts }), message));
  }
});

describe('what is read is a copy', () => {
  const nested = (value) => ({ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { deep: [value] } }] });
  const circular = {};
  circular.self = circular;
  for (const [what, value] of [['a function', () => 1], ['a symbol', Symbol('a')], ['a BigInt', 1n], ['a circle', circular]]) {
    test(`and ${what} is an error`, () => {
      assert.throws(() => from('anthropic', nested(value)), { name: 'TypeError', code: 'ERR_MEMORYLINE_INVALID_ARGUMENT', message: /content\[0\]\.input cannot be stored as JSON/ });
    });
  }

  test('that later changes do not reach', () => {
    const value = nested({ x: 1 });
    const [message] = from('anthropic', value);
    value.content[0].input.deep[0].x = 2;
    assert.deepEqual(message.toolCalls[0].arguments, { deep: [{ x: 1 }] });
  });

  test('with bytes at any depth as base64', () => {
    assert.deepEqual(from('anthropic', nested(Buffer.from([1, 2, 3])))[0].toolCalls[0].arguments, { deep: ['AQID'] });
  });

  test('in which __proto__ is a member like any other', async () => {
    const value = JSON.parse('{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"__proto__":{"polluted":1}},"__proto__":{"polluted":2}}]}');
    const [message] = await recentOf(value);
    assert.equal(JSON.stringify(message.toolCalls), '[{"id":"a","name":"f","arguments":{"__proto__":{"polluted":1}},"providerMetadata":{"__proto__":{"polluted":2}}}]');
    assert.equal({}.polluted, undefined);
  });

  test('of as many parts and items as there are', () => {
    const many = (value) => Array.from({ length: 200_000 }, () => value);
    const count = (provider, value) => from(provider, value).flatMap(({ parts }) => parts).length;
    assert.equal(count('openai', { role: 'user', content: many({ type: 'text', text: 'a' }) }), 200_000);
    assert.equal(count('openai-responses', { role: 'assistant', content: many({ type: 'output_text', text: 'a' }) }), 200_000);
    assert.equal(count('openai-responses', many({ type: 'web_search_call' })), 200_000);
  });

  test('content that is neither text nor a list is an error, also beside parts', () => {
    for (const content of [5, null, {}]) {
      assert.throws(() => createMemory().session('s').add({ role: 'user', content, parts: [text('a')] }), /message content must be a string/);
    }
  });
});
