// Adds messages to one session in a SQLite file and says after each that it was acknowledged.
import { writeSync } from 'node:fs';
import { createMemory, SqliteStore } from '../../support/library.mjs';

const [file, name, count, durability] = process.argv.slice(2);
const store = new SqliteStore(file, { durability, busyTimeoutMs: 60_000 });
const session = createMemory({
  store,
  countTokens: () => 1,
  budget: { maxTokens: 20, keepRecent: 4, perMessageOverhead: 0 },
  archive: { max: 1e6 },
  summarize: async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return 'S';
  },
}).session('shared');
for (let index = 0; index < Number(count); index++) {
  const content = `${name} ${index}`;
  await session.add({ role: 'user', content });
  // Written at once, so that a kill right after cannot take the line back.
  writeSync(1, `${content}\n`);
}
store.close();
