// Messages go in as the providers' own packages type them, and every request fits the package that it is for.
import type Anthropic from '@anthropic-ai/sdk';
import { generateText, type ModelMessage, type UIMessage } from 'ai';
import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInput, ResponseInputItem } from 'openai/resources/responses/responses';
import {
  createMemory,
  from,
  toAISDK,
  toAnthropic,
  toGemini,
  toOpenAI,
  toOpenAIResponses,
  type ContentPart,
  type MemoryContext,
  type Message,
  type Session,
} from 'memoryline';

declare const context: MemoryContext;
declare const session: Session;
declare const completion: OpenAI.ChatCompletion;
declare const response: OpenAI.Responses.Response;
declare const anthropicMessage: Anthropic.Message;
declare const anthropicParam: Anthropic.MessageParam;
declare const modelMessages: ModelMessage[];
declare const uiMessages: UIMessage[];
declare const chatParams: ChatCompletionMessageParam[];
declare const items: ResponseInputItem[];

const openai = new OpenAI({ apiKey: 'none' });

export const input: ResponseInput = toOpenAIResponses(context).input;
export const messages: ModelMessage[] = toAISDK(context).messages;
export const cached: Anthropic.MessageCreateParamsNonStreaming = {
  model: 'claude-sonnet-5',
  max_tokens: 600,
  ...toAnthropic(context, { recall: 'last', cacheControl: true, openCalls: 'omit' }),
};

export async function ask(model: Parameters<typeof generateText>[0]['model']): Promise<void> {
  await openai.responses.create({ model: 'gpt-4.1-mini', ...toOpenAIResponses(context, { systemPrompt: 'Be brief.' }) });
  await openai.chat.completions.create({ model: 'gpt-4.1-mini', messages: toOpenAI(context, { recall: 'last' }) });
  const result = await generateText({ model, ...toAISDK(context, { provider: 'anthropic' }) });
  await session.add(result.response.messages);
  const { contents, systemInstruction } = toGemini(context);
  const texts: (string | undefined)[] = contents.flatMap(({ parts }) => parts.map((part) => part.text));
  texts.push(systemInstruction?.parts[0]?.text);
}

export async function add(): Promise<void> {
  await session.add(completion.choices[0]!.message);
  await session.add(response.output);
  await session.add(anthropicMessage);
  await session.add({ role: anthropicMessage.role, content: anthropicMessage.content });
  await session.add(anthropicParam);
  await session.add(modelMessages);
  await session.add(uiMessages);
  await session.add(from('openai-responses', items));
  await session.add({ role: 'model', parts: [{ text: 'Hello' }] });
  await session.add(chatParams.filter(({ role }) => role !== 'developer') as Exclude<ChatCompletionMessageParam, { role: 'developer' | 'function' }>[]);
  const read: Message[] = from('gemini', { role: 'model', parts: [{ text: 'Hello' }] });
  await session.add(read);
  await session.add(context.recent);
}

export async function addParts(): Promise<void> {
  await session.add({
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?' },
      { type: 'image', data: new Uint8Array([1]), mediaType: 'image/png' },
      { type: 'image', url: new URL('https://a.example/b.png'), detail: 'low' },
      { type: 'file', data: 'AAAA', mediaType: 'application/pdf', name: 'report.pdf' },
      { type: 'audio', data: new ArrayBuffer(1), mediaType: 'audio/wav' },
      { type: 'custom', value: { anything: true } },
    ],
  });
  await session.add({
    role: 'assistant',
    content: [{ type: 'reasoning', text: 'Hm.', signature: 'c2ln', provider: 'anthropic' }, { type: 'toolCall', id: 'a' }],
    toolCalls: [{ id: 'a', name: 'f', arguments: {} }],
    provider: 'anthropic',
  });
  // Reading goes on as before: the content is text.
  for (const message of await session.messages()) {
    const text: string = message.content;
    const parts: ContentPart[] = message.parts ?? [];
    if (parts.length > 0) text.trim();
  }
  createMemory({ budget: { imageTokens: 'anthropic', fileTokens: 500, audioTokens: undefined } });
  // @ts-expect-error There are no rules of this provider.
  createMemory({ budget: { imageTokens: 'mistral' } });
  // @ts-expect-error Another place than the two.
  toOpenAI(context, { recall: 'first' });
  // @ts-expect-error Only Anthropic wants cache points marked.
  toOpenAI(context, { cacheControl: true });
  // @ts-expect-error There is no such provider.
  from('mistral', []);
  // @ts-expect-error A message needs something to say.
  session.add({ role: 'user' });
  // @ts-expect-error There is no such role.
  session.add({ role: 'bot', content: 'x' });
}
