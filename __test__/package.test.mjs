// What is published: the packed package, installed in an app of its own.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as library from './support/library.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = mkdtempSync(path.join(tmpdir(), 'memoryline-package-'));
after(() => rmSync(app, { recursive: true, force: true }));

const npm = (folder, ...args) =>
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--offline'], { cwd: folder, encoding: 'utf8' });

/** Runs a program of the app and gives what it prints. */
function run(name, code) {
  writeFileSync(path.join(app, name), code);
  return execFileSync(process.execPath, [name], { cwd: app, encoding: 'utf8' }).trim();
}

const [{ filename, files }] = JSON.parse(npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', app));
writeFileSync(path.join(app, 'package.json'), '{"private": true}');
npm(app, 'install', `./${filename}`);

describe('the packed package', () => {
  const names = Object.keys(library.moduleExports).sort().join(' ');

  test('has no file that is only for those who work on it', () => {
    const allowed = /^(index\.|lib\/|binding\.|memoryline\.[\w-]+\.node$|package\.json$|README|CHANGELOG|LICENSE)/;
    assert.deepEqual(files.map((file) => file.path).filter((name) => !allowed.test(name)), []);
  });

  test('gives every name to import', () => {
    assert.equal(run('names.mjs', "import * as all from 'memoryline'; console.log(Object.keys(all).sort().join(' '))"), names);
  });

  test('gives every name to require', () => {
    assert.equal(run('names.cjs', "console.log(Object.keys(require('memoryline')).sort().join(' '))"), names);
  });

  test('gives the same classes to both', () => {
    const code = "import { createRequire } from 'node:module'; import { Memory } from 'memoryline';"
      + "console.log(createRequire(import.meta.url)('memoryline').Memory === Memory)";
    assert.equal(run('same.mjs', code), 'true');
  });

  test('remembers', () => {
    const code = "const { createMemory } = require('memoryline'); const session = createMemory().session('a');"
      + "session.add({ role: 'user', content: 'hi' }).then(() => session.messages()).then((all) => console.log(all[0].content))";
    assert.equal(run('add.cjs', code), 'hi');
  });

  test('brings nothing else with it', () => {
    const tree = JSON.parse(npm(app, 'ls', '--all', '--json'));
    assert.deepEqual(Object.keys(tree.dependencies), ['memoryline']);
    assert.equal(tree.dependencies.memoryline.dependencies, undefined);
  });
});
