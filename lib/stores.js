'use strict';

// The stores: two in the addon, and two that hand whole states to a client of the app.

const binding = require('../binding.js');
const { checkSessionId, isObject, numberOption } = require('./checks.js');
const { stateJson } = require('./convert.js');
const { fromFailure, invalidJson, invalidOption, invalidState, wrongResult } = require('./errors.js');
const { bridge, nothing, promiseOf, value } = require('./operations.js');

/** How a memory reaches the store in the addon, by store. */
const cores = new WeakMap();

/** Sessions in this process. */
class MemoryStore {
  #core = new binding.MemoryStoreCore();

  constructor() {
    cores.set(this, { over: (...shared) => binding.MemoryCore.overMemory(...shared, this.#core) });
  }

  load(id) {
    const json = typeof id === 'string' ? this.#core.load(id) : null;
    return json == null ? null : JSON.parse(json);
  }

  save(state) {
    if (typeof state.id !== 'string') throw invalidState('session state needs an id');
    const failure = this.#core.save(state.id, stateJson(state));
    if (failure != null) throw fromFailure(failure);
  }

  delete(id) {
    if (typeof id === 'string') this.#core.delete(id);
  }

  ids() {
    return JSON.parse(this.#core.ids());
  }
}

/** Sessions in a SQLite file. */
class SqliteStore {
  #core;

  constructor(path, options) {
    if (typeof path !== 'string' || path === '') throw invalidOption(TypeError, 'path must be a non-empty string');
    const durability = options?.durability ?? 'normal';
    if (durability !== 'normal' && durability !== 'full') {
      throw invalidOption(TypeError, "durability must be 'normal' or 'full'");
    }
    const busyTimeoutMs = numberOption(options?.busyTimeoutMs, 'busyTimeoutMs', 5000, 0);
    const core = binding.SqliteStoreCore.open(path, {
      fullDurability: durability === 'full',
      busyTimeoutMs: Math.min(Math.ceil(busyTimeoutMs), 2 ** 31 - 1),
    });
    if (!(core instanceof binding.SqliteStoreCore)) throw fromFailure(core);
    this.#core = core;
    cores.set(this, { over: (...shared) => binding.MemoryCore.overSqlite(...shared, core) });
  }

  async load(id) {
    checkSessionId(id);
    return promiseOf(this.#core.load(bridge, id), undefined, value);
  }

  async save(state) {
    return promiseOf(this.#core.save(bridge, stateJson(state)), undefined, nothing);
  }

  async delete(id) {
    checkSessionId(id);
    return promiseOf(this.#core.delete(bridge, id), undefined, nothing);
  }

  async ids() {
    return promiseOf(this.#core.ids(bridge), undefined, value);
  }

  close() {
    this.#core.close();
  }
}

// Node 18 before 18.18 has no such symbols.
if (Symbol.dispose !== undefined) {
  define(SqliteStore, Symbol.dispose, function dispose() {
    this.close();
  });
}
if (Symbol.asyncDispose !== undefined) {
  define(SqliteStore, Symbol.asyncDispose, async function asyncDispose() {
    this.close();
  });
}

function define(Class, name, method) {
  Object.defineProperty(Class.prototype, name, { value: method, writable: true, configurable: true });
}

const STORE_METHODS = ['load', 'save', 'delete'];
const originals = [MemoryStore, SqliteStore].map((Class) => {
  const methods = STORE_METHODS.map((name) => Class.prototype[name]);
  return { Class, methods };
});

/** How a memory reaches `store` in the addon; undefined for a store of the app, or one whose methods were changed. */
function nativeCore(store) {
  const core = cores.get(store);
  if (core === undefined) return undefined;
  const { methods } = originals.find(({ Class }) => store instanceof Class);
  return STORE_METHODS.every((name, idx) => store[name] === methods[idx]) ? core : undefined;
}

const DEFAULT_TABLE = 'memoryline_sessions';

const ON_CONFLICT = 'ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, updated_at = EXCLUDED.updated_at';

const UPSERTS = {
  postgres: ON_CONFLICT,
  sqlite: ON_CONFLICT,
  mysql: 'ON DUPLICATE KEY UPDATE state = VALUES(state), updated_at = VALUES(updated_at)',
};

/** One row per session in a table of the app's database. */
class SqlStore {
  #query;
  #select;
  #insert;
  #delete;

  constructor(options) {
    const { query } = options ?? {};
    if (typeof query !== 'function') throw invalidOption(TypeError, 'query must be a function');
    const name = options.table ?? DEFAULT_TABLE;
    const dialect = options.dialect ?? 'postgres';
    if (!Object.hasOwn(UPSERTS, dialect)) {
      throw invalidOption(TypeError, `dialect must be one of ${Object.keys(UPSERTS).join(', ')}`);
    }
    const place = (number) => (dialect === 'postgres' ? `$${number}` : '?');
    this.#query = query;
    this.#select = `SELECT state FROM ${name} WHERE id = ${place(1)}`;
    const places = [1, 2, 3].map(place).join(', ');
    this.#insert = `INSERT INTO ${name} (id, state, updated_at) VALUES (${places}) ${UPSERTS[dialect]}`;
    this.#delete = `DELETE FROM ${name} WHERE id = ${place(1)}`;
  }

  static ddl(table) {
    const columns = 'id VARCHAR(255) PRIMARY KEY, state TEXT NOT NULL, updated_at BIGINT NOT NULL';
    return `CREATE TABLE IF NOT EXISTS ${table ?? DEFAULT_TABLE} (${columns})`;
  }

  async load(id) {
    const [row] = rowsOf(await this.#query(this.#select, [id]));
    if (row === undefined) return null;
    // An answer that cannot be read is no "there is no session": the next save would overwrite the one that is there.
    if (!isObject(row) || row.state === undefined) throw wrongResult('query', 'rows that have the column state');
    const { state } = row;
    return typeof state === 'string' || Buffer.isBuffer(state) ? parseState(state) : state;
  }

  async save(state) {
    await this.#query(this.#insert, [state.id, JSON.stringify(state), state.updatedAt]);
  }

  async delete(id) {
    await this.#query(this.#delete, [id]);
  }
}

/** The rows of `{ rows }`, of a plain list, or of the pair of rows and fields that mysql2 gives. */
function rowsOf(result) {
  const rows = Array.isArray(result) ? result : result?.rows;
  if (!Array.isArray(rows)) throw wrongResult('query', 'the rows of a SELECT: a list, { rows } or [rows, fields]');
  return Array.isArray(rows[0]) && rows !== result?.rows ? rows[0] : rows;
}

/** The state in a text that a database or Redis kept. */
function parseState(json) {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw invalidJson(cause);
  }
}

/** One key per session in Redis. */
class RedisStore {
  #client;
  #prefix;
  #ttlSeconds;

  constructor(client, options) {
    if (!isObject(client) && typeof client !== 'function') throw invalidOption(TypeError, 'client must be a Redis client');
    this.#client = client;
    this.#prefix = options?.prefix ?? 'memoryline:';
    this.#ttlSeconds = options?.ttlSeconds ?? undefined;
    if (this.#ttlSeconds === undefined) return;
    if (!Number.isInteger(this.#ttlSeconds) || this.#ttlSeconds < 0) {
      throw invalidOption(RangeError, 'ttlSeconds must be a whole number >= 0');
    }
    if (typeof client.expire !== 'function') throw invalidOption(TypeError, 'ttlSeconds needs a client with expire');
  }

  /** Calls a command of the client. */
  #send(command, ...values) {
    const client = this.#client;
    if (typeof client[command] !== 'function') throw invalidOption(TypeError, `client.${command} must be a function`);
    return client[command](...values);
  }

  async load(id) {
    const text = await this.#send('get', this.#prefix + id);
    if (text == null || text === '') return null;
    // A client that answers through a callback returns false here, which must not pass for "there is no session".
    if (typeof text !== 'string' && !Buffer.isBuffer(text)) {
      throw wrongResult('client.get', 'the stored text, or null when there is none');
    }
    return parseState(text);
  }

  async save(state) {
    const key = this.#prefix + state.id;
    const json = JSON.stringify(state);
    const ttlSeconds = this.#ttlSeconds;
    // node-redis and ioredis set value and expiry in one command, which leaves no key without its expiry behind. Redis
    // refuses it for 0 seconds, which EXPIRE takes for «at once».
    const setWithExpiry = ['setEx', 'setex'].find((command) => typeof this.#client[command] === 'function');
    if (ttlSeconds > 0 && setWithExpiry !== undefined) {
      await this.#send(setWithExpiry, key, ttlSeconds, json);
      return;
    }
    await this.#send('set', key, json);
    if (ttlSeconds !== undefined) await this.#send('expire', key, ttlSeconds);
  }

  async delete(id) {
    await this.#send('del', this.#prefix + id);
  }
}

module.exports = { MemoryStore, RedisStore, SqlStore, SqliteStore, nativeCore };
