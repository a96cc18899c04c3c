import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { run } from './run.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'memoryline-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const names = JSON.parse((await run('exits', ['list'])).stdout);

describe('a process ends by itself, with code 0, when it', () => {
  names.forEach((name, index) => {
    test(name, async () => {
      const { code, signal, stdout, stderr } = await run('exits', [name, path.join(folder, `${index}.db`)]);
      assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
      assert.match(stdout, /exit 0\n$/);
      if (!name.startsWith('exits ')) assert.match(stdout, /^done\n/);
    });
  });
});
