// Runs turns for ever, of every kind that crosses into native code, and tells its parent after each.
import { parentPort, workerData } from 'node:worker_threads';
import { createMemory, MemoryStore, SqliteStore } from '../../support/library.mjs';

const store = workerData.file === undefined ? new MemoryStore() : new SqliteStore(workerData.file);
const memory = createMemory({
  store,
  countTokens: (text) => text.length,
  budget: { maxTokens: 30, keepRecent: 2, perMessageOverhead: 0 },
  archive: { max: 50 },
  summarize: async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return 'S';
  },
  extractFacts: () => [{ key: 'k', value: 'v' }],
  embed: async (texts) => texts.map((text) => Float32Array.of(text.length, 1)),
  onArchive: async () => {},
});
for (let turn = 0; ; turn++) {
  const session = memory.session(`${workerData.id}`);
  // Several at once, so that some are always under way.
  await Promise.all([session.add({ role: 'user', content: `turn ${turn}` }), session.context({ query: 'turn' }), session.pin('turn', String(turn))]);
  parentPort.postMessage(turn);
}
