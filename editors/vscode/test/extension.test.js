'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const manifest = require('../package.json');

/** What the extension did to its editor. */
const seen = { clients: [], commands: {}, contexts: {}, edits: [], errors: [], offered: [], formatters: [] };
const settings = { path: '', offerInstall: true };
const listeners = { open: [] };
let documents = [];
let front;
let answer;

const nothing = () => ({ dispose() {} });
const channel = { info() {}, warn() {}, error() {}, show() {}, dispose() {} };
const stubs = {
  vscode: {
    ConfigurationTarget: { Global: 1 },
    ProgressLocation: { Notification: 15 },
    RelativePattern: class {
      constructor(folder, pattern) {
        Object.assign(this, { folder, pattern });
      }
    },
    Uri: { file: (path) => path },
    languages: {
      registerDocumentFormattingEditProvider: (selector, provider) => {
        const formatter = { selector, provider };
        seen.formatters.push(formatter);
        return { dispose: () => seen.formatters.splice(seen.formatters.indexOf(formatter), 1) };
      },
    },
    WorkspaceEdit: class extends Map {},
    commands: {
      registerCommand: (name, work) => ((seen.commands[name] = work), { dispose() {} }),
      executeCommand: async (name, ...words) => {
        if (name === 'setContext') return void (seen.contexts[words[0]] = words[1]);
        // VS Code asks every formatter, this one too.
        const document = documents.find((one) => one.uri === words[0]);
        const own = await seen.formatters.at(-1)?.provider.provideDocumentFormattingEdits(document, {});
        return own ?? [`${name} ${words[0].fsPath}`];
      },
    },
    window: {
      get activeTextEditor() {
        return front && { document: front, options: {} };
      },
      onDidChangeActiveTextEditor: nothing,
      createOutputChannel: () => channel,
      showInformationMessage: async (text, ...choices) => (seen.offered.push(choices), answer),
      showErrorMessage: async (text) => void seen.errors.push(text),
      withProgress: (options, work) => work(),
    },
    workspace: {
      getConfiguration: (section) => ({
        get: (key) => settings[section === 'tplkit' ? key : `${section}.${key}`],
        update: async (key, value) => void (settings[key] = value),
      }),
      get textDocuments() {
        return documents;
      },
      applyEdit: async (edit) => void seen.edits.push(...edit.values()),
      onDidChangeConfiguration: nothing,
      onDidCloseTextDocument: nothing,
      onDidOpenTextDocument: (listener) => {
        listeners.open.push(listener);
        return { dispose: () => (listeners.open = listeners.open.filter((one) => one !== listener)) };
      },
      onDidSaveTextDocument: nothing,
    },
  },
  'vscode-languageclient/node': {
    LanguageClient: class {
      constructor(id, name, server, options) {
        Object.assign(this, { id, server, options, running: false });
        seen.clients.push(this);
      }
      registerFeature(feature) {
        this.capabilities = { hoverProvider: true, documentFormattingProvider: true, diagnosticProvider: {} };
        feature.preInitialize(this.capabilities);
      }
      code2ProtocolConverter = { asTextDocumentIdentifier: (document) => document.fileName, asFormattingOptions: () => ({}) };
      protocol2CodeConverter = { asTextEdits: async (edits) => edits };
      sendRequest = async (method, ...words) => {
        assert.ok(words.every(Boolean), 'each word is sent');
        return [`${method} ${words[0].textDocument}`];
      };
      needsStop() {
        return this.running;
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
  // What the client itself offers in every JSON file, or shows a second time, is taken from it.
  assert.deepEqual(seen.clients[0].capabilities, { hoverProvider: true });
  await seen.commands['tplkit.restart']();
  assert.deepEqual(seen.clients.map((client) => client.running), [false, true]);
  await extension.deactivate();
  assert.equal(seen.clients[1].running, false);
  const declared = manifest.contributes.commands.map((one) => one.command);
  assert.deepEqual(Object.keys(seen.commands).sort(), declared.sort());
});

function text(name, content) {
  const fileName = path.join(os.tmpdir(), name);
  return { uri: { scheme: 'file', fsPath: fileName, toString: () => fileName }, languageId: 'json', fileName, getText: () => content };
}
const packaged = text('crm.json', '{"templateVersion": 2}');
const plain = text('other.json', '{}');

/** Opens a document, and lets what follows from that happen. */
async function open(document) {
  documents.push(document);
  listeners.open.forEach((listener) => listener(document));
  await new Promise(setImmediate);
}

test('without a program it offers to install one when a package is open, and takes no for an answer', async () => {
  settings.path = '';
  const before = process.env.PATH;
  process.env.PATH = '/nowhere';
  try {
    answer = undefined;
    documents = [plain];
    await extension.activate(context());
    await open(plain);
    assert.equal(seen.offered.length, 0);
    await open(packaged);
    assert.deepEqual(seen.offered, [['Install with pip', 'Install with npm', 'Not again']]);
    await open(packaged);
    assert.equal(seen.offered.length, 1);
    assert.equal(seen.clients.length, 2);
    answer = 'Not again';
    await extension.activate(context());
    await new Promise(setImmediate);
    assert.equal(settings.offerInstall, false);
    await extension.activate(context());
    assert.equal(seen.offered.length, 2);
    answer = 'Install with npm';
    await seen.commands['tplkit.install']();
    assert.match(seen.errors.at(-1), /release 0\.1\.0 cannot be installed with npm/);
    await seen.commands['tplkit.restart']();
    assert.equal(seen.offered.length, 4);
  } finally {
    process.env.PATH = before;
    settings.offerInstall = true;
  }
});

test('the formatter is offered for packages alone, until it is chosen for all JSON files', async () => {
  settings.path = program();
  documents = [plain, packaged];
  await extension.activate(context());
  // As long as nobody chose, keys and a command format the package in front.
  front = packaged;
  await open(packaged);
  assert.equal(seen.contexts['tplkit.formats'], true);
  await seen.commands['tplkit.format']();
  assert.deepEqual(seen.edits.at(-1), [`textDocument/formatting ${packaged.fileName}`]);
  front = plain;
  await open(plain);
  assert.equal(seen.contexts['tplkit.formats'], false);
  await seen.commands['tplkit.format']();
  assert.match(seen.errors.at(-1), /not a package/);
  documents = [plain, packaged];
  await open(plain);
  const selectors = () => seen.formatters.map(({ selector }) => selector.pattern?.pattern ?? selector.language);
  assert.deepEqual(selectors(), ['crm.json']);
  await open(text('a[1].tplkit.json', ''));
  assert.deepEqual(selectors(), ['crm.json', 'a?1?.tplkit.json']);
  settings['editor.defaultFormatter'] = 'tplkit.tplkit';
  await open(plain);
  assert.deepEqual(selectors(), ['crm.json', 'a?1?.tplkit.json', 'json']);
  // Chosen for all, it leaves what is no package to the others, and does not ask itself again.
  front = packaged;
  await open(plain);
  assert.equal(seen.contexts['tplkit.formats'], false);
  const { provider } = seen.formatters.at(-1);
  // "Save All" formats several at a time.
  const other = text('third.json', '[]');
  await open(other);
  const edits = await Promise.all([plain, other].map((one) => provider.provideDocumentFormattingEdits(one, {})));
  assert.deepEqual(edits, [plain, other].map((one) => [`vscode.executeFormatDocumentProvider ${one.fileName}`]));
  await extension.deactivate();
  assert.deepEqual(seen.formatters, []);
});

test('a setting that leads nowhere is shown', async () => {
  settings.path = '/nowhere/tplkit';
  await extension.activate(context());
  assert.match(seen.errors.at(-1), /tplkit\.path/);
});
