// The README is a program: every block in it runs, and what it says a block prints is what the block prints. Its tables
// of options and errors are kept to the declarations and the sources.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startProvider } from '../examples/provider/server.mjs';
import { createMemory, MemoryStore, SqliteStore } from './support/library.mjs';
import { compile } from './types/compiler.mjs';

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const read = (...names) => readFileSync(path.join(root, ...names), 'utf8');
const readme = read('README.md');
const declarations = read('index.d.ts');
const manifest = JSON.parse(read('package.json'));

// --- Reading

/** All fenced blocks, with the heading they stand under. */
function blocksOf(markdown) {
  const blocks = [];
  let heading = '';
  let open;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (fence === null) {
      if (open !== undefined) open.lines.push(line);
      else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '');
    } else if (open === undefined) {
      open = { language: fence[1], heading, line: index + 1, lines: [] };
    } else {
      blocks.push({ ...open, end: index + 1, code: open.lines.join('\n') });
      open = undefined;
    }
  }
  assert.equal(open, undefined, 'the last block of the README does not end');
  return blocks;
}

/** All tables, as their header cells and their rows of cells. */
function tablesOf(markdown) {
  const cells = (line) => line.split('|').slice(1, -1).map((cell) => cell.trim());
  return [...markdown.matchAll(/^(\|.*\|)\n\|[-|]+\|\n((?:\|.*\|\n)+)/gm)].map(([, header, rows]) => {
    return { header: cells(header), rows: rows.trimEnd().split('\n').map(cells) };
  });
}

const PROGRAMS = ['js', 'ts'];
const OUTPUTS = ['text', 'json', 'sql'];

const blocks = blocksOf(readme);
const programs = blocks.filter(({ language }) => PROGRAMS.includes(language));
for (const [index, block] of blocks.entries()) {
  block.module = `block-${block.line}`;
  const next = blocks[index + 1];
  // What a program prints stands right behind it, with nothing but an empty line between.
  if (PROGRAMS.includes(block.language) && OUTPUTS.includes(next?.language) && next.line === block.end + 2) {
    block.output = next.code;
    next.isOutput = true;
  }
}
const tables = tablesOf(readme);

// --- What the blocks run against

/** What the model of the block about tools answers. */
const script = [
  { role: 'user', content: 'Can you check my brakes on Friday?' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'free_slots', arguments: { day: 'Friday' } }] },
  { role: 'assistant', content: 'Friday at nine or at half past four. Which one?' },
];

/** Packages whose servers are not at hand, in front of an embedded database and of a map. */
const STAND_INS = {
  pg: (support) => `
    import { openSqlite } from ${support('sql.mjs')};
    export class Pool {
      #opened = openSqlite();
      async query(sql, params) {
        return { rows: (await this.#opened).query(sql, params) };
      }
    }`,
  redis: (support) => `
    import { createNodeRedis } from ${support('redis.mjs')};
    export function createClient() {
      const { server, client } = createNodeRedis();
      return { ...client, connect: async () => client, ttl: async (key) => server.ttls.get(key) ?? -1 };
    }`,
};

/** A chat that is long enough to be folded several times. */
const chat = Array.from({ length: 60 }, (_, day) => {
  const story = 'The wheel was taken out, looked at from all sides and put back in again. '.repeat(5);
  return day === 0 ? `My frame number is WX 4417. ${story}` : `Day ${day}. ${story}`;
});

/** What is appended to a block, or given to it, so that all of its functions are used. */
const EXTRAS = {
  'Quick start': { input: `${chat.join('\n')}\n` },
  'Plugging in a model': {
    code: `
      await session.add(${JSON.stringify(chat)}.map((content) => ({ role: 'user', content })));
      const state = await session.state();
      if (state.summary === '' || state.facts.length === 0) throw new Error('nothing was folded');`,
  },
};

let directory;
let provider;

before(async () => {
  directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'memoryline-readme-')));
  // The packages that an app beside this one would have: those of this project, and this project.
  const modules = path.join(directory, 'node_modules');
  const installed = path.join(root, 'node_modules');
  mkdirSync(modules);
  for (const entry of readdirSync(installed)) {
    if (entry.startsWith('.') || entry in STAND_INS) continue;
    symlinkSync(path.join(installed, entry), path.join(modules, entry), 'junction');
  }
  symlinkSync(root, path.join(modules, 'memoryline'), 'junction');
  const support = (name) => JSON.stringify(new URL(`support/${name}`, import.meta.url).href);
  for (const [name, write] of Object.entries(STAND_INS)) {
    mkdirSync(path.join(modules, name));
    writeFileSync(path.join(modules, name, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.js' }));
    writeFileSync(path.join(modules, name, 'index.js'), write(support));
  }
  for (const { language, module, code, heading } of programs) {
    const extra = EXTRAS[heading]?.code ?? '';
    writeFileSync(path.join(directory, `${module}.${language === 'ts' ? 'mts' : 'mjs'}`), `${code}\n${extra}\n`);
  }
  provider = await startProvider({ script });
});

after(async () => {
  await provider?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs a module in a process of its own, in a folder in which it may leave files. */
async function run(module, input = '') {
  const child = spawn(process.execPath, [path.join(directory, `${module}.mjs`)], {
    cwd: directory,
    env: {
      ...process.env,
      OPENAI_BASE_URL: `${provider.url}/v1`,
      OPENAI_API_KEY: 'none',
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: 'none',
      NO_COLOR: '1',
    },
  });
  const ended = new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stderr, stdout };
}

// --- Tests

describe('the beginning of the README', () => {
  test('is one sentence and the two commands', () => {
    const [title, sentence, commands] = readme.split('\n\n');
    assert.equal(title, '# memoryline');
    assert.match(sentence, /^memoryline [^\n]*[^.\n]\.$/);
    assert.deepEqual(commands.split('\n').map((line) => line.replace(/\s*#.*$/, '')), ['```sh', 'npm start', 'npm test', '```']);
  });
});

describe('blocks of the README', () => {
  test('were read', () => assert.ok(programs.length > 12));

  test('are all of a kind that is checked here', () => {
    const unknown = blocks.filter(({ language, isOutput }) => {
      return !(PROGRAMS.includes(language) || language === 'sh' || (OUTPUTS.includes(language) && isOutput));
    });
    assert.deepEqual(unknown.map(({ language, line }) => `${language} in line ${line}`), []);
  });

  test('show everything that they print', () => {
    const silent = programs.filter(({ code, output, heading }) => {
      return code.includes('console.log(') && output === undefined && EXTRAS[heading]?.input === undefined;
    });
    assert.deepEqual(silent.map(({ line }) => line), []);
  });

  test('in TypeScript compile', async () => {
    const config = path.join(directory, 'tsconfig.json');
    const compilerOptions = { strict: true, target: 'es2022', module: 'nodenext', skipLibCheck: true, types: ['node'] };
    writeFileSync(config, JSON.stringify({ compilerOptions, include: ['block-*.mts'] }));
    const { complaints } = await compile(config);
    assert.equal(complaints, '', complaints);
  });

  for (const { heading, line, module, output } of programs) {
    test(`run: line ${line}, ${heading}`, async () => {
      const earlier = provider.requests.length;
      const { code, stderr, stdout } = await run(module, EXTRAS[heading]?.input);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      const refused = provider.requests.slice(earlier).filter(({ status }) => status !== 200);
      assert.deepEqual(refused.map(({ path: route, violations }) => [route, ...violations]), []);
      if (output !== undefined) assert.equal(stdout.trimEnd(), output);
    });
  }

  test('that ask a model reach it', () => {
    const asked = new Set(provider.requests.map(({ path: route }) => route));
    assert.deepEqual([...asked].sort(), ['/v1/chat/completions', '/v1/embeddings', '/v1/messages']);
  });

  test('with commands name what exists', () => {
    const files = programs.map(({ code }) => /^\/\/ (\S+\.mjs)$/m.exec(code)?.[1]);
    const commands = blocks.filter(({ language }) => language === 'sh').flatMap(({ code }) => code.split('\n'));
    for (const line of commands) {
      const [program, verb, ...rest] = line.replace(/\s*#.*$/, '').split(' ');
      if (program === 'node') {
        assert.ok(files.includes(verb), `no block is the file of: ${line}`);
        continue;
      }
      assert.equal(program, 'npm', line);
      if (verb === 'install') {
        const [name] = rest;
        assert.ok(name === `../${manifest.name}` || name in manifest.devDependencies, line);
        continue;
      }
      const script = manifest.scripts[verb === 'run' ? rest[0] : verb];
      assert.ok(script !== undefined, `package.json has no script for: ${line}`);
      for (const [, file] of script.matchAll(/node (\S+)/g)) assert.ok(existsSync(path.join(root, file)), file);
    }
  });
});

describe('the quick start', () => {
  const { module } = programs.find(({ heading }) => heading === 'Quick start');

  test('folds, extracts and embeds on the way, and goes on from its file in a new process', async () => {
    const file = path.join(directory, 'chat.sqlite');
    rmSync(file, { force: true });
    const { stdout } = await run(module, EXTRAS['Quick start'].input);
    assert.equal(stdout.trimEnd().split('\n').length >= chat.length, true);
    await run(module, 'What was my frame number?\n');
    const store = new SqliteStore(file);
    const { archive, compactions, facts, recent, seq, summary } = await store.load('user:42');
    store.close();
    assert.equal(seq, 2 * chat.length + 2);
    assert.equal(recent.at(-2).content, 'What was my frame number?');
    assert.ok(compactions > 1);
    assert.notEqual(summary, '');
    assert.deepEqual(facts.map(({ key, value }) => [key, value]), [['frame_number', 'WX 4417']]);
    assert.ok(archive.every(({ embedding }) => embedding.length > 0));
    const { body } = provider.requests.findLast(({ path: route }) => route === '/v1/chat/completions');
    assert.match(body.messages[0].content, /^You answer the phone[^]*## Known facts\n- frame_number: WX 4417/);
  });
});

describe('tables of options', () => {
  const TYPES = {
    'Option of `createMemory`': 'MemoryOptions',
    'Option of the renderers': 'RequestOptions',
    'Option of `SqliteStore`': 'SqliteStoreOptions',
    'Option of `SqlStore`': 'SqlStoreOptions',
    'Option of `RedisStore`': 'RedisStoreOptions',
  };
  const found = tables.filter(({ header }) => header[0].startsWith('Option'));
  const options = found.flatMap(({ header, rows }) => {
    return rows.map(([name, fallback]) => ({ type: TYPES[header[0]], name: /^`(.+)`$/.exec(name)[1], fallback }));
  });

  test('were read', () => assert.deepEqual(found.map(({ header }) => header[0]), Object.keys(TYPES)));

  test('name options that are declared', async () => {
    const imports = `import type { ${Object.values(TYPES).join(', ')} } from 'memoryline';\n`;
    const members = options.map(({ type, name }, index) => {
      const place = name.split('.').reduce((outer, member) => `NonNullable<${outer}>['${member}']`, type);
      return `export type Option${index} = ${place};\n`;
    });
    const folder = path.join(directory, 'options');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'options.mts'), imports + members.join(''));
    const compilerOptions = { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', types: ['node'] };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const { complaints } = await compile(path.join(folder, 'tsconfig.json'));
    assert.equal(complaints, '', complaints);
  });

  test('name the declared defaults', () => {
    for (const { type, name, fallback } of options) {
      let place = declarations.indexOf(`interface ${type} {`);
      for (const member of name.split('.')) place = declarations.slice(place).search(new RegExp(`\\b${member}\\??:`)) + place;
      const [, declared] = [...declarations.slice(0, place).matchAll(/@default (.*)|^export /gm)].at(-1);
      if (declared === undefined) assert.equal(fallback, 'none', name);
      else assert.ok(declared.startsWith(fallback.replace(/^`|`$/g, '')), `${name}: ${fallback} is declared as ${declared}`);
    }
  });
});

describe('the table of errors', () => {
  const { rows } = tables.find(({ header }) => header[0] === 'Code');
  const codes = rows.map(([code]) => code.replaceAll('`', ''));
  const budget = { maxTokens: 1, keepRecent: 0 };
  const message = { role: 'user', content: 'Hello' };
  const session = (options) => createMemory({ budget, ...options }).session('s');

  /** How each error comes about. */
  const causes = {
    ERR_MEMORYLINE_INVALID_ARGUMENT: [
      () => createMemory().session(''),
      () => {
        const meta = {};
        meta.meta = meta;
        return session().add({ ...message, meta });
      },
    ],
    ERR_MEMORYLINE_INVALID_OPTION: [
      () => createMemory({ budget: { maxTokens: 0 } }),
      () => createMemory({ compaction: { onError: 'ignore' } }),
    ],
    ERR_MEMORYLINE_INVALID_STATE: [
      () => createMemory().import({ version: 2, id: 's' }),
      () => session({ store: { load: () => ({ version: 1, id: 's' }), save() {}, delete() {} } }).facts(),
    ],
    ERR_MEMORYLINE_REENTRANT: [
      () => {
        const itself = session({ summarize: async () => (await itself.facts()).join() });
        return itself.add(message);
      },
    ],
    ERR_MEMORYLINE_SUMMARY_EMPTY: [() => session({ summarize: () => ' ' }).add(message)],
    ERR_MEMORYLINE_CALLBACK_RESULT: [() => session({ embed: () => 'vectors' }).add(message)],
    ERR_MEMORYLINE_STORE: [() => new SqliteStore(path.join(directory, 'missing', 'chat.sqlite'))],
    ERR_MEMORYLINE_CLOSED: [
      () => {
        const store = new SqliteStore(':memory:');
        store.close();
        return session({ store }).add(message);
      },
    ],
    ERR_MEMORYLINE_CONFLICT: [
      async () => {
        const store = new MemoryStore();
        const other = createMemory({ store }).session('s');
        let rounds = 0;
        const summarize = async () => {
          rounds += 1;
          await other.add(message);
          return 'A summary of what is no longer all.';
        };
        try {
          await session({ store, summarize }).add(message);
        } finally {
          // Nothing is stored of the one that gave up, and the README says when it does.
          assert.match(readme, new RegExp(`After ${rounds} such rounds`));
          assert.equal((await other.messages()).length, rounds);
        }
      },
    ],
    ERR_MEMORYLINE_INTERNAL: [() => createRequire(import.meta.url)('../binding.js').testPanic()],
  };

  test('has every code of the sources and no other', () => {
    // What a function of the app throws reaches the caller as it is; inside, this code stands for it.
    const inside = ['ERR_MEMORYLINE_CALLBACK'];
    const sources = read('lib', 'errors.js') + read('src', 'error.rs');
    const used = new Set(sources.match(/\bERR_MEMORYLINE_[A-Z_]+\b/g));
    assert.deepEqual([...codes].sort(), [...used].filter((code) => !inside.includes(code)).sort());
    assert.deepEqual(codes, Object.keys(causes));
  });

  for (const [code, classes] of rows.map((row) => row.map((cell) => cell.replaceAll('`', '')))) {
    test(`says which class has the code ${code}`, async () => {
      const seen = new Set();
      for (const cause of causes[code]) {
        const error = await (async () => cause())().then(
          () => assert.fail('nothing failed'),
          (reason) => reason,
        );
        assert.equal(error.code, code);
        assert.match(error.message, /^memoryline: /);
        seen.add(error.constructor.name);
      }
      assert.deepEqual([...seen].sort(), classes.split(' or ').sort());
    });
  }
});

describe('links', () => {
  const anchorOf = (heading) => heading.toLowerCase().replace(/[^\w -]/g, '').replaceAll(' ', '-');

  for (const file of ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md']) {
    test(`of ${file} lead somewhere`, () => {
      const content = read(file).replace(/^```[^]*?^```$/gm, '');
      const anchors = [...content.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading));
      for (const [, target] of content.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (target.startsWith('#')) assert.ok(anchors.includes(target.slice(1)), target);
        else if (!target.startsWith('https://')) assert.ok(existsSync(path.join(root, target)), target);
      }
    });
  }

  test('of ARCHITECTURE.md to the code name files and folders that exist', () => {
    const names = [...read('ARCHITECTURE.md').matchAll(/`((?:src|lib|tests|__test__|examples|scripts|bench)\/[\w./-]*|\w[\w-]*\.(?:d\.ts|m?js|rs|toml))`/g)];
    assert.ok(names.length > 20, 'the names were not read');
    for (const [, name] of names) assert.ok(existsSync(path.join(root, name)), name);
  });
});
