// The declarations of the ESM door. They are those of the CommonJS door, which are the same values at run time; this
// file exists so that TypeScript reads an `import` as ESM, without the default export that only CommonJS would give.
export * from './index.js';
