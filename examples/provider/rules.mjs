/**
 * What the providers enforce on a request, as two pure functions.
 *
 * Each takes a whole request body, as it would be sent, and returns every violation it finds as a
 * line of text that starts with the stable name of the rule: `tool-result-without-call: messages.3 …`.
 * An empty array means that the API would have taken the request.
 *
 * A rule is here when the real API answers 400 for it. Limits that depend on the model or on the
 * account (context length, number of images, …) are left out.
 */

const OPENAI_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ANTHROPIC_TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const ANTHROPIC_TOOL_ID = /^[a-zA-Z0-9_-]+$/;
// History is checked less strictly than definitions: only the length of a called tool's name counts.
const ANTHROPIC_CALLED_NAME_LENGTH = 200;

const OPENAI_FIELDS = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'refusal', 'audio', 'tool_calls', 'function_call'],
  tool: ['role', 'content', 'name', 'tool_call_id'],
};

const OPENAI_PARTS = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  tool: ['text'],
};

const ANTHROPIC_BLOCKS = {
  user: ['text', 'image', 'document', 'search_result', 'tool_result'],
  assistant: ['text', 'tool_use', 'thinking', 'redacted_thinking', 'server_tool_use', 'web_search_tool_result'],
};

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isFilled = (value) => typeof value === 'string' && value !== '';
const isBlank = (text) => text.trim() === '';
const show = (value) => JSON.stringify(value) ?? String(value);

/**
 * Checks a body for OpenAI's `POST /v1/chat/completions`.
 *
 * With `allowPlainToolMessages` a `tool` message without `tool_call_id` is let through, anywhere.
 * OpenAI itself refuses it. The option exists because memoryline renders a tool result that was
 * stored without an id in just this way, which is documented and which some compatible servers take.
 * Such a message answers no call, and it does not end the run of results that it stands in.
 *
 * @param {unknown} request
 * @param {{ allowPlainToolMessages?: boolean }} [options]
 * @returns {string[]} the violations, in the order of the messages
 */
export function checkOpenAI(request, { allowPlainToolMessages = false } = {}) {
  if (!isObject(request)) return ['request-shape: the body must be a JSON object'];
  const violations = [];
  const report = (rule, text) => violations.push(`${rule}: ${text}`);
  if (!isFilled(request.model)) report('request-shape', 'model must be a non-empty string');
  checkOpenAITools(request.tools, report);
  if (!hasMessages(request.messages, report)) return violations;

  // The calls of the latest assistant turn that still wait for a result, and those that got one.
  let waiting = new Set();
  let answered = new Set();
  const closeTurn = (where) => {
    for (const id of waiting) report('tool-call-unanswered', `${where}: no tool message answers ${show(id)} before it`);
    waiting = new Set();
    answered = new Set();
  };

  request.messages.forEach((message, index) => {
    const where = `messages.${index}`;
    if (!isObject(message)) {
      report('message-shape', `${where} must be an object`);
      return;
    }
    const { role } = message;
    if (role !== 'tool') closeTurn(where);
    if (!Object.hasOwn(OPENAI_FIELDS, role)) {
      report('role', `${where}.role ${show(role)} is not one of ${Object.keys(OPENAI_FIELDS).join(', ')}`);
      return;
    }
    reportUnknownFields(message, OPENAI_FIELDS[role], where, report);
    checkOpenAIContent(message, where, report);
    if (message.name !== undefined && !(typeof message.name === 'string' && OPENAI_NAME.test(message.name))) {
      report('name-pattern', `${where}.name ${show(message.name)} does not match ${OPENAI_NAME.source}`);
    }
    if (role === 'assistant' && message.tool_calls !== undefined) {
      waiting = checkOpenAICalls(message.tool_calls, where, report);
    }
    if (role !== 'tool') return;

    const id = message.tool_call_id;
    if (id === undefined && allowPlainToolMessages) return;
    if (!isFilled(id)) {
      report('tool-result-id', `${where}.tool_call_id must be a non-empty string`);
    } else if (waiting.delete(id)) {
      answered.add(id);
    } else if (answered.has(id)) {
      report('tool-result-duplicate', `${where} answers ${show(id)}, which has been answered`);
    } else {
      report('tool-result-without-call', `${where} answers ${show(id)}, which the assistant turn before it did not call`);
    }
  });
  closeTurn('the end of messages');
  return violations;
}

function checkOpenAITools(tools, report) {
  if (tools === undefined) return;
  if (!Array.isArray(tools) || tools.length === 0) {
    report('tools-shape', 'tools must be an array that is not empty');
    return;
  }
  tools.forEach((tool, index) => {
    if (!isObject(tool) || tool.type !== 'function' || !isObject(tool.function)) {
      report('tools-shape', `tools.${index} must be { type: 'function', function: { … } }`);
    } else if (!OPENAI_NAME.test(tool.function.name)) {
      report('function-name-pattern', `tools.${index}.function.name does not match ${OPENAI_NAME.source}`);
    }
  });
}

function checkOpenAIContent(message, where, report) {
  const { role, content } = message;
  if (typeof content === 'string') return;
  if (content === null || content === undefined) {
    const callsInstead = role === 'assistant' && (message.tool_calls ?? message.refusal ?? message.audio) != null;
    if (!callsInstead) report('content-type', `${where}.content is required`);
    return;
  }
  if (!Array.isArray(content) || content.length === 0) {
    report('content-type', `${where}.content must be a string or an array of parts`);
    return;
  }
  content.forEach((part, index) => {
    const at = `${where}.content.${index}`;
    if (!isObject(part) || !OPENAI_PARTS[role].includes(part.type)) {
      const rule = role === 'tool' ? 'tool-content-text-only' : 'content-type';
      report(rule, `${at} must be one of the parts a ${role} message may have: ${OPENAI_PARTS[role].join(', ')}`);
    } else if (part.type === 'text' && typeof part.text !== 'string') {
      report('content-type', `${at}.text must be a string`);
    }
  });
}

/** Checks one assistant turn's calls and returns the ids that now need an answer. */
function checkOpenAICalls(calls, where, report) {
  const ids = new Set();
  if (!Array.isArray(calls) || calls.length === 0) {
    report('tool-calls-shape', `${where}.tool_calls must be an array that is not empty`);
    return ids;
  }
  calls.forEach((call, index) => {
    const at = `${where}.tool_calls.${index}`;
    if (isObject(call) && call.type === 'custom' && isObject(call.custom) && isFilled(call.id)) {
      checkCustomCall(call.custom, at, report);
    } else if (!isObject(call) || !isFilled(call.id) || call.type !== 'function' || !isObject(call.function)) {
      report('tool-calls-shape', `${at} must be { id, type: 'function', function: { name, arguments } }`);
      return;
    } else {
      if (typeof call.function.arguments !== 'string') report('tool-calls-shape', `${at}.function.arguments must be a string`);
      if (!(typeof call.function.name === 'string' && OPENAI_NAME.test(call.function.name))) {
        report('function-name-pattern', `${at}.function.name ${show(call.function.name)} does not match ${OPENAI_NAME.source}`);
      }
    }
    // Only within the turn: gateways count from call_0 again in each reply, and the API pairs by turn.
    if (ids.has(call.id)) report('tool-call-id-duplicate', `${at}.id ${show(call.id)} is used twice in one turn`);
    ids.add(call.id);
  });
  return ids;
}

function checkCustomCall({ name, input }, at, report) {
  if (typeof input !== 'string') report('tool-calls-shape', `${at}.custom.input must be a string`);
  if (!OPENAI_NAME.test(name)) report('function-name-pattern', `${at}.custom.name ${show(name)} does not match ${OPENAI_NAME.source}`);
}

/**
 * Checks a body for Anthropic's `POST /v1/messages`.
 *
 * @param {unknown} request
 * @returns {string[]} the violations, in the order of the messages
 */
export function checkAnthropic(request) {
  if (!isObject(request)) return ['request-shape: the body must be a JSON object'];
  const violations = [];
  const report = (rule, text) => violations.push(`${rule}: ${text}`);
  if (!isFilled(request.model)) report('request-shape', 'model must be a non-empty string');
  if (!(Number.isInteger(request.max_tokens) && request.max_tokens > 0)) {
    report('request-shape', 'max_tokens must be a whole number above 0');
  }
  checkAnthropicSystem(request.system, report);
  checkAnthropicTools(request.tools, report);
  if (!hasMessages(request.messages, report)) return violations;

  const usedIds = new Set();
  // The ids that the message before called, in call order. Only the next message may answer them.
  let called = [];
  let previousRole = null;

  request.messages.forEach((message, index) => {
    const where = `messages.${index}`;
    if (!isObject(message)) {
      report('message-shape', `${where} must be an object`);
      return;
    }
    const { role } = message;
    if (role === 'system') {
      report('system-role', `${where}: system text belongs in the system parameter`);
    } else if (!Object.hasOwn(ANTHROPIC_BLOCKS, role)) {
      report('role', `${where}.role ${show(role)} is neither user nor assistant`);
    }
    if (index === 0 && role !== 'user') report('first-message-user', `${where} must be from the user`);
    if (role === previousRole) report('alternation', `${where} is a second ${role} message in a row`);
    previousRole = role;
    reportUnknownFields(message, ['role', 'content'], where, report);

    const blocks = anthropicBlocks(message, where, report);
    checkAnthropicResults(blocks, called, where, report);
    called = checkAnthropicCalls(blocks, usedIds, where, report);
  });
  if (called.length > 0) {
    report('tool-use-unanswered', `the end of messages: no tool_result answers ${called.map(show).join(', ')}`);
  }
  checkAnthropicEnd(request.messages.at(-1), report);
  return violations;
}

function checkAnthropicSystem(system, report) {
  if (system === undefined || typeof system === 'string') return;
  if (!Array.isArray(system)) {
    report('system-shape', 'system must be a string or an array of text blocks');
    return;
  }
  system.forEach((block, index) => {
    if (!isObject(block) || block.type !== 'text' || typeof block.text !== 'string') {
      report('system-shape', `system.${index} must be a text block`);
    } else if (isBlank(block.text)) {
      report('blank-text', `system.${index}.text has nothing but white space`);
    }
  });
}

function checkAnthropicTools(tools, report) {
  if (tools === undefined) return;
  if (!Array.isArray(tools)) {
    report('tools-shape', 'tools must be an array');
    return;
  }
  const names = new Set();
  tools.forEach((tool, index) => {
    if (!isObject(tool) || !isObject(tool.input_schema)) {
      report('tools-shape', `tools.${index} must be { name, input_schema }`);
    } else if (!(typeof tool.name === 'string' && ANTHROPIC_TOOL_NAME.test(tool.name))) {
      report('tool-name-pattern', `tools.${index}.name does not match ${ANTHROPIC_TOOL_NAME.source}`);
    } else if (names.has(tool.name)) {
      report('tools-shape', `tools.${index}.name ${show(tool.name)} is used twice`);
    } else {
      names.add(tool.name);
    }
  });
}

/** The blocks of one message, checked for their own shape. Blocks that are no objects are left out. */
function anthropicBlocks({ role, content }, where, report) {
  if (typeof content === 'string') {
    if (isBlank(content)) report('blank-text', `${where}.content has nothing but white space`);
    return [{ type: 'text', text: content, at: `${where}.content` }];
  }
  if (!Array.isArray(content) || content.length === 0) {
    report('content-type', `${where}.content must be a string or an array of blocks that is not empty`);
    return [];
  }
  const blocks = [];
  content.forEach((block, index) => {
    const at = `${where}.content.${index}`;
    if (!isObject(block) || !Object.values(ANTHROPIC_BLOCKS).flat().includes(block.type)) {
      report('block-type', `${at} is not a block of a known type`);
      return;
    }
    if (Object.hasOwn(ANTHROPIC_BLOCKS, role) && !ANTHROPIC_BLOCKS[role].includes(block.type)) {
      report('block-role', `${at}: a ${role} message cannot have a ${block.type} block`);
    }
    checkAnthropicBlock(block, at, report);
    blocks.push({ ...block, at });
  });
  return blocks;
}

function checkAnthropicBlock(block, at, report) {
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') report('block-shape', `${at}.text must be a string`);
      else if (isBlank(block.text)) report('blank-text', `${at}.text has nothing but white space`);
      break;
    case 'tool_use':
      if (!isObject(block.input)) report('block-shape', `${at}.input must be an object`);
      if (!isFilled(block.name) || block.name.length > ANTHROPIC_CALLED_NAME_LENGTH) {
        report('block-shape', `${at}.name must have 1 to ${ANTHROPIC_CALLED_NAME_LENGTH} characters`);
      }
      break;
    case 'tool_result':
      checkAnthropicResultContent(block.content, at, report);
      break;
    case 'thinking':
      // The signature vouches for the text, so one without the other cannot be sent back.
      if (typeof block.thinking !== 'string' || !isFilled(block.signature)) {
        report('thinking-signature', `${at} must carry its thinking and the signature that came with it`);
      }
      break;
    case 'redacted_thinking':
      if (!isFilled(block.data)) report('thinking-signature', `${at} must carry its data unchanged`);
      break;
    default:
  }
}

function checkAnthropicResultContent(content, at, report) {
  if (content === undefined || typeof content === 'string') return;
  if (!Array.isArray(content)) {
    report('block-shape', `${at}.content must be a string or an array of blocks`);
    return;
  }
  content.forEach((part, index) => {
    if (!isObject(part) || !['text', 'image', 'document', 'search_result'].includes(part.type)) {
      report('block-type', `${at}.content.${index} is not a block that a tool_result may have`);
    } else if (part.type === 'text' && (typeof part.text !== 'string' || isBlank(part.text))) {
      report('blank-text', `${at}.content.${index}.text has nothing but white space`);
    }
  });
}

/** Checks one message's results against the calls of the message before it. */
function checkAnthropicResults(blocks, called, where, report) {
  const answers = [];
  let sawOther = false;
  for (const block of blocks) {
    if (block.type !== 'tool_result') {
      sawOther = true;
      continue;
    }
    const id = block.tool_use_id;
    if (sawOther) report('tool-results-first', `${block.at}: a tool_result must stand before everything else`);
    if (!isFilled(id) || !ANTHROPIC_TOOL_ID.test(id)) {
      report('tool-id-pattern', `${block.at}.tool_use_id ${show(id)} does not match ${ANTHROPIC_TOOL_ID.source}`);
    }
    if (!called.includes(id)) {
      report('tool-result-without-call', `${block.at} answers ${show(id)}, which the message before did not call`);
    } else if (answers.includes(id)) {
      report('tool-result-duplicate', `${block.at} answers ${show(id)}, which has been answered`);
    } else {
      answers.push(id);
    }
  }
  const missing = called.filter((id) => !answers.includes(id));
  if (missing.length > 0) {
    report('tool-use-unanswered', `${where}: no tool_result answers ${missing.map(show).join(', ')}`);
  }
  const inCallOrder = called.filter((id) => answers.includes(id));
  if (answers.some((id, index) => id !== inCallOrder[index])) {
    report('tool-result-order', `${where}: the results must stand in the order of the calls`);
  }
}

/** Checks one message's calls and returns their ids in call order. */
function checkAnthropicCalls(blocks, usedIds, where, report) {
  const called = [];
  for (const block of blocks) {
    if (block.type !== 'tool_use') {
      if (called.length > 0) report('after-tool-use', `${block.at}: only more tool_use may follow a tool_use`);
      continue;
    }
    if (!isFilled(block.id) || !ANTHROPIC_TOOL_ID.test(block.id)) {
      report('tool-id-pattern', `${block.at}.id ${show(block.id)} does not match ${ANTHROPIC_TOOL_ID.source}`);
    }
    if (usedIds.has(block.id)) report('tool-id-duplicate', `${block.at}.id ${show(block.id)} was used before`);
    usedIds.add(block.id);
    called.push(block.id);
  }
  return called;
}

/** White space at the end matters only where the model has to carry on from it. */
function checkAnthropicEnd(last, report) {
  if (!isObject(last) || last.role !== 'assistant') return;
  const end = typeof last.content === 'string' ? last.content : last.content?.at?.(-1)?.text;
  if (typeof end === 'string' && end !== end.trimEnd()) {
    report('trailing-white-space', 'the text that the assistant ends with must not end in white space');
  }
}

function hasMessages(messages, report) {
  if (!Array.isArray(messages)) report('messages-missing', 'messages must be an array');
  else if (messages.length === 0) report('messages-empty', 'messages must have at least one message');
  else return true;
  return false;
}

function reportUnknownFields(message, known, where, report) {
  for (const field of Object.keys(message)) {
    if (!known.includes(field)) report('unknown-field', `${where}.${field} is not a field of a ${message.role} message`);
  }
}
