'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const manifest = require('../package.json');

/** What the extension did to its editor. */
const seen = { clients: [], commands: {}, errors: [], offered: [], watched: [] };
const settings = { path: '', offerInstall: true };
let answer;

const channel = { info() {}, warn() {}, error() {}, show() {}, dispose() {} };
const stubs = {
  vscode: {
    ProgressLocation: { Notification: 15 },
    commands: { registerCommand: (name, work) => ((seen.commands[name] = work), { dispose() {} }) },
    window: {
      createOutputChannel: () => channel,
      showInformationMessage: async (text, ...choices) => (seen.offered.push(choices), answer),
      showErrorMessage: (text) => seen.errors.push(text),
      withProgress: (options, work) => work(),
    },
    workspace: {
      getConfiguration: (section) => ({ get: (key) => (assert.equal(section, 'tplkit'), settings[key]) }),
      onDidChangeConfiguration: () => ({ dispose() {} }),
      createFileSystemWatcher: (pattern) => (seen.watched.push(pattern), { dispose() {} }),
    },
  },
  'vscode-languageclient/node': {
    LanguageClient: class {
      constructor(id, name, server, options) {
        Object.assign(this, { id, server, options, running: false });
        seen.clients.push(this);
      }
      async start() {
        this.running = true;
      }
      async stop() {
        this.running = false;
      }
    },
  },
};
const load = Module._load;
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);
const extension = require('../extension');

function context() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tplkit-vscode-'));
  return { subscriptions: [], globalStorageUri: { fsPath: folder }, extension: { packageJSON: manifest } };
}

/** A program that says its version. */
function program() {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'tplkit-vscode-')), 'tplkit');
  fs.writeFileSync(file, '#!/bin/sh\necho "tplkit 0.1.0"\n', { mode: 0o755 });
  return file;
}

test('the server is started for packages, once, and stopped', async () => {
  settings.path = program();
  const here = context();
  await extension.activate(here);
  assert.deepEqual(seen.clients[0].server, { command: settings.path, args: ['lsp', '--stdio'] });
  const languages = seen.clients[0].options.documentSelector.map((one) => one.language);
  assert.deepEqual(languages, ['json', 'jsonl', 'tplkitindex']);
  assert.ok(seen.watched[0].includes('tplkit.toml'));
  await seen.commands['tplkit.restart']();
  assert.deepEqual(seen.clients.map((client) => client.running), [false, true]);
  await extension.deactivate();
  assert.equal(seen.clients[1].running, false);
  const declared = manifest.contributes.commands.map((one) => one.command);
  assert.deepEqual(Object.keys(seen.commands).sort(), declared.sort());
});

test('without a program it offers to install one, and takes no for an answer', async () => {
  settings.path = '';
  const before = process.env.PATH;
  process.env.PATH = '/nowhere';
  try {
    answer = undefined;
    await extension.activate(context());
    assert.deepEqual(seen.offered.at(-1), ['with pip', 'with npm']);
    assert.equal(seen.clients.length, 2);
    const times = seen.offered.length;
    settings.offerInstall = false;
    await extension.activate(context());
    assert.equal(seen.offered.length, times);
    settings.offerInstall = true;
    answer = 'with npm';
    await extension.activate(context());
    assert.match(seen.errors.at(-1), /npm/);
  } finally {
    process.env.PATH = before;
  }
});

test('a setting that leads nowhere is shown', async () => {
  settings.path = '/nowhere/tplkit';
  await extension.activate(context());
  assert.match(seen.errors.at(-1), /tplkit\.path/);
});
