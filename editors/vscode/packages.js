// Which documents are packages. The server decides; this says the same where the editor has to know.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const LANGUAGES = ['json', 'jsonl', 'tplkitindex'];

/** Whether a file lies in an unpacked folder: those have one level of folders. */
function unpacked(file) {
  const folder = path.dirname(file);
  return [folder, path.dirname(folder)].some((root) => fs.existsSync(path.join(root, 'tplkit.index')));
}

/** Whether a document is a package, or a file of one. */
function isPackage(document) {
  if (document.uri.scheme !== 'file' || !LANGUAGES.includes(document.languageId)) return false;
  const file = document.fileName;
  return file.endsWith('.tplkit.json') || document.getText().includes('templateVersion') || unpacked(file);
}

module.exports = { LANGUAGES, isPackage };
