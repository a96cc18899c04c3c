/**
 * A chat that outgrows its window, is stopped half way and goes on in a new process.
 *
 *   node examples/chat.mjs [file.sqlite]
 *
 * Without a file the memory lives in a temporary folder that is removed at the end. With
 * OPENAI_API_KEY set the real service answers, otherwise a local stand-in that checks each request.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { createMemory, factsPrompt, parseFacts, SqliteStore, summaryPrompt, toOpenAI } from 'memoryline';
import { conversation, isAnswered, runTool, script, systemPrompt, tools } from './conversation.mjs';
import { startProvider } from './provider/server.mjs';
import * as screen from './screen.mjs';

const folder = process.argv[2] ? null : mkdtempSync(join(tmpdir(), 'memoryline-chat-'));
const file = process.argv[2] ?? join(folder, 'chat.sqlite');
process.on('exit', () => folder && rmSync(folder, { recursive: true }));

const provider = process.env.OPENAI_API_KEY ? null : await startProvider({ script: conversation });
const openai = provider ? new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'none' }) : new OpenAI();

async function complete(messages, options) {
  const { choices } = await openai.chat.completions.create({ model: 'gpt-4.1-mini', messages, ...options });
  return choices[0].message;
}
const ask = async (prompt) => (await complete([{ role: 'user', content: prompt }])).content;

const maxTokens = 1600;
const store = new SqliteStore(file);
const memory = createMemory({
  store,
  budget: { maxTokens, keepRecent: 6, summaryMaxTokens: 200 },
  recall: { topK: 4, minScore: 0.3, maxTokens: 300 },
  summarize: (input) => ask(summaryPrompt(input)),
  extractFacts: async (input) => parseFacts(await ask(factsPrompt(input))),
  embed: async (texts) => {
    const { data } = await openai.embeddings.create({ model: 'text-embedding-3-small', input: texts });
    return data.map(({ embedding }) => embedding);
  },
});
const session = memory.session('korenbloemstraat-14');

async function remember(messages) {
  const result = await session.add(messages);
  if (result.compacted) screen.fold(result, await session.context({ recall: false }), maxTokens);
}

/** Lets the model answer, and runs the tools it calls until it has said something. */
async function answer() {
  for (;;) {
    const context = await session.context();
    // Without its embedder a context lacks nothing but recall. A chat would go on, an example should tell.
    if (context.recallError) throw context.recallError;
    const message = await complete(toOpenAI(context, { systemPrompt }), { tools });
    const toolCalls = message.tool_calls?.map(({ id, function: call }) => ({ id, ...call }));
    const text = message.content ?? '';
    await remember({ role: 'assistant', content: text, toolCalls });
    if (!toolCalls) return { text, context };
    await remember(toolCalls.map((call) => ({ role: 'tool', toolCallId: call.id, name: call.name, content: runTool(call) })));
  }
}

// How far the script has been played is not written down anywhere else: the memory itself knows.
const { archive, recent } = await session.state();
const position = [...archive, ...recent].filter(({ role }) => role === 'user' || role === 'system').length;
const half = script.findIndex(({ role }, index) => role === 'system' && index > script.length / 2);

screen.title(`Process ${process.pid} ${position === 0 ? 'begins' : 'goes on'}`, `in ${file}, answered by ${provider?.url ?? 'OpenAI'}`);
try {
  let today;
  for (const message of script.slice(position, position < half ? half : undefined)) {
    await remember(message);
    if (message.role === 'system') today = message.content;
    if (!isAnswered(message)) continue;
    const { text, context } = await answer();
    screen.turn(message, text, context, today);
    today = undefined;
  }
  const context = await session.context({ recall: false });
  if (position >= half) screen.memory(context);
  screen.size((await session.state()).seq, context, maxTokens);
} finally {
  store.close();
  await provider?.close();
}
if (position < half) {
  const next = spawnSync(process.execPath, [fileURLToPath(import.meta.url), file], { stdio: 'inherit' });
  process.exitCode = next.status ?? 1;
}
