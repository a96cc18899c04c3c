// Content that is more than text: what goes in, what comes out, and who gets to see it.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import {
  createMemory, estimateTokens, messageText, SqliteStore, toAISDK, toAnthropic, toGemini, toOpenAI, toOpenAIResponses, toolGroupAt, transcript,
} from './support/library.mjs';

const text = (value) => ({ type: 'text', text: value });

/** A PNG of the given size, as far as its head says; the rest is zeros. */
function png(width, height, bytes = 100) {
  const image = Buffer.alloc(bytes);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(image);
  image.writeUInt32BE(width, 16);
  image.writeUInt32BE(height, 20);
  return image;
}

function pdf(pages) {
  return Buffer.from(`%PDF-1.4\n1 0 obj << /Type /Pages /Count ${pages} >>\n${'2 0 obj << /Type /Page /Parent 1 0 R >>\n'.repeat(pages)}`);
}

function wave(seconds) {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(16000, 28);
  return Buffer.concat([head, Buffer.alloc(16000 * seconds)]);
}

async function storedOne(message, options) {
  const session = createMemory(options).session('s');
  await session.add(message);
  return (await session.messages())[0];
}

describe('content in parts that is wrong throws at once and stores nothing', () => {
  const image = { type: 'image', data: 'AAAA' };
  const cases = [
    ['no object', ['x'], /content\[0\] must be an object/],
    ['null', [text('a'), null], /content\[1\] must be an object/],
    ['no type', [{ text: 'a' }], /content\[0\] has the unknown type undefined: a part is one of text, image, file, audio, reasoning, toolCall, custom/],
    ['a type that does not exist', [{ type: 'hologram' }], /content\[0\] has the unknown type hologram/],
    ['a type that every object has', [{ type: 'toString' }], /content\[0\] has the unknown type toString/],
    ['text that is no string', [{ type: 'text', text: 5 }], /content\[0\]\.text must be a string/],
    ['a picture without a source', [{ type: 'image', mediaType: 'image/png' }], /content\[0\] is image and needs url, data or fileId/],
    ['a file without a source', [{ type: 'file', name: 'a' }], /content\[0\] is file and needs url, data, fileId or text/],
    ['sound without a source', [{ type: 'audio' }], /content\[0\] is audio and needs url, data or id/],
    ['data that is no base64', [{ type: 'image', data: 'not base64!' }], /content\[0\]\.data must be bytes or base64/],
    ['data that is a number', [{ type: 'image', data: 5 }], /content\[0\]\.data must be bytes or base64/],
    ['a media type that is no string', [{ ...image, mediaType: 5 }], /content\[0\]\.mediaType must be a string/],
    ['a width of zero', [{ ...image, width: 0, height: 1 }], /content\[0\]\.width must be a number > 0/],
    ['a signature that is no string', [{ type: 'reasoning', signature: 5 }], /content\[0\]\.signature must be a string/],
    ['a summary that is no list', [{ type: 'reasoning', summary: 'x' }], /content\[0\]\.summary must be a list of strings/],
    ['a place of a call without an id', [{ type: 'toolCall' }], /content\[0\]\.id must be a string/],
    ['a provider that is no string', [{ ...text('a'), provider: 5 }], /content\[0\]\.provider must be a string/],
    ['metadata that is a list', [{ ...text('a'), providerMetadata: [] }], /content\[0\]\.providerMetadata must be an object/],
    ['a bigint', [{ type: 'custom', value: 5n }], /content\[0\]\.value cannot be stored as JSON/],
    ['a function', [{ type: 'custom', value: () => {} }], /content\[0\]\.value cannot be stored as JSON/],
    ['a bigint deep inside', [{ type: 'custom', value: { a: [5n] } }], /content\[0\]\.value cannot be stored as JSON/],
  ];
  const circle = {};
  circle.self = circle;
  cases.push(['a circle', [{ type: 'custom', value: circle }], /content\[0\]\.value cannot be stored as JSON/]);
  for (const [what, content, message] of cases) {
    test(what, async () => {
      const session = createMemory().session('s');
      assert.throws(() => session.add([{ role: 'user', content: 'a' }, { role: 'user', content }]), (error) => {
        assert.ok(error instanceof TypeError);
        assert.equal(error.code, 'ERR_MEMORYLINE_INVALID_ARGUMENT');
        assert.match(error.message, /^memoryline: /);
        assert.match(error.message, message);
        return true;
      });
      assert.deepEqual(await session.messages(), []);
    });
  }

  test('the rest of the message is checked first', () => {
    const session = createMemory().session('s');
    assert.throws(() => session.add({ role: 'bot', content: [5] }), /unknown message role bot/);
    assert.throws(() => session.add({ role: 'user', content: [5], toolCalls: null }), /toolCalls must be an array/);
    assert.throws(() => session.add({ role: 'user', content: 'a', parts: 5 }), /parts must be a list/);
    assert.throws(() => session.add({ role: 'user', content: 'a', provider: 5 }), /provider must be a string/);
    assert.throws(() => session.add({ role: 'tool', content: 'a', isError: 'yes' }), /isError must be true or false/);
    assert.throws(() => session.add({ role: 'user', content: 'a', providerMetadata: [] }), /providerMetadata must be an object/);
  });

  for (const name of ['imageTokens', 'fileTokens', 'audioTokens']) {
    test(`budget.${name}`, () => {
      for (const value of [-1, NaN, Infinity, '5', 'mistral', {}, true]) {
        assert.throws(() => createMemory({ budget: { [name]: value } }), {
          name: 'RangeError', code: 'ERR_MEMORYLINE_INVALID_OPTION', message: `memoryline: budget.${name} must be a number >= 0 or one of 'openai', 'anthropic', 'gemini'`,
        });
      }
    });
  }
});

describe('content in parts comes out', () => {
  test('as text with markers, and as the parts that went in', async () => {
    const content = [
      text('Look at these:'), { type: 'image', url: 'https://a.example/b.png', detail: 'low' }, { type: 'file', data: 'JVBERi0=', name: 'report.pdf' },
      { type: 'file', text: 'x', mediaType: 'text/plain' }, { type: 'audio', data: 'AAAA' }, { type: 'audio', id: 'a', transcript: 'spoken' }, { type: 'reasoning', text: 'hm', signature: 's' },
      { type: 'custom', value: { deep: [1, { a: null }] }, more: '\ud800' }, text('What is this?'),
    ];
    const message = await storedOne({ role: 'user', content, provider: 'mine' });
    assert.equal(message.content, 'Look at these:\n[image]\n[file report.pdf]\n[file]\n[audio]\nspoken\nWhat is this?');
    assert.deepEqual(message.parts, content);
    assert.equal(message.provider, 'mine');
    assert.deepEqual(Object.keys(message), ['role', 'content', 'id', 'at', 'tokens', 'parts', 'provider']);
  });

  test('without parts when it was plain text', async () => {
    assert.equal((await storedOne({ role: 'user', content: [text('a')] })).parts, undefined);
    assert.equal((await storedOne({ role: 'user', content: [] })).content, '');
    const calling = await storedOne({ role: 'assistant', content: [text('a'), { type: 'toolCall', id: 'c' }], toolCalls: [{ id: 'c', name: 'f', arguments: {} }] });
    assert.deepEqual([calling.content, calling.parts, calling.toolCalls.length], ['a', undefined, 1]);
    assert.deepEqual((await storedOne({ role: 'user', content: [text('a'), text(''), text('b')] })).content, 'a\nb');
  });

  test('with bytes as base64 and addresses as strings', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const base64 = Buffer.from(bytes).toString('base64');
    const window = new Uint8Array(new Uint8Array([9, ...bytes, 9]).buffer, 1, 256);
    for (const data of [bytes, bytes.buffer, Buffer.from(bytes), window, new DataView(bytes.buffer), base64, base64.replace(/(.{76})/g, '$1\r\n')]) {
      const { parts } = await storedOne({ role: 'user', content: [{ type: 'image', data }] });
      assert.deepEqual(parts, [{ type: 'image', data: base64 }]);
    }
    const { parts } = await storedOne({ role: 'user', content: [{ type: 'image', url: new URL('https://a.example/b.png') }] });
    assert.deepEqual(parts, [{ type: 'image', url: 'https://a.example/b.png' }]);
    const inside = await storedOne({ role: 'user', content: [{ type: 'custom', value: { bytes, buffer: Buffer.from(bytes) } }] });
    assert.deepEqual(inside.parts[0].value, { bytes: base64, buffer: base64 });
  });

  test('as it was when it went in, whatever becomes of what the app gave', async () => {
    const value = { list: [1] };
    const content = [text('a'), { type: 'custom', value }];
    const session = createMemory().session('s');
    const adding = session.add({ role: 'user', content });
    value.list.push(2);
    content.push(text('b'));
    await adding;
    const [message] = await session.messages();
    assert.deepEqual(message.parts, [text('a'), { type: 'custom', value: { list: [1] } }]);
    message.parts.length = 0;
    assert.equal((await session.messages())[0].parts.length, 2);
  });

  test('with members that have the names of an object\'s own', async () => {
    const content = [text('a'), JSON.parse('{"type":"custom","__proto__":{"polluted":true},"constructor":1,"value":{"__proto__":[1]}}')];
    const { parts } = await storedOne({ role: 'user', content });
    assert.equal(JSON.stringify(parts), JSON.stringify(content));
    assert.equal({}.polluted, undefined);
  });

  test('of a file, after the process that wrote it', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'memoryline-content-'));
    try {
      const content = [text('a'), { type: 'image', data: png(10, 10, 3_000_000) }, { type: 'reasoning', encrypted: 'x', provider: 'anthropic' }];
      const store = new SqliteStore(path.join(folder, 'a.sqlite'));
      const session = createMemory({ store, budget: { maxTokens: 1000, keepRecent: 0 } }).session('s');
      await session.add({ role: 'tool', content, toolCallId: 'c', isError: true, provider: 'anthropic', providerMetadata: { a: 1 } });
      const before = await session.state();
      await session.compact({ force: true });
      const archived = (await session.state()).archive;
      store.close();
      const again = new SqliteStore(path.join(folder, 'a.sqlite'));
      const state = await createMemory({ store: again }).session('s').state();
      again.close();
      assert.deepEqual(state.archive, archived);
      const { compaction, ...message } = state.archive[0];
      assert.deepEqual(message, before.recent[0]);
      assert.equal(message.parts[1].data.length, 4_000_000);
      assert.deepEqual([compaction, message.isError, message.providerMetadata], [1, true, { a: 1 }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('of a list of ten thousand parts', async () => {
    const content = Array.from({ length: 10_000 }, (_, index) => (index % 2 === 0 ? text(`${index}`) : { type: 'image', url: 'https://a.example' }));
    assert.deepEqual((await storedOne({ role: 'user', content })).parts, content);
  });
});

describe('media are never text', () => {
  const secret = png(640, 480, 30_000).toString('base64');
  const content = [text('What is on this picture?'), { type: 'image', data: secret }, { type: 'file', data: pdf(2), name: 'report.pdf' }, { type: 'audio', data: wave(1) }];

  test('for the summary, the facts, the vectors and the count', async () => {
    const seen = [];
    const see = (value) => seen.push(typeof value === 'string' ? value : JSON.stringify(value.messages?.map(messageText) ?? value));
    const session = createMemory({
      budget: { maxTokens: 10, keepRecent: 0 },
      summarize: (input) => (see(input), see(transcript(input.messages)), 'S'),
      extractFacts: (input) => (see(input), []),
      embed: (texts) => (see(texts), texts.map(() => [1])),
      countTokens: (value) => (see(value), value.length),
    }).session('s');
    await session.add({ role: 'user', content });
    await session.context({ query: 'picture' });
    const all = seen.join('\n');
    assert.ok(all.includes('[image]') && all.includes('[file report.pdf]') && all.includes('[audio]'));
    assert.ok(!all.includes(secret.slice(0, 40)) && !all.includes('JVBERi'), 'no base64');
  });

  test('and the summary without a model and recalled messages have markers for them', async () => {
    const session = createMemory({ budget: { maxTokens: 10, keepRecent: 0 }, embed: (texts) => texts.map(() => [1]) }).session('s');
    await session.add({ role: 'user', content });
    const { summary, system } = await session.context({ query: 'picture' });
    assert.equal(summary, '- user: What is on this picture? [image] [file report.pdf] [audio]');
    assert.ok(system.endsWith('- user: What is on this picture? [image] [file report.pdf] [audio]'));
  });
});

describe('media cost what the providers publish', () => {
  const cost = async (part, budget, provider) => {
    const { tokens } = await storedOne({ role: 'user', content: [part], ...(provider && { provider }) }, { budget: { perMessageOverhead: 0, ...budget } });
    const { type } = part;
    return tokens - estimateTokens({ image: '[image]', file: '[file]', audio: '[audio]' }[type]);
  };
  const within = (actual, published) => assert.ok(Math.abs(actual - published) <= published * 0.1, `${actual} is not within 10 % of ${published}`);

  // OpenAI, "Images and vision", tiles of 512 pixels; Anthropic, "Vision"; Google, "Image understanding".
  const pictures = [
    [1024, 1024, { openai: 765, anthropic: 1398, gemini: 4 * 258 }],
    [2048, 4096, { openai: 1105, anthropic: 1600 }],
    [512, 512, { openai: 255, anthropic: 350 }],
    [200, 200, { openai: 255, anthropic: 54, gemini: 258 }],
    [1000, 1000, { anthropic: 1334 }],
    [384, 384, { gemini: 258 }],
    [960, 540, { gemini: 6 * 258 }],
  ];
  for (const [width, height, figures] of pictures) {
    for (const [rules, published] of Object.entries(figures)) {
      test(`a picture of ${width} by ${height} for ${rules}`, async () => {
        within(await cost({ type: 'image', data: png(width, height) }, { imageTokens: rules }), published);
        within(await cost({ type: 'image', data: png(width, height) }, {}, rules), published);
        within(await cost({ type: 'image', url: 'https://a.example', width, height }, { imageTokens: rules }), published);
      });
    }
  }

  test('a picture with low detail is 85 for OpenAI', async () => assert.equal(await cost({ type: 'image', data: png(4096, 8192), detail: 'low' }, {}), 85));
  test('OpenAI\'s rules hold where nothing says whose', async () => within(await cost({ type: 'image', data: png(1024, 1024) }, {}), 765));
  test('a page is 258 for Gemini and 1,500 to 3,000 for Anthropic', async () => {
    within(await cost({ type: 'file', data: pdf(7) }, { fileTokens: 'gemini' }), 7 * 258);
    const anthropic = await cost({ type: 'file', data: pdf(7) }, { fileTokens: 'anthropic' });
    assert.ok(anthropic >= 7 * 1500 && anthropic <= 7 * 3000, `${anthropic}`);
  });
  test('a second of sound is 32 for Gemini and 10 for OpenAI', async () => {
    within(await cost({ type: 'audio', data: wave(60) }, { audioTokens: 'gemini' }), 1920);
    within(await cost({ type: 'audio', data: wave(60) }, { audioTokens: 'openai' }), 600);
  });
  test('a document that is text costs its text', async () => {
    assert.equal(await cost({ type: 'file', text: 'x'.repeat(4000) }, {}), 1000);
    assert.equal(await cost({ type: 'file', data: Buffer.from('x'.repeat(4000)), mediaType: 'text/plain' }, {}), 1000);
  });
  test('a figure of the app\'s own is what it is', async () => {
    assert.equal(await cost({ type: 'image', data: png(4000, 4000) }, { imageTokens: 7 }), 7);
    assert.equal(await cost({ type: 'file', data: pdf(100) }, { fileTokens: 0 }), 0);
    assert.equal(await cost({ type: 'audio', data: wave(9) }, { audioTokens: 1.5 }), 1.5);
  });
  test('arguments of tools cost their text', async () => {
    const call = { id: 'c', name: 'f', arguments: { city: 'Berlin' } };
    const { tokens } = await storedOne({ role: 'assistant', content: '', toolCalls: [call] }, { budget: { perMessageOverhead: 0 } });
    assert.equal(tokens, estimateTokens('[call f({"city":"Berlin"})]'));
  });
  test('reasoning costs nothing: providers do not charge for that of earlier turns', async () => {
    const content = [{ type: 'reasoning', text: 'x'.repeat(4000) }, text('a')];
    assert.equal((await storedOne({ role: 'assistant', content }, { budget: { perMessageOverhead: 0 } })).tokens, 1);
  });

  test('so a picture of a megabyte does not push out its own question', async () => {
    const session = createMemory({ budget: { maxTokens: 4000, keepRecent: 1 } }).session('s');
    const question = { role: 'user', content: [text('What is this?'), { type: 'image', data: png(3000, 2000, 1_000_000) }] };
    const { folded } = await session.add([question, { role: 'assistant', content: 'A bicycle.' }]);
    assert.equal(folded, 0);
  });

  test('and a recalled message costs its text alone', async () => {
    const session = createMemory({ budget: { maxTokens: 100, keepRecent: 0 }, recall: { maxTokens: 30 }, embed: (texts) => texts.map(() => [1]) }).session('s');
    await session.add({ role: 'user', content: [text('a'), { type: 'image', data: png(1000, 1000) }] });
    const { recalled, tokens } = await session.context({ query: 'a' });
    assert.equal(recalled.length, 1);
    assert.equal(tokens.recalled, estimateTokens('a\n[image]') + 4);
  });
});

describe('pure functions read a message that is not stored yet', () => {
  const message = { role: 'user', content: [text('What is this?'), { type: 'image', data: 'AAAA' }, { type: 'file', text: 'x', name: 'a.txt' }] };
  const calling = { role: 'assistant', content: [text('One moment.')], toolCalls: [{ id: 'c', name: 'f', arguments: {} }] };
  test('by its text and markers', () => {
    assert.equal(messageText(message), 'What is this?\n[image]\n[file a.txt]');
    assert.equal(messageText(calling), 'One moment. [call f({})]');
    assert.equal(transcript([message, calling]), 'user: What is this?\n[image]\n[file a.txt]\nassistant: One moment. [call f({})]');
    assert.deepEqual(toolGroupAt([message, calling, { role: 'tool', toolCallId: 'c', content: [] }], 2), { start: 1, end: 3 });
  });
});

describe('state of another program with parts that are not ours', () => {
  const message = (parts) => ({ role: 'user', content: 'the text', id: 1, at: 1, tokens: 5, parts });
  for (const parts of [5, null, {}, [5], [null], [{}], [{ type: 'text' }], [{ type: 'image' }], [{ type: 'text', text: 5 }], [{ type: 'custom', value: 1 }], ['x']]) {
    test(`is kept and rendered by its text: ${JSON.stringify(parts)}`, async () => {
      const memory = createMemory();
      const state = { version: 1, id: 's', recent: [message(parts)], archive: [], summary: '', facts: [], seq: 1, compactions: 0, createdAt: 1, updatedAt: 1 };
      await memory.import(state);
      assert.deepEqual(await memory.export('s'), state);
      const context = await memory.session('s').context();
      assert.deepEqual(toOpenAI(context), [{ role: 'user', content: 'the text' }]);
      assert.deepEqual(toAnthropic(context).messages, [{ role: 'user', content: 'the text' }]);
      assert.deepEqual(toOpenAIResponses(context).input, [{ type: 'message', role: 'user', content: 'the text' }]);
      assert.deepEqual(toAISDK(context).messages, [{ role: 'user', content: 'the text' }]);
      assert.deepEqual(toGemini(context).contents, [{ role: 'user', parts: [{ text: 'the text' }] }]);
    });
  }
});
