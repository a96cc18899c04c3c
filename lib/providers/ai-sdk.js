'use strict';

// Messages of Vercel's AI SDK: those that models take (`ModelMessage`) and those that chats show (`UIMessage`).

const { isObject } = require('../checks.js');
const { composeMessage, copyOf, isBytes, mediaData, mediaType, metadataOf, need, withoutUndefined } = require('../content.js');

const name = 'ai-sdk';

const ROLES = ['system', 'user', 'assistant', 'tool'];

const BLOCKS = ['tool-call', 'tool-result', 'tool-approval-request', 'tool-approval-response', 'reasoning-file'];

const isBlock = (block) =>
  isObject(block) &&
  (BLOCKS.includes(block.type) ||
    block.providerOptions !== undefined ||
    (block.type === 'image' && block.image !== undefined) ||
    (block.type === 'file' && (block.filename !== undefined || block.data instanceof URL)));

const isUIMessage = (value) =>
  Array.isArray(value.parts) && typeof value.content !== 'string' && value.parts.every((part) => typeof part?.type === 'string');

function recognises(value) {
  if (!ROLES.includes(value.role)) return false;
  if (isUIMessage(value)) return true;
  return value.providerOptions !== undefined || (Array.isArray(value.content) && value.content.some(isBlock));
}

/** Where a medium is: an address, or its bytes. */
function readSource(data, where) {
  if (data instanceof URL) return { url: data.href };
  if (isBytes(data)) return mediaData(data, where);
  need(typeof data === 'string', `${where} must be a string, a URL or bytes`);
  return /^[a-z][a-z0-9+.-]*:/i.test(data) ? { url: data } : mediaData(data, where);
}

function readFile(data, type, filename, where) {
  const kind = mediaType(type);
  const part = { type: kind, ...readSource(data, where), mediaType: type ?? undefined };
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

function readPart(part, where) {
  need(isObject(part), `${where} must be an object`);
  const metadata = (...known) => metadataOf(part, ['type', ...known], where);
  switch (part.type) {
    case 'text':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      return { type: 'text', text: part.text, providerMetadata: metadata('text') };
    case 'image': {
      const { mediaType: type, image } = part;
      const source = readSource(image, `${where}.image`);
      return { type: 'image', ...source, mediaType: type ?? undefined, providerMetadata: metadata('image', 'mediaType') };
    }
    case 'file': {
      const { data, mediaType: type, filename } = part;
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
      return { type: 'custom', provider: name, value: copyOf(part, where) };
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
    default:
      return { type: 'custom', provider: name, value: copyOf(part, where) };
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
    default:
      // Sources and data are for the person who reads, not for the model.
      return { type: 'custom', provider: `${name}-ui`, value: copyOf(part, where) };
  }
}

/** The call of a tool part, and its result when there is one. */
function readTool(part, where) {
  const given = { ...part, toolName: toolName(part), input: part.input ?? part.rawInput ?? {} };
  const call = readCall({ toolCallId: given.toolCallId, toolName: given.toolName, input: given.input }, where);
  const options = part.callProviderMetadata === undefined ? undefined : copyOf(part.callProviderMetadata, where);
  if (options !== undefined) call.providerMetadata = { providerOptions: options };
  const output = {
    'output-available': () => (typeof part.output === 'string' ? { type: 'text', value: part.output } : { type: 'json', value: part.output ?? null }),
    'output-error': () => ({ type: 'error-text', value: String(part.errorText ?? 'error') }),
    'output-denied': () => ({ type: 'execution-denied', reason: part.approval?.reason }),
  }[part.state]?.();
  if (output === undefined) return [call, undefined];
  return [call, readResult(withoutUndefined({ toolCallId: call.id, toolName: call.name, output: withoutUndefined(output) }), where)];
}

function readUIMessage(message) {
  const messages = [];
  let [parts, calls, results] = [[], [], []];
  const finish = () => {
    if (parts.length > 0) messages.push(composeMessage(message.role, parts, calls, { provider: name }));
    messages.push(...results);
    [parts, calls, results] = [[], [], []];
  };
  message.parts.forEach((part, index) => {
    const where = `parts[${index}]`;
    if (part.type === 'step-start') {
      finish();
    } else if (isTool(part) && message.role === 'assistant') {
      // A call that is still being written has not been made.
      if (part.state === 'input-streaming') return;
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
  return isUIMessage(message) ? readUIMessage(message) : readModelMessage(message);
}

const read = (values) => values.flatMap(readMessage);

module.exports = { name, read, recognises };
