// Panics in Rust through the export that exists for this, and then goes on working.
import { createRequire } from 'node:module';
import { createMemory } from '../../support/library.mjs';

const binding = createRequire(import.meta.url)('../../../binding.js');
const caught = [];
for (let attempt = 0; attempt < 3; attempt++) {
  try {
    binding.testPanic();
    caught.push({ returned: true });
  } catch (error) {
    caught.push({ isError: error instanceof Error, code: error.code, message: error.message });
  }
}
const session = createMemory({ summarize: async () => 'S', budget: { maxTokens: 1, keepRecent: 1 } }).session('s');
const { folded } = await session.add([{ role: 'user', content: 'a' }, { role: 'user', content: 'b' }]);
console.log(JSON.stringify({ caught, folded }));
