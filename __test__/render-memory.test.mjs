import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { renderFacts, renderMemory, renderRecalled } from './support/library.mjs';
import { assistant, plainTool, user } from './support/messages.mjs';

const fact = (key, value) => ({ key, value, source: 'pinned', at: 1 });
const hit = (message, id = 1) => ({ message: { ...message, id, at: 1, tokens: 1, compaction: 1 }, score: 0.5 });
const parts = (rest) => ({ summary: '', facts: [], recalled: [], ...rest });

describe('rendering of nothing at all', () => {
  test('throws for parts that are no object', () => {
    assert.throws(() => renderMemory(), TypeError);
    assert.throws(() => renderMemory(null), TypeError);
    assert.throws(() => renderFacts(), TypeError);
    assert.throws(() => renderRecalled(null), TypeError);
  });

  test('gives an empty text for empty parts', () => {
    assert.equal(renderMemory(parts()), '');
    assert.equal(renderMemory(parts({ summary: ' \n\ufeff' })), '');
    assert.equal(renderFacts([]), '');
    assert.equal(renderRecalled([]), '');
  });
});

describe('renderFacts', () => {
  test('gives one line a fact', () => {
    assert.equal(renderFacts([fact('name', 'Dana'), fact('party_size', '6')]), '- name: Dana\n- party_size: 6');
  });
});

describe('renderRecalled', () => {
  test('gives one line a message, unclipped, with its calls, under its name or else its role', () => {
    const long = 'word '.repeat(200).trim();
    assert.equal(
      renderRecalled([
        hit(user(' Is there\n\nparking? ')),
        hit(user(long, { name: 'Dana' })),
        hit(assistant('', { toolCalls: [{ id: 'c', name: 'f', arguments: { a: 1 } }] })),
        hit(plainTool('full', { name: '' })),
      ]),
      `- user: Is there parking?\n- Dana: ${long}\n- assistant: [call f({"a":1})]\n- : full`,
    );
  });
});

describe('renderMemory', () => {
  const full = parts({
    summary: '\n Dana wants a table for six. \n',
    facts: [fact('name', 'Dana'), fact('party_size', '6')],
    recalled: [hit(user('Is there parking nearby?')), hit(assistant('There is a garage next door.'))],
  });

  test('puts the three sections under their headings, one blank line between them', () => {
    assert.equal(
      renderMemory(full),
      [
        '## Conversation so far',
        'Dana wants a table for six.',
        '',
        '## Known facts',
        '- name: Dana',
        '- party_size: 6',
        '',
        '## Relevant earlier messages',
        '- user: Is there parking nearby?',
        '- assistant: There is a garage next door.',
      ].join('\n'),
    );
  });

  for (const [name, only, expected] of [
    ['summary', { summary: 'S' }, '## Conversation so far\nS'],
    ['facts', { facts: [fact('k', 'v')] }, '## Known facts\n- k: v'],
    ['recalled messages', { recalled: [hit(user('hi'))] }, '## Relevant earlier messages\n- user: hi'],
    ['summary and recalled messages', { summary: 'S', recalled: [hit(user('hi'))] }, '## Conversation so far\nS\n\n## Relevant earlier messages\n- user: hi'],
  ]) {
    test(`leaves out what is empty: only the ${name}`, () => {
      assert.equal(renderMemory(parts(only)), expected);
    });
  }

  test('takes headings of the app, all or some of them', () => {
    const headings = { summary: '# Before', facts: 'Facts:', recalled: '<recalled>' };
    assert.equal(
      renderMemory(full, { headings }),
      '# Before\nDana wants a table for six.\n\nFacts:\n- name: Dana\n- party_size: 6\n\n'
        + '<recalled>\n- user: Is there parking nearby?\n- assistant: There is a garage next door.',
    );
    const some = parts({ summary: 'S', facts: [fact('k', 'v')] });
    assert.equal(renderMemory(some, { headings: { facts: '### Facts' } }), '## Conversation so far\nS\n\n### Facts\n- k: v');
    assert.equal(renderMemory(some, {}), '## Conversation so far\nS\n\n## Known facts\n- k: v');
    assert.equal(renderMemory(some, { headings: {} }), '## Conversation so far\nS\n\n## Known facts\n- k: v');
  });

  test('prints a heading that is explicitly undefined as that word', () => {
    assert.equal(renderMemory(parts({ summary: 'S' }), { headings: { summary: undefined } }), 'undefined\nS');
  });

  test('leaves its input as it was', () => {
    const before = structuredClone(full);
    renderMemory(full);
    assert.deepEqual(full, before);
  });
});
