'use strict';

// The pure functions: text, facts, prompts, and the renderers.

const binding = require('../binding.js');
const { isObject } = require('./checks.js');
const { checkTokenCount, messagesJson, readMembers, textContent } = require('./convert.js');
const { fromFailure, invalidArgument, invalidOption } = require('./errors.js');
const { checkEncoding } = require('./tokenizers.js');

/** The answer of the addon, or the error that it reports. */
function take(answer) {
  if (typeof answer === 'string') return answer;
  throw fromFailure(answer);
}

function checkText(text, name) {
  if (typeof text !== 'string') throw invalidArgument(`${name} must be a string`);
  return text;
}

function checkObject(value, name) {
  if (!isObject(value)) throw invalidArgument(`${name} must be an object`);
  return value;
}

function checkList(list, name) {
  if (typeof list?.[Symbol.iterator] !== 'function' || typeof list === 'string') throw invalidArgument(`${name} must be a list`);
  return Array.from(list, (item) => checkObject(item, `every one of ${name}`));
}

const estimateTokens = (text) => binding.estimateTokens(checkText(text, 'text'));

/** What the addon gives, or the error that it reports. */
function value(answer) {
  if (answer?.code !== undefined) throw fromFailure(answer);
  return answer;
}

const countTokens = (text, encoding) => value(binding.countTokens(checkText(text, 'text'), checkEncoding(encoding)));

const encode = (text, encoding) => value(binding.encodeTokens(checkText(text, 'text'), checkEncoding(encoding)));

function decode(tokens, encoding) {
  const name = checkEncoding(encoding);
  const isToken = (token) => Number.isInteger(token) && token >= 0 && token < 2 ** 32;
  const isList = tokens instanceof Uint32Array || (Array.isArray(tokens) && tokens.every(isToken));
  if (!isList) throw invalidArgument('tokens must be a list of whole numbers >= 0');
  return take(binding.decodeTokens(Uint32Array.from(tokens), name));
}

const normalizeFactKey = (key) => binding.normalizeFactKey(checkText(key, 'key'));

const parseFacts = (text) => JSON.parse(binding.parseFacts(checkText(text, 'text')));

const oneLine = (text, max) => binding.oneLineText(checkText(text, 'text'), max ?? undefined);

function doubles(vector) {
  if (vector instanceof Float64Array) return vector;
  if (!Array.isArray(vector) && !(vector instanceof Float32Array)) throw invalidArgument('cosine needs two vectors');
  return Float64Array.from(vector);
}

const cosine = (a, b) => binding.cosine(doubles(a), doubles(b));

function messageText(message) {
  checkObject(message, 'message');
  if (!(message.toolCalls?.length > 0)) return textContent(message);
  return take(binding.messageText(JSON.stringify(readMembers(message))));
}

const transcript = (messages) => take(binding.transcript(messagesJson(checkList(messages, 'messages'))));

function argumentsText(call) {
  const { arguments: given } = checkObject(call, 'call');
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function parseArguments(call) {
  checkObject(call, 'call');
  if (typeof call.arguments !== 'string') return call.arguments;
  return JSON.parse(binding.parseArguments(call.arguments));
}

function toolGroupAt(messages, index) {
  if (!Array.isArray(messages)) throw invalidArgument('messages must be a list');
  if (!Number.isInteger(index) || index < 0 || index >= messages.length) return null;
  return value(binding.toolGroupAt(messagesJson(messages), index)) ?? null;
}

/** The JSON of what a prompt or a summary is made from. */
function promptJson(input) {
  const { previousSummary, messages, facts, maxTokens } = checkObject(input, 'input');
  return JSON.stringify({
    previousSummary: previousSummary ?? '',
    messages: checkList(messages, 'input.messages').map(readMembers),
    facts: facts ?? [],
    maxTokens,
  });
}

const summaryPrompt = (input) => take(binding.summaryPrompt(promptJson(input)));

const factsPrompt = (input) => take(binding.factsPrompt(promptJson(input)));

function extractiveSummary(input, countTokens) {
  if (countTokens == null) return take(binding.extractiveSummary(promptJson(input)));
  const lines = JSON.parse(take(binding.extractiveLines(promptJson(input))));
  return lines.slice(firstLineThatFits(lines, input.maxTokens, countTokens)).join('\n');
}

/**
 * The first line from which on the rest is within `maxTokens`; at least the last line stays.
 *
 * Doubles what is kept, from the end, until it no longer fits, and then searches between: what is counted in all is a
 * few times what is kept, however many lines are dropped. Dropping one line after the other counts the square of it.
 */
function firstLineThatFits(lines, maxTokens, countTokens) {
  const fits = (kept) => checkTokenCount(countTokens(lines.slice(lines.length - kept).join('\n'))) <= maxTokens;
  let kept = Math.min(1, lines.length);
  let tooMany = 2;
  while (tooMany < lines.length && fits(tooMany)) {
    kept = tooMany;
    tooMany *= 2;
  }
  if (tooMany >= lines.length) {
    if (lines.length < 2 || fits(lines.length)) return 0;
    tooMany = lines.length;
  }
  while (tooMany - kept > 1) {
    const middle = (kept + tooMany) >> 1;
    if (fits(middle)) kept = middle;
    else tooMany = middle;
  }
  return lines.length - kept;
}

const HEADINGS = {
  summary: '## Conversation so far',
  facts: '## Known facts',
  recalled: '## Relevant earlier messages',
};

/** The messages in a list of recalled ones. */
const recalledMessages = (recalled) => checkList(recalled, 'recalled').map(({ message }) => checkObject(message, 'every message of recalled'));

function renderMemory(parts, options) {
  const { summary, facts, recalled } = checkObject(parts, 'parts');
  const headings = { ...HEADINGS, ...options?.headings };
  return take(
    binding.renderMemory(
      JSON.stringify({
        summary: summary ?? '',
        facts: facts ?? [],
        recalled: recalledMessages(recalled ?? []).map(readMembers),
        headings: {
          summary: String(headings.summary),
          facts: String(headings.facts),
          recalled: String(headings.recalled),
        },
      }),
    ),
  );
}

const renderFacts = (facts) => take(binding.renderFacts(JSON.stringify(facts) ?? 'null'));

const renderRecalled = (recalled) => take(binding.renderRecalled(messagesJson(recalledMessages(recalled))));

/** The values that an option can have, the default first. */
const RECALL_PLACES = ['system', 'last'];
const OPEN_CALLS = ['answer', 'omit'];

function choice(value, name, choices) {
  const chosen = value ?? choices[0];
  if (!choices.includes(chosen)) {
    throw invalidOption(TypeError, `${name} must be ${choices.map((it) => `'${it}'`).join(' or ')}`);
  }
  return chosen;
}

/** The JSON of what a request is rendered from; `own` are the options that only one renderer has. */
function requestJson(context, options, own) {
  if (!isObject(context) || !Array.isArray(context.recent)) {
    const hint = typeof context?.then === 'function' ? ' (a promise was given: is an await missing?)' : '';
    throw invalidArgument(`context must be one of session.context()${hint}`);
  }
  if (options?.systemPrompt != null && typeof options.systemPrompt !== 'string') {
    throw invalidOption(TypeError, 'systemPrompt must be a string');
  }
  if (options?.provider != null && typeof options.provider !== 'string') {
    throw invalidOption(TypeError, 'provider must be a string');
  }
  const recallLast = choice(options?.recall, 'recall', RECALL_PLACES) === 'last';
  const omitOpenCalls = choice(options?.openCalls, 'openCalls', OPEN_CALLS) === 'omit';
  if (options?.cacheControl != null && typeof options.cacheControl !== 'boolean') {
    throw invalidOption(TypeError, 'cacheControl must be true or false');
  }
  const cacheControl = own.cacheControl ?? false;
  const recent = Array.from(context.recent, readMembers);
  const systemPrompt = options?.systemPrompt ?? undefined;
  const common = { systemPrompt, recent, omitOpenCalls, provider: own.provider ?? undefined };
  if (!recallLast && !cacheControl) return JSON.stringify({ ...common, system: context.system });
  // Recall changes with every turn: where it has to stand apart, the block is made again without it.
  return JSON.stringify({
    ...common,
    summary: context.summary ?? '',
    facts: context.facts ?? [],
    recalled: recalledMessages(context.recalled ?? []).map(readMembers),
    recallLast,
    cacheControl,
  });
}

const render = (format, context, options, own = {}) =>
  JSON.parse(take(binding.renderRequest(format, requestJson(context, options, own))));

const toOpenAI = (context, options) => render('openai', context, options);
const toOpenAIResponses = (context, options) => render('openai-responses', context, options);
const toAnthropic = (context, options) =>
  render('anthropic', context, options, { cacheControl: options?.cacheControl });
const toAISDK = (context, options) => render('ai-sdk', context, options, { provider: options?.provider });
const toGemini = (context, options) => render('gemini', context, options);

module.exports = {
  argumentsText,
  cosine,
  countTokens,
  decode,
  encode,
  estimateTokens,
  extractiveSummary,
  factsPrompt,
  messageText,
  normalizeFactKey,
  oneLine,
  parseArguments,
  parseFacts,
  renderFacts,
  renderMemory,
  renderRecalled,
  summaryPrompt,
  toAISDK,
  toAnthropic,
  toGemini,
  toOpenAI,
  toOpenAIResponses,
  toolGroupAt,
  transcript,
};
