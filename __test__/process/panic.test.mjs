import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.mjs';

test('a panic in Rust is an error in JavaScript, and the process goes on', async () => {
  const { code, signal, stdout } = await run('panic');
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  const { caught, folded } = JSON.parse(stdout);
  assert.equal(caught.length, 3);
  for (const error of caught) {
    assert.equal(error.isError, true);
    assert.equal(error.code, 'ERR_MEMORYLINE_INTERNAL');
    assert.match(error.message, /^memoryline: /);
  }
  assert.equal(folded, 1);
});
