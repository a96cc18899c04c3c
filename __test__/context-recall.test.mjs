import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cosine, createMemory } from './support/library.mjs';
import { assistant, calls, system, user } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget, words } from './support/tokens.mjs';

// A vector for each text: the numbers that the text itself lists, as '3,4 hello' lists 3 and 4; the query does the same.
const vectorOf = (text) => text.split(' ')[0].split(',').map(Number);
const embed = (texts) => texts.map(vectorOf);

// A session whose archive holds `texts` and whose window is empty.
async function archived(texts, options = {}) {
  const memory = createMemory({ embed, summarize: () => 'S', clock: () => 5, ...wordBudget({ maxTokens: 1, keepRecent: 0 }), ...options });
  const session = memory.session('s');
  await session.add(texts.map((text) => (text instanceof Object ? text : user(text))));
  await session.compact({ force: true });
  return session;
}
const ids = (context) => context.recalled.map(({ message }) => message.id);

describe('context() with a wrong option', () => {
  const rows = [
    ...[5, true, {}, ['a'], Symbol('q')].map((query) => [{ query }, 'TypeError', /^memoryline: .*query/]),
    ...[-1, -0.5, NaN, Infinity, -Infinity, '3', true, {}].map((topK) => [{ topK }, 'RangeError', /^memoryline: topK must be a number >= 0$/]),
    ...[NaN, '0.5', true, {}].map((minScore) => [{ minScore }, 'RangeError', /^memoryline: .*minScore/]),
  ];
  for (const [options, name, message] of rows) {
    const [[option, value]] = Object.entries(options);
    test(`throws at once when ${option} is ${typeof value === 'string' ? `'${value}'` : value?.constructor === Object ? '{}' : String(value)}`, () => {
      const session = createMemory().session('s');
      assert.throws(() => session.context(options), { name, message, code: 'ERR_MEMORYLINE_INVALID_OPTION' });
    });
  }

  test('does not take null or undefined for wrong: they mean the default', async () => {
    const asked = [];
    const retrieve = (input) => {
      asked.push([input.query, input.topK, input.minScore]);
      return [];
    };
    const session = await archived(['a', 'b'], { embed: undefined, retrieve, recall: { topK: 7, minScore: 0.5 }, ...wordBudget({ maxTokens: 9, keepRecent: 1 }) });
    await session.context({ query: null, topK: null, minScore: null });
    await session.context({ query: undefined, topK: undefined, minScore: undefined });
    await session.context({});
    await session.context();
    assert.deepEqual(asked, Array(4).fill(['b', 7, 0.5]));
  });
});

describe('context() of an unknown session', () => {
  test('is empty and creates nothing', async () => {
    const store = new JsonStore();
    const memory = createMemory({ store });
    assert.equal(
      JSON.stringify(await memory.session('s').context()),
      '{"sessionId":"s","summary":"","facts":[],"recalled":[],"recent":[],"system":"",'
        + '"tokens":{"summary":0,"facts":0,"recalled":0,"recent":0,"total":0}}',
    );
    assert.deepEqual([store.texts.size, store.count('save')], [0, 0]);
  });
});

describe('context()', () => {
  test('has its keys in one order and counts each of its parts', async () => {
    const session = await archived(['1,0 Is there parking nearby?', '0,1 hello'], {
      summarize: () => 'Dana wants a table.', countTokens: words, budget: { maxTokens: 1, keepRecent: 0, perMessageOverhead: 2 },
    });
    await session.pin([{ key: 'name', value: 'Dana' }, { key: 'party_size', value: '6' }]);
    await session.pin('empty', '');
    const memory = createMemory({ embed, clock: () => 5, countTokens: words, budget: { perMessageOverhead: 2 } });
    await memory.import(await session.state());
    const roomy = memory.session('s');
    await roomy.add([user('1,0 parking again', { name: 'Dana' }), assistant('yes')]);
    const system = [
      '## Conversation so far',
      'Dana wants a table.',
      '',
      '## Known facts',
      '- name: Dana',
      '- party_size: 6',
      '',
      '## Relevant earlier messages',
      '- user: 1,0 Is there parking nearby?',
    ].join('\n');
    const context = await roomy.context();
    assert.equal(
      JSON.stringify(context),
      JSON.stringify({
        sessionId: 's',
        summary: 'Dana wants a table.',
        facts: [
          { key: 'name', value: 'Dana', source: 'pinned', at: 5 },
          { key: 'party_size', value: '6', source: 'pinned', at: 5 },
        ],
        recalled: [{
          message: { role: 'user', content: '1,0 Is there parking nearby?', id: 1, at: 5, tokens: 7, compaction: 1, embedding: [1, 0] },
          score: 1,
        }],
        recent: [{ role: 'user', content: '1,0 parking again', at: 5, name: 'Dana' }, { role: 'assistant', content: 'yes', at: 5 }],
        system,
        tokens: { summary: 4, facts: 6, recalled: 7, recent: 3 + 2 + 1 + 2, total: words(system) + 8 },
      }),
    );
  });

  test('is the same as before when it is asked for again, and saves nothing', async () => {
    const store = new JsonStore();
    const session = await archived(['1,0', '0,1'], { store });
    const saves = store.count('save');
    const first = await session.context({ query: '1,0' });
    assert.deepEqual(await session.context({ query: '1,0' }), first);
    assert.equal(store.count('save'), saves);
  });

  test('gives copies of what it recalls', async () => {
    const session = await archived(['1,0']);
    const { recalled } = await session.context({ query: '1,0' });
    recalled[0].message.content = 'changed';
    recalled[0].message.embedding[0] = 99;
    const again = await session.context({ query: '1,0' });
    assert.deepEqual([again.recalled[0].message.content, again.recalled[0].message.embedding], ['1,0', [1, 0]]);
  });
});

describe('recall is left out', () => {
  // A session with an archive, the log of what the embedder was asked after that, and messages for its window.
  const watched = async (messages, options = {}) => {
    const asked = [];
    const spying = (texts) => {
      asked.push(texts);
      return embed(texts);
    };
    const store = new JsonStore();
    await archived(['1,0 old'], { store });
    const session = createMemory({ store, embed: spying, ...options }).session('s');
    await session.add(messages);
    return { session, asked };
  };

  test('when the call says recall: false', async () => {
    const { session, asked } = await watched([user('1,0')]);
    assert.deepEqual((await session.context({ recall: false })).recalled, []);
    assert.deepEqual((await session.context({ recall: false, query: '1,0', topK: 5 })).recalled, []);
    assert.deepEqual(asked, []);
  });

  test('only by false itself', async () => {
    const { session } = await watched([user('1,0')]);
    for (const recall of [true, undefined, null, 0, '']) assert.deepEqual(ids(await session.context({ recall })), [1]);
  });

  test('when there is neither an embedder nor a retriever', async () => {
    const { session } = await watched([user('1,0')], { embed: undefined });
    assert.deepEqual((await session.context({ query: '1,0' })).recalled, []);
  });

  test('when the archive is empty', async () => {
    const unexpected = () => assert.fail('there is nothing to search');
    const session = createMemory({ embed: unexpected, retrieve: unexpected }).session('s');
    await session.add(user('1,0'));
    assert.deepEqual((await session.context({ query: 'x' })).recalled, []);
  });

  test('when the query is an empty string', async () => {
    const { session, asked } = await watched([user('1,0')]);
    assert.deepEqual((await session.context({ query: '' })).recalled, []);
    assert.deepEqual(asked, []);
  });

  test('when the last user message is empty, even if an earlier one is not', async () => {
    const { session, asked } = await watched([user('1,0'), user(''), assistant('yes?')]);
    assert.deepEqual((await session.context()).recalled, []);
    assert.deepEqual(asked, []);
  });

  test('when the window has no user message', async () => {
    const { session, asked } = await watched([assistant('1,0'), system('1,0')]);
    assert.deepEqual((await session.context()).recalled, []);
    assert.deepEqual(asked, []);
  });
});

describe('the query', () => {
  const asked = async (messages, options) => {
    const texts = [];
    const store = new JsonStore();
    await archived(['1,0 old'], { store });
    const session = createMemory({ store, embed: (batch) => (texts.push(batch), embed(batch)) }).session('s');
    await session.add(messages);
    await session.context(options);
    return texts;
  };

  test('is the latest user message of the window, in a batch of its own', async () => {
    assert.deepEqual(await asked([user('0,1'), user('1,0'), assistant('2,2'), system('3,3')]), [['1,0']]);
  });

  test('is the content of that message alone, without its tool calls', async () => {
    assert.deepEqual(await asked([{ ...calls(['c1'], '1,0'), role: 'user' }]), [['1,0']]);
  });

  test('is what the call gives, when it gives one', async () => {
    assert.deepEqual(await asked([user('0,1')], { query: ' 1,0 as is ' }), [[' 1,0 as is ']]);
  });

  test('may be blank, which is not empty', async () => {
    assert.deepEqual(await asked([user('0,1')], { query: ' ' }), [[' ']]);
  });
});

describe('the built-in search', () => {
  test('takes the best, at most topK of them, and gives them oldest first', async () => {
    const session = await archived(['1,1', '0,1', '1,0', '3,1']);
    assert.deepEqual(ids(await session.context({ query: '1,0' })), [1, 3, 4]);
    assert.deepEqual(ids(await session.context({ query: '1,0', topK: 2 })), [3, 4]);
    assert.deepEqual(ids(await session.context({ query: '1,0', topK: 1 })), [3]);
    assert.deepEqual(ids(await session.context({ query: '1,0', topK: 0 })), []);
    assert.deepEqual(ids(await session.context({ query: '1,0', topK: 99, minScore: -1 })), [1, 2, 3, 4]);
  });

  test('includes a score that is just minScore and leaves out what is below', async () => {
    const session = await archived(['3,4', '4,3', '0,1', '-1,0'], { recall: { minScore: 0.6, topK: 9 } });
    assert.deepEqual(ids(await session.context({ query: '1,0' })), [1, 2]);
    assert.deepEqual(ids(await session.context({ query: '1,0', minScore: 0.61 })), [2]);
    assert.deepEqual(ids(await session.context({ query: '1,0', minScore: 0 })), [1, 2, 3]);
    assert.deepEqual(ids(await session.context({ query: '1,0', minScore: -1 })), [1, 2, 3, 4]);
    assert.deepEqual(ids(await session.context({ query: '1,0', minScore: Infinity })), []);
  });

  test('takes the older of two that are equally good', async () => {
    const session = await archived(['1,0 a', '2,0 b', '1,0 c', '4,0 d']);
    assert.deepEqual(ids(await session.context({ query: '1,0', topK: 2 })), [1, 2]);
  });

  test('scores as cosine does, to the last bit', async () => {
    const texts = ['0.1,0.2,0.3', '0.7,-0.1,0.25', '1e-3,123456.789,3', '0.3333333333333333,0.6666666666666666,0.1'];
    const session = await archived(texts, { recall: { topK: 9, minScore: -1 } });
    const query = '0.12345678901234567,0.9,-0.4';
    const { recalled } = await session.context({ query });
    assert.deepEqual(recalled.map(({ score }) => score), texts.map((text) => cosine(vectorOf(query), vectorOf(text))));
  });

  test('compares over the shorter length when a vector has another length', async () => {
    const session = await archived(['1', '1,0,0,5', '0,1'], { recall: { minScore: 0.9 } });
    const { recalled } = await session.context({ query: '1,0' });
    assert.deepEqual(recalled.map(({ message, score }) => [message.id, score]), [[1, 1], [2, 1]]);
  });

  test('gives a vector of zeros the score 0', async () => {
    const session = await archived(['0,0', '1,0'], { recall: { minScore: 0, topK: 9 } });
    assert.deepEqual((await session.context({ query: '1,0' })).recalled.map(({ score }) => score), [0, 1]);
    assert.deepEqual(ids(await session.context({ query: '0,0' })), [1, 2]);
  });

  test('does not find messages that have no vector', async () => {
    const session = await archived(['1,0', '1,0', '1,0'], { embed: (texts) => embed(texts).slice(0, 2) });
    assert.deepEqual(ids(await session.context({ query: '1,0' })), [1, 2]);
  });

  test('finds nothing when the embedder gives no vector for the query', async () => {
    const session = await archived(['1,0'], { embed: (texts) => (texts[0] === 'ask' ? [] : embed(texts)) });
    assert.deepEqual((await session.context({ query: 'ask' })).recalled, []);
  });
});

describe('the token limit of recall', () => {
  test('skips a message that would exceed it and goes on to the next best', async () => {
    const session = await archived(['10,1 short', '10,0 one two three four', '10,2 short too'], { recall: { maxTokens: 5, minScore: 0, topK: 3 } });
    // The best costs 5 and fills the limit by itself.
    assert.deepEqual(ids(await session.context({ query: '1,0' })), [2]);
    const skipping = await archived(['10,1 short', '10,0 one two three four five', '10,2 short too'], { recall: { maxTokens: 5, minScore: 0, topK: 3 } });
    // The best costs 6, so the two that follow are taken, which cost 2 and 3.
    assert.deepEqual(ids(await skipping.context({ query: '1,0' })), [1, 3]);
  });

  test('counts the stored tokens, overhead included', async () => {
    const options = { countTokens: words, budget: { maxTokens: 1, keepRecent: 0, perMessageOverhead: 10 }, recall: { maxTokens: 22 } };
    const session = await archived(['1,0', '1,0', '1,0'], options);
    const context = await session.context({ query: '1,0' });
    assert.deepEqual([ids(context), context.tokens.recalled], [[1, 2], 22]);
  });

  test('applies after topK, so fewer than topK may come back', async () => {
    const session = await archived(['1,0 a b c d e', '5,1', '5,2'], { recall: { maxTokens: 2, topK: 2, minScore: 0 } });
    assert.deepEqual(ids(await session.context({ query: '1,0' })), [2]);
  });

  test('of 0 leaves only messages that cost nothing', async () => {
    const session = await archived(['1,0 dear', '1,0'], { countTokens: (text) => (text === '1,0' ? 0 : 9), recall: { maxTokens: 0 } });
    assert.deepEqual(ids(await session.context({ query: '1,0' })), [2]);
  });
});

describe('a retriever of the app', () => {
  test('is given what it needs in one order, with the vector of the query when there is an embedder', async () => {
    const seen = [];
    const retrieve = (input) => {
      seen.push(JSON.stringify(input));
      return [];
    };
    const recall = { topK: 4, minScore: 0.5 };
    const withVector = await archived(['1,0'], { retrieve, recall });
    await withVector.context({ query: '0,1' });
    const without = await archived(['1,0'], { retrieve, recall, embed: undefined });
    await without.context({ query: '0,1', topK: 2, minScore: 0.75 });
    assert.deepEqual(seen, [
      '{"sessionId":"s","query":"0,1","topK":4,"minScore":0.5,'
        + '"archive":[{"role":"user","content":"1,0","id":1,"at":5,"tokens":1,"compaction":1,"embedding":[1,0]}],"embedding":[0,1]}',
      '{"sessionId":"s","query":"0,1","topK":2,"minScore":0.75,'
        + '"archive":[{"role":"user","content":"1,0","id":1,"at":5,"tokens":1,"compaction":1}]}',
    ]);
  });

  test('leaves an input that can be read when the context is there', async () => {
    let input;
    const retrieve = (given) => {
      input = given;
      return [];
    };
    const session = await archived(['1,0'], { retrieve });
    await session.context({ query: '0,1' });
    assert.deepEqual(input, {
      sessionId: 's',
      query: '0,1',
      topK: 3,
      minScore: 0.25,
      archive: [{ role: 'user', content: '1,0', id: 1, at: 5, tokens: 1, compaction: 1, embedding: [1, 0] }],
      embedding: [0, 1],
    });
  });

  test('has no embedding among its input when there is no embedder', async () => {
    let has;
    const retrieve = (input) => {
      has = 'embedding' in input;
      return [];
    };
    const session = await archived(['1,0'], { retrieve, embed: undefined });
    await session.context({ query: 'q' });
    assert.equal(has, false);
  });

  test('decides itself about number and score, but not about the token limit and the order', async () => {
    const retrieve = ({ archive }) => [4, 1, 3, 2].map((id) => ({ message: archive.find((item) => item.id === id), score: -id }));
    const session = await archived(['a', 'b b b', 'c', 'd'], { embed: undefined, retrieve, recall: { topK: 1, minScore: 0.9, maxTokens: 5 } });
    const { recalled } = await session.context({ query: 'q' });
    assert.deepEqual(recalled.map(({ message, score }) => [message.id, score]), [[1, -1], [3, -3], [4, -4]]);
  });

  test('may be synchronous or not and may answer with anything that can be iterated', async () => {
    const hits = ({ archive }) => archive.map((message) => ({ message, score: 1 }));
    const answers = [
      (input) => hits(input),
      async (input) => hits(input),
      (input) => new Set(hits(input)),
      function* (input) {
        yield* hits(input);
      },
    ];
    for (const retrieve of answers) {
      const session = await archived(['a', 'b'], { embed: undefined, retrieve });
      assert.deepEqual(ids(await session.context({ query: 'q' })), [1, 2]);
    }
  });

  test('that answers with null makes context reject', async () => {
    const session = await archived(['a'], { embed: undefined, retrieve: () => null });
    await assert.rejects(session.context({ query: 'q' }), TypeError);
  });

  test('may give messages from elsewhere, which come out as they are', async () => {
    const message = { role: 'assistant', content: 'from another session', id: 99, at: 1, tokens: 3, compaction: 1, meta: { source: 'index' } };
    const session = await archived(['a'], { embed: undefined, retrieve: () => [{ message, score: 0.5 }] });
    const context = await session.context({ query: 'q' });
    assert.deepEqual(context.recalled, [{ message, score: 0.5 }]);
    assert.match(context.system, /- assistant: from another session$/);
  });

  test('is not asked when the embedder fails for it, and the context is whole without recall', async () => {
    const failure = new Error('no embeddings today');
    let working = true;
    const session = await archived(['1,0'], {
      embed: (texts) => {
        if (!working) throw failure;
        return embed(texts);
      },
      retrieve: ({ archive }) => (working ? archive.map((message) => ({ message, score: 1 })) : assert.fail('there is no vector to search for')),
    });
    assert.deepEqual(ids(await session.context({ query: '1,0' })), [1]);
    working = false;
    const context = await session.context({ query: '1,0' });
    assert.deepEqual([context.recalled, context.summary], [[], 'S']);
    assert.equal(context.recallError, failure);
  });
});

describe('an embedder that fails', () => {
  const failing = async (answer, options = {}) => {
    let working = true;
    const session = await archived(['1,0'], { embed: (texts) => (working ? embed(texts) : answer(texts)), ...options });
    working = false;
    return session;
  };

  for (const [how, fail] of [
    ['throws', (failure) => { throw failure; }],
    ['rejects', (failure) => Promise.reject(failure)],
  ]) {
    for (const failure of [new Error('down'), 'a string', 0, null]) {
      test(`and ${how} ${failure instanceof Error ? 'an error' : JSON.stringify(failure)} leaves recall out, and the context tells of it`, async () => {
        const heard = [];
        const session = await failing(() => fail(failure), { onError: (error, info) => heard.push([error, info]) });
        const context = await session.context({ query: '1,0' });
        assert.deepEqual(context.recalled, []);
        assert.equal(context.summary, 'S');
        assert.equal(Object.keys(context).at(-1), 'recallError');
        assert.equal(context.recallError, failure);
        assert.equal(heard.length, 1);
        assert.equal(heard[0][0], failure);
        assert.deepEqual(heard[0][1], { sessionId: 's', stage: 'embed', operation: 'context' });
      });
    }
  }

  for (const [what, value] of [
    ['a string', 'vectors'],
    ['a number', 5],
    ['rows of text', [['a']]],
    ['rows that are numbers', [1, 2]],
    ['NaN', [[NaN, 1]]],
    ['Infinity', [[Infinity, 1]]],
  ]) {
    test(`by answering with ${what} leaves recall out with an error that names embed`, async () => {
      const session = await failing(() => value);
      const context = await session.context({ query: '1,0' });
      assert.deepEqual(context.recalled, []);
      assert.ok(context.recallError instanceof TypeError);
      assert.equal(context.recallError.code, 'ERR_MEMORYLINE_CALLBACK_RESULT');
      assert.match(context.recallError.message, /^memoryline: .*embed/);
    });
  }

  test('is asked again the next time', async () => {
    let working = true;
    const session = await archived(['1,0'], {
      embed: (texts) => {
        if (!working) throw new Error('down');
        return embed(texts);
      },
    });
    working = false;
    assert.deepEqual(ids(await session.context({ query: '1,0' })), []);
    working = true;
    const context = await session.context({ query: '1,0' });
    assert.deepEqual(ids(context), [1]);
    assert.equal('recallError' in context, false);
  });

  test('does no harm when onError itself throws', async () => {
    const session = await failing(() => { throw new Error('down'); }, { onError: () => { throw new Error('in the handler'); } });
    assert.equal((await session.context({ query: '1,0' })).recallError.message, 'down');
  });
});
