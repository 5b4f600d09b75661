// Starts `tplkit lsp` for packages, and offers to install the program where there is none. What the server
// shows and does is its own business.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');
const formatting = require('./formatting');
const { LANGUAGES, isPackage } = require('./packages');
const program = require('./program');

const SHOW_LOG = 'Show the log';
const NOT_AGAIN = 'Not again';

let client;
let formatter;
let log;
let last = Promise.resolve();

/** What the server offers and the client leaves alone. */
const leftAlone = {
  fillClientCapabilities() {},
  preInitialize(capabilities) {
    // The formatter is offered by `formatting`, for packages alone.
    delete capabilities.documentFormattingProvider;
    // Findings are published; asked for as well, each would count twice.
    delete capabilities.diagnosticProvider;
  },
  initialize() {},
  getState: () => ({ kind: 'static' }),
  clear() {},
};

/** Installs the release of this extension in a way that somebody chose; gives the program. */
async function install(context, way) {
  const release = context.extension.packageJSON.version;
  const location = vscode.ProgressLocation.Notification;
  const folder = context.globalStorageUri.fsPath;
  try {
    return await vscode.window.withProgress({ location, title: `Installing tplkit ${release} ${way}` }, () =>
      program.install(way, folder, release),
    );
  } catch (error) {
    log.error(error.message);
    throw new Error(`release ${release} cannot be installed ${way}`);
  }
}

/** Asks how to install, and starts what was installed. */
async function ask(context, text, ...more) {
  const choices = program.WAYS.map((way) => `Install ${way}`);
  const choice = await vscode.window.showInformationMessage(text, ...choices, ...more);
  const way = program.WAYS[choices.indexOf(choice)];
  if (way) await start(context, await install(context, way));
  return choice;
}

/** Offers to install once a package is open, once in a window: people have other JSON files, too. */
function offerInstall(context) {
  const { workspace } = vscode;
  const settings = workspace.getConfiguration('tplkit');
  if (!settings.get('offerInstall')) return;
  const listeners = [workspace.onDidOpenTextDocument(look), workspace.onDidSaveTextDocument(look)];
  context.subscriptions.push(...listeners);
  function look(document) {
    if (client || !isPackage(document)) return false;
    listeners.forEach((one) => one.dispose());
    const text = 'This is a template package, and tplkit, which checks it, was not found. Install it for VS Code?';
    shown(async () => {
      const choice = await ask(context, text, NOT_AGAIN);
      if (choice === NOT_AGAIN) await settings.update('offerInstall', false, vscode.ConfigurationTarget.Global);
    })();
    return true;
  }
  workspace.textDocuments.some(look);
}

async function stop() {
  const running = client;
  client = undefined;
  formatter?.dispose();
  formatter = undefined;
  // A client that never started cannot be stopped.
  if (running?.needsStop()) await running.stop();
}

/** Starts the server; `installed` is a program that was installed just now. Says whether there is one. */
function start(context, installed) {
  // One after the other: two starts at once would leave two servers.
  const started = last.then(() => begin(context, installed));
  last = started.catch(() => {});
  return started;
}

async function begin(context, installed) {
  await stop();
  const setting = vscode.workspace.getConfiguration('tplkit').get('path');
  const command = installed ?? (await program.find(setting, context.globalStorageUri.fsPath));
  if (!command) {
    log.warn('There is no tplkit in PATH, and tplkit.path names none.');
    return false;
  }
  log.info(`${command} ${await program.version(command)}`);
  client = new LanguageClient(
    'tplkit',
    'tplkit',
    { command, args: ['lsp', '--stdio'] },
    { documentSelector: LANGUAGES.map((language) => ({ scheme: 'file', language })), outputChannel: log },
  );
  client.registerFeature(leftAlone);
  await client.start();
  formatter = formatting.offer(client);
  return true;
}

/** Does it, and shows what went wrong. */
function shown(work) {
  return async () => {
    try {
      return await work();
    } catch (error) {
      log.error(error.message);
      // Not waited for: a message may stand for hours.
      vscode.window.showErrorMessage(`tplkit: ${error.message}`, SHOW_LOG).then((choice) => choice && log.show());
      return undefined;
    }
  };
}

async function activate(context) {
  log = vscode.window.createOutputChannel('tplkit', { log: true });
  const release = context.extension.packageJSON.version;
  const restart = shown(() => start(context));
  const commands = {
    'tplkit.restart': shown(async () => (await start(context)) || ask(context, 'tplkit was not found. Install it for VS Code?')),
    'tplkit.install': shown(() => ask(context, `Install tplkit ${release} for VS Code?`)),
    'tplkit.format': shown(() => {
      if (!formatter) throw new Error('the server is not running');
      return formatter.format();
    }),
    'tplkit.showOutput': () => log.show(),
  };
  context.subscriptions.push(
    log,
    ...Object.entries(commands).map(([name, work]) => vscode.commands.registerCommand(name, work)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('tplkit.path')) restart();
    }),
  );
  if ((await restart()) === false) offerInstall(context);
}

module.exports = { activate, deactivate: stop };
