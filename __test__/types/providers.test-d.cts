// The rendered requests fit the providers' own packages as they are, loaded as CommonJS.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI = require('openai');
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { createMemory, toAnthropic, toOpenAI } from 'memoryline';

const session = createMemory().session('user:42');
const openai = new OpenAI.OpenAI({ apiKey: 'none' });
const anthropic = new Anthropic({ apiKey: 'none' });

async function ask(): Promise<[string | null | undefined, number]> {
  const context = await session.context();
  const messages: ChatCompletionMessageParam[] = toOpenAI(context);
  const turns: Anthropic.MessageParam[] = toAnthropic(context).messages;
  const completion = await openai.chat.completions.create({
    model: 'gpt-4.1-mini',
    messages: toOpenAI(context, { systemPrompt: 'Be brief.' }),
  });
  const message = await anthropic.messages.create({
    model: 'claude-sonnet-5',
    max_tokens: 600,
    ...toAnthropic(context, { systemPrompt: 'Be brief.' }),
  });
  // @ts-expect-error A request of one provider is not one of the other.
  const wrong: ChatCompletionMessageParam[] = turns;
  return [completion.choices[0]?.message.content, messages.length + message.content.length + wrong.length];
}

export = ask;
