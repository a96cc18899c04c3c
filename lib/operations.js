'use strict';

// Operations that wait, and the functions of the app that they call.
//
// The addon answers most calls at once. An operation that has to wait gets a number; the addon rings `dispatch` with
// that number when it needs a function of the app, and when the operation is done.

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks');

const { Bridge } = require('../binding.js');
const { factInputs, packVectors, stateJson } = require('./convert.js');
const { fromFailure, invalidOption, keepThrown, wrongResult } = require('./errors.js');

/** Operations under way, by number. Each holds what it needs, so that a forgotten memory is not kept by this module. */
const operations = new Map();

/** The innermost call of the app in which the running code stands: `{ number, active, outer }`. */
const calls = new AsyncLocalStorage();

const bridge = new Bridge(dispatch);

/** What is left of an answer when an operation gives its value, and when it gives nothing. */
const value = (envelope) => envelope.value;
const nothing = () => undefined;

/**
 * The operations that wait for the running code, as the addon takes them.
 *
 * Code that a call has left behind (a timer, a connection that was opened in it) is not waited for.
 */
function currentCallers() {
  const numbers = [];
  for (let call = calls.getStore(); call !== undefined; call = call.outer) {
    if (call.active) numbers.push(call.number);
  }
  return numbers.length === 0 ? undefined : Float64Array.from(numbers);
}

/**
 * The promise of what the addon has started.
 *
 * `app` has the functions that the operation may call; `finish` makes the result of the answer.
 */
function promiseOf(started, app, finish) {
  if (typeof started !== 'number') {
    try {
      return Promise.resolve(finish(readPayload(started)));
    } catch (error) {
      return Promise.reject(error);
    }
  }
  return new Promise((resolve, reject) => {
    // The functions of the app run in the async context of the call that caused them.
    const resource = new AsyncResource('memoryline');
    operations.set(started, { app, finish, reject, resolve, resource });
  });
}

/**
 * What the addon tells: the parsed JSON, with `vectors` when some cross beside it. Throws the failure that it tells.
 */
function readPayload(payload) {
  if (typeof payload === 'string') return JSON.parse(payload);
  if (payload.json === undefined) throw fromFailure(payload);
  const { json, widths, numbers } = payload;
  let start = 0;
  const vectors = Array.from(widths, (width) => {
    if (width === 0) return undefined;
    // A loop: `Array.from` of a typed array goes through its iterator and takes thirty times as long.
    const vector = [];
    for (let index = 0; index < width; index += 1) vector.push(numbers[start + index]);
    start += width;
    return vector;
  });
  return Object.assign(JSON.parse(json), { vectors });
}

/** Puts vectors that crossed beside the JSON into their messages. */
function attachVectors(messages, vectors) {
  vectors?.forEach((vector, index) => {
    if (vector !== undefined) messages[index].embedding = vector;
  });
}

/** Called by the addon: `call` is 0 when the operation is done, else it asks for the function `option` of the app. */
function dispatch(number, call, option, payload) {
  const operation = operations.get(number);
  if (call === 0) {
    operations.delete(number);
    operation.resource.runInAsyncScope(complete, undefined, operation, payload);
    operation.resource.emitDestroy();
    return;
  }
  operation.resource.runInAsyncScope(() => {
    const current = { number, active: true, outer: calls.getStore() };
    calls.run(current, serve, operation, call, option, payload, current);
  });
}

function complete({ finish, hits, reject, resolve }, payload) {
  try {
    resolve(finish(readPayload(payload), hits));
  } catch (error) {
    reject(error);
  }
}

/** Calls the function of the app and hands what it gives to the addon, now or when its promise settles. */
function serve(operation, call, option, payload, current) {
  const failed = (error) => {
    current.active = false;
    bridge.settleFailed(call, keepThrown(error));
  };
  const { run, settle } = CALLS[option];
  const settled = (result, input) => {
    current.active = false;
    try {
      settle(call, result, operation, input);
    } catch (error) {
      failed(error);
    }
  };
  try {
    const input = payload === '' ? undefined : readPayload(payload);
    const result = run(operation.app, input, call);
    if (typeof result?.then === 'function') {
      Promise.resolve(result).then((value) => settled(value, input), failed);
    } else {
      settled(result, input);
    }
  } catch (error) {
    failed(error);
  }
}

/** For each function of the app: how it is called, and how its result crosses. */
const CALLS = {
  summarize: {
    run: (app, input) => app.summarize(input),
    settle(call, result) {
      if (typeof result === 'object' ? result !== null : ['function', 'symbol'].includes(typeof result)) {
        throw wrongResult('summarize', 'a string');
      }
      bridge.settleText(call, String(result ?? ''));
    },
  },
  extractFacts: {
    run: (app, input) => app.extractFacts(input),
    settle(call, result) {
      const facts = result ?? [];
      if (!Array.isArray(facts)) throw wrongResult('extractFacts', 'a list of { key, value }');
      bridge.settleJson(call, JSON.stringify(factInputs(facts)));
    },
  },
  embed: {
    run: (app, texts) => app.embed(texts),
    settle(call, result, operation, texts) {
      const { widths, numbers } = packVectors(result, texts.length);
      bridge.settleVectors(call, widths, numbers);
    },
  },
  retrieve: {
    run(app, { sessionId, query, topK, minScore, embedding }, call) {
      const handle = bridge.archiveOf(call);
      return app.retrieve({
        sessionId,
        query,
        topK,
        minScore,
        // Most retrievers have an index of their own; the archive crosses when it is read, and only then.
        get archive() {
          const archive = JSON.parse(handle.json());
          Object.defineProperty(this, 'archive', { value: archive, writable: true });
          return archive;
        },
        ...(embedding === undefined ? undefined : { embedding }),
      });
    },
    settle(call, result, operation) {
      if (typeof result?.[Symbol.iterator] !== 'function') {
        throw wrongResult('retrieve', 'a list of { message, score }');
      }
      operation.hits = [...result];
      const hits = operation.hits.map((hit) => {
        const message = hit?.message;
        if (typeof message !== 'object' || message === null) {
          throw wrongResult('retrieve', 'a list of { message, score }');
        }
        const { id, tokens, role, content, name, toolCalls } = message;
        // Without them a message can be put neither into the budget nor into its place.
        if (!Number.isFinite(id) || !Number.isFinite(tokens)) {
          throw wrongResult('retrieve', 'messages of the archive, each with the id and the tokens that it has there');
        }
        return { id, tokens, message: { role, content, name, toolCalls } };
      });
      bridge.settleJson(call, JSON.stringify(hits));
    },
  },
  onArchive: {
    run(app, { sessionId, messages, vectors }) {
      attachVectors(messages, vectors);
      return app.onArchive(sessionId, messages);
    },
    settle: (call) => bridge.settleNothing(call),
  },
  clock: {
    run: (app) => app.clock(),
    settle: (call, result) => bridge.settleNumber(call, checkTime(result)),
  },
  'store.load': {
    run: (app, id) => storeMethod(app, 'load')(id),
    settle: (call, state) => (state == null ? bridge.settleNothing(call) : bridge.settleJson(call, stateJson(state))),
  },
  'store.save': {
    run: (app, state) => storeMethod(app, 'save')(state),
    settle: (call) => bridge.settleNothing(call),
  },
  'store.delete': {
    run: (app, id) => storeMethod(app, 'delete')(id),
    settle: (call) => bridge.settleNothing(call),
  },
};

/** A method of the app's store, to be called. */
function storeMethod({ store }, name) {
  if (typeof store[name] !== 'function') throw invalidOption(TypeError, `store.${name} must be a function`);
  return (argument) => store[name](argument);
}

/** Checks what the app's clock gave. */
function checkTime(time) {
  if (typeof time !== 'number' || Number.isNaN(time)) throw wrongResult('clock', 'a number of milliseconds');
  return time;
}

module.exports = { attachVectors, bridge, checkTime, currentCallers, nothing, promiseOf, value };
