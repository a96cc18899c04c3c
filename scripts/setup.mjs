// Installs what the project needs and builds the addon. Does nothing when both are up to date, so that `npm start` and
// `npm test` can always begin with it.

import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { has, root, run } from './run.mjs';

const at = (...parts) => path.join(root, ...parts);
const text = (file) => readFileSync(file, 'utf8');

/** What was installed last: the lockfile of that moment. */
const installedFrom = at('node_modules', '.memoryline-lock');

function install() {
  const lock = text(at('package-lock.json'));
  if (existsSync(installedFrom) && text(installedFrom) === lock) return;
  run('npm', ['ci', '--no-audit', '--no-fund']);
  writeFileSync(installedFrom, lock);
}

/** The latest change below a file or folder, in milliseconds since 1970. */
function changedAt(file) {
  const stat = statSync(file);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(file).map((name) => changedAt(path.join(file, name))));
}

function build() {
  const addon = readdirSync(root).find((name) => name.endsWith('.node'));
  const sources = ['Cargo.toml', 'Cargo.lock', 'build.rs', 'src'].map((name) => changedAt(at(name)));
  if (addon !== undefined && changedAt(at(addon)) >= Math.max(...sources)) return;
  if (!has('cargo', '--version')) {
    process.stderr.write('Building the addon needs Rust: cargo is not on the PATH.\n');
    process.exit(1);
  }
  run('npm', ['run', '--silent', 'build']);
}

install();
build();
