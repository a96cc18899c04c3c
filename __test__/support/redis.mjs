// Clients that keep data as Redis does, each with the methods and the marks of the package it stands for. `commands` is what
// would have gone over the wire, so that a test can count round trips whichever method was used.
function createServer() {
  const values = new Map();
  const ttls = new Map();
  const commands = [];
  const set = (key, value, ttl) => {
    if (typeof value !== 'string') throw new TypeError('a Redis value is a string');
    values.set(key, value);
    if (ttl === undefined) ttls.delete(key);
    else ttls.set(key, ttl);
  };
  return {
    values,
    ttls,
    commands,
    async get(key) {
      commands.push(['GET', key]);
      return values.has(key) ? values.get(key) : null;
    },
    async set(key, value, ttl) {
      commands.push(ttl === undefined ? ['SET', key] : ['SET', key, 'EX', ttl]);
      // Redis refuses a time to live of zero in the command that sets the value.
      if (ttl !== undefined && !(ttl > 0)) throw new Error('ERR invalid expire time');
      set(key, value, ttl);
      return 'OK';
    },
    async del(key) {
      commands.push(['DEL', key]);
      ttls.delete(key);
      return values.delete(key) ? 1 : 0;
    },
    async expire(key, seconds) {
      commands.push(['EXPIRE', key, seconds]);
      if (!values.has(key)) return 0;
      if (seconds <= 0) values.delete(key);
      else ttls.set(key, seconds);
      return 1;
    },
  };
}

// The bare minimum that the store documents.
export function createPlainRedis({ expire = true } = {}) {
  const server = createServer();
  const client = {
    get: (key) => server.get(key),
    // A client that knows no options takes two arguments and would drop any other without a word.
    set: (key, value) => server.set(key, value),
    del: (key) => server.del(key),
  };
  if (expire) client.expire = (key, seconds) => server.expire(key, seconds);
  return { server, client };
}

// The methods of node-redis 4 and 5 that a snapshot store could want.
export function createNodeRedis() {
  const server = createServer();
  const client = {
    isOpen: true,
    isReady: true,
    async sendCommand() {
      throw new Error('the store has no need of raw commands');
    },
    get: (key) => server.get(key),
    set: (key, value, options) => server.set(key, value, options?.EX),
    setEx: (key, seconds, value) => server.set(key, value, seconds),
    del: (key) => server.del(key),
    expire: (key, seconds) => server.expire(key, seconds),
  };
  return { server, client };
}

// The methods of ioredis that a snapshot store could want.
export function createIoRedis() {
  const server = createServer();
  const client = {
    status: 'ready',
    get: (key) => server.get(key),
    async set(key, value, option, seconds) {
      if (option !== undefined && String(option).toUpperCase() !== 'EX') throw new Error('ERR syntax error');
      return server.set(key, value, option === undefined ? undefined : seconds);
    },
    setex: (key, seconds, value) => server.set(key, value, seconds),
    del: (key) => server.del(key),
    expire: (key, seconds) => server.expire(key, seconds),
  };
  return { server, client };
}
