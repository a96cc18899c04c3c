// What one chat turn costs (add the user's message, build the context, add the reply) on the default store, by how many
// messages came before.
//
//   npm run bench               a table
//   npm run bench -- --json     one JSON object
//   npm run bench -- --quick    fewer turns, for trying things out
//
// All rows run in one process and take turns, so that whatever else the machine does falls on all of them. The figures
// to compare are the ratios.

import os from 'node:os';
import { createRequire } from 'node:module';

import { createMemory } from 'memoryline';

const { version } = createRequire(import.meta.url)('../package.json');

const flags = new Set(process.argv.slice(2));
const EARLIER = flags.has('--quick') ? [20, 1_000, 5_000] : [20, 1_000, 100_000];
const ROUNDS = flags.has('--quick') ? 20 : 60;
const TURNS_PER_ROUND = 10;
const WIDTH = 1_536;
const ALL = 1_000_000;

// Vectors out of a pool: what is measured is the library, not the making of numbers.
const pool = Float32Array.from({ length: WIDTH * 64 }, (_, index) => Math.sin(index * 12.9898) * 0.05);
let drawn = 0;

function embed(texts) {
  const data = new Float32Array(WIDTH * texts.length);
  for (let row = 0; row < texts.length; row += 1) {
    drawn = (drawn * 5 + 17) % (pool.length - WIDTH);
    data.set(pool.subarray(drawn, drawn + WIDTH), row * WIDTH);
  }
  return data;
}

const summarize = ({ messages }) => `A summary of what was said, the last ${messages.length} messages included.`;

const WORDS = 'the table is free at seven and the patio has room for six people on friday if it does not rain'.split(' ');
let said = 0;

function sentence() {
  said += 1;
  return Array.from({ length: 24 }, (_, place) => WORDS[(said * 7 + place * 5) % WORDS.length]).join(' ');
}

/** A session with so many messages behind it, made by adding them. */
async function prepare({ earlier, vectors, archiveMax }) {
  const memory = createMemory({
    summarize,
    archive: { max: archiveMax },
    ...(vectors ? { embed, recall: { minScore: -1 } } : undefined),
  });
  const session = memory.session('bench');
  for (let added = 0; added < earlier; ) {
    const batch = [];
    for (; batch.length < 50 && added < earlier; added += 1) {
      batch.push({ role: added % 2 === 0 ? 'user' : 'assistant', content: sentence() });
    }
    await session.add(batch);
  }
  return session;
}

async function turn(session) {
  await session.add({ role: 'user', content: sentence() });
  await session.context();
  await session.add({ role: 'assistant', content: sentence() });
}

const median = (numbers) => [...numbers].sort((left, right) => left - right)[numbers.length >> 1];

const rows = [false, true].flatMap((vectors) => EARLIER.map((earlier) => ({ earlier, vectors, archiveMax: 1_000 })));
rows.push(...EARLIER.map((earlier) => ({ earlier, vectors: false, archiveMax: ALL })));
for (const row of rows) {
  row.session = await prepare(row);
  row.wall = [];
  row.cpu = [];
  for (let count = 0; count < 50; count += 1) await turn(row.session);
}
for (let round = 0; round < ROUNDS; round += 1) {
  for (const row of rows) {
    const before = process.cpuUsage();
    for (let count = 0; count < TURNS_PER_ROUND; count += 1) {
      const start = process.hrtime.bigint();
      await turn(row.session);
      row.wall.push(Number(process.hrtime.bigint() - start) / 1_000);
    }
    const { user, system } = process.cpuUsage(before);
    row.cpu.push((user + system) / TURNS_PER_ROUND);
  }
}

const results = rows.map(({ earlier, vectors, archiveMax, wall, cpu }) => ({
  earlier,
  vectors,
  archive: archiveMax === ALL ? 'all' : archiveMax,
  medianMicroseconds: median(wall),
  cpuMicroseconds: median(cpu),
}));
const figure = (vectors, archive, earlier, member) =>
  results.find((row) => row.vectors === vectors && row.archive === archive && row.earlier === earlier)[member];
const [, middle, most] = EARLIER;
const ratio = (vectors, archive) => ({
  wall: figure(vectors, archive, most, 'medianMicroseconds') / figure(vectors, archive, middle, 'medianMicroseconds'),
  cpu: figure(vectors, archive, most, 'cpuMicroseconds') / figure(vectors, archive, middle, 'cpuMicroseconds'),
});
const report = {
  benchmark: 'turn',
  version,
  node: process.version,
  machine: `${os.cpus()[0]?.model ?? 'unknown'} x ${os.cpus().length}`,
  turns: ROUNDS * TURNS_PER_ROUND,
  rows: results,
  ratios: {
    description: `a turn after ${most} messages, as a multiple of one after ${middle}`,
    withoutVectors: ratio(false, 1_000),
    withVectors: ratio(true, 1_000),
    withoutVectorsAllArchived: ratio(false, 'all'),
  },
};

if (flags.has('--json')) {
  process.stdout.write(`${JSON.stringify(report)}\n`);
} else {
  process.stdout.write(`memoryline ${version}, Node ${process.version}, ${report.machine}\n`);
  process.stdout.write(`One turn: add, context, add. Medians over ${report.turns} turns; CPU with the folds in it.\n`);
  console.table(
    results.map((row) => ({
      'messages before': row.earlier,
      vectors: row.vectors ? `${WIDTH} wide` : 'none',
      'archive keeps': row.archive,
      'median (us)': Number(row.medianMicroseconds.toFixed(1)),
      'CPU (us)': Number(row.cpuMicroseconds.toFixed(1)),
    })),
  );
  for (const [name, { wall, cpu }] of Object.entries(report.ratios).slice(1)) {
    process.stdout.write(`${name}: ${most} against ${middle} messages: x${wall.toFixed(2)} (CPU x${cpu.toFixed(2)})\n`);
  }
}
