'use strict';

// Memory and Session: each method checks its arguments, starts one operation of the core, and shapes its result.

const { MemoryCore } = require('../binding.js');
const {
  assertSessionState,
  checkContextOptions,
  checkMemoryOptions,
  checkSessionId,
} = require('./checks.js');
const { checkTokenCount, factInputs, packMessages, stateJson } = require('./convert.js');
const { fromFailure, invalidArgument, invalidOption, keepThrown } = require('./errors.js');
const { countTokens, extractiveSummary, messageText } = require('./functions.js');
const { attachVectors, bridge, checkTime, currentCallers, nothing, promiseOf, value } = require('./operations.js');
const { readMessages } = require('./providers/index.js');
const { MemoryStore, nativeCore } = require('./stores.js');
const { encodingOption } = require('./tokenizers.js');

/**
 * A function of the app, or one that says what is given instead of it. An app may configure what it never uses, so this
 * is said when it is called.
 */
function callable(given, name) {
  if (given == null || typeof given === 'function') return given ?? undefined;
  return () => {
    throw invalidOption(TypeError, `${name} must be a function`);
  };
}

/** What all sessions of one memory share: its options, its store, and the core that works for it. */
class MemoryInternals {
  #countTokens;
  #onError;
  #clock;
  #figures;
  #native;
  #snapshot;

  constructor(options) {
    const encoding = encodingOption(options);
    this.#figures = checkMemoryOptions(options, encoding);
    this.#countTokens = callable(options.countTokens, 'countTokens');
    const countExactly = encoding && ((text) => countTokens(text, encoding));
    this.#onError = options.onError ?? undefined;
    const [summarize = (input) => extractiveSummary(input, this.#countTokens ?? countExactly), extractFacts, embed, retrieve, onArchive, clock] =
      ['summarize', 'extractFacts', 'embed', 'retrieve', 'onArchive', 'clock'].map((name) => callable(options[name], name));
    const store = options.store ?? new MemoryStore();
    /** The functions that operations call. */
    this.app = { summarize, extractFacts, embed, retrieve, onArchive, clock, store };
    if (clock !== undefined) {
      // Called by the addon in the middle of a call of the app, where nothing may be thrown.
      this.#clock = () => {
        try {
          return checkTime(clock());
        } catch (error) {
          return { thrown: keepThrown(error) };
        }
      };
    }
  }

  /**
   * The core over the store. A store in the box is reached directly, unless the app has changed one of its methods (a
   * subclass, a spy): then those are called, as for any other object.
   */
  #core() {
    const core = nativeCore(this.app.store);
    if (core === undefined) {
      this.#snapshot ??= MemoryCore.overSnapshot(bridge, this.#figures);
      return this.#snapshot;
    }
    this.#native ??= core.over(bridge, this.#figures);
    return this.#native;
  }

  /** Starts the operation `method` of the core with what every operation takes behind its own arguments. */
  run(method, own, finish) {
    const now = this.#clock === undefined ? Date.now() : 0;
    return promiseOf(this.#core()[method](...own, now, this.#clock, currentCallers()), this.app, finish);
  }

  /** The same for operations that take no time. */
  runTimeless(method, own, finish) {
    return promiseOf(this.#core()[method](...own, currentCallers()), this.app, finish);
  }

  add(id, messages) {
    let packed;
    try {
      packed = packMessages(messages, this.#countTokens && ((message) => this.#count(messageText(message))));
    } catch (error) {
      return Promise.reject(error);
    }
    return this.run('add', [id, packed], (envelope) => this.#withProblem(envelope, id, 'add', 'error'));
  }

  compact(id, force) {
    return this.run('compact', [id, force], (envelope) => this.#withProblem(envelope, id, 'compact', 'error'));
  }

  context(id, { query, skipRecall, topK, minScore }) {
    return this.run('context', [id, query, skipRecall, topK, minScore], (envelope, hits) => {
      const context = this.#withProblem(envelope, id, 'context', 'recallError');
      attachVectors(context.recalled.map(({ message }) => message), envelope.vectors);
      if (envelope.retrieved !== undefined) context.recalled = envelope.retrieved.map((index) => hits[index]);
      if (this.#countTokens !== undefined) {
        const { tokens } = context;
        tokens.summary = this.#count(context.summary);
        tokens.facts = this.#count(envelope.factsText);
        tokens.total = this.#count(context.system) + tokens.recent;
      }
      return context;
    });
  }

  #count(text) {
    return checkTokenCount(this.#countTokens(text));
  }

  /** The value of an envelope; a failure that the call survived goes into it as `member`, and to `onError`. */
  #withProblem({ value: result, problem }, sessionId, operation, member) {
    if (problem === undefined) return result;
    const error = fromFailure(problem);
    result[member] = error;
    try {
      const heard = this.#onError?.(error, { sessionId, stage: problem.stage, operation });
      if (typeof heard?.then === 'function') Promise.resolve(heard).catch(nothing);
    } catch {
      // A listener that fails must not fail the call that it is told about.
    }
    return result;
  }
}

/** A handle to one session. Cheap: all state is in the store. */
class Session {
  #internals;

  constructor(internals, id) {
    this.#internals = internals;
    Object.defineProperty(this, 'id', { value: id, enumerable: true });
  }

  add(messages) {
    const list = Array.isArray(messages) ? messages : [messages];
    return this.#internals.add(this.id, readMessages(list));
  }

  compact(options) {
    return this.#internals.compact(this.id, Boolean(options?.force));
  }

  pin(facts, factValue) {
    const list = Array.isArray(facts) ? facts : [facts];
    const inputs = factInputs(typeof facts === 'string' ? [{ key: facts, value: factValue }] : list);
    return this.#internals.run('pin', [this.id, JSON.stringify(inputs)], value);
  }

  unpin(key) {
    if (typeof key !== 'string') throw invalidArgument('fact key must be a string');
    return this.#internals.run('unpin', [this.id, key], value);
  }

  facts() {
    return this.#internals.run('facts', [this.id], value);
  }

  messages() {
    return this.#internals.run('messages', [this.id], value);
  }

  state() {
    return this.#internals.run('state', [this.id], value);
  }

  context(options) {
    return this.#internals.context(this.id, checkContextOptions(options));
  }

  clear() {
    return this.#internals.runTimeless('forget', [this.id], nothing);
  }
}

/** Conversation memory over a store. */
class Memory {
  #internals;

  constructor(options = {}) {
    this.#internals = new MemoryInternals(options);
  }

  session(id) {
    checkSessionId(id);
    return new Session(this.#internals, id);
  }

  forget(id) {
    checkSessionId(id);
    return this.#internals.runTimeless('forget', [id], nothing);
  }

  export(id) {
    checkSessionId(id);
    return this.#internals.runTimeless('export', [id], value);
  }

  import(state) {
    assertSessionState(state);
    let json;
    try {
      json = stateJson(state);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#internals.runTimeless('import', [state.id, json], nothing);
  }
}

const createMemory = (options) => new Memory(options);

module.exports = { Memory, Session, createMemory };
