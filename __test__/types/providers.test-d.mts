// The rendered requests fit the providers' own packages as they are. `providers.test-d.cts` checks the same for
// CommonJS, where those packages have other declarations.
import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { createMemory, summaryPrompt, toAnthropic, toOpenAI, type MemoryContext } from 'memoryline';

declare const context: MemoryContext;

const openai = new OpenAI({ apiKey: 'none' });
const anthropic = new Anthropic({ apiKey: 'none' });

export const openaiMessages: ChatCompletionMessageParam[] = toOpenAI(context);
export const anthropicMessages: MessageParam[] = toAnthropic(context).messages;
export const anthropicRequest: MessageCreateParamsNonStreaming = {
  model: 'claude-sonnet-5',
  max_tokens: 600,
  ...toAnthropic(context, { systemPrompt: 'Be brief.' }),
};

export async function askOpenAI(text: string): Promise<string> {
  const memory = createMemory({
    summarize: async (input) => {
      const response = await openai.chat.completions.create({
        model: 'gpt-4.1-mini',
        messages: [{ role: 'user', content: summaryPrompt(input) }],
      });
      return response.choices[0]?.message.content ?? input.previousSummary;
    },
    embed: async (texts) => {
      const response = await openai.embeddings.create({ model: 'text-embedding-3-small', input: texts });
      return response.data.map((item) => item.embedding);
    },
  });
  const session = memory.session('user:42');
  await session.add({ role: 'user', content: text });
  const response = await openai.chat.completions.create({
    model: 'gpt-4.1-mini',
    messages: toOpenAI(await session.context(), { systemPrompt: 'Be brief.' }),
  });
  const message = response.choices[0]!.message;
  await session.add({
    role: message.role,
    content: message.content ?? '',
    toolCalls: message.tool_calls?.flatMap((call) =>
      call.type === 'function' ? [{ id: call.id, name: call.function.name, arguments: call.function.arguments }] : [],
    ),
  });
  return message.content ?? '';
}

export async function askAnthropic(text: string): Promise<string> {
  const session = createMemory().session('user:42');
  await session.add({ role: 'user', content: text });
  const response = await anthropic.messages.create({
    model: 'claude-sonnet-5',
    max_tokens: 600,
    ...toAnthropic(await session.context()),
  });
  const content = response.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  await session.add({
    role: response.role,
    content,
    toolCalls: response.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: block.input as object }] : [],
    ),
  });
  return content;
}

export async function streamBoth(): Promise<void> {
  await openai.chat.completions.create({ model: 'gpt-4.1-mini', stream: true, messages: toOpenAI(context) });
  anthropic.messages.stream({ model: 'claude-sonnet-5', max_tokens: 600, ...toAnthropic(context) });
  await anthropic.messages.countTokens({ model: 'claude-sonnet-5', ...toAnthropic(context) });
}

export async function refused(): Promise<void> {
  // @ts-expect-error A request of one provider is not one of the other.
  await openai.chat.completions.create({ model: 'gpt-4.1-mini', messages: toAnthropic(context).messages });
  // @ts-expect-error The stored messages are not a request; they must be rendered.
  await openai.chat.completions.create({ model: 'gpt-4.1-mini', messages: context.recent });
}
