// What the providers enforce on a request, for every format that is rendered. Each check gives the violations it finds.
import { modelMessageSchema } from 'ai';
import { checkAnthropic, checkOpenAI } from '../../examples/provider/rules.mjs';
import { toAISDK, toAnthropic, toGemini, toOpenAI, toOpenAIResponses } from './library.mjs';

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const isBlank = (text) => text.trim() === '';
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A checker's list of violations and the function that adds to it when something does not hold. */
function violations() {
  const found = [];
  return { found, need: (holds, text) => void (holds || found.push(text)) };
}

function checkText({ found, need }, value, at) {
  if (typeof value === 'string') need(Buffer.from(value).toString() === value, `${at} has half a surrogate pair`);
  else if (isObject(value) || Array.isArray(value)) Object.entries(value).forEach(([key, item]) => checkText({ found, need }, item, `${at}.${key}`));
}

/** Pictures and documents of an Anthropic request are of the types that it takes. */
function checkAnthropicMedia({ need }, messages) {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const all = blocks.flatMap((block) => [block, ...(Array.isArray(block.content) ? block.content : [])]);
  for (const { type, source } of all) {
    if (type === 'image') need(source.type !== 'base64' || IMAGES.includes(source.media_type), `an image is ${source.media_type}`);
    if (type === 'document' && source.type === 'base64') need(source.media_type === 'application/pdf', `a document is ${source.media_type}`);
  }
  need(blocks.filter((block) => block.cache_control).length <= 3, 'at most four cache points');
  for (const { role, content } of messages) {
    if (role === 'assistant' && Array.isArray(content)) need(!/thinking/.test(content.at(-1).type), 'an assistant message must not end in thinking');
  }
}

const RESPONSES_CONTENT = { input_text: ['text'], input_image: [], input_file: [], output_text: ['text'], refusal: ['refusal'] };

/** Checks `{ instructions, input }` for OpenAI's Responses API. */
export function checkResponses({ instructions, input }) {
  const check = violations();
  const { need } = check;
  need(instructions === undefined || !isBlank(instructions), 'instructions are not blank');
  const ids = new Set();
  const calls = new Set();
  const open = new Set();
  input.forEach((item, index) => {
    const at = `input.${index}`;
    if (item.id !== undefined) need(!ids.has(item.id), `${at}: the item id ${item.id} appears twice`);
    ids.add(item.id);
    if (open.size > 0) need(/^(function_call|custom_tool_call|reasoning)/.test(item.type), `${at}: ${[...open]} not answered before the next text`);
    switch (item.type) {
      case 'message': {
        need(['user', 'assistant', 'system'].includes(item.role), `${at}.role`);
        if (item.id !== undefined) need(item.role === 'assistant' && Array.isArray(item.content) && item.status !== undefined, `${at} is an output message`);
        if (typeof item.content === 'string') return;
        need(item.content.length > 0, `${at}.content is not empty`);
        for (const part of item.content) {
          need(Object.hasOwn(RESPONSES_CONTENT, part.type), `${at} has a ${part.type}`);
          need(item.role === 'assistant' ? /^(output_text|refusal)$/.test(part.type) : /^input_/.test(part.type), `${at}: ${part.type} in ${item.role}`);
          for (const name of RESPONSES_CONTENT[part.type] ?? []) need(typeof part[name] === 'string', `${at}.${name}`);
        }
        return;
      }
      case 'function_call':
      case 'custom_tool_call':
        need(/^[a-zA-Z0-9_-]{1,64}$/.test(item.name), `${at}.name ${item.name}`);
        need(/^[a-zA-Z0-9_-]{1,64}$/.test(item.call_id), `${at}.call_id ${item.call_id}`);
        need(typeof (item.arguments ?? item.input) === 'string', `${at}.arguments`);
        need(!calls.has(item.call_id), `${at}: the call id ${item.call_id} appears twice`);
        calls.add(item.call_id);
        open.add(item.call_id);
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        need(open.delete(item.call_id), `${at} answers ${item.call_id}, which is not open`);
        if (typeof item.output !== 'string') for (const part of item.output) need(/^input_/.test(part.type), `${at}: ${part.type} in an output`);
        return;
      case 'reasoning': {
        need(typeof item.id === 'string' && Array.isArray(item.summary), `${at} is an item of reasoning`);
        const next = input.slice(index + 1).find(({ type }) => type !== 'reasoning');
        const isModels = next?.type === 'message' ? next.role === 'assistant' : /_call$/.test(next?.type ?? '');
        need(isModels, `${at}: reasoning without the item that it led to`);
        return;
      }
      default:
        need(/_call(_output)?$/.test(item.type), `${at}.type ${item.type}`);
    }
  });
  need(open.size === 0, `no output for ${[...open]}`);
  checkText(check, { instructions, input }, 'request');
  return check.found;
}

/** Checks `{ system, messages }` for the AI SDK and the strictest provider behind it. */
export function checkAISDK({ system, messages }) {
  const check = violations();
  const { need } = check;
  need(system === undefined || !isBlank(system), 'system is not blank');
  const schema = modelMessageSchema.array().safeParse(messages);
  need(schema.success, `the schema of the SDK refuses it: ${schema.error?.message}`);
  let open = [];
  const used = new Set();
  messages.forEach(({ role, content }, index) => {
    const at = `messages.${index}`;
    need(role !== 'system', `${at}: system text belongs into system`);
    need(index > 0 || role === 'user', 'the first message is from the user');
    const before = messages[index - 1]?.role;
    need(role !== before, `${at}: two ${role} messages in a row`);
    if (open.length > 0) need(role === 'tool', `${at}: ${open} not answered`);
    if (typeof content === 'string') {
      need(!isBlank(content), `${at} is blank`);
      return;
    }
    need(content.length > 0, `${at} is empty`);
    for (const part of content) {
      if (part.type === 'text') need(!isBlank(part.text), `${at} has blank text`);
      if (part.type === 'tool-call') {
        need(!used.has(part.toolCallId), `${at}: the id ${part.toolCallId} appears twice`);
        need(isObject(part.input), `${at}: the input is an object`);
        used.add(part.toolCallId);
        open.push(part.toolCallId);
      } else if (part.type === 'tool-result') {
        need(open[0] === part.toolCallId, `${at}: results in the order of the calls`);
        open = open.slice(1);
      } else {
        need(open.length === 0, `${at}: ${part.type} behind a call`);
      }
    }
    if (role === 'tool') need(open.length === 0, `${at}: ${open} not answered`);
  });
  need(open.length === 0, `${open} not answered`);
  checkText(check, { system, messages }, 'request');
  return check.found;
}

/** Checks `{ systemInstruction, contents }` for the Gemini API. */
export function checkGemini({ systemInstruction, contents }) {
  const check = violations();
  const { need } = check;
  need(systemInstruction === undefined || !isBlank(systemInstruction.parts[0].text), 'the instruction is not blank');
  let called = [];
  contents.forEach(({ role, parts }, index) => {
    const at = `contents.${index}`;
    need(role === (index % 2 === 0 ? 'user' : 'model'), `${at}: roles alternate and the user begins`);
    need(parts.length > 0, `${at} has no parts`);
    const responses = parts.filter((part) => part.functionResponse);
    need(role === 'user' || responses.length === 0, `${at}: the model does not answer calls`);
    need(responses.length === called.length, `${at}: ${responses.length} responses for ${called.length} calls`);
    need(parts.slice(0, responses.length).every((part) => part.functionResponse), `${at}: responses come first`);
    responses.forEach(({ functionResponse: { name, id, response } }, idx) => {
      need(name === called[idx]?.name && id === called[idx]?.id, `${at}: response ${idx} is for another call`);
      need(isObject(response), `${at}: a response is an object`);
    });
    called = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
    need(role === 'model' || called.length === 0, `${at}: only the model calls`);
    for (const part of parts) {
      const kinds = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'];
      need(kinds.filter((kind) => part[kind] !== undefined).length === 1, `${at}: ${Object.keys(part)} is one kind of part`);
      if (part.text !== undefined && !part.thought) need(!isBlank(part.text), `${at} has blank text`);
      if (part.functionCall) need(/^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/.test(part.functionCall.name) && isObject(part.functionCall.args), `${at}: ${part.functionCall.name}`);
      const media = part.inlineData ?? part.fileData;
      if (media) need(typeof media.mimeType === 'string' && media.mimeType !== 'image/svg+xml', `${at}: ${media.mimeType}`);
    }
  });
  need(called.length === 0, 'every call is answered');
  checkText(check, { systemInstruction, contents }, 'request');
  return check.found;
}

/** Every format: its name, its renderer, and what the provider would say of a rendered context. */
export const FORMATS = [
  {
    name: 'openai',
    render: toOpenAI,
    check(messages) {
      const check = violations();
      checkText(check, messages, 'messages');
      if (messages.length > 0) check.found.push(...checkOpenAI({ model: 'm', messages }, { allowPlainToolMessages: true }));
      return check.found;
    },
  },
  { name: 'openai-responses', render: toOpenAIResponses, check: checkResponses },
  {
    name: 'anthropic',
    render: toAnthropic,
    check(request) {
      const check = violations();
      checkText(check, request, 'request');
      checkAnthropicMedia(check, request.messages);
      if (request.messages.length > 0) check.found.push(...checkAnthropic({ model: 'm', max_tokens: 100, ...request }));
      return check.found;
    },
  },
  { name: 'ai-sdk', render: toAISDK, check: checkAISDK },
  { name: 'gemini', render: toGemini, check: checkGemini },
];
