#!/usr/bin/env node
// Starts the program that the package of this platform holds, with the same arguments, streams, signals
// and exit code. TPLKIT_BINARY names another one.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const platform = `@tplkit/${process.platform}-${process.arch}`;

function program() {
  if (process.env.TPLKIT_BINARY) return process.env.TPLKIT_BINARY;
  try {
    return require.resolve(`${platform}/bin/tplkit`);
  } catch {
    console.error(`tplkit: ${platform} is not installed: either there is no program for this platform, or`);
    console.error('optional dependencies were left out (npm install --include=optional).');
    process.exit(2);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => {
  console.error(`tplkit: ${error.message}`);
  process.exit(2);
});
// The keys of a terminal reach both processes, and the program decides what they mean; what a supervisor
// sends reaches this one alone.
const onTerminal = () => Boolean(process.stdin.isTTY);
process.on('SIGINT', () => onTerminal() || child.kill('SIGINT'));
process.on('SIGHUP', () => onTerminal() || child.kill('SIGHUP'));
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
