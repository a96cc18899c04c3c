import initSqlJs from 'sql.js';

const STATEMENTS = [
  [/^SELECT state FROM (\S+) WHERE id = (?:\$1|\?)$/, 'select'],
  [/^INSERT INTO (\S+) \(id, state, updated_at\) VALUES \((?:\$1, \$2, \$3|\?, \?, \?)\) ON /, 'upsert'],
  [/^DELETE FROM (\S+) WHERE id = (?:\$1|\?)$/, 'delete'],
];

const SHAPES = {
  // As `pg` answers.
  rows: (rows) => ({ rows, rowCount: rows.length }),
  // As a thin wrapper over an embedded database answers.
  array: (rows) => rows,
  // As `mysql2/promise` answers: the rows and, beside them, a description of the columns.
  mysql2: (rows) => [rows, [{ name: 'state', columnType: 252 }]],
};

// A client that keeps rows and remembers every statement it was given. It knows the three statements of a snapshot store
// and refuses any other, so a change of the SQL cannot pass unnoticed.
export function createSqlClient({ shape = 'rows', column = (text) => text } = {}) {
  const tables = new Map();
  const statements = [];
  const answer = SHAPES[shape];
  return {
    tables,
    statements,
    async query(sql, params) {
      statements.push({ sql, params });
      for (const [pattern, kind] of STATEMENTS) {
        const match = pattern.exec(sql);
        if (match === null) continue;
        if (!tables.has(match[1])) tables.set(match[1], new Map());
        const table = tables.get(match[1]);
        const [id, state, updatedAt] = params;
        if (kind === 'select') return answer(table.has(id) ? [{ state: column(table.get(id).state) }] : []);
        if (kind === 'upsert') table.set(id, { state, updatedAt });
        else table.delete(id);
        // mysql2 answers a write with a header object where the rows would be.
        return shape === 'mysql2' ? [{ affectedRows: 1 }, undefined] : answer([]);
      }
      throw new Error(`the client was given a statement that it does not know: ${sql}`);
    },
  };
}

// A real SQLite database behind the `query` function that an app would write for it.
export async function openSqlite() {
  const { Database } = await initSqlJs();
  const database = new Database();
  return {
    database,
    query(sql, params = []) {
      const statement = database.prepare(sql);
      try {
        statement.bind(params);
        const rows = [];
        while (statement.step()) rows.push(statement.getAsObject());
        return rows;
      } finally {
        statement.free();
      }
    },
  };
}
