'use strict';

// Items of OpenAI's Responses API: those of `response.output`, and those of a request's `input`.

const { isObject } = require('../checks.js');
const { append, composeMessage, copyOf, mediaData, metadataOf, need, withoutUndefined } = require('../content.js');

const name = 'openai-responses';

const ROLES = { user: 'user', assistant: 'assistant', system: 'system', developer: 'system' };

/** The items of calls: what names the call's input, and whether that is free text. */
const CALLS = { function_call: ['arguments', false], custom_tool_call: ['input', true] };

const RESULTS = ['function_call_output', 'custom_tool_call_output'];

const ITEM =
  /^(reasoning|item_reference|compaction|compaction_trigger|additional_tools|program|.+_(call|output|list_tools|approval_request|approval_response))$/;

const CONTENT = ['input_text', 'output_text', 'input_image', 'input_file', 'reasoning_text'];

const hasContent = (value) => Array.isArray(value.content) && value.content.some((part) => CONTENT.includes(part?.type));

function recognises(value) {
  // Some items beside messages have a role, too.
  if (typeof value.type === 'string' && ITEM.test(value.type)) return true;
  if (!Object.hasOwn(ROLES, value.role)) return false;
  return hasContent(value) || (value.type === 'message' && value.usage === undefined && value.stop_reason === undefined);
}

function readPart(part, where) {
  need(isObject(part), `${where} must be an object`);
  const metadata = (...known) => metadataOf(part, ['type', ...known], where);
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      return { type: 'text', text: part.text, providerMetadata: metadata('text') };
    case 'refusal':
      need(typeof part.refusal === 'string', `${where}.refusal must be a string`);
      return { type: 'text', text: part.refusal, refusal: true, providerMetadata: metadata('refusal') };
    case 'input_image': {
      const { image_url: url, file_id: fileId, detail } = part;
      need(url != null || fileId != null, `${where} needs image_url or file_id`);
      const source = url == null ? { fileId } : { url };
      return { type: 'image', ...source, detail: detail ?? undefined, providerMetadata: metadata('image_url', 'file_id', 'detail') };
    }
    case 'input_file': {
      const { file_data: data, file_id: fileId, file_url: url, filename } = part;
      need(data != null || fileId != null || url != null, `${where} needs file_data, file_id or file_url`);
      const known = ['file_data', 'file_id', 'file_url', 'filename'];
      const source = data != null ? mediaData(data, `${where}.file_data`) : url != null ? { url } : { fileId };
      return { type: 'file', ...source, name: filename ?? undefined, providerMetadata: metadata(...known) };
    }
    default:
      return { type: 'custom', provider: name, value: copyOf(part, where) };
  }
}

function contentParts(content, where) {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  need(Array.isArray(content), `${where} must be a string or a list of parts`);
  return content.map((part, index) => withoutUndefined(readPart(part, `${where}[${index}]`)));
}

/** What only this API knows of a message item. That it is complete goes without saying. */
function messageMetadata(item, known, where) {
  const metadata = metadataOf(item, ['type', 'content', ...known], where);
  if (metadata?.status === 'completed') delete metadata.status;
  return metadata !== undefined && Object.keys(metadata).length > 0 ? metadata : undefined;
}

/** What the model said as parts that know their item. */
function spokenParts(item, where) {
  const itemMetadata = messageMetadata(item, ['role', 'id'], where);
  const itemId = item.id ?? undefined;
  return contentParts(item.content, `${where}.content`).map((part) => withoutUndefined({ ...part, itemId, itemMetadata }));
}

function readReasoning(item, where) {
  const summary = item.summary ?? [];
  need(Array.isArray(summary), `${where}.summary must be a list`);
  const content = Array.isArray(item.content) ? item.content : [];
  const texts = content.map((part) => String(part?.text ?? ''));
  // One thought is its text. Several are kept apart as they came.
  const known = ['type', 'id', 'summary', 'encrypted_content', ...(content.length > 1 ? [] : ['content'])];
  return withoutUndefined({
    type: 'reasoning',
    text: content.length > 0 ? texts.join('\n') : undefined,
    summary: summary.length > 0 ? summary.map((part) => String(part?.text ?? '')) : undefined,
    encrypted: item.encrypted_content ?? undefined,
    itemId: item.id ?? undefined,
    providerMetadata: metadataOf(item, known, where),
  });
}

function readCall(item, [input, isCustom], where) {
  need(typeof item.call_id === 'string' && item.call_id !== '', `${where}.call_id must be a non-empty string`);
  need(typeof item.name === 'string' && item.name !== '', `${where}.name must be a non-empty string`);
  const given = item[input] ?? '';
  return withoutUndefined({
    id: item.call_id,
    name: item.name,
    arguments: typeof given === 'string' ? given : copyOf(given, `${where}.${input}`),
    custom: isCustom ? true : undefined,
    itemId: item.id ?? undefined,
    providerMetadata: metadataOf(item, ['type', 'id', 'call_id', 'name', input], where),
  });
}

/** Reads a run of items. What the model made between two other items is one message: it belongs together. */
function read(items) {
  const messages = [];
  const names = new Map();
  let parts = [];
  let calls = [];
  const finish = () => {
    if (parts.length > 0) messages.push(composeMessage('assistant', parts, calls, { provider: name }));
    parts = [];
    calls = [];
  };
  items.forEach((item, index) => {
    const where = `item ${index}`;
    need(isObject(item), `${where} must be an object`);
    const { type = 'message' } = item;
    if (type === 'message') {
      need(Object.hasOwn(ROLES, item.role), `unknown message role ${String(item.role)}`);
      if (item.role === 'assistant') {
        append(parts, spokenParts(item, where));
        return;
      }
      finish();
      const metadata = messageMetadata(item, item.role === 'developer' ? [] : ['role'], where);
      const content = contentParts(item.content, `${where}.content`);
      messages.push(composeMessage(ROLES[item.role], content, [], { provider: name, providerMetadata: metadata }));
    } else if (RESULTS.includes(type)) {
      finish();
      need(typeof item.call_id === 'string', `${where}.call_id must be a string`);
      messages.push(
        composeMessage('tool', contentParts(item.output ?? '', `${where}.output`), [], {
          name: names.get(item.call_id),
          toolCallId: item.call_id,
          provider: name,
          providerMetadata: metadataOf(item, ['type', 'call_id', 'output'], where),
        }),
      );
    } else if (Object.hasOwn(CALLS, type)) {
      const call = readCall(item, CALLS[type], where);
      names.set(call.id, call.name);
      calls.push(call);
      parts.push({ type: 'toolCall', id: call.id });
    } else if (type === 'reasoning') {
      parts.push(readReasoning(item, where));
    } else {
      need(typeof type === 'string', `${where}.type must be a string`);
      parts.push(withoutUndefined({ type: 'custom', provider: name, value: copyOf(item, where), itemId: item.id ?? undefined }));
    }
  });
  finish();
  return messages;
}

module.exports = { name, read, recognises };
