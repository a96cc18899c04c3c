// How long an operation holds up the event loop when the whole session goes through a snapshot store: SqlStore, over a
// client that answers from this process, so that no database is measured.
//
//   node bench/snapshot.mjs            1,000 archived messages with vectors of 1,536 numbers
//   node bench/snapshot.mjs 200 384    as many, as wide
//
// A timer of one millisecond runs beside the operation: what it is late is how long the event loop was held up.

import os from 'node:os';
import { setTimeout } from 'node:timers/promises';

import { createMemory, SqlStore } from 'memoryline';

const [archived = 1_000, width = 1_536] = process.argv.slice(2).map(Number);
const ROUNDS = 21;

// Single precision, as models give it and as OpenAI's package hands it out: in JSON each number is some twenty digits.
let drawn = 0;
const embed = (texts) =>
  texts.map(() => Array.from({ length: width }, () => Math.fround(Math.sin((drawn += 1) * 12.9898) * 0.05)));

let stored;
const query = async (sql, [, state]) => {
  if (sql.startsWith('INSERT')) stored = state;
  return { rows: sql.startsWith('SELECT') && stored !== undefined ? [{ state: stored }] : [] };
};

const session = createMemory({
  store: new SqlStore({ query }),
  embed,
  summarize: () => 'A summary of what was said before.',
  recall: { minScore: -1 },
}).session('bench');

const words = 'the table is free at seven and the patio has room for six people on friday if it does not rain';
const message = (index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `${index}: ${words}` });
await session.add(Array.from({ length: archived }, (_, index) => message(index)));
await session.compact({ force: true });
await session.add([0, 1, 2, 3].map(message));
await session.compact({ force: true });

/** How long the event loop was held up at once and together, and how long it all took, in milliseconds. */
async function measure(operate) {
  let isDone = false;
  let longest = 0;
  let together = 0;
  const ticks = (async () => {
    let last = performance.now();
    while (!isDone) {
      await setTimeout(1);
      const now = performance.now();
      longest = Math.max(longest, now - last);
      // Less than this is the timer's own spread.
      if (now - last > 10) together += now - last;
      last = now;
    }
  })();
  const start = performance.now();
  await operate();
  const took = performance.now() - start;
  isDone = true;
  await ticks;
  return { longest, together, took };
}

const median = (numbers) => [...numbers].sort((left, right) => left - right)[numbers.length >> 1];
const operations = {
  add: () => session.add({ role: 'user', content: words }),
  context: () => session.context(),
};
const rows = Object.fromEntries(Object.keys(operations).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, operate] of Object.entries(operations)) rows[name].push(await measure(operate));
}

const { archive } = await session.state();
const megabytes = (Buffer.byteLength(stored) / 1e6).toFixed(1);
console.log(`Node ${process.version}, ${os.cpus()[0]?.model ?? 'unknown'} x ${os.cpus().length}, medians of ${ROUNDS} rounds`);
console.log(`${archive.length} archived messages, vectors of ${archive[0].embedding.length} numbers, ${megabytes} MB of JSON`);
console.table(
  Object.fromEntries(
    Object.entries(rows).map(([name, times]) => [
      name,
      {
        'longest hold-up (ms)': Math.round(median(times.map(({ longest }) => longest))),
        'hold-ups together (ms)': Math.round(median(times.map(({ together }) => together))),
        'took (ms)': Math.round(median(times.map(({ took }) => took))),
      },
    ]),
  ),
);
