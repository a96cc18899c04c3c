// Runs everything: the core without Node, the crate with the addon, and the JavaScript suite on the built addon.

import { readdirSync } from 'node:fs';
import path from 'node:path';

import { root, run } from './run.mjs';

const testsOf = (folder) =>
  readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.test.mjs'))
    .sort()
    .map((name) => path.join(folder, name));

run('node', ['scripts/setup.mjs']);
run('cargo', ['test', '--no-default-features']);
run('cargo', ['test', '--lib', 'node::']);
run('node', ['--test', ...testsOf('__test__'), ...testsOf(path.join('__test__', 'process'))]);
