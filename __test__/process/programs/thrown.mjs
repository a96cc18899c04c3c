// Lets each function of the app throw an error of its own and prints whether that very object, with its stack, came out.
import { createMemory, SqliteStore } from '../../support/library.mjs';

class Refusal extends Error {}
const user = (content) => ({ role: 'user', content });
const budget = { countTokens: (text) => text.length, budget: { maxTokens: 1, keepRecent: 1, perMessageOverhead: 0 } };
const embed = async (texts) => texts.map(() => [1]);
const report = [];

for (const store of [undefined, new SqliteStore(':memory:')]) {
  for (const place of ['summarize', 'extractFacts', 'embed', 'onArchive', 'retrieve']) {
    for (const late of [false, true]) {
      const error = new Refusal(`thrown in ${place}`);
      const { stack } = error;
      const fail = async function throwingFunctionOfTheApp() {
        if (late) await new Promise((resolve) => setImmediate(resolve));
        throw error;
      };
      const session = createMemory({ store, summarize: () => 'S', embed, ...budget, [place]: fail }).session(`${place} ${late}`);
      let caught;
      try {
        await session.add([user('a'), user('b')]);
        await session.context({ query: 'q' });
      } catch (reason) {
        caught = reason;
      }
      report.push({ place, same: caught === error, stack: caught?.stack === stack, isRefusal: caught instanceof Refusal });
    }
  }
}
console.log(JSON.stringify(report));
