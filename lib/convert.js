'use strict';

// Between the app's values and the forms in which they cross into the addon.

const { ROLES, isObject } = require('./checks.js');
const { contentText } = require('./content.js');
const { invalidArgument, wrongResult } = require('./errors.js');

/** What pure functions and renderers read of a message. `meta` can be large and is not among it. */
const readMembers = (message) => {
  const { role, name, toolCalls, toolCallId, parts, provider, isError, providerMetadata } = message;
  const content = textContent(message);
  return { role, content, name, toolCalls, toolCallId, parts, provider, isError, providerMetadata };
};

/** The content as text, also of a message that is not stored yet and has parts there. */
const textContent = ({ content }) => (Array.isArray(content) ? contentText(content) : content);

/** The JSON of a list of messages, as far as pure functions and renderers read them. */
const messagesJson = (messages) => JSON.stringify(Array.from(messages, readMembers));

/**
 * Packs messages into one string: a header, a line feed, then each message's content and JSON members.
 *
 * The header has `role,content length,members length,tokens` per message. `tokensOf` counts for an app that does.
 */
function packMessages(messages, tokensOf) {
  const header = [];
  let data = '';
  for (const message of messages) {
    const members = membersJson(message);
    const tokens = tokensOf === undefined ? '' : tokensOf(message);
    header.push(`${ROLES.indexOf(message.role)},${message.content.length},${members.length},${tokens}`);
    data += message.content + members;
  }
  return messages.length === 0 ? '' : `${header.join(';')}\n${data}`;
}

/** The JSON of the rarer members, or nothing when there are none. */
function membersJson(message) {
  const { name, toolCalls, toolCallId, meta, parts, provider, isError, providerMetadata } = message;
  const at = message.at ?? undefined;
  // Most messages have none of them; asking one by one is the fastest way to see that.
  const isPlain = at === undefined && name === undefined && toolCalls === undefined && toolCallId === undefined;
  if (isPlain && meta === undefined && parts === undefined && provider === undefined && !isError) {
    if (providerMetadata === undefined) return '';
  }
  try {
    return JSON.stringify({ at, name, toolCalls, toolCallId, meta, parts, provider, isError: isError || undefined, providerMetadata });
  } catch (cause) {
    throw Object.assign(invalidArgument(`a message cannot be stored as JSON: ${cause.message}`), { cause });
  }
}

const isTypedVector = (value) => value instanceof Float32Array || value instanceof Float64Array;

/** The JSON of a session state. Typed arrays become lists of numbers, which `JSON.stringify` would not make of them. */
function stateJson(state) {
  const { archive } = state ?? {};
  if (!Array.isArray(archive) || !archive.some((item) => isTypedVector(item?.embedding))) {
    return JSON.stringify(state) ?? 'null';
  }
  const plain = (item) =>
    isTypedVector(item?.embedding) ? { ...item, embedding: Array.from(item.embedding) } : item;
  return JSON.stringify({ ...state, archive: archive.map(plain) });
}

/**
 * The vectors that an embedder gave for `count` texts, as one flat array and the width of each row.
 *
 * Throws a readable error when they are no vectors.
 */
function packVectors(result, count) {
  const rows = vectorRows(result, count);
  const used = rows.slice(0, count);
  const widths = Uint32Array.from(used, (row) => row?.length ?? 0);
  const total = widths.reduce((sum, width) => sum + width, 0);
  const isSingle = used.every((row) => row == null || row instanceof Float32Array);
  const numbers = isSingle ? new Float32Array(total) : new Float64Array(total);
  let start = 0;
  for (const row of used) {
    if (row == null) continue;
    if (!isTypedVector(row) && !row.every((number) => typeof number === 'number')) {
      throw wrongResult('embed', 'vectors of numbers');
    }
    numbers.set(row, start);
    start += row.length;
  }
  if (!numbers.every(Number.isFinite)) throw wrongResult('embed', 'vectors of finite numbers');
  return { widths, numbers };
}

/** The rows of every documented form; a row can be missing. */
function vectorRows(result, count) {
  if (isTypedVector(result)) return splitRows(result, result.length / Math.max(count, 1), count);
  if (Array.isArray(result)) {
    if (!result.every((row) => row == null || Array.isArray(row) || isTypedVector(row))) {
      throw wrongResult('embed', 'a vector (number[], Float32Array or Float64Array) for each text');
    }
    return result;
  }
  if (isObject(result) && (Array.isArray(result.data) || isTypedVector(result.data))) {
    const [first] = result.data;
    if (isObject(first)) {
      throw wrongResult('embed', 'vectors, not the answer of a service: give response.data.map((item) => item.embedding)');
    }
    return splitRows(result.data, result.dimensions, count);
  }
  throw wrongResult('embed', 'a list of vectors, one flat typed array, or { data, dimensions }');
}

function splitRows(data, width, count) {
  if (data.length === 0) return [];
  if (!Number.isInteger(width) || width < 1 || data.length % width !== 0) {
    const rows = Number.isInteger(width) ? `rows of ${width}` : `${count} rows of one length`;
    throw wrongResult('embed', `a whole number of rows: ${data.length} numbers are not ${rows}`);
  }
  const rows = [];
  for (let start = 0; start < data.length; start += width) rows.push(data.slice(start, start + width));
  return rows;
}

/** The facts among what an app gives: keys and values as strings. What is no fact is passed over. */
function factInputs(facts) {
  const isFact = (fact) => isObject(fact) && fact.key != null && fact.value != null;
  return facts.filter(isFact).map(({ key, value }) => ({ key: String(key), value: String(value) }));
}

/** Checks what the app's token count gave. */
function checkTokenCount(tokens) {
  if (typeof tokens !== 'number' || !Number.isFinite(tokens) || tokens < 0) {
    throw wrongResult('countTokens', 'a finite number >= 0');
  }
  return tokens;
}

module.exports = {
  checkTokenCount,
  factInputs,
  messagesJson,
  packMessages,
  packVectors,
  readMembers,
  stateJson,
  textContent,
};
