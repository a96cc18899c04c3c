import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { run } from './run.mjs';

describe('a function of the app runs in the async context of the call that caused it', () => {
  let seen;
  let results;
  before(async () => {
    const { code, signal, stdout, stderr } = await run('async-context');
    assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
    ({ seen, results } = JSON.parse(stdout));
  });

  for (const place of ['summarize', 'extractFacts', 'embed', 'retrieve', 'onArchive', 'countTokens', 'onError', 'load', 'save', 'delete']) {
    test(place, () => {
      const notes = seen.filter((entry) => entry.place === place);
      assert.ok(notes.length >= 5, `${place} was called ${notes.length} times`);
      for (const { before: first, after: second } of notes) {
        assert.match(String(first), /^request-\d$/);
        assert.equal(second, first);
      }
      // Where the input tells which request it belongs to, it is that one.
      const told = notes.filter(({ id }) => id !== null);
      assert.ok(told.length >= 5);
      assert.deepEqual(told.filter(({ id, before: first }) => id !== first), []);
    });
  }

  test('and what comes after the await of the caller does too', () => {
    assert.equal(results.length, 5);
    for (const { id, afterwards } of results) assert.equal(afterwards, id);
  });
});
