import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createMemory, estimateTokens, MemoryStore, messageText, normalizeFactKey, oneLine, parseFacts, RedisStore, SqliteStore, SqlStore, toAnthropic, toOpenAI, transcript,
} from './support/library.mjs';
import { user } from './support/messages.mjs';
import { createPlainRedis } from './support/redis.mjs';
import { createSqlClient } from './support/sql.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget } from './support/tokens.mjs';

// White space as JavaScript's `\s` and `trim` mean it, and characters that other languages take for it.
const WHITE = [...'\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'];
const NOT_WHITE = [...'\u0085\u180e\u200b\u200c\u200d\u2060\u001c\u001d\u001e\u001f\0'];
const code = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

describe('a name that is not text', () => {
  test('is refused for a session, and half of a surrogate pair is text', () => {
    assert.throws(() => createMemory().session(0xd83d), { code: 'ERR_MEMORYLINE_INVALID_ARGUMENT' });
    assert.equal(createMemory().session('\ud83d').id, '\ud83d');
  });
});

describe('white space', () => {
  for (const space of WHITE) {
    test(`includes ${code(space)}`, async () => {
      assert.equal(oneLine(`${space}a${space}${space}b${space}`), 'a b');
      assert.equal(normalizeFactKey(`a${space}b`), 'a_b');
      assert.equal(transcript([user(`${space}a${space}`)]), 'user: a');
      assert.equal(messageText({ role: 'assistant', content: space, toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] }), '[call f({})]');
      const session = createMemory().session('s');
      assert.deepEqual((await session.pin('k', `${space}v${space}`)).map(({ value }) => value), ['v']);
      assert.deepEqual((await session.pin('blank', space)).length, 1);
      assert.deepEqual(parseFacts(`${space}none${space}`), []);
      const context = { sessionId: 's', summary: '', facts: [], recalled: [], recent: [], system: `${space}S${space}`, tokens: {} };
      assert.deepEqual(toOpenAI(context, { systemPrompt: space }), [{ role: 'system', content: 'S' }]);
    });
  }

  for (const other of NOT_WHITE) {
    test(`does not include ${code(other)}`, async () => {
      assert.equal(oneLine(`${other}a${other}`), `${other}a${other}`);
      assert.equal(normalizeFactKey(`a${other}b`), 'ab');
      assert.equal(transcript([user(`${other}a${other}`)]), `user: ${other}a${other}`);
      const session = createMemory().session('s');
      assert.deepEqual((await session.pin('k', `${other}v${other}`)).map(({ value }) => value), [`${other}v${other}`]);
      assert.deepEqual((await session.pin('not blank', other)).length, 2);
    });
  }

  test('around a summary goes', async () => {
    const session = createMemory({ summarize: () => `${WHITE.join('')}S\u0085${WHITE.join('')}`, ...wordBudget({ maxTokens: 1, keepRecent: 1 }) }).session('s');
    assert.equal((await session.add([user('a'), user('b')])).summary, 'S\u0085');
  });
});

const TEXTS = [
  ['an emoji', '😀'],
  ['a family of emoji', '👩‍👩‍👧‍👦'],
  ['a flag', '🏳️‍🌈'],
  ['combining marks, not composed', 'e\u0301 n\u0303'],
  ['right-to-left text', 'שלום \u202bعالم\u202c'],
  ['a first half of a surrogate pair', 'a\ud83d'],
  ['a second half of a surrogate pair', '\ude00b'],
  ['halves in the wrong order', '\ude00\ud83d'],
  ['a half beside a whole', '\ud83d😀\ude00'],
  ['every half', String.fromCharCode(...Array.from({ length: 0x800 }, (_, index) => 0xd800 + ((index * 7) % 0x800)))],
  ['zero bytes', '\0a\0'],
  ['control characters', Array.from({ length: 32 }, (_, index) => String.fromCharCode(index)).join('')],
  ['noncharacters and the byte order mark', '\ufffe\uffff\ufeff\u{10ffff}'],
  ['the replacement character itself', '\ufffd\ud83d\ufffd'],
  ['line separators', '\u2028\u2029'],
  ['JSON in text', '{"a":"\\ud83d","b":"\\\\"}'],
];

const STORES = [
  ['MemoryStore', () => new MemoryStore()],
  ['SqliteStore', () => new SqliteStore(':memory:')],
  ['SqlStore', () => {
    const client = createSqlClient();
    return new SqlStore({ query: (sql, params) => client.query(sql, params) });
  }],
  ['RedisStore', () => new RedisStore(createPlainRedis().client)],
  ['a store of the app', () => new JsonStore()],
];

for (const [storeName, create] of STORES) {
  describe(`text in ${storeName}`, () => {
    for (const [what, text] of TEXTS) {
      test(`comes back unit by unit from every place where text can stand: ${what}`, async () => {
        const store = create();
        const options = {
          store, clock: () => 5, summarize: () => `<${text}>`, extractFacts: () => [{ key: 'k', value: `<${text}>` }], ...wordBudget({ maxTokens: 1, keepRecent: 1 }),
        };
        const id = `<${text}>`;
        const session = createMemory(options).session(id);
        const message = {
          role: 'assistant',
          content: `<${text}>`,
          name: `<${text}>`,
          toolCalls: [
            { id: `<${text}>`, name: `<${text}>`, arguments: `<${text}>` },
            { id: '2', name: 'f', arguments: { [`<${text}>`]: [`<${text}>`] } },
          ],
          meta: { [`<${text}>`]: `<${text}>` },
        };
        const answer = { role: 'tool', content: `<${text}>`, toolCallId: `<${text}>` };
        await session.add([message, answer, { role: 'tool', content: 'x', toolCallId: '2' }, user('one two')]);
        const again = createMemory(options);
        const { archive, recent, summary, facts } = await again.session(id).state();
        const { id: _id, at, tokens, compaction, ...stored } = archive[0];
        assert.deepEqual(stored, message);
        assert.deepEqual([archive[1].content, archive[1].toolCallId], [answer.content, answer.toolCallId]);
        assert.deepEqual([summary, facts[0].value, recent[0].content], [`<${text}>`, `<${text}>`, 'one two']);
        assert.equal((await again.export(id)).id, id);
        await again.forget(id);
        assert.equal(await again.export(id), null);
      });
    }
  });
}

describe('text on its way to the functions of the app', () => {
  for (const [what, text] of TEXTS) {
    test(`arrives unit by unit: ${what}`, async () => {
      const seen = [];
      const counted = [];
      const session = createMemory({
        countTokens: (counting) => {
          counted.push(counting);
          return 1;
        },
        summarize: ({ previousSummary, messages }) => {
          seen.push(previousSummary, messages[0].content);
          return `<${text}>`;
        },
        extractFacts: ({ messages, summary }) => {
          seen.push(messages[0].content, summary);
          return [];
        },
        embed: (texts) => {
          seen.push(...texts);
          return texts.map(() => [1]);
        },
        retrieve: ({ query, archive, sessionId }) => {
          seen.push(query, archive[0].content, sessionId);
          return archive.map((message) => ({ message, score: 1 }));
        },
        onArchive: (id, [item]) => {
          seen.push(id, item.content);
        },
        budget: { maxTokens: 1, keepRecent: 1, perMessageOverhead: 0 },
      }).session(`<${text}>`);
      await session.add([user(`<${text}>`), user('b')]);
      const context = await session.context({ query: `<${text}>` });
      assert.deepEqual(seen, ['', ...Array(10).fill(`<${text}>`)]);
      assert.equal(counted[0], `<${text}>`);
      assert.equal(context.recalled[0].message.content, `<${text}>`);
      assert.ok(context.system.includes(`## Conversation so far\n<${text}>\n\n`));
    });
  }
});

describe('text in what is rendered', () => {
  for (const [what, text] of TEXTS) {
    // Half of a surrogate pair is no Unicode: providers refuse a body that holds one.
    const sent = text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
    test(`${sent === text ? 'stays as it is' : 'is made well formed'}: ${what}`, () => {
      const context = {
        sessionId: 's', summary: '', facts: [], recalled: [], recent: [{ role: 'user', content: `<${text}>`, at: 1 }], system: `<${text}>`, tokens: {},
      };
      assert.deepEqual(toOpenAI(context), [{ role: 'system', content: `<${sent}>` }, { role: 'user', content: `<${sent}>` }]);
      assert.deepEqual(toAnthropic(context), { system: `<${sent}>`, messages: [{ role: 'user', content: `<${sent}>` }] });
    });
  }
});

describe('lengths', () => {
  test('of a clipped line are counted in UTF-16 units, so a pair may be cut in half', async () => {
    assert.equal(oneLine('😀😀😀', 5), '😀...');
    assert.equal(oneLine('😀😀😀', 6), '😀😀😀');
    assert.equal(oneLine('a😀😀😀', 5), 'a\ud83d...');
    const session = createMemory({ ...wordBudget({ maxTokens: 1, keepRecent: 1 }) }).session('s');
    const { summary } = await session.add([user(`${'😀'.repeat(81)}`), user('b')]);
    assert.equal(summary, `- user: ${'😀'.repeat(78)}\ud83d...`);
    assert.equal((await session.state()).summary, summary);
  });

  test('in tokens are counted in code points', () => {
    assert.equal(estimateTokens('😀'.repeat(10)), 10);
    assert.equal(estimateTokens('\ud83d'.repeat(10)), 10);
    assert.equal(estimateTokens('\ud83dx'), 2);
  });
});
