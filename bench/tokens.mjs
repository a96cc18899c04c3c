// Exact token counting beside the packages that a user would pick instead, on the same texts in one process.
//
//   npm run bench:tokens              a table
//   npm run bench:tokens -- --json    one JSON object
//
// The figures to compare are the ratios. All run in turns, so that whatever else the machine does falls on all of them.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { createRequire } from 'node:module';

import { countTokens as gptCount } from 'gpt-tokenizer/encoding/o200k_base';
import { get_encoding } from 'tiktoken';
import { countTokens } from 'memoryline';

const { version } = createRequire(import.meta.url)('../package.json');
const flags = new Set(process.argv.slice(2));
const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

// Numbers that look random and are the same in every run.
let seed = 42;
const random = (below) => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((seed / 2_147_483_648) * below);
};

/** Chinese and Japanese as a reader would not have it, but a tokenizer does: common characters, kana and punctuation. */
function cjk(length) {
  const common = '的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长';
  const kana = 'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんアイウエオカキクケコ';
  return Array.from({ length }, () => [common, common, common, kana, '，。、'][random(5)]).map((from) => from[random(from.length)]).join('');
}

const TEXTS = {
  prose: `${read('README.md').replace(/```[^]*?```/g, '')}\n${read('ARCHITECTURE.md')}`,
  code: `${read('index.d.ts').replace(/\/\*\*[^]*?\*\//g, '')}\n${read('lib/operations.js')}\n${read('src/tokens/exact/mod.rs')}`,
  CJK: cjk(20_000),
};

const tiktoken = get_encoding('o200k_base');
const COUNTERS = {
  memoryline: (text) => countTokens(text, 'o200k_base'),
  tiktoken: (text) => tiktoken.encode_ordinary(text).length,
  'gpt-tokenizer': (text) => gptCount(text, { disallowedSpecial: new Set() }),
};

const median = (list) => list.sort((left, right) => left - right)[list.length >> 1];

/** Megabytes a second of CPU, for each counter: medians of rounds in which all take their turn. */
function measure(text) {
  const bytes = Buffer.byteLength(text);
  const seconds = Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, []]));
  for (let round = 0; round < 9; round += 1) {
    for (const [name, count] of Object.entries(COUNTERS)) {
      const times = name === 'memoryline' ? 20 : 3;
      const start = process.cpuUsage();
      for (let time = 0; time < times; time += 1) count(text);
      const { user, system } = process.cpuUsage(start);
      seconds[name].push((user + system) / 1e6 / times);
    }
  }
  return Object.fromEntries(Object.entries(seconds).map(([name, list]) => [name, bytes / 1e6 / median(list)]));
}

/** The CPU milliseconds of the first count in a fresh process, without loading the package. */
function loading() {
  const code = `import { countTokens, estimateTokens } from 'memoryline'; estimateTokens('a'); const start = process.cpuUsage();
    countTokens('a', process.argv[1]); const { user, system } = process.cpuUsage(start); console.log((user + system) / 1000)`;
  const cwd = new URL('..', import.meta.url);
  const once = (name) => Number(execFileSync(process.execPath, ['--input-type=module', '-e', code, name], { cwd }));
  return Object.fromEntries(['o200k_base', 'cl100k_base'].map((name) => [name, median(Array.from({ length: 5 }, () => once(name)))]));
}

const results = {};
for (const [name, text] of Object.entries(TEXTS)) {
  const counts = Object.values(COUNTERS).map((count) => count(text));
  const speeds = measure(text);
  results[name] = {
    bytes: Buffer.byteLength(text),
    tokens: counts[0],
    agree: { tiktoken: counts[0] === counts[1], 'gpt-tokenizer': counts[0] === counts[2] },
    megabytesPerSecond: speeds,
    ratio: { tiktoken: speeds.memoryline / speeds.tiktoken, 'gpt-tokenizer': speeds.memoryline / speeds['gpt-tokenizer'] },
  };
}
const load = loading();
tiktoken.free();

if (flags.has('--json')) {
  console.log(JSON.stringify({ version, node: process.version, cpu: os.cpus()[0]?.model, results, loadMilliseconds: load }));
} else {
  console.log(`memoryline ${version}, Node ${process.version}, ${os.cpus()[0]?.model} x ${os.cpus().length}, o200k_base`);
  console.table(
    Object.entries(results).map(([text, { bytes, tokens, megabytesPerSecond, ratio }]) => ({
      text,
      bytes,
      tokens,
      ...Object.fromEntries(Object.entries(megabytesPerSecond).map(([name, speed]) => [`${name} MB/s`, speed.toFixed(1)])),
      'x tiktoken': ratio.tiktoken.toFixed(1),
      'x gpt-tokenizer': ratio['gpt-tokenizer'].toFixed(1),
    })),
  );
  console.log(`first count, CPU ms: ${Object.entries(load).map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(', ')}`);
}
