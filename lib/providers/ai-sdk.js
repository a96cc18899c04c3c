'use strict';

// Messages of Vercel's AI SDK: those that models take (`ModelMessage`) and those that chats show (`UIMessage`).

const { isObject } = require('../checks.js');
const { append, composeMessage, copyOf, isBytes, mediaData, mediaType, metadataOf, need, withoutUndefined } = require('../content.js');

const name = 'ai-sdk';

const ROLES = ['system', 'user', 'assistant', 'tool'];

const BLOCKS = ['tool-call', 'tool-result', 'tool-approval-request', 'tool-approval-response', 'reasoning-file'];

const ADDRESS = /^[a-z][a-z0-9+.-]*:/i;

/** Whether what a file holds is in a form that only this SDK has: an address, or an object that says what it is. */
const isFileData = (data) =>
  (isObject(data) && !isBytes(data)) || (typeof data === 'string' && !data.startsWith('data:') && ADDRESS.test(data.slice(0, 32)));

/** The id that a file has at each of its providers: nothing that another API could read. */
const isReference = (data) => {
  if (!isObject(data) || isBytes(data) || data instanceof URL) return false;
  return typeof data.type !== 'string' || data.type === 'reference';
};

const isBlock = (block) =>
  isObject(block) &&
  (BLOCKS.includes(block.type) ||
    block.providerOptions !== undefined ||
    (block.type === 'image' && block.image !== undefined) ||
    (block.type === 'file' && (block.filename !== undefined || isFileData(block.data))) ||
    (block.type === 'custom' && typeof block.kind === 'string' && block.value === undefined));

const UI_PART = /^(text|reasoning|reasoning-file|file|custom|step-start|dynamic-tool|(tool|data|source)-.+|.+-message)$/;

const isUIMessage = (value) =>
  Array.isArray(value.parts) && value.content === undefined && value.parts.every((part) => UI_PART.test(part?.type));

function recognises(value) {
  if (!ROLES.includes(value.role)) return false;
  if (isUIMessage(value)) return true;
  return value.providerOptions !== undefined || (Array.isArray(value.content) && value.content.some(isBlock));
}

/** Where a medium is: an address, or its bytes. */
function readSource(data, where) {
  if (data instanceof URL) return { url: data.href };
  if (isBytes(data)) return mediaData(data, where);
  if (isObject(data)) {
    if (data.type === 'data') return readSource(data.data, `${where}.data`);
    if (data.type === 'url') return readSource(data.url, `${where}.url`);
    need(data.type === 'text', `${where} has the unknown type ${String(data.type)}`);
    need(typeof data.text === 'string', `${where}.text must be a string`);
    return { text: data.text };
  }
  need(typeof data === 'string', `${where} must be a string, a URL or bytes`);
  return ADDRESS.test(data.slice(0, 32)) ? { url: data } : mediaData(data, where);
}

function readFile(data, type, filename, where) {
  const source = readSource(data, where);
  const kind = source.text === undefined ? mediaType(type) : 'file';
  const part = { type: kind, ...source, mediaType: type ?? undefined };
  return kind === 'file' ? { ...part, name: filename ?? undefined } : part;
}

/** Who made a thought, and what proves it to them: what the maker's own API has beside the thought. */
function proofOf(options) {
  const named = Object.keys(PROOFS).filter((maker) => isObject(options?.[maker]));
  if (named.length !== 1) return {};
  const [provider] = named;
  const proof = PROOFS[provider](options[provider]);
  const strings = Object.entries(proof).filter(([, value]) => typeof value === 'string');
  return { provider, ...Object.fromEntries(strings) };
}

const PROOFS = {
  openai: ({ itemId, reasoningEncryptedContent: encrypted }) => ({ itemId, encrypted }),
  anthropic: ({ signature, redactedData: encrypted }) => ({ signature, encrypted }),
  google: ({ thoughtSignature: signature }) => ({ signature }),
};

const custom = (part, where) => ({ type: 'custom', provider: name, value: copyOf(part, where) });

function readPart(part, where) {
  need(isObject(part), `${where} must be an object`);
  const metadata = (...known) => metadataOf(part, ['type', ...known], where);
  switch (part.type) {
    case 'text':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      return { type: 'text', text: part.text, providerMetadata: metadata('text') };
    case 'image': {
      const { mediaType: type, image } = part;
      if (isReference(image)) return custom(part, where);
      const source = readSource(image, `${where}.image`);
      return { type: 'image', ...source, mediaType: type ?? undefined, providerMetadata: metadata('image', 'mediaType') };
    }
    case 'file': {
      const { data, mediaType: type, filename } = part;
      if (isReference(data)) return custom(part, where);
      const file = readFile(data, type, filename, `${where}.data`);
      return { ...file, providerMetadata: metadata('data', 'mediaType', file.type === 'file' ? 'filename' : '') };
    }
    case 'reasoning':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      return { type: 'reasoning', text: part.text, ...proofOf(part.providerOptions), providerMetadata: metadata('text') };
    case 'tool-approval-request':
    case 'tool-approval-response':
      // Both were of the turn in which they were made; no later turn takes them.
      return { type: 'custom', provider: `${name}-approval`, value: copyOf(part, where) };
    default:
      return custom(part, where);
  }
}

function readCall(part, where) {
  need(typeof part.toolCallId === 'string' && part.toolCallId !== '', `${where}.toolCallId must be a non-empty string`);
  need(typeof part.toolName === 'string' && part.toolName !== '', `${where}.toolName must be a non-empty string`);
  const input = copyOf(part.input ?? part.args ?? {}, `${where}.input`);
  return withoutUndefined({
    id: part.toolCallId,
    name: part.toolName,
    arguments: isObject(input) && !Array.isArray(input) ? input : typeof input === 'string' ? input : JSON.stringify(input),
    providerMetadata: metadataOf(part, ['type', 'toolCallId', 'toolName', 'input', 'args'], where),
  });
}

/** What a tool returned: the parts, whether it failed, and whether the output has to be kept as it is. */
function readOutput(output, where) {
  need(isObject(output), `${where} must be an object`);
  const { type, value } = output;
  const text = (string) => (string === '' ? [] : [{ type: 'text', text: string }]);
  const isPlain = Object.keys(output).length === 2;
  switch (type) {
    case 'text':
    case 'error-text':
      need(typeof value === 'string', `${where}.value must be a string`);
      return { parts: text(value), isError: type === 'error-text', keep: !isPlain };
    case 'json':
    case 'error-json':
      return { parts: text(JSON.stringify(copyOf(value, `${where}.value`)) ?? ''), isError: type === 'error-json', keep: true };
    case 'execution-denied':
      return { parts: text(output.reason ?? 'execution denied'), isError: true, keep: true };
    case 'content': {
      need(Array.isArray(value), `${where}.value must be a list`);
      const plain = value.every((part) => Object.keys(part ?? {}).length === (part?.type === 'media' ? 3 : 2));
      const known = value.every((part) => ['text', 'media'].includes(part?.type));
      return { parts: value.map((part, index) => readOutputPart(part, `${where}.value[${index}]`)), keep: !isPlain || !plain || !known };
    }
    default:
      return { parts: text(JSON.stringify(copyOf(output, where))), keep: true };
  }
}

function readOutputPart(part, where) {
  need(isObject(part), `${where} must be an object`);
  const file = (source) => withoutUndefined({ ...source, name: source.type === 'file' ? part.filename ?? undefined : undefined });
  switch (part.type) {
    case 'text':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      return { type: 'text', text: part.text };
    case 'media':
    case 'file-data':
    case 'image-data':
      return file(readFile(part.data, part.mediaType ?? (part.type === 'image-data' ? 'image/*' : undefined), undefined, `${where}.data`));
    case 'file-url':
    case 'image-url':
      return file({ type: part.type === 'image-url' ? 'image' : 'file', ...readSource(part.url, `${where}.url`) });
    case 'file':
      return isReference(part.data) ? custom(part, where) : file(readFile(part.data, part.mediaType, undefined, `${where}.data`));
    default:
      return custom(part, where);
  }
}

function readResult(part, where) {
  need(typeof part.toolCallId === 'string', `${where}.toolCallId must be a string`);
  const { parts, isError, keep } = readOutput(part.output, `${where}.output`);
  const known = ['type', 'toolCallId', 'toolName', ...(keep ? [] : ['output'])];
  return composeMessage('tool', parts, [], {
    name: part.toolName,
    toolCallId: part.toolCallId,
    provider: name,
    isError,
    providerMetadata: metadataOf(part, known, where),
  });
}

function readModelMessage(message) {
  const { role, content } = message;
  const providerMetadata = metadataOf(message, ['role', 'content'], 'message');
  const rest = { provider: name, providerMetadata };
  if (typeof content === 'string') {
    return [composeMessage(role, content === '' ? [] : [{ type: 'text', text: content }], [], rest)];
  }
  need(Array.isArray(content), 'message content must be a string or a list of parts');
  const results = [];
  const calls = [];
  const parts = [];
  content.forEach((part, index) => {
    const where = `content[${index}]`;
    need(isObject(part), `${where} must be an object`);
    if (part.type === 'tool-result' && role === 'tool') {
      results.push(readResult(part, where));
    } else if (part.type === 'tool-call' && role === 'assistant' && part.providerExecuted !== true) {
      const call = readCall(part, where);
      calls.push(call);
      parts.push({ type: 'toolCall', id: call.id });
    } else {
      // A tool that the provider runs itself has call and result in one message, and both go back as they came.
      parts.push(withoutUndefined(readPart(part, where)));
    }
  });
  if (role === 'tool') {
    // Options of the whole message hold for its last part, unless that has its own.
    const last = results.at(-1);
    if (last !== undefined && providerMetadata !== undefined) last.providerMetadata = { ...providerMetadata, ...last.providerMetadata };
    const kept = parts.length > 0 ? [composeMessage('assistant', parts, [], { provider: name })] : [];
    return [...results, ...kept];
  }
  return [composeMessage(role, parts, calls, rest)];
}

const toolName = (part) => (part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length));

const isTool = (part) => part.type === 'dynamic-tool' || part.type.startsWith('tool-');

/** A part of a `UIMessage`. What providers said beside it is what they want back with it. */
function readUIPart(part, where) {
  const options = part.providerMetadata === undefined ? undefined : copyOf(part.providerMetadata, `${where}.providerMetadata`);
  const providerMetadata = options === undefined ? undefined : { providerOptions: options };
  switch (part.type) {
    case 'text':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      return { type: 'text', text: part.text, providerMetadata };
    case 'reasoning':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      return { type: 'reasoning', text: part.text, ...proofOf(options), providerMetadata };
    case 'file':
      return { ...readFile(part.url, part.mediaType, part.filename, `${where}.url`), providerMetadata };
    case 'reasoning-file':
      return custom(withoutUndefined({ type: part.type, data: part.url, mediaType: part.mediaType, providerOptions: options }), where);
    case 'custom':
      return custom(withoutUndefined({ type: part.type, kind: part.kind, providerOptions: options }), where);
    default:
      // Sources and data are for the person who reads, not for the model.
      return shown(part, where);
  }
}

/** A part that is kept for the person alone. */
const shown = (part, where) => ({ type: 'custom', provider: `${name}-ui`, value: copyOf(part, where) });

/** What a tool of the app, or of the provider, returned; undefined as long as it has not. */
function outputOf(part) {
  switch (part.state) {
    case 'output-available':
      return typeof part.output === 'string' ? { type: 'text', value: part.output } : { type: 'json', value: part.output ?? null };
    case 'output-error': {
      const value = String(part.errorText ?? 'error');
      return part.providerExecuted === true ? { type: 'error-json', value } : { type: 'error-text', value };
    }
    case 'output-denied':
      return withoutUndefined({ type: 'execution-denied', reason: part.approval?.reason });
    default:
      return undefined;
  }
}

/** What the provider wants back with a call. When it failed, the SDK has it with the result. */
function callOptions(part) {
  return part.callProviderMetadata ?? (part.state === 'output-error' ? part.resultProviderMetadata : undefined) ?? undefined;
}

/** The parts for a tool that the provider ran: call and result stand in the model's message and go back as they came. */
function readProviderTool(part, where) {
  const output = outputOf(part);
  // A call whose result never came would be refused.
  if (output === undefined || part.state === 'output-denied') return [shown(part, where)];
  need(typeof part.toolCallId === 'string' && part.toolCallId !== '', `${where}.toolCallId must be a non-empty string`);
  const call = { toolCallId: part.toolCallId, toolName: toolName(part) };
  const called = callOptions(part);
  const returned = part.resultProviderMetadata ?? part.callProviderMetadata ?? undefined;
  const input = part.input ?? part.rawInput ?? {};
  const blocks = [
    { type: 'tool-call', ...call, input, providerExecuted: true, providerOptions: called },
    { type: 'tool-result', ...call, output, providerOptions: returned },
  ];
  return blocks.map((block) => custom(withoutUndefined(block), where));
}

/** The call of a tool part, and its result when there is one. */
function readTool(part, where) {
  const given = { ...part, toolName: toolName(part), input: part.input ?? part.rawInput ?? {} };
  const call = readCall({ toolCallId: given.toolCallId, toolName: given.toolName, input: given.input }, where);
  const metadata = callOptions(part);
  if (metadata !== undefined) call.providerMetadata = { providerOptions: copyOf(metadata, `${where}.callProviderMetadata`) };
  const output = outputOf(part);
  if (output === undefined) return [call, undefined];
  const result = { toolCallId: call.id, toolName: call.name, output, providerOptions: part.callProviderMetadata ?? undefined };
  return [call, readResult(withoutUndefined(result), where)];
}

function readUIMessage(message) {
  const messages = [];
  let [parts, calls, results] = [[], [], []];
  const finish = () => {
    if (parts.length > 0) messages.push(composeMessage(message.role, parts, calls, { provider: name }));
    append(messages, results);
    [parts, calls, results] = [[], [], []];
  };
  message.parts.forEach((part, index) => {
    const where = `parts[${index}]`;
    need(isObject(part), `${where} must be an object`);
    need(typeof part.type === 'string', `${where}.type must be a string`);
    if (part.type === 'step-start') {
      finish();
    } else if (isTool(part) && message.role === 'assistant') {
      // A call that is still being written has not been made.
      if (part.state === 'input-streaming') return;
      if (part.providerExecuted === true) {
        append(parts, readProviderTool(part, where));
        return;
      }
      const [call, result] = readTool(part, where);
      calls.push(call);
      parts.push({ type: 'toolCall', id: call.id });
      if (result !== undefined) results.push(result);
    } else {
      // What is said behind the results of a step answers them.
      if (results.length > 0 && (part.type === 'text' || part.type === 'reasoning')) finish();
      parts.push(withoutUndefined(readUIPart(part, where)));
    }
  });
  finish();
  const metadata = metadataOf(message, ['role', 'parts', 'content'], 'message');
  if (metadata !== undefined && messages.length > 0) messages[0].providerMetadata = { ...messages[0].providerMetadata, uiMessage: metadata };
  return messages;
}

function readMessage(message) {
  need(isObject(message), 'an AI SDK message must be an object');
  need(ROLES.includes(message.role), `unknown message role ${String(message.role)}`);
  const isShown = message.content === undefined && Array.isArray(message.parts);
  return isShown ? readUIMessage(message) : readModelMessage(message);
}

const read = (values) => values.flatMap(readMessage);

module.exports = { name, read, recognises };
