/**
 * A stand-in for the OpenAI and Anthropic services on 127.0.0.1.
 *
 * It takes the requests that the official client packages send, refuses with the API's own 400 answer
 * what the API would refuse (see `rules.mjs`), and gives every other request the same answer each time
 * (see `model.mjs`). It does not stream and asks for no key.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { checkAnthropic, checkOpenAI } from './rules.mjs';
import { embed, reply } from './model.mjs';

const EMBEDDING_INPUTS_MAX = 2048;

const textOf = (content) => {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? textOf(part.content)).filter(Boolean).join('\n');
};
const roughTokens = (text) => Math.ceil(text.length / 4);

/**
 * Starts the stand-in.
 *
 * @param {object} [options]
 * @param {number} [options.port] 0, the default, takes any free port
 * @param {object[]} [options.script] a recorded conversation in which the stand-in plays the assistant
 * @param {boolean} [options.allowPlainToolMessages] passed on to `checkOpenAI`
 * @returns {Promise<{ url: string, close(): Promise<void>, requests: object[] }>} `url` has no path: give
 *   the openai package `${url}/v1` as its `baseURL`, and the Anthropic package `url`. `requests` grows by
 *   one `{ path, body, status, violations }` for each request, in the order of the answers.
 */
export async function startProvider({ port = 0, script = [], allowPlainToolMessages = false } = {}) {
  const requests = [];
  const routes = {
    '/v1/chat/completions': {
      check: (body) => [...checkOpenAI(body, { allowPlainToolMessages }), ...checkNoStream(body)],
      answer: (body) => chatCompletion(body, script, requests.length),
      refusal: openAIError,
    },
    '/v1/embeddings': { check: checkEmbeddings, answer: embeddings, refusal: openAIError },
    '/v1/messages': {
      check: (body) => [...checkAnthropic(body), ...checkNoStream(body)],
      answer: (body) => message(body, script, requests.length),
      refusal: anthropicError,
    },
  };

  const server = createServer(async (request, response) => {
    const send = (status, value) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    const { pathname: path } = new URL(request.url, 'http://127.0.0.1');
    try {
      const text = await readText(request);
      if (!Object.hasOwn(routes, path) || request.method !== 'POST') {
        requests.push({ path, body: text, status: 404, violations: [] });
        send(404, openAIError(`unknown-route: there is no ${request.method} ${path}`));
        return;
      }
      const { check, answer, refusal } = routes[path];
      const body = parse(text);
      const violations = body === undefined ? ['request-shape: the body is not valid JSON'] : check(body);
      const status = violations.length > 0 ? 400 : 200;
      const value = status === 400 ? refusal(violations.join('; ')) : answer(body);
      requests.push({ path, body: body ?? text, status, violations });
      send(status, value);
    } catch (error) {
      // A fault of the stand-in must fail the request that met it instead of leaving it without an answer.
      send(500, openAIError(`stand-in: ${error?.stack ?? error}`, 'server_error'));
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      // The clients keep their connections open for a next request that will not come.
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readText(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checkNoStream(body) {
  return body?.stream ? ['stream-unsupported: the stand-in does not stream'] : [];
}

/** Checks a body for OpenAI's `POST /v1/embeddings`. Token arrays, which the API takes too, are left out. */
function checkEmbeddings(body) {
  const violations = [];
  if (typeof body?.model !== 'string' || body.model === '') violations.push('request-shape: model must be a non-empty string');
  const inputs = [body?.input].flat();
  if (!inputs.every((text) => typeof text === 'string')) {
    violations.push('embedding-input: input must be a string or an array of strings');
  } else if (inputs.length === 0 || inputs.includes('')) {
    violations.push('embedding-input-empty: neither the input nor a text in it may be empty');
  }
  if (inputs.length > EMBEDDING_INPUTS_MAX) violations.push(`embedding-input: at most ${EMBEDDING_INPUTS_MAX} texts at once`);
  if (![undefined, 'float', 'base64'].includes(body?.encoding_format)) {
    violations.push("embedding-encoding: encoding_format must be 'float' or 'base64'");
  }
  return violations;
}

function embeddings({ model, input, encoding_format: format }) {
  const inputs = [input].flat();
  const encode = (vector) => (format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector]);
  const tokens = inputs.reduce((sum, text) => sum + roughTokens(text), 0);
  return {
    object: 'list',
    model,
    data: inputs.map((text, index) => ({ object: 'embedding', index, embedding: encode(embed(text)) })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

function chatCompletion(body, script, number) {
  const turns = body.messages.map(({ role, content }) => ({ role, text: textOf(content) }));
  const told = turns.map(({ text }) => text).join('\n');
  const { text, calls } = reply(turns, told, script);
  const toolCalls = calls.map(({ id, name, arguments: args }) => {
    return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  });
  const [prompt, completion] = [roughTokens(told), roughTokens(text)];
  return {
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: 0,
    model: body.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text || null,
          refusal: null,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
        finish_reason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
        logprobs: null,
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  };
}

function message(body, script, number) {
  const turns = body.messages.map(({ role, content }) => {
    // A user message that only brings results is no question.
    const bringsResults = Array.isArray(content) && content.every(({ type }) => type === 'tool_result');
    const texts = Array.isArray(content) ? content.filter(({ type }) => type === 'text') : content;
    return { role: bringsResults ? 'tool' : role, text: textOf(texts) };
  });
  const told = [textOf(body.system), ...body.messages.map(({ content }) => textOf(content))].join('\n');
  const { text, calls } = reply(turns, told, script);
  return {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [
      ...(text ? [{ type: 'text', text }] : []),
      ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: roughTokens(told), output_tokens: roughTokens(text) },
  };
}

function openAIError(text, type = 'invalid_request_error') {
  return { error: { message: text, type, param: null, code: null } };
}

function anthropicError(text) {
  return { type: 'error', error: { type: 'invalid_request_error', message: text } };
}
