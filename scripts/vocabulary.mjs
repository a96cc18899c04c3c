// Makes the vocabularies in src/tokens/vocabulary of those in the `tiktoken` package.
//
//   npm install --no-save tiktoken && node scripts/vocabulary.mjs
//
// Every token but the single bytes is two earlier tokens put together, so a vocabulary is a list of pairs: first the 256
// bytes in the order of their ids, then for each further id the two ids that it is made of, five bytes a pair (the first
// id in the upper 20 bits, the second in the lower 20, least significant byte first).
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';

const require = createRequire(import.meta.url);

/** The bytes of every token, by id, as strings of one character a byte. */
function tokensOf({ bpe_ranks: ranks }) {
  const tokens = [];
  for (const line of ranks.split('\n').filter(Boolean)) {
    const [, offset, ...encoded] = line.split(' ');
    encoded.forEach((token, index) => {
      tokens[Number(offset) + index] = Buffer.from(token, 'base64').toString('latin1');
    });
  }
  return tokens;
}

/** The two tokens of which the token `id` is made: what is left when everything that has a lower id is merged. */
function pairOf(bytes, id, ids) {
  const parts = [...bytes];
  while (parts.length > 2) {
    let best = Infinity;
    let at = -1;
    for (let index = 0; index + 1 < parts.length; index += 1) {
      const merged = ids.get(parts[index] + parts[index + 1]) ?? Infinity;
      if (merged < best && merged < id) [best, at] = [merged, index];
    }
    if (at < 0) throw new Error(`token ${id} is not made of two others`);
    parts.splice(at, 2, parts[at] + parts[at + 1]);
  }
  return parts.map((part) => ids.get(part));
}

for (const name of ['o200k_base', 'cl100k_base']) {
  const tokens = tokensOf(require(`tiktoken/encoders/${name}.json`));
  const ids = new Map(tokens.map((token, id) => [token, id]));
  if (ids.size !== tokens.length || tokens.slice(0, 256).some((token) => token.length !== 1)) throw new Error(name);
  const file = Buffer.alloc(256 + (tokens.length - 256) * 5);
  tokens.forEach((token, id) => {
    if (id < 256) {
      file[id] = token.charCodeAt(0);
      return;
    }
    const [first, second] = pairOf(token, id, ids);
    file.writeUIntLE(first * 2 ** 20 + second, 256 + (id - 256) * 5, 5);
  });
  writeFileSync(new URL(`../src/tokens/vocabulary/${name}.bin`, import.meta.url), file);
  console.log(name, tokens.length, file.length);
}
