import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { run } from './run.mjs';

const names = JSON.parse((await run('freed', ['list'])).stdout);

describe('the garbage collector takes back', () => {
  for (const name of names) {
    test(name, async () => {
      const { code, signal, stdout, stderr } = await run('freed', [name], { node: ['--expose-gc'] });
      assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
      const { made, freed, alive } = JSON.parse(stdout);
      assert.ok(made >= 50);
      assert.deepEqual({ freed, alive }, { freed: made, alive: 0 });
    });
  }
});
