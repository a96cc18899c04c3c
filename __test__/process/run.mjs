import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

// A program that hangs must fail its test rather than hold up the whole suite. Far above what any of them needs.
const WATCHDOG_MS = 120_000;

export const programPath = (name) => fileURLToPath(new URL(`programs/${name}.mjs`, import.meta.url));

// Starts one of the programs beside this file in a process of its own.
export function start(name, args = [], { node = [] } = {}) {
  const child = spawn(process.execPath, [...node, programPath(name), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: WATCHDOG_MS,
    killSignal: 'SIGKILL',
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk) => (output.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk) => (output.stderr += chunk));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }));
  return { child, ended, output };
}

// Runs a program to its end: how it ended and what it printed.
export const run = (name, args, options) => start(name, args, options).ended;
