/**
 * The "model" behind the stand-in: plain functions of the request, so that the same request always
 * gets the same answer. It knows nothing but what the request tells it and, if one is given, the
 * script of a conversation in which it plays the assistant.
 */

const SUMMARY_REQUEST = /^Updated summary:\s*$/m;
const FACTS_REQUEST = /^Known facts:[^]*^Messages:/m;
const CHARACTERS_PER_TOKEN = 4;

// How a line of a transcript begins.
const SPEAKER = /^([\p{L}\p{N}_-]+): /u;
const LEANING = /^(and|but|he|it|she|that|they|them|then|this|those)\b/i;
const DECISION = /\b(agreed|asks?|begins?|booked|changed|comes?|decided|granted|keeps?|moved?|ordered|raise|stays?|wants?|will)\b/gi;

const STOP_WORDS = new Set(
  `a about after all also am an and any are as ask asked at be because been before but by can come could did do
  does for from get go had has have he her him his how i if in is it its just may me more my no nor not now of on
  one or our out put said say says she should so some take than that the their them then there they thing things
  this to today too two up us want was we were what when where which who why will with would yes you your euros`.split(/\s+/),
);

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The words that carry meaning, cut to a stem: "radiator" and "radiators" should meet. */
function stems(text) {
  const all = words(text);
  const meaningful = all.filter((word) => !STOP_WORDS.has(word));
  return new Set((meaningful.length > 0 ? meaningful : all).map((word) => word.slice(0, 5)));
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const sentences = (text) => [...segmenter.segment(text)].map(({ segment }) => segment.trim()).filter(Boolean);

/**
 * A bag of words, hashed into a unit vector. Half of the words count negatively, so that two texts
 * that only share places by accident have a similarity around 0 instead of above it.
 */
export function embed(text, width = 64) {
  const vector = new Float32Array(width);
  for (const stem of stems(text)) {
    const hash = fnv1a(stem);
    // Long words tell more than short ones.
    vector[hash % width] += (hash & 0x10000 ? 1 : -1) * Math.sqrt(stem.length);
  }
  const norm = Math.hypot(...vector);
  // Text without a single word, or words that cancel out: any fixed direction will do.
  if (norm === 0) vector[0] = 1;
  return norm === 0 ? vector : vector.map((value) => value / norm);
}

function fnv1a(text) {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/**
 * The next assistant turn.
 *
 * @param {{ role: string, text: string }[]} turns the request's messages, in either provider's terms
 * @param {string} told all text of the request, the system prompt included
 * @param {object[]} script recorded messages of a conversation in which the model plays the assistant
 * @returns {{ text: string, calls: { id: string, name: string, arguments: object }[] }}
 */
export function reply(turns, told, script) {
  const asked = turns.findLastIndex(({ role }) => role === 'user');
  const question = turns[asked]?.text ?? '';
  if (SUMMARY_REQUEST.test(question)) return { text: summary(question), calls: [] };
  if (FACTS_REQUEST.test(question)) return { text: facts(question), calls: [] };

  const spoken = turns.slice(asked + 1).filter(({ role }) => role === 'assistant').length;
  const recorded = recordedTurn(script, question, spoken);
  if (!recorded) return { text: lookUp(question, turns, told), calls: [] };
  const forgotten = recorded.needs.filter((need) => !told.includes(need));
  if (forgotten.length > 0) return { text: 'I am sorry, I no longer have that in front of me. Could you tell me again?', calls: [] };
  return { text: recorded.message.content, calls: recorded.message.toolCalls ?? [] };
}

/** The assistant turn that the script has after the question, past those that were spoken already. */
function recordedTurn(script, question, spoken) {
  const start = script.findIndex(({ role, content }) => role === 'user' && content !== '' && question.endsWith(content));
  if (start < 0) return null;
  const rest = script.slice(start + 1);
  const end = rest.findIndex(({ role }) => role === 'user');
  const turns = (end < 0 ? rest : rest.slice(0, end)).filter(({ role }) => role === 'assistant');
  return turns[spoken] ? { message: turns[spoken], needs: script[start].meta?.needs ?? [] } : null;
}

/** Without a script: the one sentence of the request that has most in common with the question. */
function lookUp(question, turns, told) {
  const wanted = stems(question);
  const shared = (sentence) => [...stems(sentence)].filter((stem) => wanted.has(stem)).length;
  const [best] = sentences(told.replaceAll(question, ''))
    .map((sentence) => ({ sentence, score: shared(sentence) }))
    .sort((a, b) => b.score - a.score);
  return best?.score > 0 ? `What I have about that: ${best.sentence}` : `Understood. That was message ${turns.length}.`;
}

/** The text under a label of the prompt, up to the next label. */
function block(prompt, label, nextLabel) {
  const [, rest = ''] = prompt.split(new RegExp(`^${label}`, 'm'));
  const [text] = rest.split(new RegExp(`^${nextLabel}`, 'm'));
  return text.trim() === '(none)' ? '' : text.trim();
}

/**
 * The most telling sentences, as many as fit: the old summary keeps up to half of the room, the new
 * messages get what is left.
 */
function summary(prompt) {
  const tokens = Number(/about (\d+) tokens/.exec(prompt)?.[1] ?? 200);
  const room = tokens * CHARACTERS_PER_TOKEN;
  const previous = block(prompt, 'Previous summary:', 'Known facts:').split('\n').filter(Boolean);
  const kept = mostTelling(previous, room / 2);
  const spoken = spokenSentences(block(prompt, 'New messages:', 'Updated summary:'));
  const added = mostTelling(spoken.filter((line) => !kept.includes(line)), room - kept.join('\n').length);
  return [...kept, ...added].join('\n') || 'Nothing of note was said.';
}

function mostTelling(lines, room) {
  const ranked = lines.map((line, index) => ({ line, index, score: tells(line) })).sort((a, b) => b.score - a.score);
  let left = room;
  const chosen = ranked.filter(({ line, score }) => {
    if (score === 0 || line.length + 1 > left) return false;
    left -= line.length + 1;
    return true;
  });
  return chosen.sort((a, b) => a.index - b.index).map(({ line }) => line);
}

/**
 * A whole sentence tells much when it has numbers, names or a decision. A question tells nothing, and
 * neither does a fragment or a sentence that leans on the one before it.
 */
function tells(line) {
  const sentence = line.replace(SPEAKER, '');
  const count = words(sentence).length;
  if (count < 8 || count > 30 || !/^\p{Lu}.*[.!]$/su.test(sentence) || LEANING.test(sentence)) return 0;
  const numbers = sentence.match(/\d[\d.,]*/g)?.length ?? 0;
  const names = sentence.match(/(?<=[\p{Ll},] )\p{Lu}\p{Ll}+/gu)?.length ?? 0;
  const decisions = sentence.match(DECISION)?.length ?? 0;
  // People say what is new; the assistant, whose lines have no speaker, mostly repeats it.
  const weight = SPEAKER.test(line) ? 2 : 1;
  return (weight * (Math.min(numbers, 1) + Math.min(names, 2) + 2 * Math.min(decisions, 1))) / Math.sqrt(count);
}

/** What people and the assistant said, without what tools returned, calls and lists. */
function spokenSentences(transcript) {
  const said = [];
  let speaker = '';
  for (const line of transcript.split('\n')) {
    const text = line.replace(SPEAKER, '');
    if (text !== line) speaker = SPEAKER.exec(line)[1];
    if (speaker === 'system' || speaker.includes('_') || /^(\[call |[-•*] )/.test(text)) continue;
    const label = speaker === 'assistant' ? '' : `${speaker}: `;
    for (const sentence of sentences(text)) said.push(label + sentence);
  }
  return said;
}

/** The `key: value` lines of lists in the messages, and what somebody said "my" or "our" something is. */
function facts(prompt) {
  const messages = block(prompt, 'Messages:', '\\b\\B');
  const found = [
    ...messages.matchAll(/^[-•*] ([\p{L}\p{N}][\p{L}\p{N} _./-]*): (.+)$/gmu),
    ...messages.matchAll(/\b(?:my|our) ([a-z]+(?: [a-z]+)?) (?:is|are) ([^.,;:!?\n]+)/gi),
  ];
  return found.map(([, key, value]) => `${key}: ${value}`).join('\n') || 'none';
}
