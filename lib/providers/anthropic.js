'use strict';

// Messages of Anthropic's Messages API, its answers included.

const { isObject } = require('../checks.js');
const { composeMessage, copyOf, mediaData, metadataOf, need, withoutUndefined } = require('../content.js');

const name = 'anthropic';

const ROLES = ['user', 'assistant', 'system'];

/** Members of an answer beside its content, which no request takes. */
const isAnswer = (value) => value.type === 'message' && (value.stop_reason !== undefined || value.usage !== undefined);

/** Blocks that only this API has. */
const BLOCKS =
  /^(tool_use|thinking|redacted_thinking|document|search_result|container_upload|compaction|fallback|.+_tool_use|(.+_)?tool_(result|listing|addition|removal))$/;

const isBlock = (block) =>
  isObject(block) &&
  (BLOCKS.test(block.type) ||
    (block.type === 'image' && isObject(block.source)) ||
    (block.type === 'text' && (block.cache_control !== undefined || block.citations !== undefined)));

function recognises(value) {
  if (!ROLES.includes(value.role)) return false;
  return Array.isArray(value.content) && (isAnswer(value) || value.content.some(isBlock));
}

function readSource(source, where) {
  need(isObject(source), `${where}.source must be an object`);
  switch (source.type) {
    case 'base64':
      return { ...mediaData(source.data, `${where}.source.data`), mediaType: source.media_type ?? undefined };
    case 'url':
      need(typeof source.url === 'string', `${where}.source.url must be a string`);
      return { url: source.url };
    case 'file':
      need(typeof source.file_id === 'string', `${where}.source.file_id must be a string`);
      return { fileId: source.file_id };
    case 'text':
      need(typeof source.data === 'string', `${where}.source.data must be a string`);
      return { text: source.data, mediaType: source.media_type ?? undefined };
    default:
      return undefined;
  }
}

const custom = (block, where) => ({ type: 'custom', provider: name, value: copyOf(block, where) });

/** A block as a part; blocks with calls and results are read by whoever calls this. */
function readBlock(block, where) {
  const metadata = (...known) => metadataOf(block, ['type', ...known], where);
  switch (block.type) {
    case 'text':
      need(typeof block.text === 'string', `${where}.text must be a string`);
      return { type: 'text', text: block.text, providerMetadata: metadata('text') };
    case 'image': {
      const source = readSource(block.source, where);
      if (source === undefined) return custom(block, where);
      return { type: 'image', ...source, providerMetadata: metadata('source') };
    }
    case 'document': {
      const source = readSource(block.source, where);
      if (source === undefined) return custom(block, where);
      // The only documents that the API fetches.
      if (source.url !== undefined) source.mediaType = 'application/pdf';
      return { type: 'file', ...source, name: block.title ?? undefined, providerMetadata: metadata('source', 'title') };
    }
    case 'thinking': {
      const { thinking: text, signature } = block;
      need(typeof text === 'string', `${where}.thinking must be a string`);
      return { type: 'reasoning', text, signature: signature ?? undefined, providerMetadata: metadata('thinking', 'signature') };
    }
    case 'redacted_thinking':
      need(typeof block.data === 'string', `${where}.data must be a string`);
      return { type: 'reasoning', encrypted: block.data, providerMetadata: metadata('data') };
    default:
      return custom(block, where);
  }
}

function readCall(block, where) {
  need(typeof block.id === 'string' && block.id !== '', `${where}.id must be a non-empty string`);
  need(typeof block.name === 'string' && block.name !== '', `${where}.name must be a non-empty string`);
  const input = copyOf(block.input ?? {}, `${where}.input`);
  return withoutUndefined({
    id: block.id,
    name: block.name,
    arguments: isObject(input) && !Array.isArray(input) ? input : JSON.stringify(input),
    providerMetadata: metadataOf(block, ['type', 'id', 'name', 'input'], where),
  });
}

function readResult(block, where) {
  need(typeof block.tool_use_id === 'string', `${where}.tool_use_id must be a string`);
  const parts = contentParts(block.content ?? '', `${where}.content`);
  return composeMessage('tool', parts, [], {
    toolCallId: block.tool_use_id,
    provider: name,
    isError: block.is_error === true,
    providerMetadata: metadataOf(block, ['type', 'tool_use_id', 'content', 'is_error'], where),
  });
}

function contentParts(content, where) {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  need(Array.isArray(content), `${where} must be a string or a list of blocks`);
  return content.map((block, index) => {
    need(isObject(block), `${where}[${index}] must be an object`);
    return withoutUndefined(readBlock(block, `${where}[${index}]`));
  });
}

/** One message; several when the person's turn holds results of tools, each of which is a message here. */
function readMessage(message) {
  need(isObject(message), 'an Anthropic message must be an object');
  need(ROLES.includes(message.role), `unknown message role ${String(message.role)}`);
  const { role, content } = message;
  if (typeof content === 'string') return [composeMessage(role, contentParts(content, 'content'), [], { provider: name })];
  need(Array.isArray(content), 'message content must be a string or a list of blocks');
  const results = [];
  const calls = [];
  const parts = [];
  content.forEach((block, index) => {
    const where = `content[${index}]`;
    need(isObject(block), `${where} must be an object`);
    if (block.type === 'tool_result') {
      results.push(readResult(block, where));
    } else if (block.type === 'tool_use' && role === 'assistant') {
      const call = readCall(block, where);
      calls.push(call);
      parts.push({ type: 'toolCall', id: call.id });
    } else {
      parts.push(withoutUndefined(readBlock(block, where)));
    }
  });
  if (results.length > 0 && parts.length === 0) return results;
  return [...results, composeMessage(role, parts, calls, { provider: name })];
}

const read = (values) => values.flatMap(readMessage);

module.exports = { name, read, recognises };
