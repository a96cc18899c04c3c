import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commonJsExports, createMemory, Memory, MemoryStore, moduleExports, Session } from './support/library.mjs';

const NAMES = [
  'Memory',
  'MemoryStore',
  'RedisStore',
  'Session',
  'SqlStore',
  'SqliteStore',
  'argumentsText',
  'assertSessionState',
  'cosine',
  'createMemory',
  'estimateTokens',
  'extractiveSummary',
  'factsPrompt',
  'messageText',
  'normalizeFactKey',
  'oneLine',
  'parseArguments',
  'parseFacts',
  'renderFacts',
  'renderMemory',
  'renderRecalled',
  'summaryPrompt',
  'toAnthropic',
  'toOpenAI',
  'toolGroupAt',
  'transcript',
];

describe('the package', () => {
  test('refuses to be entered through a file that is not one of its doors', async () => {
    await assert.rejects(import('memoryline/binding.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });
    await assert.rejects(import('memoryline/index.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });
  });

  test('refuses a class that is called without new', () => {
    assert.throws(() => Memory(), TypeError);
    assert.throws(() => MemoryStore(), TypeError);
  });

  for (const name of NAMES) {
    test(`exports ${name} to both module systems as one and the same function`, () => {
      assert.ok(moduleExports[name] instanceof Function);
      assert.equal(moduleExports[name].name, name);
      assert.equal(commonJsExports[name], moduleExports[name]);
    });
  }

  test('exports the same names to both module systems', () => {
    const names = (exports) => Object.keys(exports).filter((name) => name !== 'default' && name !== 'module.exports').sort();
    assert.deepEqual(names(moduleExports), names(commonJsExports));
  });

  test('gives a Memory from createMemory and a Session from session, under the id that was asked for', () => {
    const memory = createMemory();
    assert.ok(memory instanceof Memory);
    const session = memory.session('user:42');
    assert.ok(session instanceof Session);
    assert.equal(session.id, 'user:42');
  });

  test('keeps the id of a session fixed', () => {
    const session = createMemory().session('a');
    assert.throws(() => {
      session.id = 'b';
    }, TypeError);
    assert.equal(session.id, 'a');
  });

  test('makes the same object through new Memory as through createMemory', async () => {
    const memory = new Memory({ clock: () => 7 });
    await memory.session('a').add({ role: 'user', content: 'hi' });
    assert.equal((await memory.export('a')).createdAt, 7);
  });

  test('needs no options at all', async () => {
    const memory = createMemory();
    const result = await memory.session('a').add({ role: 'user', content: 'hi' });
    assert.deepEqual(result, { added: 1, compacted: false, folded: 0, summary: '', facts: [] });
  });
});
