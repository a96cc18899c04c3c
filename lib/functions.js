'use strict';

// The pure functions: text, facts, prompts, and the renderers.

const binding = require('../binding.js');
const { isObject } = require('./checks.js');
const { checkTokenCount, messagesJson, readMembers } = require('./convert.js');
const { fromFailure, invalidArgument } = require('./errors.js');

/** The answer of the addon, or the error that it reports. */
function take(answer) {
  if (typeof answer === 'string') return answer;
  throw fromFailure(answer);
}

function checkText(text, name) {
  if (typeof text !== 'string') throw invalidArgument(`${name} must be a string`);
  return text;
}

const estimateTokens = (text) => binding.estimateTokens(checkText(text, 'text'));

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
  if (!(message.toolCalls?.length > 0)) return message.content;
  return take(binding.messageText(JSON.stringify(readMembers(message))));
}

const transcript = (messages) => take(binding.transcript(messagesJson(messages)));

const argumentsText = (call) =>
  typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);

function parseArguments(call) {
  if (typeof call.arguments !== 'string') return call.arguments;
  return JSON.parse(binding.parseArguments(call.arguments));
}

function toolGroupAt(messages, index) {
  if (!Number.isInteger(index) || index < 0 || index >= messages.length) return null;
  const group = binding.toolGroupAt(messagesJson(messages), index);
  if (group?.code !== undefined) throw fromFailure(group);
  return group ?? null;
}

/** The JSON of what a prompt or a summary is made from. */
function promptJson({ previousSummary, messages, facts, maxTokens }) {
  return JSON.stringify({
    previousSummary: previousSummary ?? '',
    messages: Array.from(messages, readMembers),
    facts: facts ?? [],
    maxTokens,
  });
}

const summaryPrompt = (input) => take(binding.summaryPrompt(promptJson(input)));

const factsPrompt = ({ messages, facts }) => take(binding.factsPrompt(promptJson({ messages, facts })));

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

function renderMemory({ summary, facts, recalled }, options) {
  const headings = { ...HEADINGS, ...options?.headings };
  return take(
    binding.renderMemory(
      JSON.stringify({
        summary: summary ?? '',
        facts: facts ?? [],
        recalled: Array.from(recalled ?? [], ({ message }) => readMembers(message)),
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

const renderRecalled = (recalled) =>
  take(binding.renderRecalled(messagesJson(Array.from(recalled, ({ message }) => message))));

/** The JSON of what a request is rendered from. */
function requestJson(context, options) {
  if (!isObject(context) || !Array.isArray(context.recent)) throw invalidArgument('context must be one of session.context()');
  return JSON.stringify({
    systemPrompt: options?.systemPrompt ?? undefined,
    system: context.system,
    recent: Array.from(context.recent, readMembers),
  });
}

const toOpenAI = (context, options) => JSON.parse(take(binding.toOpenAI(requestJson(context, options))));

const toAnthropic = (context, options) => JSON.parse(take(binding.toAnthropic(requestJson(context, options))));

module.exports = {
  argumentsText,
  cosine,
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
  toAnthropic,
  toOpenAI,
  toolGroupAt,
  transcript,
};
