// Runs the TypeScript compiler of this project.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';

const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
const compiler = path.join(path.dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.tsc);

/**
 * Compiles a project. Returns what the compiler complained about (an empty string when it is content) and the files it
 * read, as absolute paths with `/` on every system.
 */
export async function compile(tsconfig) {
  const child = spawn(process.execPath, [compiler, '--pretty', 'false', '--listFiles', '-p', tsconfig], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const status = new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), status]);
  const lines = output.split(/\r?\n/).filter((line) => line !== '');
  const isFile = (line) => path.isAbsolute(line) && /\.(?:d\.)?[cm]?tsx?$/.test(line);
  const complaints = [...lines.filter((line) => !isFile(line)), errors.trim()].join('\n').trim();
  return {
    complaints: complaints === '' && code !== 0 ? `tsc ended with status ${code}` : complaints,
    files: lines.filter(isFile).map((file) => file.replaceAll('\\', '/')),
  };
}
