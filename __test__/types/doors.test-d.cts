// How a CommonJS file may load the package.
import memoryline = require('memoryline');
import { createMemory, Memory, type MemoryOptions } from 'memoryline';

const options: MemoryOptions = {};
const memory: Memory = createMemory(options);
const same: memoryline.Memory = new memoryline.Memory(options);

// @ts-expect-error There is no such name.
memoryline.createMemories();

// Both doors give the same classes, so a value from one is an instance of the other's.
type FromImport = import('memoryline', { with: { 'resolution-mode': 'import' } }).Memory;
const fromImport: FromImport = memory;

export = { memory, same, fromImport };
