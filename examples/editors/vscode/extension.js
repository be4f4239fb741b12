// Starts `tally lsp` for the first Tally file, and ends it with the editor.
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
  const command = workspace.getConfiguration('tally').get('command');
  client = new LanguageClient('tally', 'Tally', { command, args: ['lsp'] },
    { documentSelector: [{ language: 'tally' }] });
  return client.start();
};

exports.deactivate = () => client?.stop();
