//! Code actions: fixes, all fixes, the page of a rule; and formatting.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};
use tplkit::check::fix::apply_fixes;
use tplkit::check::{self, OpenedPackage, apply_fixes_to_folder, check_folder};
use tplkit::finding::{FileEdit, Finding, Located, catalog, page};
use tplkit::language::{Document, Position, changed};
use tplkit::layout;
use tplkit::package::canonical;

use super::diagnostics;
use super::documents::{Overlay, Unit, relative};
use super::edits::{document_changes, workspace_edit};
use super::requests::{ACCEPT, EXPLAIN, FIX_ALL};
use super::rules::Rules;
use super::server::Server;
use super::snapshot::{Snapshot, View};
use super::uri;
use super::wire::{self, Refusal};

impl Server {
    /// What can be done about the findings in a range.
    pub(super) fn code_actions(
        &mut self,
        uri: &str,
        range: &Range<Position>,
        only: Option<&Value>,
    ) -> Result<Value, Refusal> {
        let Some(snapshot) = self.snapshot(uri)? else {
            return Ok(json!([]));
        };
        let report = self.report(&snapshot);
        let view = View::new(&snapshot, &self.documents, self.encoding);
        let file = file_of(&snapshot.unit, uri);
        let wants = |kind: &str| wanted(only, kind);
        let mut actions = Vec::new();
        let mut explained: Vec<&str> = Vec::new();
        let mut safe = false;
        for found in diagnostics::of_file(&view, &report, file.as_deref()) {
            let fix = found.finding.fix.as_ref();
            safe |= fix.is_some_and(|fix| fix.safe);
            let here = wire::range(found.diagnostic.get("range"))?;
            if here.end < range.start || range.end < here.start {
                continue;
            }
            if let Some(fix) = fix.filter(|_| wants("quickfix")) {
                let edits = view.edits(&fix.edits);
                let mut action = json!({
                    "title": fix.title,
                    "kind": "quickfix",
                    "diagnostics": [found.diagnostic],
                    "edit": workspace_edit(edits, &self.documents, self.edit_support),
                });
                if fix.safe {
                    action["isPreferred"] = true.into();
                }
                actions.push(action);
            }
            if wants(ACCEPT)
                && let Some(edit) = self.accept(&view, found.finding)
            {
                actions.push(json!({
                    "title": format!("Accept {} into the baseline", found.finding.rule.code),
                    "kind": ACCEPT,
                    "diagnostics": [found.diagnostic],
                    "edit": edit,
                }));
            }
            let rule = found.finding.rule;
            if wants(EXPLAIN) && !explained.contains(&rule.code) {
                explained.push(rule.code);
                actions.push(json!({
                    "title": format!("Explain {} {}", rule.code, rule.name),
                    "kind": EXPLAIN,
                    "diagnostics": [found.diagnostic],
                    "command": {
                        "title": "Explain",
                        "command": EXPLAIN,
                        "arguments": [rule.code],
                    },
                }));
            }
        }
        // Unasked, nobody waits for all fixes where there is none.
        if wants(FIX_ALL) && (safe || only.is_some_and(Value::is_array)) {
            actions.extend(self.fix_all(&view));
        }
        Ok(Value::Array(actions))
    }

    /// What `check --fix` does, when it does anything.
    fn fix_all(&self, view: &View<'_>) -> Option<Value> {
        let rules = &view.snapshot.rules;
        let edits = match &view.snapshot.opened {
            OpenedPackage::File(source) => {
                let options = rules.options(1);
                let fixed = apply_fixes(source.bytes(), |bytes| {
                    safe_fixes(rules, check::check(bytes, &options).findings)
                });
                let text = String::from_utf8(fixed.bytes).ok()?;
                replaced(view, [(None, text)])
            }
            OpenedPackage::Folder(_) => {
                let overlay = self.overlay(&view.snapshot.unit)?;
                let options = rules.options(1);
                let fixed = apply_fixes_to_folder(&overlay, |joined| {
                    safe_fixes(rules, check_folder(joined, &options).findings)
                });
                replaced(view, texts(fixed.ok()?.files))
            }
        };
        (!edits.is_empty()).then(|| {
            json!({
                "title": "Fix all findings that have a safe fix",
                "kind": FIX_ALL,
                "edit": workspace_edit(edits, &self.documents, self.edit_support),
            })
        })
    }

    /// The edit of the baseline that accepts a finding, where `tplkit.toml` names one.
    fn accept(&self, view: &View<'_>, finding: &Located) -> Option<Value> {
        let accepted = view.snapshot.rules.accepted.as_ref()?;
        let new = accepted.with(finding)?;
        let uri = self.documents.uri(&accepted.path);
        let old = Document::new(accepted.text.as_deref().unwrap_or_default());
        let edit = changed(old.text(), &new)?;
        let edit = json!({
            "range": wire::range_json(&old, &edit.span, self.encoding),
            "newText": edit.text,
        });
        let edits = BTreeMap::from([(uri.clone(), vec![edit])]);
        if accepted.text.is_some() {
            return Some(workspace_edit(edits, &self.documents, self.edit_support));
        }
        // There is no file yet: the editor has to make it.
        let changes = document_changes(edits, &self.documents).into_iter();
        let create = json!({"kind": "create", "uri": uri, "options": {"ignoreIfExists": true}});
        let changes: Vec<Value> = std::iter::once(create).chain(changes).collect();
        self.edit_support
            .creates
            .then(|| json!({"documentChanges": changes}))
    }

    /// The edits that `fmt` makes in a document; none while it has no canonical form.
    pub(super) fn format(&self, uri: &str) -> Result<Value, Refusal> {
        let Some(snapshot) = self.snapshot(uri)? else {
            return Ok(json!([]));
        };
        let view = View::new(&snapshot, &self.documents, self.encoding);
        let file = file_of(&snapshot.unit, uri);
        let edits = match &snapshot.opened {
            OpenedPackage::File(source) => {
                match source.text().map_err(Into::into).and_then(canonical::write) {
                    // A canonical text has no byte-order mark.
                    Ok(text) => replaced(&view, [(None, text)]),
                    Err(_) => BTreeMap::new(),
                }
            }
            OpenedPackage::Folder(_) => {
                let files = self
                    .overlay(&snapshot.unit)
                    .and_then(|overlay| layout::format(&overlay).ok());
                let files = files.into_iter().flatten();
                let here = files.filter(|(name, _)| Some(name) == file.as_ref());
                replaced(&view, texts(here.collect()))
            }
        };
        Ok(edits
            .into_values()
            .next()
            .map_or_else(|| json!([]), Value::Array))
    }

    /// The folder of a unit as the editor has it.
    pub(super) fn overlay<'s>(&'s self, unit: &'s Unit) -> Option<Overlay<'s>> {
        match unit {
            Unit::Document(_) => None,
            Unit::Folder(root) => Some(Overlay {
                root,
                documents: &self.documents,
                instead: None,
            }),
        }
    }

    /// The page of a rule: the response holds it, and people are shown why the rule exists.
    pub(super) fn execute(&mut self, params: &Value) -> Result<Value, Refusal> {
        let command = wire::text(params, "/command")?;
        if command != EXPLAIN {
            return Err(Refusal::params(format!("there is no command `{command}`")));
        }
        let code = wire::text(params, "/arguments/0")?;
        let rule = catalog::find(code);
        let rule = rule.ok_or_else(|| Refusal::params(format!("there is no rule `{code}`")))?;
        let message = format!("{} {}: {}", rule.code, rule.name, page::reason(rule.page));
        self.notify("window/showMessage", json!({"type": 3, "message": message}));
        Ok(page::readable(rule.page).into())
    }
}

/// Whether a kind is among those that are asked for, or inside of one.
fn wanted(only: Option<&Value>, kind: &str) -> bool {
    let Some(only) = only.and_then(Value::as_array) else {
        return true;
    };
    only.iter().filter_map(Value::as_str).any(|wanted| {
        wanted.is_empty()
            || kind == wanted
            || kind
                .strip_prefix(wanted)
                .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// The findings, with safe fixes alone.
fn safe_fixes(rules: &Rules, mut findings: Vec<Finding>) -> Vec<Finding> {
    rules.select(&mut findings);
    for finding in &mut findings {
        finding.fix = finding.fix.take().filter(|fix| fix.safe);
    }
    findings
}

fn texts(files: Vec<(String, Vec<u8>)>) -> impl Iterator<Item = (Option<String>, String)> {
    let files = files.into_iter();
    files.filter_map(|(name, bytes)| Some((Some(name), String::from_utf8(bytes).ok()?)))
}

/// The edits that make files have these texts, by URI.
fn replaced(
    view: &View<'_>,
    files: impl IntoIterator<Item = (Option<String>, String)>,
) -> BTreeMap<String, Vec<Value>> {
    let mut edits = BTreeMap::new();
    for (file, text) in files {
        let (document, _) = view.document(file.as_deref());
        if let Some(edit) = changed(document.text(), &text) {
            let edit = json!({
                "range": whole_range(&document, &edit.span, view),
                "newText": edit.text,
            });
            edits.insert(view.uri(file.as_deref()), vec![edit]);
        }
    }
    edits
}

fn whole_range(document: &Document, span: &Range<usize>, view: &View<'_>) -> Value {
    wire::range_json(document, span, view.encoding)
}

/// The file of a folder that a document is; nothing for a packed one.
pub(super) fn file_of(unit: &Unit, uri: &str) -> Option<String> {
    match unit {
        Unit::Document(_) => None,
        Unit::Folder(root) => relative(root, &uri::path(uri)?),
    }
}

/// Edits of the package's text as edits of its files.
pub(super) fn file_edits(
    snapshot: &Snapshot,
    edits: Vec<tplkit::finding::Edit>,
) -> Option<Vec<FileEdit>> {
    use tplkit::finding::{Fix, Origin as _};
    let fix = Fix {
        title: String::new(),
        safe: true,
        edits,
    };
    snapshot.opened.edits(&fix)
}
