// Runs a program and stops this one when it fails.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs `command` in the folder of the project, its output shown. Ends this process with its code when it fails. */
export function run(command, args, options = {}) {
  process.stdout.write(`\n> ${[command, ...args].join(' ')}\n`);
  const isScript = process.platform === 'win32' && command === 'npm';
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: isScript, ...options });
  if (error !== undefined) {
    process.stderr.write(`${command} cannot be run: ${error.message}\n`);
    process.exit(1);
  }
  if (status !== 0) process.exit(status ?? 1);
}

/** Whether `command` can be run at all. */
export function has(command, ...args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
