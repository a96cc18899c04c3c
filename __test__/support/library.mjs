// The one place where the tests meet the library: point it at another implementation of the same API and the same files judge that one.
import { createRequire } from 'node:module';

export * from 'memoryline';
export * as moduleExports from 'memoryline';
export const commonJsExports = createRequire(import.meta.url)('memoryline');
