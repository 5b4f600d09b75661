// Starts `tplkit lsp` for packages, and offers to install the program where there is none. What the server
// shows and does is its own business.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');
const program = require('./program');

let client;
let log;

function documents() {
  return ['json', 'jsonl', 'tplkitindex'].map((language) => ({ scheme: 'file', language }));
}

/** Installs the release of this extension, in the way that somebody chooses. */
async function install(context) {
  const release = context.extension.packageJSON.version;
  const text = `tplkit ${release} is not installed. Install it for VS Code?`;
  const way = await vscode.window.showInformationMessage(text, ...program.WAYS);
  if (!way) return undefined;
  const title = `Installing tplkit ${release} ${way}`;
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title }, () =>
    program.install(way, context.globalStorageUri.fsPath, release),
  );
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

/** Starts the server; `chosen` is a program that was installed just now. */
async function start(context, chosen) {
  await stop();
  const settings = vscode.workspace.getConfiguration('tplkit');
  let command = chosen ?? (await program.find(settings.get('path'), context.globalStorageUri.fsPath));
  if (!command && settings.get('offerInstall')) command = await install(context);
  if (!command) {
    log.warn('There is no tplkit in PATH, and tplkit.path names none.');
    return;
  }
  log.info(`${command} ${await program.version(command)}`);
  client = new LanguageClient(
    'tplkit',
    'tplkit',
    { command, args: ['lsp', '--stdio'] },
    {
      documentSelector: documents(),
      outputChannel: log,
      synchronize: {
        fileEvents: vscode.workspace.createFileSystemWatcher('**/{tplkit.toml,tplkit.index,*.json,*.jsonl}'),
      },
    },
  );
  await client.start();
}

/** Does it, and shows what went wrong. */
function shown(work) {
  return async () => {
    try {
      await work();
    } catch (error) {
      log.error(error.message);
      vscode.window.showErrorMessage(`tplkit: ${error.message}`);
    }
  };
}

async function activate(context) {
  log = vscode.window.createOutputChannel('tplkit', { log: true });
  const restart = shown(() => start(context));
  const commands = {
    'tplkit.restart': restart,
    'tplkit.install': shown(async () => {
      const chosen = await install(context);
      if (chosen) await start(context, chosen);
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
  await restart();
}

module.exports = { activate, deactivate: stop };
