/** What the chat example prints. Nothing in here is about memory. */
import { messageText } from 'memoryline';

const width = Math.max(72, Math.min(process.stdout.columns ?? 120, 130));
const inColour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (inColour ? `\u001b[${code}m${text}\u001b[0m` : text);
const [bold, dim, green] = [1, 2, 32].map(paint);

const number = (value) => value.toLocaleString('en');
const oneLine = (text) => text.replace(/\s+/g, ' ').trim();

/** Cuts by code points, so that an emoji is never cut in half. */
function clip(text, room) {
  const characters = [...oneLine(text)];
  return characters.length <= room ? characters.join('') : `${characters.slice(0, room - 1).join('').trimEnd()}…`;
}

function wrap(text, indent) {
  const lines = [''];
  for (const word of oneLine(text).split(' ')) {
    const next = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (next.length <= width - indent.length) lines[lines.length - 1] = next;
    else lines.push(word);
  }
  return lines.map((line) => indent + line).join('\n');
}

export function title(text, detail) {
  console.log(`\n${bold(text)} ${dim(detail)}`);
}

/**
 * One turn in two lines. Shown are the first turn of a day and each one that asks for something old,
 * with where in the prompt the answer was. The others are left out to keep the output short.
 */
export function turn({ name, content, meta }, answer, context, today) {
  if (!today && !meta?.needs) return;
  const [date = ''] = /\d+ [A-Z][a-z][a-z]/.exec(today ?? '') ?? [];
  const row = (left, speaker, text) => console.log(`${dim(left.padEnd(8))}${bold(speaker.padEnd(7))}${clip(text, width - 15)}`);
  row(date, name, content);
  row('', 'Nora', answer);
  for (const need of meta?.needs ?? []) console.log(`${' '.repeat(15)}${green(clip(source(need, context), width - 15))}`);
}

function source(need, { facts, recalled, summary, recent }) {
  const fact = facts.find(({ value }) => value.includes(need));
  if (fact) return `fact: ${fact.key}: ${fact.value}`;
  const hit = recalled.find(({ message }) => messageText(message).includes(need));
  if (hit) return `recalled, score ${hit.score.toFixed(2)}: “${messageText(hit.message)}”`;
  if (summary.includes(need)) return `summary: … ${need} …`;
  return recent.some((message) => messageText(message).includes(need)) ? 'still in the window' : 'not in the prompt';
}

export function fold({ folded, facts }, { tokens }, maxTokens) {
  const filled = Math.round((10 * tokens.recent) / maxTokens);
  const bar = '█'.repeat(filled) + '░'.repeat(10 - filled);
  const text = `fold: ${folded} messages into the summary, ${facts.length} facts, window ${bar} ${number(tokens.recent)} of ${number(maxTokens)} tokens`;
  console.log(dim(`${' '.repeat(8)}── ${text} ──`));
}

export function size(messages, { tokens }, maxTokens) {
  const parts = `window ${number(tokens.recent)} of ${number(maxTokens)}, summary ${number(tokens.summary)}, facts ${number(tokens.facts)}`;
  console.log(bold(`${number(messages)} messages, carried by a prompt of ${number(tokens.total)} tokens`) + dim(` (${parts})`));
}

export function memory({ summary, facts }) {
  console.log(bold('\nSummary'));
  console.log(wrap(summary, '  '));
  console.log(bold(`${facts.length} facts`));
  console.log(wrap(facts.map(({ key, value }) => `${key}: ${value}`).join(' · '), '  '));
}
