'use strict';

// What a message holds beside text: parts are checked and copied here, and their text is made.

const { isObject } = require('./checks.js');
const { invalidArgument } = require('./errors.js');

const MEDIA = { image: ['url', 'data', 'fileId'], file: ['url', 'data', 'fileId', 'text'], audio: ['url', 'data', 'id'] };
const PART_TYPES = ['text', ...Object.keys(MEDIA), 'reasoning', 'toolCall', 'custom'];
const TEXT_MEMBERS = ['name', 'mediaType', 'detail', 'transcript', 'signature', 'encrypted', 'provider', 'itemId'];
const OBJECT_MEMBERS = ['providerMetadata', 'itemMetadata'];

/** Throws unless `condition` holds; `what` says what is wrong where. */
function need(condition, what) {
  if (!condition) throw invalidArgument(what);
}

const isBytes = (value) => ArrayBuffer.isView(value) || value instanceof ArrayBuffer || isSharedBytes(value);

const isSharedBytes = (value) => typeof SharedArrayBuffer === 'function' && value instanceof SharedArrayBuffer;

/** The bytes as base64. */
function base64Of(bytes) {
  const view = ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(bytes);
  return view.toString('base64');
}

/** A copy of what JSON can hold; bytes become base64. `where` names it in the error when it cannot be copied. */
function copyOf(value, where) {
  if (!isObject(value)) {
    need(!['bigint', 'function', 'symbol'].includes(typeof value), `${where} cannot be stored as JSON`);
    return value;
  }
  if (isBytes(value)) return base64Of(value);
  let json;
  try {
    json = JSON.stringify(value, function plain(key, member) {
      // JSON would leave these out without a word.
      if (typeof member === 'function' || typeof member === 'symbol') throw new TypeError(`${key} is a ${typeof member}`);
      // `toJSON` of a Buffer has already been called: the bytes are still in the holder.
      return isObject(this[key]) && isBytes(this[key]) ? base64Of(this[key]) : member;
    });
  } catch (cause) {
    throw Object.assign(invalidArgument(`${where} cannot be stored as JSON: ${cause.message}`), { cause });
  }
  need(json !== undefined, `${where} cannot be stored as JSON`);
  return JSON.parse(json);
}

/** An object without the members that are undefined. */
function withoutUndefined(object) {
  const defined = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined) setOwn(defined, name, value);
  }
  return defined;
}

/** Adds `items` behind `list`, however many they are: as arguments of one call there can be too many. */
function append(list, items) {
  for (const item of items) list.push(item);
}

/** Sets a member of its own, also one called `__proto__`. */
function setOwn(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** What `data` of a medium gives: bytes or base64 as base64, a `data:` address as an address. */
function mediaData(data, where) {
  if (isBytes(data)) return { data: base64Of(data) };
  need(typeof data === 'string', `${where} must be bytes or base64`);
  if (data.startsWith('data:')) return { url: data };
  // Base64 in lines, as mails have it, is taken; providers want it in one.
  let joined = /\s/.test(data) ? data.replace(/\s+/g, '') : data;
  // So is the alphabet for addresses, which only some of them take.
  if (/[-_]/.test(joined)) joined = joined.replaceAll('-', '+').replaceAll('_', '/');
  need(BASE64.test(joined), `${where} must be bytes or base64`);
  return { data: joined };
}

/** A copy of one part, in the form in which it is stored. */
function normalizePart(part, where) {
  need(isObject(part), `${where} must be an object`);
  const { type } = part;
  if (!PART_TYPES.includes(type)) {
    throw invalidArgument(`${where} has the unknown type ${String(type)}: a part is one of ${PART_TYPES.join(', ')}`);
  }
  const copy = {};
  for (const [name, value] of Object.entries(part)) {
    if (value === undefined || name === 'data') continue;
    setOwn(copy, name, value instanceof URL ? value.href : copyOf(value, `${where}.${name}`));
  }
  for (const name of TEXT_MEMBERS) {
    need(copy[name] === undefined || typeof copy[name] === 'string', `${where}.${name} must be a string`);
  }
  for (const name of OBJECT_MEMBERS) {
    const isPlain = isObject(copy[name]) && !Array.isArray(copy[name]);
    need(copy[name] === undefined || isPlain, `${where}.${name} must be an object`);
  }
  const isMedium = Object.hasOwn(MEDIA, type);
  if (part.data !== undefined) {
    Object.assign(copy, isMedium ? mediaData(part.data, `${where}.data`) : { data: copyOf(part.data, `${where}.data`) });
  }
  if (type === 'text') need(typeof copy.text === 'string', `${where}.text must be a string`);
  if (type === 'toolCall') need(typeof copy.id === 'string', `${where}.id must be a string`);
  if (type === 'reasoning') checkReasoning(copy, where);
  if (isMedium) checkMedium(copy, where);
  return copy;
}

function checkReasoning(part, where) {
  need(part.text === undefined || typeof part.text === 'string', `${where}.text must be a string`);
  const isSummary = Array.isArray(part.summary) && part.summary.every((line) => typeof line === 'string');
  need(part.summary === undefined || isSummary, `${where}.summary must be a list of strings`);
}

function checkMedium(part, where) {
  const sources = MEDIA[part.type];
  for (const name of sources) {
    need(part[name] === undefined || typeof part[name] === 'string', `${where}.${name} must be a string`);
  }
  const choices = `${sources.slice(0, -1).join(', ')} or ${sources.at(-1)}`;
  need(sources.some((name) => part[name] !== undefined), `${where} is ${part.type} and needs ${choices}`);
  for (const name of ['width', 'height']) {
    const isSize = typeof part[name] === 'number' && part[name] > 0;
    need(part[name] === undefined || isSize, `${where}.${name} must be a number > 0`);
  }
}

/** What stands in the text for a part. */
function textOf(part) {
  switch (part?.type) {
    case 'image':
      return '[image]';
    case 'file':
      return part.name === undefined ? '[file]' : `[file ${part.name}]`;
    case 'audio':
      return part.transcript ?? '[audio]';
    case 'reasoning':
      return '';
    default:
      return typeof part?.text === 'string' ? part.text : '';
  }
}

/** The text of a list of parts. */
const contentText = (parts) => parts.map(textOf).filter((text) => text !== '').join('\n');

const isPlainText = (part) => part.type === 'text' && Object.keys(part).length === 2;

/**
 * A message of its role, parts and calls; `rest` are its other members. A message that is one plain text, then calls,
 * gets no parts: its content and calls say the same.
 */
function composeMessage(role, parts, calls, rest) {
  const spoken = parts.filter((part) => part.type !== 'toolCall');
  const isPlain = spoken.length === 0 || (spoken.length === 1 && isPlainText(spoken[0]) && parts[0] === spoken[0]);
  return withoutUndefined({
    role,
    content: contentText(spoken),
    name: rest.name,
    toolCalls: calls.length > 0 ? calls : undefined,
    toolCallId: rest.toolCallId,
    parts: isPlain ? undefined : parts,
    provider: rest.provider,
    isError: rest.isError === true ? true : undefined,
    providerMetadata: rest.providerMetadata,
  });
}

/** The members of `object` that are not among `known` and say something, as metadata; undefined when there are none. */
function metadataOf(object, known, where) {
  const metadata = {};
  for (const [name, value] of Object.entries(object)) {
    const says = value != null && !(Array.isArray(value) && value.length === 0);
    if (says && !known.includes(name)) setOwn(metadata, name, copyOf(value, `${where}.${name}`));
  }
  return Object.keys(metadata).length > 0 ? metadata : undefined;
}

/** A part for media of the given type: a picture, sound, or any other file. */
function mediaType(type) {
  const [kind] = String(type ?? '').split('/');
  return kind === 'image' || kind === 'audio' ? kind : 'file';
}

module.exports = {
  append,
  composeMessage,
  contentText,
  copyOf,
  isBytes,
  mediaData,
  mediaType,
  metadataOf,
  need,
  normalizePart,
  withoutUndefined,
};
