import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { createMemory, SqliteStore } from '../support/library.mjs';
import { start } from './run.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'memoryline-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const linesOf = (stdout) => stdout.split('\n').slice(0, -1);

// All messages of the session, in the order of their ids, folded ones first.
async function stored(file) {
  const store = new SqliteStore(file);
  try {
    const state = await store.load('shared');
    const all = [...state.archive, ...state.recent];
    assert.deepEqual(all.map(({ id }) => id), Array.from({ length: all.length }, (_, index) => index + 1));
    return all.map(({ content }) => content);
  } finally {
    store.close();
  }
}

describe('a process that is killed loses nothing that was acknowledged', () => {
  for (const durability of ['normal', 'full']) {
    for (const [index, lines] of [1, 7, 40].entries()) {
      test(`with durability ${durability}, killed after ${lines} messages or a little later`, async () => {
        const file = path.join(folder, `killed-${durability}-${index}.db`);
        const { child, ended, output } = start('writer', [file, 'only', '1000000', durability]);
        child.stdout.on('data', () => {
          if (linesOf(output.stdout).length >= lines) child.kill('SIGKILL');
        });
        const { signal, stdout, stderr } = await ended;
        assert.deepEqual({ signal, stderr }, { signal: 'SIGKILL', stderr: '' });
        const acknowledged = linesOf(stdout);
        assert.ok(acknowledged.length >= lines);
        const kept = await stored(file);
        assert.deepEqual(kept.slice(0, acknowledged.length), acknowledged);
        // At most the one that was under way may have been kept without a word.
        assert.ok(kept.length <= acknowledged.length + 1);
        const store = new SqliteStore(file);
        const { added } = await createMemory({ store }).session('shared').add({ role: 'user', content: 'after' });
        assert.equal(added, 1);
        store.close();
        assert.equal((await stored(file)).at(-1), 'after');
      });
    }
  }
});

describe('processes that add to one session of one file at the same time', () => {
  test('lose nothing, fold nothing twice, and keep the order of each', async () => {
    const file = path.join(folder, 'together.db');
    const count = 150;
    const names = ['one', 'two'];
    const ends = await Promise.all(names.map((name) => start('writer', [file, name, String(count), 'normal']).ended));
    for (const { code, signal, stderr } of ends) assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' });
    const kept = await stored(file);
    assert.equal(kept.length, names.length * count);
    for (const name of names) {
      assert.deepEqual(kept.filter((content) => content.startsWith(`${name} `)), Array.from({ length: count }, (_, index) => `${name} ${index}`));
    }
  });

  test('lose nothing when one of them is killed', async () => {
    const file = path.join(folder, 'one-killed.db');
    const survivor = start('writer', [file, 'survivor', '100', 'normal']);
    const victim = start('writer', [file, 'victim', '1000000', 'normal']);
    victim.child.stdout.on('data', () => {
      if (linesOf(victim.output.stdout).length >= 20) victim.child.kill('SIGKILL');
    });
    const [alive, killed] = await Promise.all([survivor.ended, victim.ended]);
    assert.deepEqual([alive.code, alive.stderr, killed.signal], [0, '', 'SIGKILL']);
    const kept = await stored(file);
    assert.deepEqual(kept.filter((content) => content.startsWith('survivor ')), linesOf(alive.stdout));
    const acknowledged = linesOf(killed.stdout);
    assert.deepEqual(kept.filter((content) => content.startsWith('victim ')).slice(0, acknowledged.length), acknowledged);
  });
});
