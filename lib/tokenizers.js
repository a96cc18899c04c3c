'use strict';

// Which tokenizer counts, by its own name or by that of a model.

const binding = require('../binding.js');
const { invalidArgument, invalidOption } = require('./errors.js');

const ENCODINGS = binding.encodings();

const TOKENIZERS = ['estimate', ...ENCODINGS];

/**
 * The encoding of each of OpenAI's models, as the `tiktoken` package of OpenAI maps them: by the whole name, or by what
 * the name begins with when there is a version behind it.
 */
const MODELS = {
  o200k_base: ['gpt-5', 'gpt-4.5', 'gpt-4.1', 'gpt-4o', 'chatgpt-4o', 'gpt-oss', 'o1', 'o3', 'o4-mini'],
  cl100k_base: [
    'gpt-4',
    'gpt-3.5-turbo',
    'gpt-3.5',
    'gpt-35-turbo',
    'davinci-002',
    'babbage-002',
    'text-embedding-ada-002',
    'text-embedding-3-small',
    'text-embedding-3-large',
  ],
};

/** The encoding of a model; undefined when it is not known. A model that was fine-tuned is counted like its base. */
function encodingOfModel(model) {
  const name = model.replace(/^ft:/, '').split(':')[0];
  const isOne = (known) => name === known || name.startsWith(`${known}-`);
  return ENCODINGS.find((encoding) => MODELS[encoding].some(isOne));
}

/** The encoding that the options of a memory ask for; undefined for the estimate. */
function encodingOption({ tokenizer, model }) {
  if (tokenizer != null) {
    if (!TOKENIZERS.includes(tokenizer)) {
      throw invalidOption(TypeError, `tokenizer must be one of ${TOKENIZERS.join(', ')}`);
    }
    return tokenizer === 'estimate' ? undefined : tokenizer;
  }
  if (model == null) return undefined;
  const encoding = typeof model === 'string' ? encodingOfModel(model) : undefined;
  if (encoding === undefined) {
    const known = Object.values(MODELS).flat().join(', ');
    throw invalidOption(TypeError, `model ${String(model)} is not known; known are ${known}. For others give countTokens`);
  }
  return encoding;
}

/** The name of an encoding that a function is called with. */
function checkEncoding(encoding) {
  const name = encoding ?? ENCODINGS[0];
  if (!ENCODINGS.includes(name)) throw invalidArgument(`encoding must be one of ${ENCODINGS.join(', ')}`);
  return name;
}

module.exports = { checkEncoding, encodingOption };
