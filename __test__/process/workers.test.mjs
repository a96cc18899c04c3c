import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { run } from './run.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'memoryline-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('twenty workers that are terminated at random moments do no harm', () => {
  for (const [index, [mode, what]] of [
    ['workers', 'when only they load the addon'],
    ['workers and main', 'when the main thread has loaded the addon too'],
    ['workers on a file', 'when they share a SQLite file'],
    ['workers and main on a file', 'when they share a SQLite file and the main thread has loaded the addon'],
  ].entries()) {
    test(what, async () => {
      const { code, signal, stdout, stderr } = await run('workers', [mode, path.join(folder, `${index}.db`)]);
      assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
      assert.deepEqual(JSON.parse(stdout), { added: 2, folded: 1 });
    });
  }
});
