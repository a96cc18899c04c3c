'use strict';

// Messages of providers, recognised by their shape and read as messages of this library.

const { checkMessage, isObject } = require('../checks.js');
const { append, composeMessage, contentText, copyOf, need, normalizePart, withoutUndefined } = require('../content.js');
const { invalidArgument } = require('../errors.js');
const aiSdk = require('./ai-sdk.js');
const anthropic = require('./anthropic.js');
const gemini = require('./gemini.js');
const openai = require('./openai.js');
const responses = require('./responses.js');

/** Each reads a list of its values. Tried in this order: the shapes that are most their own come first. */
const PROVIDERS = [anthropic, responses, aiSdk, openai, gemini];

/** Their names, in the order in which errors and documents list them. */
const PROVIDER_NAMES = ['openai', 'openai-responses', 'anthropic', 'ai-sdk', 'gemini'];

/** Whole answers, and what of them is a message. */
const ANSWERS = {
  choices: 'response.choices[0].message',
  output: 'response.output',
  candidates: 'response.candidates[0].content',
};

/** What stands in a message and is none. */
const BLOCK = /^(text|thinking|redacted_thinking|tool_use|tool_result|image|document|image_url|tool-call|tool-result|input_text|output_text)$/;

function from(provider, value) {
  const reader = PROVIDERS.find(({ name }) => name === provider);
  if (reader === undefined) throw invalidArgument(`provider must be one of ${PROVIDER_NAMES.join(', ')}`);
  const list = Array.isArray(value) ? value : [value];
  list.forEach(refuseAnswer);
  return reader.read(list);
}

function refuseAnswer(value) {
  if (!isObject(value) || value.role !== undefined || value.type !== undefined) return;
  if (isObject(value.message) && value.message.role !== undefined) throw invalidArgument('this is a choice of an answer: add its message');
  const member = Object.keys(ANSWERS).find((name) => Array.isArray(value[name]));
  if (member !== undefined) throw invalidArgument(`this is a whole answer of a provider: add ${ANSWERS[member]}`);
}

/** Whether a message is plain text with nothing that only a provider's has. Most are, so this is asked first. */
function isPlain(message) {
  return (
    typeof message.content === 'string' &&
    message.parts === undefined &&
    message.tool_calls === undefined &&
    message.tool_call_id === undefined &&
    message.refusal === undefined &&
    message.providerOptions === undefined &&
    message.type === undefined &&
    message.audio === undefined &&
    message.annotations === undefined &&
    message.reasoning === undefined &&
    message.reasoning_content === undefined &&
    message.reasoning_details === undefined &&
    message.function_call === undefined
  );
}

/** The messages to store for what an app adds. Throws what is wrong before anything is changed. */
function readMessages(list) {
  if (list.every((message) => isObject(message) && isPlain(message))) {
    list.forEach(checkMessage);
    return list;
  }
  const readers = list.map(readerOf);
  const messages = [];
  for (let start = 0; start < list.length; ) {
    const reader = readers[start];
    let end = start + 1;
    // What comes from one provider is read together: items in a row are one message, and answers find their calls.
    if (reader !== undefined) while (end < list.length && readers[end] === reader) end += 1;
    append(messages, reader === undefined ? [ownMessage(list[start])] : reader.read(list.slice(start, end)));
    start = end;
  }
  messages.forEach(checkMessage);
  return messages;
}

function readerOf(value) {
  if (!isObject(value) || isPlain(value)) return undefined;
  refuseAnswer(value);
  if (value.role === undefined && BLOCK.test(value.type)) {
    throw invalidArgument(`this is a block of content, a ${value.type}: add the message that holds it`);
  }
  // A message of this library may stand for one of a provider's: its parts say what it holds.
  if (typeof value.content === 'string' && Array.isArray(value.parts)) return undefined;
  return PROVIDERS.find((provider) => provider.recognises(value));
}

/** A message of this library whose content, or whose parts, are a list. */
function ownMessage(message) {
  if (!isObject(message)) return message;
  const member = message.parts === undefined ? 'content' : 'parts';
  const list = message[member];
  if (member === 'parts' && list !== undefined) need(Array.isArray(list), 'parts must be a list');
  if (!Array.isArray(list)) return message;
  // Parts win over the content, but the content that came with them is still one.
  if (member === 'parts' && message.content !== undefined && !Array.isArray(message.content)) checkMessage(message);
  // What is wrong with the rest is said first, in the order in which a message is checked.
  checkMessage({ ...message, content: '' });
  const parts = list.map((part, index) => normalizePart(part, `${member}[${index}]`));
  const { role, at, meta, toolCalls, name, toolCallId, provider, isError, providerMetadata } = message;
  const calls = toolCalls ?? [];
  const composed = composeMessage(role, parts, calls, {
    name,
    toolCallId,
    provider,
    isError,
    providerMetadata: providerMetadata === undefined ? undefined : copyOf(providerMetadata, 'providerMetadata'),
  });
  const content = member === 'parts' && typeof message.content === 'string' ? message.content : contentText(parts);
  return withoutUndefined({ ...composed, content, toolCalls, at, meta });
}

module.exports = { from, readMessages };
