//! Validates what steps read: variables, outputs of steps, the trigger row, the current records
//! (A007, A008, A009, A015), and tokens that cannot be read (A018).

use indexmap::IndexMap;

use super::environment::OF_EVERY_ROW;
use super::graph::Step;
use super::issue::Issue;
use super::tokens::{Path, Piece, ROOTS, TokenError, pieces};
use super::validation_context::{Site, ValidationContext};
use crate::definitions::{self, DeclaredValue, Definitions};
use crate::finding::Finding;
use crate::finding::catalog::{A007, A008, A009, A015, A018};
use crate::finding::suggest::{Misspelt, short_text as short};
use crate::json::Node;
use crate::maps::HashSet;
use crate::package::uid::is_step_id;

const IF_ELSE: &str = "ifElse";

/// How many names are compared with a misspelt one: help must not cost more than the verdict.
const MOST_COMPARED: usize = 256;

/// Who provides what, by position of the step, ascending.
struct Providers<'d> {
    /// In order of their first setter.
    variables: IndexMap<&'d str, Vec<usize>>,
    /// Steps that may set a variable whose name cannot be read.
    unnamed: Vec<usize>,
    /// Steps that surely had another id than the one that is there, if any.
    misnamed: Vec<usize>,
    /// Steps after which records can be there.
    records: Vec<usize>,
}

/// Checks every read of every step.
pub(super) fn check(case: &ValidationContext<'_, '_, '_>, issues: &mut Vec<Issue>) {
    let providers = Providers::of(case);
    for (position, step) in case.graph.steps().iter().enumerate() {
        let mut reads = Reads {
            case,
            providers: &providers,
            position,
            seen: HashSet::default(),
            records: false,
            issues,
        };
        for spot in &step.reading.expressions {
            if !is_literal(step, spot) {
                reads.expression(spot.node);
            }
        }
        if let Some(condition) = step
            .config
            .filter(|_| step.key == Some(IF_ELSE))
            .and_then(|config| config.get("condition"))
        {
            reads.condition(condition);
        }
    }
}

/// Bindings of type `literal` are written as they stand.
fn is_literal(step: &Step<'_, '_>, spot: &DeclaredValue<'_, '_>) -> bool {
    Some(spot.owner) != step.config && spot.owner.get_str("type") == Some("literal")
}

impl<'d> Providers<'d> {
    fn of(case: &ValidationContext<'_, 'd, '_>) -> Providers<'d> {
        let mut providers = Providers {
            variables: IndexMap::new(),
            unnamed: Vec::new(),
            misnamed: Vec::new(),
            records: Vec::new(),
        };
        let naming_fields = naming_fields(case.definitions);
        for (position, step) in case.graph.steps().iter().enumerate() {
            if misnamed(case, position, step) {
                providers.misnamed.push(position);
            }
            if let Some(declared) = step.declared {
                providers.add_known(position, step, declared);
            } else {
                providers.add_unknown(position, step, &naming_fields);
            }
        }
        providers
    }

    fn add_known(&mut self, position: usize, step: &Step<'d, '_>, declared: &definitions::Step) {
        if declared.brings_records {
            self.records.push(position);
        }
        let Some(field) = &declared.sets_variable else {
            return;
        };
        match step.config.and_then(|config| config.get_str(field)) {
            Some(name) => self.variables.entry(name).or_default().push(position),
            None => self.unnamed.push(position),
        }
    }

    /// What an unknown step brings is unknown too. It has its finding; those that read what it
    /// may have brought get none.
    fn add_unknown(&mut self, position: usize, step: &Step<'d, '_>, naming_fields: &[&str]) {
        self.records.push(position);
        if step.key.is_none() {
            self.unnamed.push(position);
        }
        for field in naming_fields {
            if let Some(name) = step.config.and_then(|config| config.get_str(field)) {
                self.variables.entry(name).or_default().push(position);
            }
        }
    }
}

/// Whether the step is none, or its id is malformed or another's (J005, A017, A006): a token for
/// an id that nothing has may well mean this step, and is not a second mistake.
fn misnamed<'d>(
    case: &ValidationContext<'_, 'd, '_>,
    position: usize,
    step: &Step<'d, '_>,
) -> bool {
    match step.node.get("id") {
        Some(_) => step
            .id()
            .is_none_or(|id| !is_step_id(id) || case.graph.with_id(id).first() != Some(&position)),
        None => !step.node.is_object(),
    }
}

/// Settings in which steps name a variable that they set.
fn naming_fields(definitions: &Definitions) -> Vec<&str> {
    let mut fields: Vec<&str> = definitions
        .steps
        .values()
        .filter_map(|step| step.sets_variable.as_deref())
        .collect();
    fields.dedup();
    fields
}

/// A path as it is written somewhere.
#[derive(Clone, Copy)]
struct Read<'d> {
    /// The text that it is in.
    node: Node<'d>,
    /// The token, with its braces where it has some.
    written: &'d str,
    /// Bytes of the text before the path.
    start: usize,
    /// And up to its end.
    end: usize,
}

impl<'d> Read<'d> {
    /// A token with braces, which begins at that byte of the text.
    fn token(node: Node<'d>, written: &'d str, at: usize) -> Read<'d> {
        let inner = written.strip_prefix("{{").unwrap_or(written);
        let path = inner.trim_start();
        let start = at + written.len() - path.len();
        let path = path.strip_suffix("}}").unwrap_or(path).trim_end();
        Read {
            node,
            written,
            start,
            end: start + path.len(),
        }
    }

    /// A text that is a path.
    fn path(node: Node<'d>, text: &'d str) -> Read<'d> {
        Read {
            node,
            written: text,
            start: 0,
            end: text.len(),
        }
    }

    /// The first word of the path.
    fn root(self) -> Misspelt<'d> {
        Misspelt::word(self.node, self.start)
    }

    /// A word of the path that has so many bytes of it behind it.
    fn word(self, word: &str, behind: usize) -> Misspelt<'d> {
        let start = self.end.saturating_sub(behind + word.len());
        Misspelt::word(self.node, start)
    }
}

/// The reads of one step.
struct Reads<'r, 'v, 'd, 'f> {
    case: &'r ValidationContext<'v, 'd, 'f>,
    providers: &'r Providers<'d>,
    position: usize,
    /// What was reported of which value: the same token twice in a text is one mistake.
    seen: HashSet<(usize, &'d str)>,
    /// Whether missing records were reported; the step has to be moved, whatever reads them.
    records: bool,
    issues: &'r mut Vec<Issue>,
}

impl<'d> Reads<'_, '_, 'd, '_> {
    /// Checks the tokens in a value and in everything inside it.
    fn expression(&mut self, value: Node<'d>) {
        for node in value.descendants() {
            // Without a brace there is no token.
            let text = node
                .as_str()
                .filter(|text| memchr::memchr(b'{', text.as_bytes()).is_some());
            let Some(text) = text else { continue };
            for piece in pieces(text) {
                let span = piece.span();
                let read = Read::token(node, &text[span.clone()], span.start);
                match piece {
                    Piece::Text(_) => {}
                    Piece::Token(token) => self.path(read, token.path),
                    Piece::Broken(_, error) => self.broken(read, error),
                }
            }
        }
    }

    /// Checks what the condition of an `ifElse` compares.
    fn condition(&mut self, condition: Node<'d>) {
        match condition.get_str("subject") {
            Some("record") => {
                let node = condition.get("column").or_else(|| condition.get("subject"));
                if let Some(node) = node {
                    self.path(Read::path(node, "record"), Path::RecordColumn(""));
                }
            }
            Some("var") => {
                let Some(node) = condition.get("var") else {
                    return;
                };
                let Some(text) = node.as_str().filter(|text| !text.is_empty()) else {
                    return;
                };
                let read = Read::path(node, text);
                match Path::below_vars(text) {
                    Ok(path) => self.path(read, path),
                    Err(error) => self.broken(read, error),
                }
            }
            _ => {}
        }
    }

    fn path(&mut self, read: Read<'d>, path: Path<'_>) {
        let found = match path {
            Path::Variable(name) => self.variable(read, name),
            Path::TriggerColumn(column) => self.trigger_column(read, column),
            Path::StepOutput { id, output } => self.step_output(read, id, output),
            Path::RecordColumn(_) | Path::RecordsColumn { .. } => self.record(read),
            Path::Now | Path::Today => None,
        };
        if let Some(finding) = found {
            self.report(read, finding);
        }
    }

    fn broken(&mut self, read: Read<'d>, error: TokenError) {
        let Read { node, written, .. } = read;
        let shown = short(written);
        let mut finding = Finding::at(&A018, node, format!("`{shown}` cannot be read: {error}"));
        let inner = written.trim_start_matches('{').trim_end_matches('}').trim();
        let root = inner.split('.').next().unwrap_or_default();
        if node.key() == Some("var") && (written.starts_with("{{") || root == "vars") {
            let path = inner.strip_prefix("vars.").unwrap_or(inner);
            finding = finding.help(format!("`var` is a path below `vars.`: write `{path}`."));
        } else if error == TokenError::UnknownRoot {
            finding = finding.meant(root, ROOTS, read.root());
        }
        self.report(read, finding);
    }

    fn report(&mut self, read: Read<'d>, finding: Finding) {
        let Read { node, written, .. } = read;
        if self.seen.insert((node.span().start, written)) {
            self.issues.push(
                self.case
                    .issue(Site::Step(self.position), node, None, finding),
            );
        }
    }

    fn variable(&self, read: Read<'d>, name: &str) -> Option<Finding> {
        let graph = &self.case.graph;
        let setters = self
            .providers
            .variables
            .get(name)
            .map_or(&[][..], Vec::as_slice);
        if graph.earlier(setters, self.position).is_some()
            || graph
                .earlier(&self.providers.unnamed, self.position)
                .is_some()
        {
            return None;
        }
        let shown = short(read.written);
        let Some(setter) = setters.first() else {
            let message = format!("`{shown}`: nothing sets the variable `{}`", short(name));
            let known = self.providers.variables.keys().copied().take(MOST_COMPARED);
            let finding = Finding::at(&A007, read.node, message);
            return Some(finding.meant(name, known, read.word(name, 0)));
        };
        let message = format!("`{shown}`: the variable is set {}", self.when(*setter));
        let place = graph.steps()[*setter].node;
        Some(Finding::at(&A007, read.node, message).related(place, "it is set here"))
    }

    fn trigger_column(&self, read: Read<'d>, column: &str) -> Option<Finding> {
        let trigger = &self.case.trigger;
        let shown = short(read.written);
        if !trigger.declared?.trigger_row {
            let name = trigger.node?.get_str("type")?;
            let message = format!("`{shown}`: a `{name}` trigger has no row");
            let help = "Read the row with a step, or start on an event of the row.";
            return Some(Finding::at(&A007, read.node, message).help(help));
        }
        let columns = self
            .case
            .environment
            .columns(trigger.watch()?.table.as_str()?)?;
        if OF_EVERY_ROW.contains(&column) || columns.iter().any(|known| known == column) {
            return None;
        }
        let message = format!(
            "`{shown}`: the table watched has no column `{}`",
            short(column)
        );
        let known = columns.iter().map(String::as_str);
        let finding = Finding::at(&A007, read.node, message);
        Some(finding.meant_or_known(column, known, read.word(column, 0)))
    }

    fn step_output(&self, read: Read<'d>, id: &str, output: &str) -> Option<Finding> {
        let graph = &self.case.graph;
        let shown = short(read.written);
        let steps = graph.with_id(id);
        let Some(first) = steps.first() else {
            if graph
                .earlier(&self.providers.misnamed, self.position)
                .is_some()
            {
                return None;
            }
            let message = format!("`{shown}`: no step has the id `{}`", short(id));
            let known = graph.ids().take(MOST_COMPARED);
            let place = read.word(id, ".".len() + output.len());
            return Some(Finding::at(&A008, read.node, message).meant(id, known, place));
        };
        let place = graph.steps()[*first].node;
        if graph.earlier(steps, self.position).is_none() {
            let message = if *first == self.position {
                format!("`{shown}`: that is this step itself, which has no output yet")
            } else {
                format!("`{shown}`: that step runs {}", self.when(*first))
            };
            let finding = Finding::at(&A008, read.node, message);
            return Some(finding.related(place, "the step named"));
        }
        // Of a repeated id any step may be meant; what an unknown step puts out is unknown.
        let announced = |at: &usize| {
            graph.steps()[*at]
                .declared
                .is_none_or(|step| step.outputs.iter().any(|known| known == output))
        };
        if steps.iter().any(announced) {
            return None;
        }
        let step = &graph.steps()[*first];
        let message = format!(
            "`{shown}`: `{}` has no output `{}`",
            step.key.unwrap_or_default(),
            short(output)
        );
        let outputs = step
            .declared
            .map(|step| step.outputs.as_slice())
            .unwrap_or_default();
        let known = outputs.iter().map(String::as_str);
        let finding = Finding::at(&A009, read.node, message)
            .meant_or_known(output, known, read.word(output, 0))
            .related(place, "the step named");
        Some(finding)
    }

    fn record(&mut self, read: Read<'d>) -> Option<Finding> {
        let brought = self.case.trigger.declared?.brings_records
            || self
                .case
                .graph
                .earlier(&self.providers.records, self.position)
                .is_some();
        if brought || std::mem::replace(&mut self.records, true) {
            return None;
        }
        let message = format!(
            "`{}` is read, and no record can be there yet",
            short(read.written)
        );
        Some(Finding::at(&A015, read.node, message))
    }

    /// Why the step at `other` has not run when this one begins.
    fn when(&self, other: usize) -> &'static str {
        if other == self.position {
            "by this step itself"
        } else if (self.case.graph).are_in_different_branches(other, self.position) {
            "in another branch"
        } else {
            "later"
        }
    }
}
