'use strict';

// Messages of OpenAI's Chat Completions API, which many services speak.

const { isObject } = require('../checks.js');
const { append, composeMessage, copyOf, mediaData, metadataOf, need, withoutUndefined } = require('../content.js');

const name = 'openai';

const ROLES = { user: 'user', assistant: 'assistant', system: 'system', developer: 'system', tool: 'tool', function: 'tool' };

/** Members that no message of this library has. */
const MARKS = ['tool_calls', 'tool_call_id', 'refusal', 'function_call', 'audio', 'reasoning_content', 'reasoning_details'];

/** Where services that send thoughts as text put them. */
const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details'];

const BLOCKS = ['image_url', 'input_audio', 'refusal'];

/** What OpenAI's package makes of the text for the app (`parsed`) says nothing that the text does not. */
const KNOWN = ['role', 'content', 'name', 'refusal', 'tool_calls', 'tool_call_id', ...REASONING, 'audio', 'parsed'];

const isBlock = (block) => BLOCKS.includes(block?.type) || (block?.type === 'file' && isObject(block.file));

function recognises(value) {
  if (!Object.hasOwn(ROLES, value.role) || value.role === 'developer' || value.role === 'function') return false;
  if (Array.isArray(value.content) && value.content.some(isBlock)) return true;
  if (typeof value.reasoning === 'string' || Array.isArray(value.annotations)) return true;
  return MARKS.some((mark) => value[mark] !== undefined);
}

/** The metadata of a part or call and, under the name of the object that it wraps, what nobody read of that. */
function wrappedMetadata(outer, known, member, knownInside, where) {
  const metadata = metadataOf(outer, ['type', member, ...known], where);
  const inside = metadataOf(outer[member], knownInside, `${where}.${member}`);
  return inside === undefined ? metadata : { ...metadata, [member]: inside };
}

function readPart(part, where) {
  need(isObject(part), `${where} must be an object`);
  switch (part.type) {
    case 'text':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      return { type: 'text', text: part.text, providerMetadata: metadataOf(part, ['type', 'text'], where) };
    case 'refusal':
      need(typeof part.refusal === 'string', `${where}.refusal must be a string`);
      return { type: 'text', text: part.refusal, refusal: true };
    case 'image_url': {
      const url = part.image_url?.url;
      need(typeof url === 'string', `${where}.image_url.url must be a string`);
      const metadata = wrappedMetadata(part, [], 'image_url', ['url', 'detail'], where);
      return { type: 'image', url, detail: part.image_url.detail ?? undefined, providerMetadata: metadata };
    }
    case 'input_audio': {
      need(isObject(part.input_audio), `${where}.input_audio must be an object`);
      const { data, format } = part.input_audio;
      const type = format === 'mp3' ? 'audio/mpeg' : `audio/${format ?? 'wav'}`;
      const source = mediaData(data, `${where}.input_audio.data`);
      const metadata = wrappedMetadata(part, [], 'input_audio', ['data', 'format'], where);
      return { type: 'audio', ...source, mediaType: type, providerMetadata: metadata };
    }
    case 'file': {
      need(isObject(part.file), `${where}.file must be an object`);
      const { file_id: fileId, file_data: data, filename } = part.file;
      need(fileId != null || data != null, `${where}.file needs file_data or file_id`);
      const source = data == null ? { fileId } : mediaData(data, `${where}.file.file_data`);
      const metadata = wrappedMetadata(part, [], 'file', ['file_id', 'file_data', 'filename'], where);
      return { type: 'file', ...source, name: filename ?? undefined, providerMetadata: metadata };
    }
    default:
      return { type: 'custom', provider: name, value: copyOf(part, where) };
  }
}

function readCall(call, where) {
  need(isObject(call) && typeof call.id === 'string' && call.id !== '', `${where}.id must be a non-empty string`);
  const isCustom = isObject(call.custom);
  const member = isCustom ? 'custom' : 'function';
  const called = call[member];
  need(isObject(called), `${where}.function must be an object`);
  need(typeof called.name === 'string' && called.name !== '', `${where}.function.name must be a non-empty string`);
  const given = isCustom ? called.input : called.arguments;
  return withoutUndefined({
    id: call.id,
    name: called.name,
    arguments: typeof given === 'string' ? given : copyOf(given ?? {}, `${where}.function.arguments`),
    custom: isCustom ? true : undefined,
    providerMetadata: wrappedMetadata(call, ['id', 'index'], member, ['name', 'arguments', 'input', 'parsed_arguments'], where),
  });
}

/** The thoughts that a service sent as text; what it sent goes back to it as it was. */
function readReasoning(message) {
  const metadata = metadataOf(message, Object.keys(message).filter((key) => !REASONING.includes(key)), 'message');
  if (metadata === undefined) return [];
  const text = [message.reasoning_content, message.reasoning].find((thought) => typeof thought === 'string');
  return [withoutUndefined({ type: 'reasoning', text, providerMetadata: metadata })];
}

function readAudio(audio) {
  if (!isObject(audio)) return [];
  const data = typeof audio.data === 'string' ? mediaData(audio.data, 'message.audio.data') : {};
  return [
    withoutUndefined({
      type: 'audio',
      ...data,
      id: audio.id ?? undefined,
      transcript: audio.transcript ?? undefined,
      providerMetadata: metadataOf(audio, ['id', 'data', 'transcript'], 'message.audio'),
    }),
  ];
}

function readMessage(message) {
  need(isObject(message), 'an OpenAI message must be an object');
  need(Object.hasOwn(ROLES, message.role), `unknown message role ${String(message.role)}`);
  const { content } = message;
  const isContent = content == null || typeof content === 'string' || Array.isArray(content);
  need(isContent, 'message content must be a string or a list of parts');
  const parts = [...readReasoning(message), ...readAudio(message.audio)];
  if (Array.isArray(content)) {
    append(parts, content.map((part, index) => withoutUndefined(readPart(part, `content[${index}]`))));
  } else if (content != null && (content !== '' || parts.length > 0)) {
    parts.push({ type: 'text', text: content });
  }
  if (typeof message.refusal === 'string') parts.push({ type: 'text', text: message.refusal, refusal: true });
  const given = message.tool_calls ?? [];
  need(Array.isArray(given), 'tool_calls must be a list');
  const calls = given.map((call, index) => readCall(call, `tool_calls[${index}]`));
  for (const { id } of calls) parts.push({ type: 'toolCall', id });
  const { tool_call_id: toolCallId } = message;
  need(toolCallId == null || typeof toolCallId === 'string', 'tool_call_id must be a string');
  const metadata = metadataOf(message, KNOWN, 'message');
  return composeMessage(ROLES[message.role], parts, calls, {
    name: message.name ?? undefined,
    toolCallId: toolCallId ?? undefined,
    provider: name,
    providerMetadata: message.role === 'developer' ? { ...metadata, role: 'developer' } : metadata,
  });
}

const read = (values) => values.map(readMessage);

module.exports = { name, read, recognises };
