// Starts twenty workers that use the library and ends each at another moment: while it loads, or after some of its turns.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const [mode, file] = process.argv.slice(2);
if (mode.includes('main')) {
  const { createMemory } = await import('../../support/library.mjs');
  const session = createMemory({ summarize: async () => 'S', budget: { maxTokens: 1, keepRecent: 1 } }).session('main');
  await session.add([{ role: 'user', content: 'a' }, { role: 'user', content: 'b' }]);
}

const url = new URL('worker.mjs', import.meta.url);
await Promise.all(
  Array.from({ length: 20 }, async (_, id) => {
    const worker = new Worker(url, { workerData: { id, file: mode.includes('file') ? file : undefined } });
    const exited = once(worker, 'exit');
    // An error in a worker reaches the main thread and fails the program.
    const turns = Math.floor(Math.random() * 12);
    if (turns === 0) {
      if (Math.random() < 0.5) await once(worker, 'online');
    } else {
      let left = turns;
      await new Promise((resolve) => worker.on('message', () => (left -= 1) === 0 && resolve()));
    }
    await worker.terminate();
    await exited;
  }),
);

// What the workers left behind must not have broken anything for those that come after.
const { createMemory, SqliteStore } = await import('../../support/library.mjs');
const store = mode.includes('file') ? new SqliteStore(file) : undefined;
const session = createMemory({ store, summarize: async () => 'S', budget: { maxTokens: 1, keepRecent: 1 } }).session('after');
const { added, folded } = await session.add([{ role: 'user', content: 'a' }, { role: 'user', content: 'b' }]);
console.log(JSON.stringify({ added, folded }));
