// What must hold for every conversation, checked over generated ones. MEMORYLINE_LONG=1 makes fifty times as many.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkAnthropic, checkOpenAI } from '../examples/provider/rules.mjs';
import {
  cosine, createMemory, estimateTokens, MemoryStore, messageText, normalizeFactKey, oneLine, SqliteStore, toAnthropic, toOpenAI,
} from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { contextOf } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';

const runs = (count) => ({ numRuns: process.env.MEMORYLINE_LONG === '1' ? count * 50 : count });

// --- Generators

const unit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'aB1 :_-.\n"\\{}[]') },
  { weight: 1, arbitrary: fc.constantFrom('\u00a0', '\ufeff', '\u0085', '\u2028', 'é', '日', '\0') },
  { weight: 1, arbitrary: fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
  { weight: 1, arbitrary: fc.constantFrom('😀', '👩‍👧') },
);
const text = fc.string({ unit, maxLength: 12 });
const content = fc.oneof({ weight: 1, arbitrary: fc.constantFrom('', ' ', '\n\ufeff') }, { weight: 5, arbitrary: text });
const filled = fc.string({ unit, minLength: 1, maxLength: 6 });
// Few ids, so that they repeat, come late and go astray; some become the same when they are cleaned.
const callId = fc.oneof({ weight: 8, arbitrary: fc.constantFrom('c1', 'c2', 'call_0', 'a.b', 'a_b') }, { weight: 1, arbitrary: filled });
const named = (fields) => fc.record({ ...fields, name: fc.option(fc.oneof(fc.constantFrom('Dana', 'look_up', ''), filled), { nil: undefined }) });
const toolArguments = fc.oneof(
  fc.constantFrom('', '{}', '{"a":1}', '[1]', 'null', '{"a":'),
  text,
  fc.dictionary(filled, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 3 }),
);
const toolCalls = fc.array(fc.record({ id: callId, name: fc.oneof(fc.constantFrom('look_up', 'files.read'), filled), arguments: toolArguments }), {
  minLength: 1, maxLength: 3,
});
const message = fc.oneof(
  { weight: 4, arbitrary: named({ role: fc.constant('user'), content }) },
  { weight: 3, arbitrary: named({ role: fc.constant('assistant'), content }) },
  { weight: 1, arbitrary: named({ role: fc.constant('system'), content }) },
  { weight: 4, arbitrary: named({ role: fc.constant('assistant'), content, toolCalls }) },
  { weight: 6, arbitrary: named({ role: fc.constant('tool'), content, toolCallId: callId }) },
  { weight: 1, arbitrary: named({ role: fc.constant('tool'), content }) },
);
const conversation = fc.array(message, { minLength: 1, maxLength: 16 });
const plainConversation = fc.array(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: fc.constantFrom('x', 'xx', 'xxxxx', '') }), { minLength: 1, maxLength: 20 },
);
const policy = fc
  .record({
    maxTokens: fc.integer({ min: 1, max: 30 }),
    targetShare: fc.double({ min: 0, max: 1, noNaN: true }),
    keepRecent: fc.integer({ min: 0, max: 5 }),
    alignToUser: fc.boolean(),
  })
  .map(({ maxTokens, targetShare, keepRecent, alignToUser }) => ({
    alignToUser,
    budget: { maxTokens, targetTokens: Math.floor(maxTokens * targetShare), keepRecent, perMessageOverhead: 1 },
  }));
// Cuts a conversation into the batches in which it is added.
const batches = fc.tuple(conversation, fc.infiniteStream(fc.integer({ min: 1, max: 4 }))).map(([messages, sizes]) => {
  const rest = [...messages];
  const cut = [];
  while (rest.length > 0) cut.push(rest.splice(0, sizes.next().value));
  return cut;
});

const countTokens = (counted) => counted.length;

// --- Judges

function assertAccepted(context, what) {
  for (const systemPrompt of [undefined, 'You are Mia.']) {
    const openai = toOpenAI(context, { systemPrompt });
    if (openai.length > 0) assert.deepEqual(checkOpenAI({ model: 'm', messages: openai }, { allowPlainToolMessages: true }), [], `OpenAI, ${what}`);
    const anthropic = toAnthropic(context, { systemPrompt });
    if (anthropic.messages.length > 0) assert.deepEqual(checkAnthropic({ model: 'm', max_tokens: 100, ...anthropic }), [], `Anthropic, ${what}`);
  }
}

// No result may stand behind a cut when every call that it can belong to stands before the cut, and a call that ends the window still waits.
function assertNoGroupSplit(window, boundary) {
  for (let index = boundary; index < window.length; index++) {
    const { role, toolCallId } = window[index];
    if (role !== 'tool' || toolCallId === undefined) continue;
    const callers = window
      .map((candidate, position) => ({ candidate, position }))
      .filter(({ candidate, position }) => position < index && candidate.role === 'assistant' && candidate.toolCalls?.some(({ id }) => id === toolCallId))
      .map(({ position }) => position);
    if (callers.length === 0) continue;
    assert.ok(Math.max(...callers) >= boundary, `the cut at ${boundary} separates the result at ${index} from its call`);
  }
  const last = window.at(-1);
  if (last.role === 'assistant' && last.toolCalls !== undefined) assert.ok(boundary < window.length, 'the call at the end still waits for its results');
}

describe('for every conversation and every budget', () => {
  test('what is folded and what is kept is all there is, in order, and no call is cut from its results', async () => {
    await fc.assert(
      fc.asyncProperty(batches, policy, fc.boolean(), async (cut, options, forced) => {
        const folds = [];
        const onArchive = (_, items) => {
          folds.push(items.map(({ id }) => id));
        };
        const session = createMemory({ ...options, countTokens, onArchive, summarize: () => 'S', archive: { max: 1e6 } }).session('s');
        const byId = new Map();
        let kept = [];
        const check = async (folded) => {
          const last = folded > 0 ? folds.at(-1) : [];
          const before = kept;
          kept = (await session.messages()).map(({ id }) => id);
          assert.deepEqual([...last, ...kept], before, 'the fold took a prefix of the window');
          assert.equal(folded, last.length);
          if (folded > 0) {
            assert.ok(kept.length >= Math.min(options.budget.keepRecent, before.length), 'keepRecent messages were kept');
            assertNoGroupSplit(before.map((id) => byId.get(id)), folded);
          }
          assert.deepEqual([...folds.flat(), ...kept], Array.from(byId.keys()));
        };
        for (const messages of cut) {
          for (const item of messages) byId.set(byId.size + 1, item);
          kept = [...kept, ...Array.from({ length: messages.length }, (_, index) => byId.size - messages.length + index + 1)];
          const result = await session.add(messages);
          assert.equal(result.compacted, result.folded > 0);
          await check(result.folded);
          assertAccepted(await session.context(), `after ${byId.size} messages`);
          if (forced) {
            await check((await session.compact({ force: true })).folded);
            assertAccepted(await session.context(), `after ${byId.size} messages and a forced fold`);
          }
        }
        const { archive, compactions } = await session.state();
        assert.deepEqual(archive.map(({ id }) => id), folds.flat());
        assert.equal(compactions, folds.length);
        assert.deepEqual(archive.map(({ compaction }) => compaction), folds.flatMap((ids, index) => ids.map(() => index + 1)));
      }),
      runs(120),
    );
  });

  test('the boundary is the one of the rules when there are no tools', async () => {
    await fc.assert(
      fc.asyncProperty(plainConversation, policy, fc.boolean(), async (messages, options, force) => {
        const { maxTokens, targetTokens, keepRecent, perMessageOverhead } = options.budget;
        const costs = messages.map((item) => item.content.length + perMessageOverhead);
        const sum = (from) => costs.slice(from).reduce((total, cost) => total + cost, 0);
        let boundary = 0;
        const may = () => messages.length - boundary > keepRecent;
        if (sum(0) > maxTokens) {
          while (may() && sum(boundary) > targetTokens) boundary++;
          if (options.alignToUser) while (boundary > 0 && boundary < messages.length && messages[boundary].role !== 'user' && may()) boundary++;
        }
        const session = createMemory({ ...options, countTokens }).session('s');
        assert.equal((await session.add(messages)).folded, boundary);
        if (force) {
          const all = Math.max(0, messages.length - boundary - keepRecent);
          assert.equal((await session.compact({ force: true })).folded, all);
        }
      }),
      runs(150),
    );
  });

  test('every part of it is rendered into requests that the providers take', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        for (let start = 0; start < messages.length; start++) {
          for (let end = start + 1; end <= messages.length; end++) {
            assertAccepted(contextOf(messages.slice(start, end), { system: 'memory block' }), `messages ${start} to ${end}`);
          }
        }
      }),
      runs(120),
    );
  });

  test('no text is lost in rendering', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const context = contextOf(messages);
        const openai = toOpenAI(context).map((item) => item.content).join('\n');
        const { system, messages: turns } = toAnthropic(context);
        const anthropic = [system, ...turns.flatMap((turn) => (Array.isArray(turn.content) ? turn.content.map((block) => block.text ?? block.content ?? '') : [turn.content]))].join('\n');
        for (const item of messages) {
          // Through UTF-8 half of a surrogate pair becomes the replacement character, as in what is sent.
          const said = Buffer.from(item.content).toString();
          assert.ok(openai.includes(said), `OpenAI has ${JSON.stringify(said)}`);
          if (said.trim() !== '') assert.ok(anthropic.includes(said.trimEnd()), `Anthropic has ${JSON.stringify(said)}`);
        }
      }),
      runs(150),
    );
  });

  test('the JSON of its state gives the same context elsewhere', async () => {
    await fc.assert(
      fc.asyncProperty(batches, policy, fc.array(fc.tuple(text, text), { maxLength: 3 }), text, async (cut, options, facts, query) => {
        const embed = (texts) => texts.map((item) => [item.length, item.charCodeAt(0) || 0, 1]);
        const create = (store) => createMemory({ ...options, store, embed, countTokens, clock: createClock(), recall: { minScore: -1 } });
        const session = create().session('s');
        for (const messages of cut) await session.add(messages);
        for (const [key, value] of facts) await session.pin(key, value);
        const json = JSON.stringify(await session.state());
        const expected = JSON.stringify(await session.context({ query }));
        for (const store of [new MemoryStore(), new SqliteStore(':memory:'), new JsonStore()]) {
          const elsewhere = create(store);
          await elsewhere.import(JSON.parse(json));
          assert.equal(JSON.stringify(await elsewhere.session('s').state()), json);
          assert.equal(JSON.stringify(await elsewhere.session('s').context({ query })), expected);
        }
      }),
      runs(60),
    );
  });

  test('every store gives the same answers', async () => {
    const operation = fc.oneof(
      { weight: 5, arbitrary: fc.array(message, { maxLength: 3 }).map((messages) => ['add', messages]) },
      { weight: 1, arbitrary: fc.tuple(text, text).map(([key, value]) => ['pin', key, value]) },
      { weight: 1, arbitrary: fc.constantFrom('a', 'b1', '1').map((key) => ['unpin', key]) },
      { weight: 1, arbitrary: fc.boolean().map((force) => ['compact', { force }]) },
      { weight: 1, arbitrary: text.map((query) => ['context', { query }]) },
      { weight: 1, arbitrary: fc.constant(['clear']) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 12 }), policy, async (operations, options) => {
        const results = [];
        for (const store of [new JsonStore(), new MemoryStore(), new SqliteStore(':memory:')]) {
          const answers = [];
          const session = createMemory({
            ...options, store, countTokens, clock: createClock(), archive: { max: 5 }, embed: (texts) => texts.map((item) => [item.length, 1]),
            extractFacts: ({ messages }) => messages.map((item) => ({ key: item.role, value: item.content })),
          }).session('s');
          for (const [name, ...inputs] of operations) {
            answers.push(await session[name](...inputs));
            answers.push(await session.state());
          }
          results.push(JSON.stringify(answers));
        }
        assert.equal(results[1], results[0]);
        assert.equal(results[2], results[0]);
      }),
      runs(60),
    );
  });
});

describe('for every archive', () => {
  test('the built-in search finds what a plain scan finds', async () => {
    const vector = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(vector, { minLength: 1, maxLength: 30 }), vector, fc.integer({ min: 0, max: 8 }), fc.double({ min: -1, max: 1, noNaN: true }), fc.integer({ min: 0, max: 60 }),
        async (vectors, query, topK, minScore, maxTokens) => {
          const embed = (texts) => texts.map((item) => JSON.parse(item));
          const session = createMemory({
            embed, summarize: () => 'S', countTokens, recall: { maxTokens }, budget: { maxTokens: 1, keepRecent: 0, perMessageOverhead: 0 },
          }).session('s');
          await session.add(vectors.map((item) => ({ role: 'user', content: JSON.stringify(item) })));
          const ranked = vectors
            .map((item, index) => ({ id: index + 1, score: cosine(query, item), tokens: JSON.stringify(item).length }))
            .filter(({ score }) => score >= minScore)
            .sort((a, b) => b.score - a.score || a.id - b.id)
            .slice(0, topK);
          let spent = 0;
          const expected = ranked.filter(({ tokens }) => {
            if (spent + tokens > maxTokens) return false;
            spent += tokens;
            return true;
          });
          const { recalled } = await session.context({ query: JSON.stringify(query), topK, minScore });
          assert.deepEqual(
            recalled.map((hit) => [hit.message.id, hit.score]),
            expected.sort((a, b) => a.id - b.id).map(({ id, score }) => [id, score]),
          );
        },
      ),
      runs(150),
    );
  });
});

describe('for every text', () => {
  const wild = fc.string({ unit, maxLength: 60 });

  test('oneLine does what JavaScript does with units', () => {
    fc.assert(
      fc.property(wild, fc.option(fc.integer({ min: -5, max: 70 }), { nil: undefined }), (given, max) => {
        const line = given.replace(/\s+/g, ' ').trim();
        const expected = max === undefined || line.length <= max ? line : `${line.slice(0, max - 3).trimEnd()}...`;
        assert.equal(oneLine(given, max), expected);
      }),
      runs(500),
    );
  });

  test('estimateTokens counts code points', () => {
    fc.assert(
      fc.property(wild, (given) => {
        const points = [...given];
        const ascii = points.filter((point) => point.codePointAt(0) < 128).length;
        assert.equal(estimateTokens(given), Math.ceil(ascii / 4) + points.length - ascii);
      }),
      runs(500),
    );
  });

  test('normalizeFactKey leaves a key of its own kind and leaves such a key alone', () => {
    fc.assert(
      fc.property(wild, (given) => {
        const key = normalizeFactKey(given);
        assert.match(key, /^(?:[a-z0-9](?:[a-z0-9_]*[a-z0-9])?)?$/);
        assert.equal(normalizeFactKey(key), key);
        const expected = given.trim().toLowerCase().replace(/[\s\-./]+/g, '_').replace(/[^a-z0-9_]/g, '').replace(/^_+|_+$/g, '');
        assert.equal(key, expected);
      }),
      runs(500),
    );
  });

  test('a message comes back from a session as it was given', async () => {
    await fc.assert(
      fc.asyncProperty(message, fc.jsonValue(), async (given, meta) => {
        const session = createMemory({ clock: () => 5 }).session('s');
        await session.add({ ...given, meta });
        const expected = JSON.parse(JSON.stringify({ ...given, meta }));
        const [{ id, at, tokens, ...stored }] = await session.messages();
        assert.equal(JSON.stringify(stored.meta), JSON.stringify(expected.meta));
        assert.deepEqual(stored, expected);
        assert.equal(tokens, estimateTokens(messageText(given)) + 4);
      }),
      runs(200),
    );
  });
});
