// Formatting and lints, with the addon and without.

import { run } from './run.mjs';

const deny = ['--', '-D', 'warnings'];

run('cargo', ['fmt', '--check']);
run('cargo', ['clippy', '--all-targets', '--no-default-features', ...deny]);
run('cargo', ['clippy', '--all-targets', ...deny]);
run('cargo', ['doc', '--no-deps', '--document-private-items', '--no-default-features'], {
  env: { ...process.env, RUSTDOCFLAGS: '-D warnings' },
});
