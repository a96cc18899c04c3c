import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemory, MemoryStore } from './support/library.mjs';
import { deferred } from './support/deferred.mjs';
import { user } from './support/messages.mjs';
import { JsonStore } from './support/stores.mjs';
import { wordBudget } from './support/tokens.mjs';

const budget = wordBudget({ maxTokens: 1, keepRecent: 1 });
const refused = (error) => {
  assert.ok(error instanceof Error);
  assert.equal(error.code, 'ERR_MEMORYLINE_REENTRANT');
  assert.match(error.message, /^memoryline: .*the-session/);
  return true;
};

// Runs `inside` within the function called `where`, once, while an operation on the session runs; gives what it came to.
async function runInside(where, inside, { late = false } = {}) {
  const outcome = deferred();
  let entered = false;
  const enter = async () => {
    if (entered) return;
    entered = true;
    if (late) await new Promise((resolve) => setImmediate(resolve));
    await Promise.resolve().then(() => inside(memory)).then(
      (value) => outcome.resolve({ value }),
      (reason) => outcome.resolve({ reason }),
    );
  };
  const store = new JsonStore();
  const [load, save] = [store.load.bind(store), store.save.bind(store)];
  const functions = {
    summarize: async () => 'S',
    extractFacts: async () => [],
    embed: async (texts) => texts.map(() => [1]),
    retrieve: async () => [],
    onArchive: async () => {},
  };
  if (where === 'load' || where === 'save') {
    store[where] = async (argument) => {
      await enter();
      return where === 'load' ? load(argument) : save(argument);
    };
  } else {
    const answer = functions[where];
    functions[where] = async (...inputs) => {
      await enter();
      return answer(...inputs);
    };
  }
  const memory = createMemory({ store, ...functions, ...budget });
  const session = memory.session('the-session');
  await session.add([user('a'), user('b')]);
  await session.context({ query: 'q' });
  assert.ok(entered, `${where} was called`);
  return { ...(await outcome.promise), memory, session };
}

const PLACES = ['summarize', 'extractFacts', 'embed', 'retrieve', 'onArchive', 'load', 'save'];
const OPERATIONS = [
  ['add', (memory) => memory.session('the-session').add(user('x'))],
  ['compact', (memory) => memory.session('the-session').compact()],
  ['pin', (memory) => memory.session('the-session').pin('k', 'v')],
  ['unpin', (memory) => memory.session('the-session').unpin('k')],
  ['facts', (memory) => memory.session('the-session').facts()],
  ['messages', (memory) => memory.session('the-session').messages()],
  ['state', (memory) => memory.session('the-session').state()],
  ['context', (memory) => memory.session('the-session').context()],
  ['clear', (memory) => memory.session('the-session').clear()],
  ['forget', (memory) => memory.forget('the-session')],
  ['export', (memory) => memory.export('the-session')],
  ['import', (memory) => memory.import({ version: 1, id: 'the-session' })],
];

describe('inside a function of the app, on the same session', () => {
  test('a wrong argument throws at once as ever', async () => {
    const { reason } = await runInside('summarize', (memory) => memory.session('the-session').add({ role: 'nobody' }));
    assert.equal(reason.code, 'ERR_MEMORYLINE_INVALID_ARGUMENT');
  });

  for (const where of PLACES) {
    test(`every operation rejects at once: ${where}`, async () => {
      for (const [name, operate] of OPERATIONS) {
        const { reason, session } = await runInside(where, operate);
        assert.ok(reason !== undefined, `${name} was refused`);
        refused(reason);
        const { archive, recent } = await session.state();
        assert.deepEqual([...archive, ...recent].map(({ content }) => content), ['a', 'b']);
      }
    });

    test(`an operation rejects at once even after the function has awaited something: ${where}`, async () => {
      const { reason } = await runInside(where, (memory) => memory.session('the-session').add(user('x')), { late: true });
      refused(reason);
    });
  }

  test('the error that is not caught is that of the operation outside', async () => {
    const memory = createMemory({ summarize: () => memory.session('the-session').facts(), ...budget });
    await assert.rejects(memory.session('the-session').add([user('a'), user('b')]), refused);
    assert.equal(await memory.export('the-session'), null);
  });

  test('a rejection that nobody looks at does not end the process', async () => {
    const unhandled = [];
    const listen = (reason) => unhandled.push(reason);
    process.on('unhandledRejection', listen);
    try {
      const memory = createMemory({
        summarize: async () => {
          await memory.session('the-session').pin('k', 'v').catch(() => {});
          return 'S';
        },
        ...budget,
      });
      assert.equal((await memory.session('the-session').add([user('a'), user('b')])).summary, 'S');
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', listen);
    }
    assert.deepEqual(unhandled, []);
  });
});

describe('inside a function of the app, elsewhere', () => {
  for (const where of PLACES) {
    test(`another session works: ${where}`, async () => {
      const { value, reason } = await runInside(where, async (memory) => {
        const other = memory.session('other');
        await other.pin('k', 'v');
        return (await other.facts()).length;
      });
      assert.deepEqual([value, reason], [1, undefined]);
    });
  }

  test('another session may fold', async () => {
    const memory = createMemory({
      summarize: async ({ messages }) => {
        if (messages[0].content === 'a') return (await memory.session('other').add([user('c'), user('d')])).summary;
        return 'inner';
      },
      ...budget,
    });
    assert.equal((await memory.session('the-session').add([user('a'), user('b')])).summary, 'inner');
  });

  test('the same id in another memory works', async () => {
    const other = createMemory();
    const { value } = await runInside('summarize', async () => (await other.session('the-session').add(user('x'))).added);
    assert.equal(value, 1);
  });

  test('the same session through another memory over the same store works, and nothing is lost', async () => {
    const store = new MemoryStore();
    const second = createMemory({ store });
    let inside = true;
    const first = createMemory({
      store,
      summarize: async () => {
        if (inside) {
          inside = false;
          await second.session('the-session').add(user('from inside'));
        }
        return 'S';
      },
      ...budget,
    });
    await first.session('the-session').add([user('a'), user('b')]);
    const { archive, recent } = await first.session('the-session').state();
    assert.deepEqual([...archive, ...recent].map(({ content }) => content).sort(), ['a', 'b', 'from inside']);
  });

  test('a session that comes back to the first through another is refused, not left waiting for ever', async () => {
    let reason;
    const memory = createMemory({
      summarize: async ({ messages }) => {
        if (messages[0].content === 'a') await memory.session('other').add([user('c'), user('d')]);
        else await memory.session('the-session').facts().catch((error) => (reason = error));
        return 'S';
      },
      ...budget,
    });
    await memory.session('the-session').add([user('a'), user('b')]);
    refused(reason);
  });
});

describe('a call that merely arrives while a function of the app runs', () => {
  test('waits its turn', async () => {
    const started = deferred();
    const gate = deferred();
    const memory = createMemory({
      summarize: async () => {
        started.resolve();
        await gate.promise;
        return 'S';
      },
      ...budget,
    });
    const session = memory.session('the-session');
    const first = session.add([user('a'), user('b')]);
    await started.promise;
    const second = session.pin('k', 'v');
    const third = session.context();
    gate.resolve();
    await first;
    assert.deepEqual((await second).map(({ key }) => key), ['k']);
    assert.deepEqual([(await third).summary, (await third).facts.length], ['S', 1]);
  });

  test('waits its turn also when it was prepared inside a function that has ended', async () => {
    const called = deferred();
    let pinning;
    const memory = createMemory({
      // The timer inherits the async context of this function, but fires when the function is over.
      summarize: () => {
        setImmediate(() => {
          pinning = memory.session('the-session').pin('k', 'v');
          called.resolve();
        });
        return 'S';
      },
      // Holds the operation open until then.
      embed: async () => {
        await called.promise;
        return [[1]];
      },
      ...budget,
    });
    await memory.session('the-session').add([user('a'), user('b')]);
    assert.deepEqual((await pinning).map(({ key }) => key), ['k']);
  });
});
