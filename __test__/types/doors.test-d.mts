// What an ESM file may import. `index.mjs` has no default export, and the types must not promise one.
import * as memoryline from 'memoryline';
import { createMemory, Memory, type MemoryOptions } from 'memoryline';
// @ts-expect-error The package has no default export for ESM.
import whole from 'memoryline';

export const unused: unknown = whole;
export const options: MemoryOptions = {};
export const memory: Memory = createMemory(options);
export const same: Memory = memoryline.createMemory();

// Both doors give the same classes, so a value from one is an instance of the other's.
export type FromRequire = import('memoryline', { with: { 'resolution-mode': 'require' } }).Memory;
export const fromRequire: FromRequire = memory;
