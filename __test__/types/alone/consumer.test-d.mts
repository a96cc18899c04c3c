// An app without @types/node, without the DOM library and with the standard library of ES2020. The declarations are
// checked with it (`skipLibCheck` is off), so a name that they miss is an error here and not silently `any`.
import { createMemory, SqliteStore, toOpenAI, type Memory } from 'memoryline';

export async function reply(text: string): Promise<number> {
  const store = new SqliteStore(':memory:');
  const memory: Memory = createMemory({ store });
  await memory.session('user:42').add({ role: 'user', content: text });
  const messages = toOpenAI(await memory.session('user:42').context());
  store[Symbol.dispose]();
  await store[Symbol.asyncDispose]();
  return messages.length;
}
