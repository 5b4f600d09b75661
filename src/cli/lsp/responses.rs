//! Results of the library as responses of the protocol.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};
use tplkit::check::OpenedPackage;
use tplkit::finding::{Edit, FileEdit, FileSpan, Origin as _, page};
use tplkit::language::{
    CompletionKind, Package, Position, Symbol, complete, definition, folds, hints, hover,
    references, rename, renameable, renamed_files, symbols,
};
use tplkit::layout::{self, INDEX};

use super::actions::{file_edits, file_of};
use super::diagnostics;
use super::documents::{Overlay, Unit};
use super::edits::{document_changes, workspace_edit};
use super::server::Server;
use super::snapshot::{Snapshot, View, mark};
use super::uri;
use super::wire::{self, Refusal};

impl Server {
    fn view<'v>(&'v self, snapshot: &'v Snapshot) -> View<'v> {
        View::new(snapshot, &self.documents, self.encoding)
    }

    /// Diagnostics that the client asks for.
    pub(super) fn pulled(&mut self, uri: &str) -> Result<Value, Refusal> {
        let Some(snapshot) = self.snapshot(uri)? else {
            return Ok(json!({"kind": "full", "items": []}));
        };
        let report = self.report(&snapshot);
        let file = file_of(&snapshot.unit, uri);
        let items = diagnostics::list(&self.view(&snapshot), &report, file.as_deref());
        Ok(json!({"kind": "full", "items": items}))
    }

    /// The pages of the findings at a place, and what stands there.
    pub(super) fn hover(&mut self, uri: &str, at: Position) -> Result<Value, Refusal> {
        let Some(snapshot) = self.snapshot(uri)? else {
            return Ok(Value::Null);
        };
        let report = self.report(&snapshot);
        let view = self.view(&snapshot);
        let file = file_of(&snapshot.unit, uri);
        let (mut texts, mut range) = (Vec::new(), Value::Null);
        if let (Ok(doc), Some(offset)) = (snapshot.parse(), view.offset(uri, at))
            && let Some(found) = Package::read(&doc).and_then(|package| hover(&package, offset))
        {
            range = view.location(&found.span)["range"].take();
            texts.push(found.text);
        }
        let mut codes: Vec<&str> = Vec::new();
        for found in diagnostics::of_file(&view, &report, file.as_deref()) {
            let here = wire::range(found.diagnostic.get("range"))?;
            let rule = found.finding.rule;
            if here.start <= at && at <= here.end && !codes.contains(&rule.code) {
                codes.push(rule.code);
                texts.push(page::readable(rule.page));
                if range.is_null() {
                    range = found.diagnostic["range"].clone();
                }
            }
        }
        if texts.is_empty() {
            return Ok(Value::Null);
        }
        Ok(json!({
            "contents": {"kind": "markdown", "value": texts.join("\n\n---\n\n")},
            "range": range,
        }))
    }

    /// Asks about a place of a package that is JSON; nothing for any other document.
    fn ask<T>(
        &self,
        uri: &str,
        at: Position,
        ask: impl FnOnce(&Package<'_>, usize, &View<'_>) -> T,
    ) -> Result<Option<T>, Refusal> {
        let Some(snapshot) = self.snapshot(uri)? else {
            return Ok(None);
        };
        let view = self.view(&snapshot);
        let (Ok(doc), Some(offset)) = (snapshot.parse(), view.offset(uri, at)) else {
            return Ok(None);
        };
        Ok(Package::read(&doc).map(|package| ask(&package, offset, &view)))
    }

    pub(super) fn definition(&self, uri: &str, at: Position) -> Result<Value, Refusal> {
        let found = self.ask(uri, at, |package, offset, view| {
            definition(package, offset).map(|span| view.location(&span))
        })?;
        Ok(found.flatten().unwrap_or_default())
    }

    pub(super) fn references(
        &self,
        uri: &str,
        at: Position,
        declared: bool,
    ) -> Result<Value, Refusal> {
        let found = self.ask(uri, at, |package, offset, view| {
            let found = references(package, offset, declared).into_iter();
            found.map(|span| view.location(&span)).collect()
        })?;
        Ok(Value::Array(found.unwrap_or_default()))
    }

    pub(super) fn prepare_rename(&self, uri: &str, at: Position) -> Result<Value, Refusal> {
        let found = self.ask(uri, at, |package, offset, view| {
            let (name, mention) = renameable(package, offset).ok()?;
            let mut location = view.location(&mention.span);
            Some(json!({"range": location["range"].take(), "placeholder": name}))
        })?;
        Ok(found.flatten().unwrap_or_default())
    }

    /// Renames a ref in every place, and the files of a folder that are named after it.
    pub(super) fn rename(&self, uri: &str, at: Position, name: &str) -> Result<Value, Refusal> {
        let nothing = || Refusal::failed("there is no package here");
        let snapshot = self.snapshot(uri)?.ok_or_else(nothing)?;
        let doc = snapshot.parse()?;
        let view = self.view(&snapshot);
        let offset = view.offset(uri, at);
        let package = Package::read(&doc).zip(offset).ok_or_else(nothing);
        let (package, offset) = package?;
        let edits = rename(&package, offset, name);
        let edits = edits.map_err(|error| Refusal::failed(error.to_string()))?;
        if let Unit::Folder(_) = &snapshot.unit {
            return self.rename_in_folder(&view, edits);
        }
        let edits = file_edits(&snapshot, edits).unwrap_or_default();
        Ok(workspace_edit(
            view.edits(&edits),
            &self.documents,
            self.edit_support,
        ))
    }

    fn rename_in_folder(&self, view: &View<'_>, edits: Vec<Edit>) -> Result<Value, Refusal> {
        let snapshot = view.snapshot;
        let OpenedPackage::Folder(joined) = &snapshot.opened else {
            return Err(Refusal::failed("this is not a folder"));
        };
        if !joined.is_whole() {
            return Err(Refusal::failed(
                "the folder cannot be packed: fix the findings J001, J002 and J010 first",
            ));
        }
        if !self.edit_support.renames {
            return Err(Refusal::failed(
                "a rename in an unpacked folder renames files, and this editor does not offer `workspace.workspaceEdit.resourceOperations` with `rename`",
            ));
        }
        let before = joined.text().unwrap_or_default();
        let mut after = before.to_owned();
        for edit in edits.iter().rev() {
            after.replace_range(edit.span.clone(), &edit.text);
        }
        let mut edits = file_edits(snapshot, edits)
            .ok_or_else(|| Refusal::failed("the ref stands in a part that no file holds"))?;
        let present: Vec<&str> = joined.names().collect();
        let mut renamed = renamed_files(before, &after);
        // Files that were given other names keep them, and none is overwritten.
        renamed
            .retain(|old, new| present.contains(&old.as_str()) && !present.contains(&new.as_str()));
        edits.extend(index_edits(
            joined.file(INDEX).unwrap_or_default(),
            &renamed,
        ));
        let mut changes = document_changes(view.edits(&edits), &self.documents);
        for (old, new) in &renamed {
            let new = snapshot.path(new).map(|path| uri::of(&path));
            changes.push(json!({"kind": "rename", "oldUri": view.uri(Some(old)), "newUri": new}));
        }
        Ok(json!({"documentChanges": changes}))
    }

    pub(super) fn complete(&self, uri: &str, at: Position) -> Result<Value, Refusal> {
        let open = self.documents.get(uri)?;
        let Some(unit) = self.documents.unit(uri) else {
            return Ok(Value::Null);
        };
        let document = &open.document;
        let mark = mark(document);
        let offset = document.offset(at, self.encoding).saturating_sub(mark);
        let text = &document.text()[mark..];
        let found = match (&unit, file_of(&unit, uri)) {
            (Unit::Folder(root), Some(file)) => complete(text, offset, &|text, at| {
                let overlay = Overlay {
                    root,
                    documents: &self.documents,
                    instead: Some((&file, text)),
                };
                let joined = layout::join(&overlay).ok()?;
                let at = joined.offset(&file, at)?;
                Some((joined.text()?.to_owned(), at))
            }),
            _ => complete(text, offset, &|text, at| Some((text.to_owned(), at))),
        };
        let Some(found) = found else {
            return Ok(Value::Null);
        };
        let replace = found.replace.start + mark..found.replace.end + mark;
        let range = wire::range_json(document, &replace, self.encoding);
        let items = found.items.into_iter().enumerate().map(|(order, item)| {
            let mut shown = json!({
                "label": item.label,
                "kind": completion_kind(item.kind),
                "detail": item.detail,
                "filterText": item.filter,
                "sortText": format!("{order:05}"),
                "textEdit": {"range": range, "newText": item.text},
            });
            if let Some(text) = item.documentation {
                shown["documentation"] = json!({"kind": "markdown", "value": text});
            }
            shown
        });
        Ok(json!({"isIncomplete": false, "items": items.collect::<Vec<_>>()}))
    }

    pub(super) fn symbols(&self, uri: &str) -> Result<Value, Refusal> {
        let Some(snapshot) = self.snapshot(uri)? else {
            return Ok(json!([]));
        };
        let view = self.view(&snapshot);
        let file = file_of(&snapshot.unit, uri);
        let Ok(doc) = snapshot.parse() else {
            return Ok(json!([]));
        };
        let tree = Package::read(&doc).map(|package| symbols(&package));
        let tree = tree.unwrap_or_default();
        Ok(Value::Array(symbols_of(&view, &tree, file.as_deref())))
    }

    pub(super) fn folds(&self, uri: &str) -> Result<Value, Refusal> {
        let document = &self.documents.get(uri)?.document;
        let mut found = folds(document.text());
        // What is folded first by hand is what stands outermost.
        found.sort_by_key(|fold| fold.depth);
        found.truncate(self.fold_limit);
        found.sort_by_key(|fold| fold.span.start);
        let ranges = found.into_iter().filter_map(|fold| {
            let line = |offset| document.position(offset, self.encoding).line;
            let start = line(fold.span.start);
            // The line of the closing bracket stays in sight.
            let end = line(fold.span.end - 1).checked_sub(1)?;
            (end > start).then(|| json!({"startLine": start, "endLine": end}))
        });
        Ok(Value::Array(ranges.collect()))
    }

    pub(super) fn hints(&self, uri: &str, range: &Range<Position>) -> Result<Value, Refusal> {
        let Some(snapshot) = self.snapshot(uri)? else {
            return Ok(json!([]));
        };
        let view = self.view(&snapshot);
        let Ok(doc) = snapshot.parse() else {
            return Ok(json!([]));
        };
        let file = file_of(&snapshot.unit, uri);
        let (document, mark) = view.document(file.as_deref());
        let part =
            document.offset(range.start, self.encoding)..document.offset(range.end, self.encoding);
        // In a folder the parts of a file are anywhere in the package.
        let whole = match snapshot.unit {
            Unit::Document(_) => part.start.saturating_sub(mark)..part.end.saturating_sub(mark),
            Unit::Folder(_) => 0..doc.text().len(),
        };
        let found = Package::read(&doc).map(|package| hints(&package, &whole));
        let found = found.unwrap_or_default().into_iter().filter_map(|hint| {
            // Behind a token is the end of the token, not the beginning of what follows.
            let place = snapshot.opened.locate(&(hint.at.checked_sub(1)?..hint.at));
            let at = place.span.end + mark;
            let here = place.file == file.as_deref() && part.start <= at && at <= part.end;
            here.then(|| {
                json!({
                    "position": wire::position_json(document.position(at, self.encoding)),
                    "label": hint.label,
                    "paddingLeft": true,
                })
            })
        });
        Ok(Value::Array(found.collect()))
    }
}

/// The lines of an index that name renamed files.
fn index_edits(index: &[u8], renamed: &BTreeMap<String, String>) -> Vec<FileEdit> {
    let mark = if index.starts_with("\u{feff}".as_bytes()) {
        3
    } else {
        0
    };
    let text = std::str::from_utf8(&index[mark..]).unwrap_or_default();
    let mut edits = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let name = line.trim();
        if let Some(new) = renamed.get(name) {
            let start = at + (line.len() - line.trim_start().len());
            edits.push(FileEdit {
                file: Some(INDEX.to_owned()),
                mark,
                edit: Edit {
                    span: start..start + name.len(),
                    text: new.clone(),
                },
            });
        }
        at += line.len();
    }
    edits
}

/// The symbols that stand in a file; what belongs to one in another file is on its own.
fn symbols_of(view: &View<'_>, tree: &[Symbol], file: Option<&str>) -> Vec<Value> {
    let mut shown = Vec::new();
    for symbol in tree {
        let children = symbols_of(view, &symbol.children, file);
        let FileSpan {
            file: in_file,
            span,
            ..
        } = view.snapshot.opened.locate(&symbol.span);
        if in_file != file {
            shown.extend(children);
            continue;
        }
        let name = view.snapshot.opened.locate(&symbol.name_span).span;
        shown.push(json!({
            "name": symbol.name,
            "detail": symbol.detail,
            "kind": symbol_kind(&symbol.kind),
            "range": view.range(file, &span),
            "selectionRange": view.range(file, &name),
            "children": children,
        }));
    }
    shown
}

fn symbol_kind(kind: &str) -> u8 {
    match kind {
        "feature" => 5,   // class
        "column" => 8,    // field
        "view" => 11,     // interface
        "module" => 2,    // module
        "rail" => 3,      // namespace
        "workflow" => 12, // function
        "rows" => 18,     // array
        _ => 19,          // object
    }
}

fn completion_kind(kind: CompletionKind) -> u8 {
    match kind {
        CompletionKind::Reference => 18,
        CompletionKind::Key => 10,
        CompletionKind::Word => 12,
        CompletionKind::Expression => 6,
    }
}
