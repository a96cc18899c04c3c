// `index.d.ts` is written by hand. These tests keep it to what the package exports, documented down to the last member,
// with examples that are true.
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SyntaxKind } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';
import { compile } from './types/compiler.mjs';

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const file = path.join(root, 'index.d.ts');
const source = readFileSync(file, 'utf8');

// --- Reading the declarations

/** Where the first token from a position on starts, behind white space and comments. */
const tokenAt = (position) => position + /^(?:\s|\/\/.*|\/\*[^]*?\*\/)*/.exec(source.slice(position))[0].length;

/** The syntax tree as plain objects, so that the compiler's process can end at once. */
function parse() {
  const api = new API({ cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openFiles: [file] });
    const plain = (node) => {
      const children = [];
      node.forEachChild((child) => void children.push(plain(child)));
      return {
        kind: SyntaxKind[node.kind],
        name: node.name === undefined ? undefined : source.slice(tokenAt(node.name.pos), node.name.end),
        optional: node.questionToken !== undefined || node.postfixToken !== undefined,
        start: tokenAt(node.pos),
        children,
      };
    };
    return plain(snapshot.getDefaultProjectForFile(file).program.getSourceFile(file)).children;
  } finally {
    api.close();
  }
}

/** The doc comment directly before a node, or before the bar of a union, without its stars; `undefined` without one. */
function docOf({ start }) {
  const [, comment] = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*\|?\s*$/.exec(source.slice(0, start)) ?? [];
  return comment?.replace(/^[ \t]*\*[ \t]?/gm, '').trim();
}

const DECLARATIONS = ['FunctionDeclaration', 'ClassDeclaration', 'InterfaceDeclaration', 'TypeAliasDeclaration'];
const MEMBERS = ['PropertySignature', 'PropertyDeclaration', 'MethodSignature', 'MethodDeclaration', 'Constructor'];

/** Everything that needs a doc comment: each declaration and each member, however deep. */
function documentedNodes(statements) {
  const found = [];
  const visit = (node, owner, inOptions) => {
    const isDeclaration = DECLARATIONS.includes(node.kind);
    const isMember = MEMBERS.includes(node.kind);
    const name = isDeclaration || isMember ? [owner, node.name ?? 'constructor'].filter(Boolean).join('.') : owner;
    const isParameter = node.kind === 'Parameter' && node.name === 'options';
    const options = inOptions || isParameter || (isDeclaration && /Options$/.test(node.name));
    if (isDeclaration || isMember) {
      found.push({ name, node, doc: docOf(node), isOption: isMember && options && node.kind === 'PropertySignature' });
    }
    for (const child of node.children) visit(child, name, options);
  };
  for (const statement of statements) visit(statement, '', false);
  return found;
}

const statements = parse().filter((node) => node.kind !== 'EndOfFile');
const documented = documentedNodes(statements);
const valueNames = statements
  .filter((node) => node.kind === 'FunctionDeclaration' || node.kind === 'ClassDeclaration')
  .map((node) => node.name)
  .sort();
const errorCodes = (() => {
  const alias = statements.find((node) => node.name === 'MemorylineErrorCode');
  const union = alias.children.find((node) => node.kind === 'UnionType');
  return union.children.map((node) => ({ code: /ERR_\w+/.exec(source.slice(node.start))[0], doc: docOf(node) }));
})();

// --- Names

describe('exports', () => {
  test('every statement is an exported function, class, interface or type', () => {
    const others = statements.filter(
      (node) => !DECLARATIONS.includes(node.kind) || !node.children.some((child) => child.kind === 'ExportKeyword'),
    );
    assert.deepEqual(others.map((node) => `${node.kind} ${node.name}`), []);
  });

  test('the ES module has the declared names and no others', async () => {
    assert.deepEqual(Object.keys(await import('memoryline')).sort(), valueNames);
  });

  test('the CommonJS module has the declared names and no others', () => {
    assert.deepEqual(Object.keys(createRequire(import.meta.url)('memoryline')).sort(), valueNames);
  });

  test('both modules have the same values', async () => {
    const required = createRequire(import.meta.url)('memoryline');
    const imported = await import('memoryline');
    assert.deepEqual(valueNames.filter((name) => required[name] !== imported[name]), []);
  });

  test('the methods of every class are the declared ones', async () => {
    const memoryline = await import('memoryline');
    const symbols = { '[Symbol.dispose]': Symbol.dispose, '[Symbol.asyncDispose]': Symbol.asyncDispose };
    /** The methods of an object, inherited ones too, but not those under a symbol of the package's own. */
    const methodsOf = (object) => {
      const names = new Set();
      const ends = [null, Object.prototype, Function.prototype];
      for (let holder = object; !ends.includes(holder); holder = Object.getPrototypeOf(holder)) {
        for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
          if (name !== 'constructor' && value instanceof Function) names.add(name);
        }
        for (const name of Object.keys(symbols)) if (Object.hasOwn(holder, symbols[name] ?? '')) names.add(name);
      }
      return [...names];
    };
    const isStatic = ({ children }) => children.some(({ kind }) => kind === 'StaticKeyword');
    // The first releases of Node.js 18 have no such symbols, so that there is no such method either.
    const exists = ({ name }) => !(name in symbols) || symbols[name] !== undefined;
    const classes = statements.filter(({ kind }) => kind === 'ClassDeclaration');
    for (const { name, children } of classes) {
      const declared = children.filter((member) => member.kind === 'MethodDeclaration' && exists(member));
      const namesOf = (members) => [...new Set(members.map((member) => member.name))].sort();
      assert.deepEqual(
        { name, methods: methodsOf(memoryline[name].prototype).sort(), statics: methodsOf(memoryline[name]).sort() },
        {
          name,
          methods: namesOf(declared.filter((member) => !isStatic(member))),
          statics: namesOf(declared.filter(isStatic)),
        },
      );
    }
  });
});

// --- Doc comments

describe('doc comments', () => {
  test('every export and every member has one, and it starts with a sentence', () => {
    assert.ok(documented.length > 100, 'the declarations were not read');
    const missing = documented.filter(({ doc }) => !/^[A-Z0-9`'"].*\w/.test(doc ?? ''));
    assert.deepEqual(missing.map(({ name }) => name), []);
  });

  test('every error code has one', () => {
    assert.deepEqual(errorCodes.filter(({ doc }) => !doc).map(({ code }) => code), []);
  });

  test('every option that may be left out names its default', () => {
    const options = documented.filter(({ isOption, node }) => isOption && node.optional);
    assert.ok(options.length > 30, 'the options were not read');
    assert.deepEqual(options.filter(({ doc }) => !/^@default \S/m.test(doc)).map(({ name }) => name), []);
  });

  test('every number among the options names its unit and its minimum', () => {
    const hasNumber = ({ kind, children }) =>
      kind === 'NumberKeyword' || (kind === 'UnionType' && children.some(hasNumber));
    const numbers = documented.filter(({ isOption, node }) => isOption && node.children.some(hasNumber));
    assert.ok(numbers.length > 10, 'the options were not read');
    const flowing = (doc) => doc.replace(/\s+/g, ' ');
    assert.deepEqual(
      numbers.filter(({ doc }) => !/Unit: \w.*Minimum: \w/.test(flowing(doc))).map(({ name }) => name),
      [],
    );
  });

  test('every link leads to a declaration', () => {
    const names = new Set(documented.map(({ name }) => name));
    const links = [...source.matchAll(/\{@link ([^}\s]+)\}/g)].map((match) => match[1]);
    assert.ok(links.length > 10, 'the links were not read');
    assert.deepEqual(links.filter((link) => !names.has(link)), []);
  });

  test('the error codes are those of the sources', () => {
    // What an app function throws reaches the caller as it is; inside, this code stands for it.
    const inside = ['ERR_MEMORYLINE_CALLBACK'];
    const sources = ['lib/errors.js', 'src/error.rs'].map((name) => readFileSync(path.join(root, name), 'utf8')).join('\n');
    const used = new Set(sources.match(/\bERR_MEMORYLINE_[A-Z_]+\b/g));
    assert.deepEqual(
      [...used].filter((code) => !inside.includes(code)).sort(),
      errorCodes.map(({ code }) => code).sort(),
    );
  });
});

// --- Examples

/** The code blocks of all `@example` tags, named after what they belong to. */
const examples = documented.flatMap(({ name, doc }) =>
  [...(doc ?? '').matchAll(/^@example\n```ts\n([^]*?)\n```/gm)].map((match, index) => ({
    name: `${name}${index === 0 ? '' : ` ${index + 1}`}`,
    module: `${name.replace(/\W/g, '_')}_${index}`,
    code: match[1],
    hasResults: match[1].includes(' // => '),
  })),
);

/** Lines of the form `expression; // => value` become a pair of both, for the test to compare. */
function toModule(code) {
  const typeNames = statements.map(({ name }) => name).filter((name) => !valueNames.includes(name));
  const imports = code.includes("from 'memoryline'")
    ? ''
    : `import { ${valueNames.join(', ')} } from 'memoryline';\n` +
      `import type { ${typeNames.join(', ')} } from 'memoryline';\n`;
  const body = code.replace(/^(.*); \/\/ => (.*)$/gm, 'results.push([$1, $2]);');
  return `${imports}export const results: [actual: unknown, expected: unknown][] = [];\n${body}\n`;
}

describe('examples', () => {
  let directory;
  let complaints;

  before(async () => {
    directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'memoryline-examples-')));
    // The packages that an app beside this one would have: those of this project, and this project.
    const installed = path.join(root, 'node_modules');
    const modules = path.join(directory, 'node_modules');
    mkdirSync(modules);
    for (const entry of readdirSync(installed)) {
      if (!entry.startsWith('.')) symlinkSync(path.join(installed, entry), path.join(modules, entry), 'junction');
    }
    symlinkSync(root, path.join(modules, 'memoryline'), 'junction');
    for (const { module, code } of examples) writeFileSync(path.join(directory, `${module}.mts`), toModule(code));
    writeFileSync(
      path.join(directory, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          exactOptionalPropertyTypes: true,
          target: 'es2022',
          module: 'nodenext',
          skipLibCheck: true,
          types: ['node'],
        },
        include: ['*.mts'],
      }),
    );
    ({ complaints } = await compile(path.join(directory, 'tsconfig.json')));
  });

  after(() => rmSync(directory, { recursive: true, force: true }));

  test('every @example tag holds one block of TypeScript', () => {
    assert.ok(examples.length > 10, 'the examples were not read');
    assert.equal(examples.length, source.match(/@example\b/g).length);
  });

  test('all examples compile', () => {
    assert.equal(complaints, '', complaints);
  });

  for (const { name, module } of examples.filter(({ hasResults }) => hasResults)) {
    test(`the example of ${name} gives what it says`, async () => {
      const { results } = await import(pathToFileURL(path.join(directory, `${module}.mjs`)).href);
      assert.notEqual(results.length, 0);
      for (const [actual, expected] of results) assert.deepEqual(actual, expected);
    });
  }
});
