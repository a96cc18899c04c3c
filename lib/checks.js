'use strict';

// Arguments and options, checked before a promise exists and before anything changes.

const { invalidArgument, invalidOption, invalidState } = require('./errors.js');

const ROLES = ['user', 'assistant', 'system', 'tool'];

const isObject = (value) => typeof value === 'object' && value !== null;

/** Throws when `message` is not one that can be stored. */
function checkMessage(message) {
  if (!isObject(message)) throw invalidArgument('message must be an object');
  if (!ROLES.includes(message.role)) throw invalidArgument(`unknown message role ${String(message.role)}`);
  if (typeof message.content !== 'string') throw invalidArgument('message content must be a string');
  if (message.toolCalls !== undefined) checkToolCalls(message.toolCalls);
  if (message.toolCallId !== undefined && typeof message.toolCallId !== 'string') {
    throw invalidArgument('toolCallId must be a string');
  }
  const { provider, providerMetadata } = message;
  if (provider !== undefined && typeof provider !== 'string') throw invalidArgument('provider must be a string');
  if (message.isError !== undefined && typeof message.isError !== 'boolean') {
    throw invalidArgument('isError must be true or false');
  }
  if (providerMetadata !== undefined && (!isObject(providerMetadata) || Array.isArray(providerMetadata))) {
    throw invalidArgument('providerMetadata must be an object');
  }
}

function checkToolCalls(toolCalls) {
  if (!Array.isArray(toolCalls)) throw invalidArgument('toolCalls must be an array');
  for (const call of toolCalls) {
    if (!isObject(call) || typeof call.id !== 'string' || call.id === '') {
      throw invalidArgument('every tool call needs a string id');
    }
    if (typeof call.name !== 'string' || call.name === '') {
      throw invalidArgument('every tool call needs a string name');
    }
    const isArguments =
      typeof call.arguments === 'string' || (isObject(call.arguments) && !Array.isArray(call.arguments));
    if (!isArguments) throw invalidArgument('tool call arguments must be a string or an object');
  }
}

/** Throws when `id` cannot name a session. */
function checkSessionId(id) {
  if (typeof id !== 'string' || id === '') throw invalidArgument('session id must be a non-empty string');
}

/** Throws when `state` is not a session state of this version. Nothing deeper is looked at. */
function assertSessionState(state) {
  if (!isObject(state)) throw invalidState('session state must be an object');
  if (state.version !== 1) throw invalidState(`unsupported session state version ${String(state.version)}`);
  if (typeof state.id !== 'string' || state.id === '') throw invalidState('session state needs an id');
}

/** The number that an option has, or its default. Throws when it is no finite number of at least `minimum`. */
function numberOption(value, name, fallback, minimum) {
  const number = value ?? fallback;
  if (typeof number !== 'number' || !Number.isFinite(number) || number < minimum) {
    throw invalidOption(RangeError, `${name} must be a number >= ${minimum}`);
  }
  return number;
}

const MEDIA_RULES = ['openai', 'anthropic', 'gemini'];

/** What a kind of media costs: a figure, the name of the provider whose rules apply, or nothing. */
function mediaTokens(value, name) {
  if (value == null || MEDIA_RULES.includes(value)) return value ?? undefined;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  const rules = MEDIA_RULES.map((rule) => `'${rule}'`).join(', ');
  throw invalidOption(RangeError, `${name} must be a number >= 0 or one of ${rules}`);
}

/**
 * The checked figures of `createMemory`, in the shape that the addon takes. `encoding` is what counts tokens exactly.
 */
function checkMemoryOptions(options, encoding) {
  const { budget, recall, archive, compaction } = options;
  const maxTokens = numberOption(budget?.maxTokens, 'budget.maxTokens', 4000, 1);
  const targetTokens = numberOption(budget?.targetTokens, 'budget.targetTokens', Math.floor(maxTokens / 2), 0);
  if (targetTokens > maxTokens) {
    throw invalidOption(RangeError, 'budget.targetTokens must not exceed budget.maxTokens');
  }
  const keepRecent = numberOption(budget?.keepRecent, 'budget.keepRecent', 4, 0);
  const summaryMaxTokens = numberOption(budget?.summaryMaxTokens, 'budget.summaryMaxTokens', 500, 1);
  const perMessageOverhead = numberOption(budget?.perMessageOverhead, 'budget.perMessageOverhead', 4, 0);
  const recallTopK = numberOption(recall?.topK, 'recall.topK', 3, 0);
  const recallMaxTokens = numberOption(recall?.maxTokens, 'recall.maxTokens', 800, 0);
  const archiveMax = numberOption(archive?.max, 'archive.max', 1000, 0);
  const onError = compaction?.onError ?? 'throw';
  if (onError !== 'throw' && onError !== 'defer') {
    throw invalidOption(TypeError, "compaction.onError must be 'throw' or 'defer'");
  }
  if (options.onError != null && typeof options.onError !== 'function') {
    throw invalidOption(TypeError, 'onError must be a function');
  }
  return {
    maxTokens,
    targetTokens,
    keepRecent,
    alignToUser: Boolean(options.alignToUser ?? true),
    summaryMaxTokens,
    encoding,
    perMessageOverhead,
    imageTokens: mediaTokens(budget?.imageTokens, 'budget.imageTokens'),
    fileTokens: mediaTokens(budget?.fileTokens, 'budget.fileTokens'),
    audioTokens: mediaTokens(budget?.audioTokens, 'budget.audioTokens'),
    recallTopK,
    recallMinScore: Number(recall?.minScore ?? 0.25),
    recallMaxTokens,
    archiveMax,
    deferFailedFolds: onError === 'defer',
    acceptEmptySummary: options.summarize == null,
    // Without a summarizer of the app, a count other than the estimate is asked for by the one in JavaScript.
    hasSummarize: options.summarize != null || options.countTokens != null || encoding !== undefined,
    hasExtractFacts: options.extractFacts != null,
    hasEmbed: options.embed != null,
    hasRetrieve: options.retrieve != null,
    hasOnArchive: options.onArchive != null,
    hasClock: options.clock != null,
  };
}

/** The checked options of `context`, with what is not given left undefined. */
function checkContextOptions(options) {
  const query = options?.query ?? undefined;
  if (query !== undefined && typeof query !== 'string') throw invalidOption(TypeError, 'query must be a string');
  const topK = options?.topK ?? undefined;
  if (topK !== undefined) numberOption(topK, 'topK', 0, 0);
  const minScore = options?.minScore ?? undefined;
  if (minScore !== undefined && (typeof minScore !== 'number' || Number.isNaN(minScore))) {
    throw invalidOption(RangeError, 'minScore must be a number');
  }
  return { query, topK, minScore, skipRecall: options?.recall === false };
}

module.exports = {
  ROLES,
  assertSessionState,
  checkContextOptions,
  checkMemoryOptions,
  checkMessage,
  checkSessionId,
  isObject,
  numberOption,
};
