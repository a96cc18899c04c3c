'use strict';

// Contents of Google's Gemini API, in the spelling of its packages and in that of its REST interface.

const { isObject } = require('../checks.js');
const { composeMessage, copyOf, mediaData, mediaType, metadataOf, need, withoutUndefined } = require('../content.js');

const name = 'gemini';

const ROLES = { user: 'user', model: 'assistant', function: 'user' };

/** The names that the REST interface has for what a part can be. */
const SPELLINGS = {
  inline_data: 'inlineData',
  file_data: 'fileData',
  function_call: 'functionCall',
  function_response: 'functionResponse',
  thought_signature: 'thoughtSignature',
  mime_type: 'mimeType',
  file_uri: 'fileUri',
};

const KINDS = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'];

function recognises(value) {
  if (!Array.isArray(value.parts) || value.content !== undefined) return false;
  const isRole = value.role === undefined || Object.hasOwn(ROLES, value.role);
  return isRole && value.parts.every((part) => isObject(part) && typeof part.type !== 'string');
}

/** An object with its members under the names of the packages. */
function respelled(object) {
  const entries = Object.entries(object).map(([key, value]) => [SPELLINGS[key] ?? key, value]);
  return Object.fromEntries(entries);
}

function readMedia(media, source, where) {
  need(isObject(media), `${where} must be an object`);
  const { mimeType, displayName, ...rest } = respelled(media);
  const part = { type: mediaType(mimeType), ...source(rest), mediaType: mimeType };
  return part.type === 'file' ? { ...part, name: displayName } : part;
}

const inlineMedia = (media, where) => readMedia(media, ({ data }) => mediaData(data, `${where}.data`), where);

function fileMedia(media, where) {
  return readMedia(
    media,
    ({ fileUri }) => {
      need(typeof fileUri === 'string', `${where}.fileUri must be a string`);
      if (/^[a-z][a-z0-9+.-]*:/i.test(fileUri)) return { url: fileUri };
      // What is no address is the provider's own name of the file.
      return mediaType(respelled(media).mimeType) === 'audio' ? { id: fileUri } : { fileId: fileUri };
    },
    where,
  );
}

function readPart(part, where) {
  const kind = KINDS.find((it) => part[it] !== undefined);
  const metadata = (...known) => metadataOf(part, known, where);
  switch (kind) {
    case 'text':
      need(typeof part.text === 'string', `${where}.text must be a string`);
      if (part.thought === true) {
        const { text, thoughtSignature: signature } = part;
        return { type: 'reasoning', text, signature, providerMetadata: metadata('text', 'thought', 'thoughtSignature') };
      }
      // A signature can stand on a text without any: it is nothing to anyone else.
      if (part.text === '' && part.thoughtSignature !== undefined) return { type: 'custom', provider: name, value: copyOf(part, where) };
      return { type: 'text', text: part.text, providerMetadata: metadata('text', 'thought') };
    case 'inlineData':
      return { ...inlineMedia(part.inlineData, `${where}.inlineData`), providerMetadata: metadata('inlineData') };
    case 'fileData':
      return { ...fileMedia(part.fileData, `${where}.fileData`), providerMetadata: metadata('fileData') };
    default:
      return { type: 'custom', provider: name, value: copyOf(part, where) };
  }
}

const isId = (given) => typeof given === 'string' && given !== '';

/** The id of a call, or of its answer when the call is not known, to which the API gave none: its place among them. */
const idAt = (index) => `gemini_${index}`;

/** The calls without an id of their own that wait for an answer. The API pairs them by name and order. */
class OpenCalls {
  #names = new Map();
  #ids = new Map();

  /** The calls of one content; those of earlier ones wait no longer. */
  constructor(calls = []) {
    for (const { id, name: called, providerMetadata } of calls) {
      if (providerMetadata?.generatedId !== true) continue;
      this.#names.set(id, called);
      if (!this.#ids.has(called)) this.#ids.set(called, []);
      this.#ids.get(called).push(id);
    }
    for (const ids of this.#ids.values()) ids.reverse();
  }

  /** The id of the call that an answer of this name is for: the first of this name, else the first of all. */
  take(called) {
    const ids = this.#ids.get(called) ?? [];
    let id = ids.pop();
    while (id !== undefined && !this.#names.has(id)) id = ids.pop();
    id ??= this.#names.keys().next().value;
    this.#names.delete(id);
    return id;
  }
}

function readCall(part, index, where) {
  const call = part.functionCall;
  need(isObject(call), `${where}.functionCall must be an object`);
  need(typeof call.name === 'string' && call.name !== '', `${where}.functionCall.name must be a non-empty string`);
  const isGiven = isId(call.id);
  const metadata = metadataOf(part, ['functionCall'], where);
  return withoutUndefined({
    id: isGiven ? call.id : idAt(index),
    name: call.name,
    arguments: copyOf(call.args ?? {}, `${where}.functionCall.args`),
    providerMetadata: isGiven ? metadata : { ...metadata, generatedId: true },
  });
}

/** What a function returned, as text; undefined for what has to go back as the object that it was. */
function plainResponse(response) {
  const [[key, value] = [], ...rest] = Object.entries(response);
  return rest.length === 0 && (key === 'output' || key === 'error') && typeof value === 'string' ? value : undefined;
}

function readResponse(part, index, open, where) {
  const answer = part.functionResponse;
  need(isObject(answer), `${where}.functionResponse must be an object`);
  const response = copyOf(answer.response ?? {}, `${where}.functionResponse.response`);
  const text = plainResponse(response);
  const media = Array.isArray(answer.parts) ? answer.parts.map(respelled) : [];
  const pictures = media.map((it, idx) => withoutUndefined(readPart(it, `${where}.functionResponse.parts[${idx}]`)));
  const rest = metadataOf(answer, ['id', 'name', 'response'], `${where}.functionResponse`);
  const metadata = withoutUndefined({
    response: text === undefined ? response : undefined,
    functionResponse: rest,
    ...metadataOf(part, ['functionResponse'], where),
  });
  const said = { type: 'text', text: text ?? JSON.stringify(response) };
  return composeMessage('tool', said.text === '' && pictures.length === 0 ? [] : [said, ...pictures], [], {
    name: answer.name,
    toolCallId: isId(answer.id) ? answer.id : (open.take(answer.name) ?? idAt(index)),
    provider: name,
    isError: text !== undefined && Object.hasOwn(response, 'error'),
    providerMetadata: Object.keys(metadata).length > 0 ? metadata : undefined,
  });
}

const isCall = (part) => part?.functionCall !== undefined || part?.function_call !== undefined;

function readContent(content, open) {
  need(isObject(content), 'a Gemini content must be an object');
  need(content.role == null || Object.hasOwn(ROLES, content.role), `unknown message role ${String(content.role)}`);
  need(Array.isArray(content.parts), 'parts must be a list');
  // The API takes a content without a role for the person's, who calls nothing.
  const role = content.role ?? (content.parts.some(isCall) ? 'model' : 'user');
  const results = [];
  const calls = [];
  const parts = [];
  content.parts.forEach((given, index) => {
    const where = `parts[${index}]`;
    need(isObject(given), `${where} must be an object`);
    const part = respelled(given);
    if (part.functionResponse !== undefined) {
      results.push(readResponse(part, results.length, open, where));
    } else if (part.functionCall !== undefined) {
      const call = readCall(part, calls.length, where);
      calls.push(call);
      parts.push({ type: 'toolCall', id: call.id });
    } else {
      parts.push(withoutUndefined(readPart(part, where)));
    }
  });
  if (results.length > 0 && parts.length === 0) return results;
  return [...results, composeMessage(ROLES[role], parts, calls, { provider: name })];
}

function read(contents) {
  let open = new OpenCalls();
  return contents.flatMap((content) => {
    const messages = readContent(content, open);
    const calls = messages.at(-1)?.toolCalls;
    if (calls !== undefined) open = new OpenCalls(calls);
    return messages;
  });
}

module.exports = { name, read, recognises };
