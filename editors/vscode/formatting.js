// The formatter of packages. The language client would offer it for every JSON file, and VS Code then asks, at
// each of them, which of its formatters it should take.
'use strict';

const path = require('node:path');
const vscode = require('vscode');
const { isPackage } = require('./packages');

/** Documents that the others are asked about: VS Code asks this formatter along with them. */
const asked = new Set();

/** What another formatter makes of a JSON file that is not a package. */
async function others(document, options) {
  const name = document.uri.toString();
  if (asked.has(name)) return undefined;
  asked.add(name);
  try {
    return await vscode.commands.executeCommand('vscode.executeFormatDocumentProvider', document.uri, options);
  } finally {
    asked.delete(name);
  }
}

/** Selects one document: characters that mean something in a pattern stand for any. */
function only({ uri, languageId }) {
  const [folder, name] = [path.dirname(uri.fsPath), path.basename(uri.fsPath)];
  const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), name.replace(/[[\]{}*?!]/g, '?'));
  return { scheme: 'file', language: languageId, pattern };
}

/** The formatter that somebody chose for JSON files. */
function chosen() {
  return vscode.workspace.getConfiguration('editor', { languageId: 'json' }).get('defaultFormatter');
}

/** The package in front, if it is one. */
function inFront() {
  const document = vscode.window.activeTextEditor?.document;
  return document && isPackage(document) ? document : undefined;
}

/** Offers the formatter of this client for the packages that are open: `{ format, dispose }`. */
function offer(client) {
  const { commands, languages, window, workspace } = vscode;
  const provider = {
    async provideDocumentFormattingEdits(document, options, token) {
      if (!isPackage(document)) return others(document, options);
      const params = {
        textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
        options: client.code2ProtocolConverter.asFormattingOptions(options, {}),
      };
      // A token that is not there would be sent as a parameter.
      const edits = await client.sendRequest('textDocument/formatting', params, ...(token ? [token] : []));
      return client.protocol2CodeConverter.asTextEdits(edits, token);
    },
  };
  /** Formats the package in front, whichever formatter is chosen. */
  async function format() {
    const document = inFront();
    if (!document) throw new Error('the document in front is not a package');
    const edit = new vscode.WorkspaceEdit();
    edit.set(document.uri, await provider.provideDocumentFormattingEdits(document, window.activeTextEditor.options));
    await workspace.applyEdit(edit);
  }
  /** The keys of "Format Document" format a package as long as VS Code would only ask with what. */
  function bind() {
    commands.executeCommand('setContext', 'tplkit.formats', Boolean(inFront()) && !chosen());
  }
  const offered = new Map();
  /** Offers it for what is open, and leaves alone what is offered already: whoever formats just then would get nothing. */
  function renew() {
    const wanted = new Map(workspace.textDocuments.filter(isPackage).map((one) => [`${one.languageId} ${one.uri}`, only(one)]));
    // Whoever is chosen for all JSON files has to format all.
    if (chosen() === 'tplkit.tplkit') wanted.set('', { language: 'json' });
    for (const [name, registration] of offered) {
      if (wanted.has(name)) continue;
      registration.dispose();
      offered.delete(name);
    }
    for (const [name, selector] of wanted) {
      if (!offered.has(name)) offered.set(name, languages.registerDocumentFormattingEditProvider(selector, provider));
    }
    bind();
  }
  renew();
  const events = [workspace.onDidOpenTextDocument, workspace.onDidCloseTextDocument, workspace.onDidSaveTextDocument];
  const listeners = [
    ...events.map((event) => event(renew)),
    window.onDidChangeActiveTextEditor(bind),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('editor.defaultFormatter') && renew()),
  ];
  function dispose() {
    [...offered.values(), ...listeners].forEach((one) => one.dispose());
    commands.executeCommand('setContext', 'tplkit.formats', false);
  }
  return { dispose, format };
}

module.exports = { offer };
