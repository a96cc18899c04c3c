// A store as an app would write it: JSON text in a Map, asynchronous, with a log of what it was asked.
export class JsonStore {
  constructor({ missing = null } = {}) {
    this.texts = new Map();
    this.log = [];
    this.missing = missing;
  }

  async load(id) {
    this.log.push(['load', id]);
    const text = this.texts.get(id);
    return text === undefined ? this.missing : JSON.parse(text);
  }

  async save(state) {
    this.log.push(['save', state.id]);
    this.texts.set(state.id, JSON.stringify(state));
  }

  async delete(id) {
    this.log.push(['delete', id]);
    this.texts.delete(id);
  }

  // How often `operation` was asked since the last time the log was cleared.
  count(operation) {
    return this.log.filter(([name]) => name === operation).length;
  }
}
