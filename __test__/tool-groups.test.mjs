import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toolGroupAt } from './support/library.mjs';
import { assistant, calls, plainTool, result, system, user } from './support/messages.mjs';

describe('toolGroupAt of no place in the list', () => {
  const messages = [calls(['c1']), result('c1')];
  for (const index of [-1, 2, 99, 0.5, NaN, Infinity]) {
    test(`is null for the index ${index}`, () => {
      assert.equal(toolGroupAt(messages, index), null);
    });
  }

  test('is null for an empty list', () => {
    assert.equal(toolGroupAt([], 0), null);
  });

  test('throws when there is no list', () => {
    assert.throws(() => toolGroupAt(undefined, 0), TypeError);
    assert.throws(() => toolGroupAt(null, 0), TypeError);
  });
});

describe('toolGroupAt', () => {
  const rows = [
    ['finds a call and its result from the call', [user('a'), calls(['c1']), result('c1'), user('b')], 1, { start: 1, end: 3 }],
    ['finds a call and its result from the result', [user('a'), calls(['c1']), result('c1'), user('b')], 2, { start: 1, end: 3 }],
    ['finds several results', [calls(['c1', 'c2']), result('c2'), result('c1'), assistant('so')], 2, { start: 0, end: 3 }],
    ['finds several results from the first', [calls(['c1', 'c2']), result('c2'), result('c1'), assistant('so')], 1, { start: 0, end: 3 }],
    ['finds a group that ends with the list', [calls(['c1']), result('c1')], 0, { start: 0, end: 2 }],
    ['finds a call alone', [calls(['c1']), user('b')], 0, { start: 0, end: 1 }],
    ['finds a call that is the last message', [user('a'), calls(['c1'])], 1, { start: 1, end: 2 }],
    ['counts a second result for the same call in', [calls(['c1']), result('c1'), result('c1')], 0, { start: 0, end: 3 }],
    ['ends before a result of another call', [calls(['c1']), result('c1'), result('c2')], 0, { start: 0, end: 2 }],
    ['ends before a tool message without an id', [calls(['c1']), result('c1'), plainTool('x')], 0, { start: 0, end: 2 }],
    ['ends before the next call', [calls(['c1']), calls(['c1']), result('c1')], 0, { start: 0, end: 1 }],
    ['belongs a result to the call right before its run', [calls(['c1']), calls(['c1']), result('c1')], 2, { start: 1, end: 3 }],
    ['is null for a result of another call', [calls(['c1']), result('c1'), result('c2')], 2, null],
    ['is null for a result without a call', [user('a'), result('c1')], 1, null],
    ['is null for a result at the beginning', [result('c1'), user('a')], 0, null],
    ['is null for a result behind an assistant without calls', [assistant('a'), result('c1')], 1, null],
    ['is broken by a user message', [calls(['c1']), user('b'), result('c1')], 2, null],
    ['is broken by a user message, and ends before it', [calls(['c1']), user('b'), result('c1')], 0, { start: 0, end: 1 }],
    ['is broken by a tool message without an id', [calls(['c1', 'c2']), plainTool('x'), result('c1')], 2, null],
    ['is null for a user message', [user('a')], 0, null],
    ['is null for a user message with calls', [{ ...calls(['c1']), role: 'user' }, result('c1')], 0, null],
    ['is null for a result behind a user message with calls', [{ ...calls(['c1']), role: 'user' }, result('c1')], 1, null],
    ['is null for a system message', [system('a')], 0, null],
    ['is null for an assistant without calls', [assistant('a')], 0, null],
    ['is null for an assistant whose list of calls is empty', [assistant('a', { toolCalls: [] }), result('c1')], 0, null],
    ['is null for a tool message without an id', [calls(['c1']), plainTool('x')], 1, null],
  ];
  for (const [name, messages, index, expected] of rows) {
    test(name, () => {
      assert.deepEqual(toolGroupAt(messages, index), expected);
    });
  }

  test('leaves the list as it was, frozen or not', () => {
    const messages = Object.freeze([calls(['c1']), result('c1')].map(Object.freeze));
    assert.deepEqual(toolGroupAt(messages, 1), { start: 0, end: 2 });
  });
});
