export const user = (content, rest = {}) => ({ role: 'user', content, ...rest });
export const assistant = (content, rest = {}) => ({ role: 'assistant', content, ...rest });
export const system = (content, rest = {}) => ({ role: 'system', content, ...rest });
export const plainTool = (content, rest = {}) => ({ role: 'tool', content, ...rest });

// An assistant turn that calls one function for each id.
export function calls(ids, content = '') {
  return {
    role: 'assistant',
    content,
    toolCalls: ids.map((id) => ({ id, name: 'look_up', arguments: { of: id } })),
  };
}

export const result = (toolCallId, content = `result of ${toolCallId}`, rest = {}) => ({
  role: 'tool',
  content,
  toolCallId,
  ...rest,
});

// A context as `session.context()` gives it, for the renderers, which read only some of its fields.
export function contextOf(recent, rest = {}) {
  return {
    sessionId: 's',
    summary: '',
    facts: [],
    recalled: [],
    recent: recent.map((message) => ({ at: 1, ...message })),
    system: '',
    tokens: { summary: 0, facts: 0, recalled: 0, recent: 0, total: 0 },
    ...rest,
  };
}
