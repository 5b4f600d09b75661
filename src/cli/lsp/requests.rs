//! `initialize`, and which method is handled where.

use serde_json::{Value, json};
use tplkit::language::Encoding;

use super::edits::EditSupport;
use super::server::Server;
use super::wire::{self, Refusal};

/// The command behind the action that explains a rule.
pub(super) const EXPLAIN: &str = "tplkit.explain";

/// The kind of the action that accepts a finding into the baseline.
pub(super) const ACCEPT: &str = "tplkit.accept";

/// The kind of the action that does what `check --fix` does.
pub(super) const FIX_ALL: &str = "source.fixAll.tplkit";

/// Editors that show what is published and what is pulled side by side, so that each finding would
/// stand there twice. They get no offer to pull diagnostics.
const SHOWS_BOTH: [&str; 7] = [
    "Neovim",
    "Visual Studio Code",
    "VSCodium",
    "Cursor",
    "Windsurf",
    "Zed",
    "helix",
];

impl Server {
    /// Notes what the client can do, and says what the server can.
    pub(super) fn initialize(&mut self, params: &Value) -> Value {
        let null = Value::Null;
        let capabilities = params.get("capabilities").unwrap_or(&null);
        let offered = capabilities.pointer("/general/positionEncodings");
        let offers = |name: &str| {
            let offered = offered.and_then(Value::as_array);
            offered.is_some_and(|offered| offered.iter().any(|encoding| encoding == name))
        };
        let encoding = if offers("utf-8") {
            self.encoding = Encoding::Utf8;
            "utf-8"
        } else {
            self.encoding = Encoding::Utf16;
            "utf-16"
        };
        self.edit_support = EditSupport::read(capabilities);
        let watches = "/workspace/didChangeWatchedFiles/dynamicRegistration";
        self.watches = capabilities.pointer(watches) == Some(&Value::Bool(true));
        let limit = capabilities.pointer("/textDocument/foldingRange/rangeLimit");
        let limit = limit.and_then(Value::as_u64);
        self.fold_limit = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        let mut response = json!({
            "capabilities": {
                "positionEncoding": encoding,
                "textDocumentSync": {"openClose": true, "change": 2, "save": true},
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "renameProvider": {"prepareProvider": true},
                "completionProvider": {"triggerCharacters": ["\"", "$", "{", "."]},
                "codeActionProvider": {"codeActionKinds": ["quickfix", FIX_ALL, ACCEPT, EXPLAIN]},
                "executeCommandProvider": {"commands": [EXPLAIN]},
                "documentFormattingProvider": true,
                "documentSymbolProvider": true,
                "foldingRangeProvider": true,
                "inlayHintProvider": true,
            },
            "serverInfo": {"name": "tplkit", "version": env!("CARGO_PKG_VERSION")},
        });
        let pulls = capabilities.pointer("/textDocument/diagnostic").is_some();
        let name = params.pointer("/clientInfo/name").and_then(Value::as_str);
        let shows_both = |name: &str| SHOWS_BOTH.iter().any(|known| name.starts_with(known));
        if pulls && !name.is_some_and(shows_both) {
            response["capabilities"]["diagnosticProvider"] = json!({
                "identifier": "tplkit",
                "interFileDependencies": true,
                "workspaceDiagnostics": false,
            });
        }
        response
    }

    /// Responds to a request; nothing for a method that there is not.
    pub(super) fn respond(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Option<Result<Value, Refusal>> {
        let uri = || wire::text(params, "/textDocument/uri");
        let at = || wire::position(params.get("position"));
        Some(match method {
            "textDocument/diagnostic" => uri().and_then(|uri| self.pulled(uri)),
            "textDocument/hover" => uri().and_then(|uri| self.hover(uri, at()?)),
            "textDocument/definition" => uri().and_then(|uri| self.definition(uri, at()?)),
            "textDocument/references" => {
                let declared = params.pointer("/context/includeDeclaration");
                let declared = declared.and_then(Value::as_bool) != Some(false);
                uri().and_then(|uri| self.references(uri, at()?, declared))
            }
            "textDocument/prepareRename" => uri().and_then(|uri| self.prepare_rename(uri, at()?)),
            "textDocument/rename" => uri().and_then(|uri| {
                let name = wire::text(params, "/newName")?;
                self.rename(uri, at()?, name)
            }),
            "textDocument/completion" => uri().and_then(|uri| self.complete(uri, at()?)),
            "textDocument/codeAction" => uri().and_then(|uri| {
                let range = wire::range(params.get("range"))?;
                self.code_actions(uri, &range, params.pointer("/context/only"))
            }),
            "textDocument/formatting" => uri().and_then(|uri| self.format(uri)),
            "textDocument/documentSymbol" => uri().and_then(|uri| self.symbols(uri)),
            "textDocument/foldingRange" => uri().and_then(|uri| self.folds(uri)),
            "textDocument/inlayHint" => uri().and_then(|uri| {
                let range = wire::range(params.get("range"))?;
                self.hints(uri, &range)
            }),
            // For bug reports and tests: the text as the server has it.
            "tplkit/text" => uri().and_then(|uri| {
                let open = self.documents.get(uri)?;
                Ok(json!({"version": open.version, "text": open.document.text()}))
            }),
            "workspace/executeCommand" => self.execute(params),
            _ => return None,
        })
    }
}
