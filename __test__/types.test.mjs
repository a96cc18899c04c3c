// The type tests: everything under `types/` must compile, and every `@ts-expect-error` in it must be an error, as an
// app would compile it under each way of resolving modules.
import assert from 'node:assert/strict';
import { readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compile } from './types/compiler.mjs';

const directory = realpathSync(fileURLToPath(new URL('./types', import.meta.url)));
const declarations = realpathSync(fileURLToPath(new URL('../index.d.ts', import.meta.url))).replaceAll('\\', '/');

const projects = [
  { name: 'node16', sources: '.' },
  { name: 'nodenext', sources: '.' },
  { name: 'bundler', sources: '.' },
  { name: 'alone', sources: 'alone' },
];

for (const { name, sources } of projects) {
  test(`an app compiles with the settings of tsconfig.${name}.json`, async () => {
    const { complaints, files } = await compile(path.join(directory, `tsconfig.${name}.json`));
    assert.equal(complaints, '', complaints);

    // A source that the project does not include would pass unseen.
    const expected = readdirSync(path.join(directory, sources))
      .filter((file) => /\.test-d\.[cm]?ts$/.test(file))
      .map((file) => path.join(directory, sources, file).replaceAll('\\', '/'));
    assert.notEqual(expected.length, 0);
    assert.deepEqual(
      expected.filter((file) => !files.includes(file)),
      [],
      'these sources are not compiled',
    );
    assert.ok(files.includes(declarations), `the types of the package come from elsewhere:\n${files.join('\n')}`);
  });
}
