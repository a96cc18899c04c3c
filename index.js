'use strict';

// The main door. Each part of the facade checks what the app gives, crosses into the addon once, and turns the answer
// into JavaScript values; what is decided is decided in Rust.

const { Memory, Session, createMemory } = require('./lib/memory.js');
const { MemoryStore, RedisStore, SqlStore, SqliteStore } = require('./lib/stores.js');
const { assertSessionState } = require('./lib/checks.js');
const functions = require('./lib/functions.js');
const { from } = require('./lib/providers/index.js');

module.exports = {
  createMemory,
  Memory,
  Session,
  MemoryStore,
  SqliteStore,
  SqlStore,
  RedisStore,
  assertSessionState,
  from,
  normalizeFactKey: functions.normalizeFactKey,
  parseFacts: functions.parseFacts,
  factsPrompt: functions.factsPrompt,
  summaryPrompt: functions.summaryPrompt,
  extractiveSummary: functions.extractiveSummary,
  estimateTokens: functions.estimateTokens,
  countTokens: functions.countTokens,
  encode: functions.encode,
  decode: functions.decode,
  cosine: functions.cosine,
  messageText: functions.messageText,
  transcript: functions.transcript,
  oneLine: functions.oneLine,
  argumentsText: functions.argumentsText,
  parseArguments: functions.parseArguments,
  toolGroupAt: functions.toolGroupAt,
  renderMemory: functions.renderMemory,
  renderFacts: functions.renderFacts,
  renderRecalled: functions.renderRecalled,
  toOpenAI: functions.toOpenAI,
  toOpenAIResponses: functions.toOpenAIResponses,
  toAnthropic: functions.toAnthropic,
  toAISDK: functions.toAISDK,
  toGemini: functions.toGemini,
};
