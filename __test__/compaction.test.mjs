import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, extractiveSummary, messageText } from './support/library.mjs';
import { createClock } from './support/clock.mjs';
import { assistant, calls, result, system, user } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget, words } from './support/tokens.mjs';

const open = (options) => createMemory(options).session('s');

// A conversation in shorthand: each letter is one message of one token, `u` a user's, `a` an assistant's, `s` the system's.
const conversation = (shape) => [...shape].map((letter, index) => {
  const content = `${letter}${index}`;
  return letter === 'u' ? user(content) : letter === 'a' ? assistant(content) : system(content);
});

describe('a summary that says nothing', () => {
  for (const [what, value] of [
    ['an empty string', ''],
    ['blanks', ' \n\t '],
    ['blanks that only JavaScript knows', '\ufeff\u00a0\u3000'],
    ['null', null],
    ['undefined', undefined],
  ]) {
    test(`is a failed fold that changes nothing: ${what}`, async () => {
      const memory = createMemory({ summarize: () => value, ...wordBudget({ maxTokens: 2, keepRecent: 0 }) });
      const session = memory.session('s');
      await assert.rejects(session.add(conversation('uau')), { name: 'Error', code: 'ERR_MEMORYLINE_SUMMARY_EMPTY', message: /^memoryline: / });
      assert.equal(await memory.export('s'), null);
      await session.add(conversation('ua'));
      const before = await session.state();
      await assert.rejects(session.compact({ force: true }), { code: 'ERR_MEMORYLINE_SUMMARY_EMPTY' });
      await assert.rejects(session.add(user('more')), { code: 'ERR_MEMORYLINE_SUMMARY_EMPTY' });
      assert.deepEqual(await session.state(), before);
    });

    test(`never replaces the summary that there is: ${what}`, async () => {
      let answer = 'what was said';
      const session = open({ summarize: () => answer, ...wordBudget({ maxTokens: 2, keepRecent: 0 }) });
      await session.add(conversation('uau'));
      answer = value;
      await assert.rejects(session.add(conversation('uau')), { code: 'ERR_MEMORYLINE_SUMMARY_EMPTY' });
      assert.equal((await session.state()).summary, 'what was said');
      answer = 'and more';
      assert.equal((await session.add(conversation('uau'))).summary, 'and more');
    });
  }

  test('is no failure when the built-in summarizer has nothing to say', async () => {
    const session = open(wordBudget({ maxTokens: 1, keepRecent: 1 }));
    const added = await session.add([system('be kind'), user('hi')]);
    assert.deepEqual([added.compacted, added.folded, added.summary], [true, 1, '']);
  });
});

describe('compact() of nothing', () => {
  test('folds nothing and creates nothing', async () => {
    const memory = createMemory({ summarize: () => assert.fail('there is nothing to summarize') });
    for (const options of [undefined, {}, { force: false }, { force: true }]) {
      assert.equal(JSON.stringify(await memory.session('s').compact(options)), '{"folded":0,"summary":"","facts":[]}');
    }
    assert.equal(await memory.export('s'), null);
  });
});

describe('a fold begins', () => {
  test('when the window holds more than the maximum, not when it holds just as much', async () => {
    const session = open(wordBudget({ maxTokens: 3, keepRecent: 0 }));
    assert.deepEqual((await session.add(conversation('uuu'))).compacted, false);
    assert.deepEqual((await session.add(user('one'))).compacted, true);
  });

  test('inside add, once, however many messages were added', async () => {
    const inputs = [];
    const summarize = (input) => `S${inputs.push(input)}`;
    const session = open({ summarize, ...wordBudget({ maxTokens: 2, keepRecent: 1 }) });
    const added = await session.add(conversation('uuuuuuuuuu'));
    assert.deepEqual([added.added, added.folded, added.summary, inputs.length], [10, 9, 'S1', 1]);
  });

  test('in compact() without force under the same condition as in add()', async () => {
    const options = { summarize: () => 'S' };
    const store = new JsonStore();
    const roomy = createMemory({ ...options, store, ...wordBudget({ maxTokens: 9 }) });
    const tight = createMemory({ ...options, store, ...wordBudget({ maxTokens: 4, targetTokens: 2, keepRecent: 0 }) });
    await roomy.session('s').add(conversation('uuuu'));
    assert.equal((await tight.session('s').compact()).folded, 0);
    await roomy.session('s').add(user('one'));
    assert.equal((await roomy.session('s').compact()).folded, 0);
    assert.equal(JSON.stringify(await tight.session('s').compact()), '{"folded":3,"summary":"S","facts":[]}');
  });
});

describe('a fold ends', () => {
  test('as soon as the window is at the target', async () => {
    const session = open(wordBudget({ maxTokens: 5, targetTokens: 3, keepRecent: 0 }));
    assert.equal((await session.add(conversation('uuuuuu'))).folded, 3);
  });

  test('under the target when the messages do not end at it', async () => {
    const session = open(wordBudget({ maxTokens: 5, targetTokens: 3, keepRecent: 0 }));
    assert.equal((await session.add([user('a b'), user('c d'), user('e f')])).folded, 2);
  });

  test('before the last keepRecent messages, even if they are over the maximum', async () => {
    const session = open(wordBudget({ maxTokens: 5, keepRecent: 2 }));
    const added = await session.add([user('a'), user('b b b b b'), user('c c c c c')]);
    assert.equal(added.folded, 1);
    const again = await session.add(user('d d d d d'));
    assert.equal(again.folded, 1);
    assert.equal((await session.messages()).length, 2);
  });

  test('with nothing folded while there are no more than keepRecent messages', async () => {
    const session = open(wordBudget({ maxTokens: 1, keepRecent: 4 }));
    const added = await session.add(conversation('uuuu'));
    assert.deepEqual([added.compacted, added.folded], [false, 0]);
  });

  test('with an empty window when keepRecent is 0 and one message alone is over the maximum', async () => {
    const session = open(wordBudget({ maxTokens: 2, keepRecent: 0 }));
    const added = await session.add(user('one two three'));
    assert.deepEqual([added.compacted, added.folded], [true, 1]);
    assert.deepEqual(await session.messages(), []);
    assert.deepEqual((await session.context()).recent, []);
  });
});

describe('alignment', () => {
  const folded = async (shape, budget, options) =>
    (await open({ ...wordBudget(budget), ...options }).add(conversation(shape))).folded;

  test('moves the boundary on to the next user turn', async () => {
    assert.equal(await folded('uaaua', { maxTokens: 4, targetTokens: 4, keepRecent: 0 }), 3);
  });

  test('leaves a boundary at a user turn where it is', async () => {
    assert.equal(await folded('uauaua', { maxTokens: 4, targetTokens: 4, keepRecent: 0 }), 2);
  });

  test('stops at keepRecent, even on a message that is not a user turn', async () => {
    assert.equal(await folded('uaaaa', { maxTokens: 4, targetTokens: 4, keepRecent: 3 }), 2);
    assert.equal(await folded('uaaua', { maxTokens: 4, targetTokens: 4, keepRecent: 4 }), 1);
  });

  test('passes over system messages as over assistant turns', async () => {
    assert.equal(await folded('uasua', { maxTokens: 4, targetTokens: 4, keepRecent: 0 }), 3);
  });

  test('folds everything when no user turn is left and keepRecent allows it', async () => {
    assert.equal(await folded('uaaa', { maxTokens: 3, targetTokens: 3, keepRecent: 0 }), 4);
  });

  test('does not begin a fold of its own', async () => {
    assert.equal(await folded('aaua', { maxTokens: 4, targetTokens: 4, keepRecent: 0 }), 0);
  });

  test('can be left out', async () => {
    assert.equal(await folded('uaaua', { maxTokens: 4, targetTokens: 4, keepRecent: 0 }, { alignToUser: false }), 1);
  });
});

describe('a forced fold', () => {
  test('folds everything but keepRecent, whatever the budget', async () => {
    const session = open(wordBudget({ maxTokens: 100, keepRecent: 2 }));
    await session.add(conversation('uauau'));
    assert.equal((await session.compact({ force: true })).folded, 3);
    assert.equal((await session.compact({ force: true })).folded, 0);
  });

  test('can leave an assistant turn first', async () => {
    const session = open(wordBudget({ maxTokens: 100, keepRecent: 1 }));
    await session.add(conversation('uaua'));
    await session.compact({ force: true });
    assert.deepEqual((await session.messages()).map(({ role }) => role), ['assistant']);
  });

  test('folds the whole window when keepRecent is 0', async () => {
    const session = open(wordBudget({ maxTokens: 100, keepRecent: 0 }));
    await session.add(conversation('uaua'));
    assert.equal((await session.compact({ force: true })).folded, 4);
  });
});

describe('a fold does, in order', () => {
  test('summarize, extractFacts, embed, the save, and then onArchive, each once', async () => {
    const steps = [];
    const step = (name, value) => async () => {
      steps.push(name);
      return value;
    };
    const store = new JsonStore();
    const save = store.save.bind(store);
    store.save = async (state) => {
      steps.push('save');
      await save(state);
    };
    const session = open({
      store,
      summarize: step('summarize', 'S'),
      extractFacts: step('extractFacts', []),
      embed: step('embed', [[1], [2]]),
      onArchive: step('onArchive'),
      ...wordBudget({ maxTokens: 2, targetTokens: 1, keepRecent: 0 }),
    });
    await session.add(conversation('uuu'));
    assert.deepEqual(steps, ['summarize', 'extractFacts', 'embed', 'save', 'onArchive']);
  });

  test('none of them when nothing is folded', async () => {
    const unexpected = () => assert.fail('nothing was folded');
    const session = open({ summarize: unexpected, extractFacts: unexpected, embed: unexpected, onArchive: unexpected });
    await session.add(conversation('uau'));
    await session.compact();
    assert.equal((await session.messages()).length, 3);
  });
});

describe('summarize', () => {
  test('is given the summary before, the folded messages, the facts and a target, in this order', async () => {
    const inputs = [];
    const summarize = (input) => {
      inputs.push(JSON.stringify(input));
      return `S${inputs.length}`;
    };
    const session = open({ clock: () => 5, summarize, ...wordBudget({ maxTokens: 1, keepRecent: 1, summaryMaxTokens: 60 }) });
    await session.pin('name', 'Dana');
    await session.add([user('a', { name: 'Dana', meta: { x: 1 } }), assistant('b')]);
    await session.add(user('c', { at: 9 }));
    const facts = '[{"key":"name","value":"Dana","source":"pinned","at":5}]';
    assert.deepEqual(inputs, [
      `{"previousSummary":"","messages":[{"role":"user","content":"a","at":5,"name":"Dana","meta":{"x":1}}],"facts":${facts},"maxTokens":60}`,
      `{"previousSummary":"S1","messages":[{"role":"assistant","content":"b","at":5}],"facts":${facts},"maxTokens":60}`,
    ]);
  });

  test('cannot change the session through its input', async () => {
    const summarize = (input) => {
      input.facts[0].value = 'changed';
      input.facts.push({ key: 'x', value: 'y', source: 'pinned', at: 1 });
      input.messages[0].content = 'changed';
      input.previousSummary = 'changed';
      return 'S';
    };
    const session = open({ summarize, ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    await session.pin('name', 'Dana');
    const { facts } = await session.add(conversation('uu'));
    assert.deepEqual(facts.map(({ key, value }) => [key, value]), [['name', 'Dana']]);
    assert.equal((await session.state()).archive[0].content, 'u0');
  });

  test('may answer with a promise, with any thenable, with a number, and with blanks around', async () => {
    const answers = [
      ['plain', 'plain'],
      [Promise.resolve('promised'), 'promised'],
      [{ then: (resolve) => resolve('thenable') }, 'thenable'],
      [42, '42'],
      [' \ufeff\u00a0 trimmed as JavaScript does\n', 'trimmed as JavaScript does'],
      ['\u0085 kept', '\u0085 kept'],
      [false, 'false'],
    ];
    for (const [answer, summary] of answers) {
      const session = open({ summarize: () => answer, ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
      assert.equal((await session.add(conversation('uu'))).summary, summary);
    }
  });

  test('may answer with more than its target', async () => {
    const long = 'word '.repeat(1000).trim();
    const session = open({ summarize: () => long, ...wordBudget({ maxTokens: 1, keepRecent: 1, summaryMaxTokens: 5 }) });
    assert.equal((await session.add(conversation('uu'))).summary, long);
  });

  test('is the extractive summary with the counter of the app when the app has none', async () => {
    const session = open(wordBudget({ maxTokens: 1, keepRecent: 1, summaryMaxTokens: 6 }));
    await session.add([user('alpha beta'), assistant('gamma'), user('delta')]);
    const { summary, archive } = await session.state();
    assert.equal(summary, extractiveSummary({ previousSummary: '', messages: archive, facts: [], maxTokens: 6 }, words));
    assert.equal(summary, '- assistant: gamma');
  });

  test('builds on the summary before when the app has none', async () => {
    const session = open(wordBudget({ maxTokens: 1, keepRecent: 1 }));
    await session.add(conversation('uau'));
    assert.equal((await session.add(assistant('last'))).summary, '- user: u0\n- assistant: a1\n- user: u2');
  });
});

describe('extractFacts', () => {
  const run = (extractFacts, options = {}) =>
    open({ clock: () => 5, extractFacts, summarize: () => 'the new summary', ...wordBudget({ maxTokens: 1, keepRecent: 1 }), ...options });

  test('is given the folded messages, the facts before and the new summary, in this order', async () => {
    const inputs = [];
    const session = run((input) => {
      inputs.push(JSON.stringify(input));
      return [];
    });
    await session.pin('name', 'Dana');
    await session.add(conversation('ua'));
    assert.deepEqual(inputs, [
      '{"messages":[{"role":"user","content":"u0","at":5}],'
        + '"facts":[{"key":"name","value":"Dana","source":"pinned","at":5}],"summary":"the new summary"}',
    ]);
  });

  test('may find nothing, and says so with null or an empty array', async () => {
    for (const nothing of [null, []]) {
      assert.deepEqual((await run(() => nothing).add(conversation('ua'))).facts, []);
      assert.deepEqual((await run(async () => nothing).add(conversation('ua'))).facts, []);
    }
  });

  test('puts what it finds into the result of the very add that folded', async () => {
    const added = await run(async () => [{ key: 'Party Size', value: 6 }]).add(conversation('ua'));
    assert.deepEqual(added.facts, [{ key: 'party_size', value: '6', source: 'extracted', at: 5 }]);
  });

  test('cannot change the session through its input', async () => {
    const session = run((input) => {
      input.facts.length = 0;
      input.messages[0].content = 'changed';
      return null;
    });
    await session.pin('name', 'Dana');
    assert.deepEqual((await session.add(conversation('ua'))).facts.map(({ key }) => key), ['name']);
    assert.equal((await session.state()).archive[0].content, 'u0');
  });
});

describe('embed', () => {
  test('is given the text of every folded message in one call, tool calls included', async () => {
    const batches = [];
    const embed = (texts) => {
      batches.push(texts);
      return texts.map((_, index) => [index, 1]);
    };
    const session = open({ embed, summarize: () => 'S', ...wordBudget({ maxTokens: 4, targetTokens: 2, keepRecent: 1 }) });
    const call = assistant('let me see', { toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] });
    await session.add([user('hello'), call, result('c', 'found'), user('thanks')]);
    assert.deepEqual(batches, [['hello', messageText(call), 'found']]);
    assert.deepEqual((await session.state()).archive.map(({ embedding }) => embedding), [[0, 1], [1, 1], [2, 1]]);
  });

  test('may leave out vectors at the end, and those messages have none', async () => {
    const session = open({ embed: () => [[1, 2]], summarize: () => 'S', ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    await session.add(conversation('uau'));
    const { archive } = await session.state();
    assert.deepEqual(archive[0].embedding, [1, 2]);
    assert.equal('embedding' in archive[1], false);
  });
});

describe('the archive', () => {
  test('holds messages with the number of their fold and then their vector', async () => {
    const session = open({
      clock: () => 5, embed: (texts) => texts.map(() => [0.5]), summarize: () => 'S', ...wordBudget({ maxTokens: 1, keepRecent: 1 }),
    });
    await session.add([user('a', { meta: { m: 1 } }), user('b')]);
    await session.add(user('c'));
    assert.equal(
      JSON.stringify((await session.state()).archive),
      '[{"role":"user","content":"a","id":1,"at":5,"tokens":1,"meta":{"m":1},"compaction":1,"embedding":[0.5]},'
        + '{"role":"user","content":"b","id":2,"at":5,"tokens":1,"compaction":2,"embedding":[0.5]}]',
    );
    assert.equal((await session.state()).compactions, 2);
  });

  test('keeps at most archive.max messages and drops the oldest first', async () => {
    const session = open({ archive: { max: 2 }, ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    await session.add(conversation('uuu'));
    assert.deepEqual((await session.state()).archive.map(({ id }) => id), [1, 2]);
    await session.add(user('x'));
    assert.deepEqual((await session.state()).archive.map(({ id }) => id), [2, 3]);
  });

  test('hands every folded message to onArchive, even those it has no room for', async () => {
    for (const max of [0, 1, 10]) {
      const seen = [];
      const onArchive = (id, items) => {
        seen.push([id, items]);
      };
      const session = open({
        clock: () => 5, archive: { max }, onArchive, embed: (texts) => texts.map(() => [1, 2]), summarize: () => 'S',
        ...wordBudget({ maxTokens: 1, keepRecent: 1 }),
      });
      await session.add(conversation('uuu'));
      assert.equal(
        JSON.stringify(seen),
        '[["s",[{"role":"user","content":"u0","id":1,"at":5,"tokens":1,"compaction":1,"embedding":[1,2]},'
          + '{"role":"user","content":"u1","id":2,"at":5,"tokens":1,"compaction":1,"embedding":[1,2]}]]]',
      );
      assert.equal((await session.state()).archive.length, Math.min(max, 2));
    }
  });

  test('shrinks to a smaller archive.max at the next fold', async () => {
    const store = new JsonStore();
    const budget = wordBudget({ maxTokens: 1, keepRecent: 1 });
    await createMemory({ store, ...budget }).session('s').add(conversation('uuuuu'));
    const smaller = createMemory({ store, archive: { max: 1 }, ...budget }).session('s');
    assert.equal((await smaller.state()).archive.length, 4);
    await smaller.add(user('x'));
    assert.deepEqual((await smaller.state()).archive.map(({ id }) => id), [5]);
  });
});

describe('onArchive', () => {
  test('runs once a fold, after the fold was saved', async () => {
    const store = new JsonStore();
    const seen = [];
    const onArchive = async (id, items) => {
      const saved = JSON.parse(store.texts.get(id));
      seen.push([items.map((item) => item.id), saved.archive.map((item) => item.id), saved.recent.map((item) => item.id)]);
    };
    const session = open({ store, onArchive, ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    await session.add(conversation('uu'));
    await session.add(user('x'));
    await session.compact({ force: true });
    assert.deepEqual(seen, [[[1], [1], [2]], [[2], [1, 2], [3]]]);
  });

  test('is awaited before add resolves', async () => {
    const steps = [];
    const onArchive = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      steps.push('archived');
    };
    await open({ onArchive, ...wordBudget({ maxTokens: 1, keepRecent: 1 }) }).add(conversation('uu'));
    steps.push('added');
    assert.deepEqual(steps, ['archived', 'added']);
  });

  test('does not run when the save failed, so nothing is announced twice', async () => {
    const store = new JsonStore();
    const save = store.save.bind(store);
    const seen = [];
    const session = open({ store, onArchive: (_, items) => seen.push(...items.map(({ id }) => id)), ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    const failure = new Error('the disk is full');
    store.save = () => Promise.reject(failure);
    await assert.rejects(session.add(conversation('uu')), (error) => error === failure);
    assert.deepEqual(seen, []);
    store.save = save;
    await session.add(conversation('uu'));
    assert.deepEqual(seen, [1]);
  });

  test('cannot change the archive through its items', async () => {
    const onArchive = (_, items) => {
      items[0].content = 'changed';
    };
    const session = open({ onArchive, ...wordBudget({ maxTokens: 1, keepRecent: 1 }) });
    await session.add(conversation('uu'));
    assert.equal((await session.state()).archive[0].content, 'u0');
  });
});

describe('a call and its results', () => {
  // Tokens are told by the text, tool calls cost nothing, so that the boundary falls where the test wants it.
  const countTokens = (text) => Number(/^\d+/.exec(text)?.[0] ?? 0);
  const fold = async (messages, budget, options) => {
    const session = createMemory({ countTokens, summarize: () => 'S', budget: { perMessageOverhead: 0, ...budget }, ...options }).session('s');
    await session.add(messages);
    return (await session.state()).archive.map(({ id }) => id);
  };

  test('are folded together when the boundary falls between them and keepRecent allows it', async () => {
    const messages = [calls(['c1'], '5'), result('c1', '1'), user('1'), assistant('1')];
    assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens: 4, keepRecent: 2 }, { alignToUser: false }), [1, 2]);
  });

  test('stay in the window together when keepRecent forbids to fold them all', async () => {
    const messages = [user('5'), calls(['c1'], '1'), result('c1', '1'), user('1')];
    assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens: 2, keepRecent: 2 }, { alignToUser: false }), [1]);
  });

  test('stay, and nothing is folded, when they stand first and keepRecent forbids to fold them all', async () => {
    const messages = [calls(['c1'], '5'), result('c1', '1'), user('1')];
    assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens: 2, keepRecent: 2 }, { alignToUser: false }), []);
  });

  test('say that nothing was folded when they forbid it', async () => {
    const session = createMemory({ countTokens, budget: { maxTokens: 4, targetTokens: 2, keepRecent: 2, perMessageOverhead: 0 } }).session('s');
    const added = await session.add([calls(['c1'], '5'), result('c1', '1'), user('1')]);
    assert.deepEqual([added.compacted, added.folded, added.summary], [false, 0, '']);
  });

  test('are one group when several calls have several results', async () => {
    const messages = [user('5'), calls(['c1', 'c2', 'c3'], '5'), result('c2', '1'), result('c1', '1'), result('c3', '1'), user('1')];
    for (const targetTokens of [5, 4, 3, 2, 1]) {
      assert.deepEqual(await fold(messages, { maxTokens: 9, targetTokens, keepRecent: 0 }, { alignToUser: false }), [1, 2, 3, 4, 5]);
    }
  });

  test('are not separated by force', async () => {
    const session = createMemory({ countTokens, budget: { maxTokens: 100, keepRecent: 1, perMessageOverhead: 0 } }).session('s');
    await session.add([user('1'), calls(['c1'], '1'), result('c1', '1')]);
    assert.equal((await session.compact({ force: true })).folded, 1);
    assert.deepEqual((await session.messages()).map(({ id }) => id), [2, 3]);
  });

  test('are not separated by a stray result between them', async () => {
    const messages = [calls(['c1'], '3'), result('zz', '1'), result('c1', '1'), user('1')];
    assert.deepEqual(await fold(messages, { maxTokens: 3, targetTokens: 3, keepRecent: 0 }, { alignToUser: false }), [1, 2, 3]);
    assert.deepEqual(await fold(messages, { maxTokens: 3, targetTokens: 1, keepRecent: 0 }, { alignToUser: false }), [1, 2, 3]);
  });

  test('are not separated by a user turn between them', async () => {
    const messages = [calls(['c1', 'c2'], '3'), result('c1', '1'), user('1'), result('c2', '1'), user('1')];
    for (const targetTokens of [4, 3, 2, 1]) {
      assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens, keepRecent: 0 }), [1, 2, 3, 4]);
      assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens, keepRecent: 0 }, { alignToUser: false }), [1, 2, 3, 4]);
    }
    assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens: 2, keepRecent: 2 }), []);
  });

  test('are not separated from a second result for the same call', async () => {
    const messages = [calls(['c1'], '3'), result('c1', '1'), user('1'), result('c1', '1'), user('1')];
    assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens: 3, keepRecent: 0 }, { alignToUser: false }), [1, 2, 3, 4]);
  });

  test('are not separated when two calls are interleaved', async () => {
    const messages = [calls(['c1'], '3'), calls(['c2'], '1'), result('c1', '1'), result('c2', '1'), user('1')];
    for (const targetTokens of [4, 3, 2, 1]) {
      assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens, keepRecent: 0 }, { alignToUser: false }), [1, 2, 3, 4]);
    }
  });

  test('are two groups when an id is used again after it was answered', async () => {
    const messages = [calls(['call_0'], '3'), result('call_0', '1'), calls(['call_0'], '1'), result('call_0', '1'), user('1')];
    assert.deepEqual(await fold(messages, { maxTokens: 4, targetTokens: 4, keepRecent: 0 }, { alignToUser: false }), [1, 2]);
  });

  test('stay while a call at the very end waits for its results', async () => {
    for (const waiting of [[calls(['c1'], '1')], [calls(['c1', 'c2'], '1'), result('c2', '1')]]) {
      const session = createMemory({ countTokens, budget: { maxTokens: 1, keepRecent: 0, perMessageOverhead: 0 } }).session('s');
      const added = await session.add([user('1'), user('1'), ...waiting]);
      assert.equal(added.folded, 2);
      assert.equal((await session.compact({ force: true })).folded, 0);
      assert.deepEqual((await session.messages()).map(({ id }) => id), waiting.map((_, index) => index + 3));
      const answered = await session.add(result('c1', '1'));
      assert.equal(answered.folded, waiting.length + 1);
    }
  });

  test('may be folded without results when the conversation went on', async () => {
    const messages = [calls(['c1'], '3'), user('1'), user('1')];
    assert.deepEqual(await fold(messages, { maxTokens: 3, targetTokens: 2, keepRecent: 0 }), [1]);
  });
});

describe('over a long conversation', () => {
  test('a fold folds in batches, so the summarizer does not run on every message', async () => {
    let summaries = 0;
    const summarize = () => `S${(summaries += 1)}`;
    const session = open({ summarize, ...wordBudget({ maxTokens: 10, keepRecent: 2 }) });
    for (let turn = 0; turn < 20; turn++) await session.add([user(`question ${turn}`), assistant('answer')]);
    assert.ok(summaries > 1 && summaries < 20, `${summaries} summaries for 40 messages`);
  });

  test('the window keeps the alternation of user and assistant after a fold', async () => {
    const session = open({ summarize: () => 'S', clock: createClock(), ...wordBudget({ maxTokens: 6, keepRecent: 2 }) });
    for (let turn = 0; turn < 20; turn++) {
      await session.add(user('question'));
      await session.add(assistant('answer'));
      const roles = (await session.messages()).map(({ role }) => role);
      assert.deepEqual(roles, roles.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')));
    }
  });
});
