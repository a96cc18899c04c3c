// Database clients fit the stores without a cast.
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { createClient, createClientPool, createCluster, type RedisClientType } from 'redis';
import { createMemory, RedisStore, SqlStore, type RedisLike, type SqlQuery } from 'memoryline';

const pool = new pg.Pool();
const client = new pg.Client();
export const postgres: SqlStore[] = [
  new SqlStore({ query: (sql, params) => pool.query(sql, params) }),
  new SqlStore({ query: async (sql, params) => client.query<{ state: string }>(sql, params), table: 'chat.sessions' }),
  new SqlStore({ query: async (sql, params) => (await pool.query(sql, params)).rows, dialect: 'postgres' }),
];
export const ddl: Promise<pg.QueryResult> = pool.query(SqlStore.ddl());

const mysqlPool = mysql.createPool('mysql://127.0.0.1');
export const mysqlQuery: SqlQuery = (sql, params) => mysqlPool.query(sql, params);
export const mysqlExecute: SqlQuery = (sql, params) => mysqlPool.execute(sql, params);
export const mysqlRows: SqlQuery = async (sql, params) => {
  const [rows] = await mysqlPool.execute<mysql.RowDataPacket[]>(sql, params);
  return rows;
};
export const mysqlStore: SqlStore = new SqlStore({ query: mysqlQuery, dialect: 'mysql' });

// The shape that `node:sqlite` has.
declare const database: {
  prepare(sql: string): { all(...params: (string | number | bigint | null | Uint8Array)[]): Record<string, unknown>[] };
};
export const sqlite: SqlStore = new SqlStore({
  query: (sql, params) => database.prepare(sql).all(...params),
  dialect: 'sqlite',
});

// A query function that was written for any list of parameters.
export const general: SqlQuery = async (sql: string, params: unknown[]) => ({ rows: [sql, params] });

// @ts-expect-error A dialect that does not exist.
export const oracle: SqlStore = new SqlStore({ query: mysqlQuery, dialect: 'oracle' });
// @ts-expect-error The query function is needed.
export const withoutQuery: SqlStore = new SqlStore({ table: 'sessions' });
// @ts-expect-error One row is neither rows nor an object with rows.
export const oneRow: SqlQuery = (sql) => ({ state: sql });
// @ts-expect-error Text is not rows.
export const text: SqlQuery = async (sql) => sql;

const nodeRedis = createClient();
declare const annotated: RedisClientType;
export const redis: RedisStore[] = [
  new RedisStore(nodeRedis),
  new RedisStore(nodeRedis, { prefix: 'chat:', ttlSeconds: 60 * 60 * 24 * 30 }),
  new RedisStore(annotated),
  new RedisStore(createClientPool()),
  new RedisStore(createCluster({ rootNodes: [] })),
  new RedisStore(new Redis({ lazyConnect: true }), { ttlSeconds: 60 }),
];
export const likes: RedisLike[] = [nodeRedis, annotated, new Redis({ lazyConnect: true })];

const values = new Map<string, string>();
export const small: RedisLike = {
  get: async (key) => values.get(key),
  set: async (key, value) => values.set(key, value),
  del: async (key) => values.delete(key),
};

// @ts-expect-error A client must be able to delete.
export const withoutDel: RedisStore = new RedisStore({ get: async () => null, set: async () => 'OK' });
// @ts-expect-error The time to live is a number of seconds.
export const textTtl: RedisStore = new RedisStore(small, { ttlSeconds: '60' });

export const memories = [...postgres, mysqlStore, sqlite, ...redis].map((store) => createMemory({ store }));
