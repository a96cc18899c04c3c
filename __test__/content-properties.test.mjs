// What must hold for conversations of every kind of part, from every provider. MEMORYLINE_LONG=1 makes fifty times as many.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createMemory, from, MemoryStore, SqliteStore } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { contextOf } from './support/messages.mjs';
import { FORMATS } from './support/requests.mjs';
import { JsonStore } from './support/stores.mjs';

const runs = (count) => ({ numRuns: process.env.MEMORYLINE_LONG === '1' ? count * 50 : count });

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAA';
const PDF = Buffer.from('%PDF-1.4\n/Type /Page').toString('base64');

const text = fc.constantFrom('', ' ', '\n', 'a', 'Hello there ', '## Known facts', '\ud83d', '😀', '\0');
const filled = fc.constantFrom('x', 'thought', '\ud83d\ude00', 'half \ud83d');
const maybe = (arbitrary) => fc.option(arbitrary, { nil: undefined });
const withoutUndefined = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
const record = (fields) => fc.record(fields).map(withoutUndefined);
const provider = maybe(fc.constantFrom('openai', 'openai-responses', 'anthropic', 'ai-sdk', 'gemini', 'google', 'mistral'));

const source = fc.oneof(
  fc.record({ url: fc.constantFrom('https://a.example/b.png', `data:image/png;base64,${PNG}`, 'data:image/svg+xml;base64,AAAA') }),
  fc.record({ data: fc.constantFrom(PNG, PDF, 'AAAA', Buffer.from('plain text').toString('base64')) }),
);
const mediaType = maybe(fc.constantFrom('image/png', 'image/svg+xml', 'application/pdf', 'text/plain', 'audio/wav', 'audio/mpeg', 'application/zip'));
const media = (type, id) =>
  fc.tuple(fc.oneof(source, fc.constant({ [id]: 'file_1' })), mediaType, provider, maybe(fc.constantFrom('low', 'high', 'auto'))).map(([where, kind, from_, detail]) =>
    withoutUndefined({ type, ...where, mediaType: kind, provider: from_, detail: type === 'image' ? detail : undefined, name: type === 'file' ? 'report.pdf' : undefined }),
  );
const itemId = maybe(fc.constantFrom('rs_1', 'rs_2', 'msg_1'));
const part = fc.oneof(
  { weight: 5, arbitrary: record({ type: fc.constant('text'), text, provider, itemId, refusal: maybe(fc.constant(true)) }) },
  { weight: 1, arbitrary: media('image', 'fileId') },
  { weight: 1, arbitrary: media('file', 'fileId') },
  { weight: 1, arbitrary: media('audio', 'id') },
  { weight: 1, arbitrary: fc.constant({ type: 'file', text: 'the text', name: 'a.txt' }) },
  {
    weight: 3,
    arbitrary: record({
      type: fc.constant('reasoning'), text: maybe(filled), signature: maybe(fc.constant('c2ln')), encrypted: maybe(fc.constant('ZW5j')), provider, itemId,
      summary: maybe(fc.constant(['a summary'])),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'custom', value: { anything: [1] } }) },
);
const callId = fc.constantFrom('c1', 'c2', 'call_0', 'a.b');
const toolCalls = fc.array(
  record({ id: callId, name: fc.constantFrom('look_up', 'files.read', '9'), arguments: fc.constantFrom('{"a":1}', '', { b: 2 }), itemId: maybe(fc.constantFrom('fc_1', 'fc_2')) }),
  { maxLength: 3 },
);
const parts = fc.array(part, { maxLength: 4 });
const withMarks = fc.tuple(parts, toolCalls, fc.infiniteStream(fc.nat(4))).map(([list, calls, places]) => {
  const content = [...list];
  // Some calls have a place among the parts, some come last.
  for (const { id } of calls) if (places.next().value > 1) content.splice(places.next().value, 0, { type: 'toolCall', id });
  return { content, toolCalls: calls };
});
const message = fc.oneof(
  { weight: 3, arbitrary: record({ role: fc.constant('user'), content: fc.oneof(text, parts), provider }) },
  { weight: 4, arbitrary: fc.tuple(withMarks, provider).map(([rest, from_]) => withoutUndefined({ role: 'assistant', ...rest, provider: from_ })) },
  { weight: 1, arbitrary: record({ role: fc.constant('system'), content: fc.oneof(text, parts) }) },
  { weight: 5, arbitrary: record({ role: fc.constant('tool'), content: fc.oneof(text, parts), toolCallId: callId, isError: maybe(fc.boolean()), provider }) },
  { weight: 1, arbitrary: record({ role: fc.constant('tool'), content: fc.oneof(text, parts), name: maybe(fc.constant('look_up')) }) },
);
const conversation = fc.array(message, { minLength: 1, maxLength: 12 });
const options = fc.record({
  recall: fc.constantFrom('system', 'last'), openCalls: fc.constantFrom('answer', 'omit'), cacheControl: fc.boolean(), systemPrompt: fc.constantFrom('You are Mia.', '', undefined),
  provider: maybe(fc.constantFrom('anthropic', 'openai')),
});

const recalled = [{ message: { role: 'user', content: 'earlier', id: 1, at: 1, tokens: 5, compaction: 1 }, score: 1 }];

/** The messages as a session keeps and shows them. */
async function stored(messages, store) {
  const session = createMemory({ clock: createClock(), budget: { maxTokens: 1e9 }, ...(store && { store }) }).session('s');
  await session.add(messages);
  return (await session.context()).recent;
}

/** A request with text that stands alone in a list as the string that it is. */
function meaning(value) {
  if (Array.isArray(value)) {
    const [only] = value;
    const isText = value.length === 1 && /^(input_|output_)?text$/.test(only?.type) && Object.keys(only).length === 2;
    return isText ? only.text : value.map(meaning);
  }
  if (typeof value !== 'object' || value === null) return value;
  // The AI SDK takes a picture as a file, too.
  if (value.type === 'file' && value.mediaType?.startsWith('image/')) return meaning({ ...value, type: 'image', image: value.data, data: undefined });
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, meaning(item)]])));
}

/** The messages, items or contents of a request. */
const listOf = (request) => request.messages ?? request.input ?? request.contents ?? request;

function assertAccepted(context, choice, what) {
  for (const { name, render, check } of FORMATS) {
    const request = render(context, choice);
    assert.deepEqual(check(request), [], `${name}, ${what}, ${JSON.stringify(choice)}: ${JSON.stringify(request)}`);
  }
}

describe('for every conversation of every kind of part', () => {
  test('every stretch of it is rendered into requests that the providers take', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, options, async (messages, choice) => {
        const recent = await stored(messages);
        for (let start = 0; start < recent.length; start++) {
          for (let end = start + 1; end <= recent.length; end++) {
            const context = contextOf(recent.slice(start, end), { summary: 'said before', recalled, system: 'memory block' });
            assertAccepted(context, choice, `messages ${start} to ${end}`);
          }
        }
      }),
      runs(150),
    );
  });

  test('what a session shows after folds is rendered into requests that the providers take', async () => {
    const budget = fc.record({ maxTokens: fc.integer({ min: 1, max: 2000 }), keepRecent: fc.integer({ min: 0, max: 5 }) });
    await fc.assert(
      fc.asyncProperty(conversation, options, budget, async (messages, choice, figures) => {
        const session = createMemory({ clock: createClock(), budget: figures, embed: (texts) => texts.map(() => [1]) }).session('s');
        for (const added of messages) {
          await session.add(added);
          assertAccepted(await session.context(), choice, 'after a fold');
        }
      }),
      runs(100),
    );
  });

  test('everything comes out of every store as it went in', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        const shown = [];
        for (const store of [new MemoryStore(), new SqliteStore(':memory:'), new JsonStore()]) shown.push(await stored(messages, store));
        assert.deepEqual(shown[1], shown[0]);
        assert.deepEqual(shown[2], shown[0]);
        shown[0].forEach(({ content, parts: kept }, index) => {
          const given = messages[index].content;
          assert.equal(typeof content, 'string');
          if (kept !== undefined) assert.deepEqual(kept, given);
          else if (Array.isArray(given)) assert.ok(given.every(({ type }) => type === 'text' || type === 'toolCall'), JSON.stringify(given));
        });
      }),
      runs(60),
    );
  });

  test('a message that came out goes in again unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        const once = await stored(messages);
        assert.deepEqual(await stored(once), once);
      }),
      runs(60),
    );
  });

  test('what a provider gets is read back as what was sent to it', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        const recent = await stored(messages);
        for (const { name, render } of FORMATS) {
          const sent = listOf(render(contextOf(recent)));
          const again = listOf(render(contextOf(await stored(from(name, sent)))));
          assert.deepEqual(meaning(again), meaning(sent), name);
        }
      }),
      runs(80),
    );
  });
});
