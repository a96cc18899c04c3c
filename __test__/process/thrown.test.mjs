import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.mjs';

test('an error thrown by a function of the app arrives as the same object, with its stack', async () => {
  const { code, signal, stdout, stderr } = await run('thrown');
  assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
  const report = JSON.parse(stdout);
  assert.equal(report.length, 20);
  for (const entry of report) assert.deepEqual(entry, { place: entry.place, same: true, stack: true, isRefusal: true });
});
