//! Finds everything in the args of a step that must change: references, secrets, ids.

use std::collections::HashSet;
use std::ops::Range;

use super::external::{Cause, External};
use super::leak::{self, Leak};
use super::verdict::{self, ReferenceTarget, ReferenceVerdict, Referrer};
use super::workspace_index::WorkspaceIndex;
use crate::automation::{Piece, is_needed, needed_fields, pieces, secret_names};
use crate::definitions::{ConfigFault, Definitions, Field, FieldType, Form, ReferenceKind};
use crate::json::path::{dotted, push_dotted};
use crate::json::{JsonKind, Node, Object, SyntaxError, Value};
use crate::package::Tool;
use crate::package::configs::{ConfigSpot, ConfigVisitor, Declared, Edit, walk_args, with_args};
use crate::package::model::{Action, Reason, UnresolvedForm};

/// A value, or a key, that cannot stay as it is.
#[derive(Debug, Clone)]
pub(super) struct FoundReference<'s> {
    /// Where it is, for the order.
    at: usize,
    /// Dotted path inside the args.
    pub(super) path: String,
    /// Whether it is an element of a list, which keeps its place.
    pub(super) element: bool,
    pub(super) what: ReferenceAction<'s>,
}

/// What is done about it.
#[derive(Debug, Clone)]
pub(super) enum ReferenceAction<'s> {
    /// A ref takes the place of the value, or of the key.
    Use {
        target: ReferenceTarget<'s>,
        is_key: bool,
        named: TargetName,
        cause: Cause,
    },
    /// The builtin takes the place of the workspace's id.
    Workspace { is_key: bool },
    /// The name stays, and a dependency stands for it.
    Name { outside: External<'s>, cause: Cause },
    /// It is lost, and reported.
    Lost {
        named: TargetName,
        reason: Reason,
        action: Action,
        edit: Option<Edit>,
    },
    /// A secret is cleared; what is left is of the same type.
    Secret { reason: String, left: Value },
}

/// What a report says of a reference.
#[derive(Debug, Clone)]
pub(super) struct TargetName {
    pub(super) kind: ReferenceKind,
    pub(super) form: UnresolvedForm,
    pub(super) label: Option<String>,
}

/// Reads the args of a step, in order of appearance.
pub(super) fn read<'s>(
    known: &WorkspaceIndex<'s>,
    definitions: &Definitions,
    tool: Tool,
    declared: Declared<'_>,
    place: Referrer<'s>,
    args: &Object,
) -> Result<Vec<FoundReference<'s>>, SyntaxError> {
    with_args(args, |root| {
        let mut reader = Reader {
            index: known,
            definitions,
            place,
            args: root,
            found: Vec::new(),
            declared: HashSet::new(),
            seen: HashSet::new(),
            cleared: Vec::new(),
            lists: Vec::new(),
            expressions: HashSet::new(),
            knows_records: false,
        };
        walk_args(definitions, tool, root, declared, &mut reader);
        reader.remainder();
        reader.found.sort_by_key(|found| found.at);
        reader.found
    })
}

struct Reader<'r, 's, 'd> {
    index: &'r WorkspaceIndex<'s>,
    definitions: &'r Definitions,
    place: Referrer<'s>,
    args: Node<'d>,
    found: Vec<FoundReference<'s>>,
    /// Values that declarations speak of, by where they start.
    declared: HashSet<usize>,
    /// Those of them that are decided.
    seen: HashSet<usize>,
    /// Where values stood that go as a whole.
    cleared: Vec<Range<usize>>,
    /// Lists with their declarations, which say what their elements are for.
    lists: Vec<(Node<'d>, &'d Field)>,
    /// Values in which tokens are resolved, by where they start.
    expressions: HashSet<usize>,
    /// Whether the trigger says of which table the current records are.
    knows_records: bool,
}

impl<'s, 'd> Reader<'_, 's, 'd> {
    fn push(&mut self, node: Node<'d>, what: ReferenceAction<'s>) {
        self.found.push(FoundReference {
            at: node.span().start,
            path: dotted(self.args, node),
            element: node.key().is_none(),
            what,
        });
    }

    fn secret(&mut self, node: Node<'d>) {
        let reason = format!(
            "`{}` is a secret: enter it again after the import.",
            node.token()
        );
        self.clear(node, reason);
    }

    /// What cannot be looked into may hold secrets anywhere.
    fn opaque(&mut self, node: Node<'d>) {
        let reason = "The definitions do not say what this holds, which may be a secret: \
                      enter it again after the import.";
        self.clear(node, reason.to_owned());
    }

    fn clear(&mut self, node: Node<'d>, reason: String) {
        self.cleared.push(node.span());
        if !node.is_empty() {
            let left = match node.kind() {
                JsonKind::Object => Object::new().into(),
                JsonKind::Array => Value::List(Vec::new()),
                _ => Value::String(String::new()),
            };
            self.push(node, ReferenceAction::Secret { reason, left });
        }
    }

    /// Whether a member that nothing declares is called like a secret.
    fn is_called_secret(&self, node: Node<'d>) -> bool {
        let secrets = &self.index.secrets;
        let named = node.key().is_some_and(|key| {
            !self.declared.contains(&node.span().start)
                && secrets.contains(&secret_names::plain(key))
        });
        named && self.in_config(node) && !node.as_str().is_some_and(secret_names::is_token)
    }

    fn reference(&mut self, spot: &ConfigSpot<'d, 'd>) {
        let (Some(reference), Some(text)) = (spot.reference, spot.node.as_str()) else {
            return;
        };
        self.seen.insert(spot.node.span().start);
        if text.is_empty() {
            if has_to_name(spot) {
                let named = TargetName {
                    kind: reference.kind,
                    form: form(reference.form),
                    label: None,
                };
                let lost = ReferenceAction::Lost {
                    named,
                    reason: Reason::TargetGone,
                    action: Action::Emptied,
                    edit: None,
                };
                self.push(spot.node, lost);
            }
            return;
        }
        if spot.automation && reference.kind == ReferenceKind::Feature && in_trigger(spot) {
            self.knows_records |= self.index.feature(text).is_some();
        }
        let of = reference.of.as_deref().and_then(|of| spot.named_by(of));
        let of = of.and_then(Node::as_str);
        let (verdict, label) = verdict::decide(self.index, self.place, reference, text, of);
        let named = TargetName {
            kind: reference.kind,
            form: form(reference.form),
            label: label.and_then(leak::label),
        };
        let cause = self.cause(spot, reference.always_required, reference.form);
        let what = match verdict {
            ReferenceVerdict::Use(target) => ReferenceAction::Use {
                target,
                is_key: false,
                named,
                cause,
            },
            ReferenceVerdict::Name(outside) => ReferenceAction::Name { outside, cause },
            ReferenceVerdict::Lost(reason, action) => ReferenceAction::Lost {
                named,
                reason,
                action,
                edit: match action {
                    Action::Emptied => Some(emptied()),
                    Action::Omitted => Some(Edit::Remove),
                    Action::Kept => None,
                },
            },
        };
        self.push(spot.node, what);
    }

    /// A field that has to name something and is not there, as [`has_to_name`] says of one that is empty.
    fn absent(&mut self, object: Node<'d>, key: &str, field: &Field) {
        let mut all = field.reference.iter().chain(&field.references);
        let chosen = field.reference_with(|key| object.get_str(key));
        let Some(reference) = chosen.or_else(|| all.next()) else {
            return;
        };
        let mut path = dotted(self.args, object);
        push_dotted(&mut path, key);
        self.found.push(FoundReference {
            at: object.span().start,
            path,
            element: false,
            what: ReferenceAction::Lost {
                named: TargetName {
                    kind: reference.kind,
                    form: form(reference.form),
                    label: None,
                },
                reason: Reason::TargetGone,
                action: Action::Omitted,
                edit: None,
            },
        });
    }

    /// Fields that a choice makes necessary and that are not there.
    fn needed(&mut self, spot: &ConfigSpot<'d, 'd>) {
        let (Some(chooser), Some(choice)) = (spot.node.key(), spot.node.as_str()) else {
            return;
        };
        let (Some((of, inside)), Some(object)) = (place_of(spot), spot.node.parent()) else {
            return;
        };
        let definitions = self.definitions;
        let fields = if in_trigger(spot) {
            definitions.triggers.get(of).map(|trigger| &trigger.config)
        } else {
            definitions.steps.get(of).map(|step| &step.config)
        };
        let fields = match inside {
            "" => fields,
            inside => fields.and_then(|fields| fields.get(inside)?.fields.as_ref()),
        };
        for name in needed_fields(of, inside, chooser, choice) {
            let field = fields.and_then(|fields| fields.get(name));
            // Of those that are always required the walk speaks.
            if let Some(field) = field.filter(|field| !field.is_required())
                && object.get(name).is_none()
            {
                self.absent(object, name, field);
            }
        }
    }

    /// Why a field names something; an element says what its list says.
    fn cause(&self, spot: &ConfigSpot<'d, 'd>, always_required: bool, form: Form) -> Cause {
        let list = spot.node.parent();
        let list = self
            .lists
            .iter()
            .rev()
            .find(|(node, _)| Some(*node) == list);
        let field = match (spot.node.key(), list) {
            (None, Some((_, list))) => list,
            _ => spot.field,
        };
        let reason = spot.field.description.clone().or(field.description.clone());
        Cause {
            reason: reason.unwrap_or_else(|| format!("The value of `{}`.", spot.node.token())),
            dispensable: !field.is_required() && field.default.is_some() && !always_required,
            by_id: form != Form::Name,
        }
    }

    /// What no declaration speaks for must still hold no id and nothing that reads as a ref.
    fn remainder(&mut self) {
        let cleared: HashSet<usize> = self.cleared.iter().map(|gone| gone.start).collect();
        let mut gone: Option<Range<usize>> = None;
        let mut expression: Option<Range<usize>> = None;
        for node in self.args.descendants().skip(1) {
            let start = node.span().start;
            if gone.as_ref().is_some_and(|gone| gone.contains(&start)) {
                continue;
            }
            if cleared.contains(&start) {
                gone = Some(node.span());
                continue;
            }
            if self.is_called_secret(node) {
                self.secret(node);
                gone = Some(node.span());
                continue;
            }
            if node.key().is_some_and(|key| self.key(node, key)) {
                gone = Some(node.span());
                continue;
            }
            if self.expressions.contains(&start) {
                expression = Some(node.span());
            }
            let resolved = expression
                .as_ref()
                .is_some_and(|inside| inside.contains(&start));
            if let Some(text) = node.as_str()
                && !self.seen.contains(&start)
            {
                self.text(node, text, resolved);
            }
        }
    }

    /// Whether the value is in a config, where refs are rewritten by an import.
    fn in_config(&self, node: Node<'d>) -> bool {
        let outermost = std::iter::successors(Some(node), |node| node.parent())
            .take_while(|node| *node != self.args)
            .last();
        let key = outermost
            .filter(|outermost| *outermost != node)
            .and_then(Node::key);
        key.is_some_and(|key| key == "config" || key.ends_with("Config"))
    }

    /// Checks a text; `resolved` says whether a run resolves the tokens in it.
    fn text(&mut self, node: Node<'d>, text: &str, resolved: bool) {
        let what = match leak::of(text) {
            None if resolved && !self.knows_records && names_record_column(text) => {
                ReferenceAction::Lost {
                    named: TargetName {
                        form: UnresolvedForm::Name,
                        ..unlabelled(ReferenceKind::Column)
                    },
                    reason: Reason::UnknownEnvelope,
                    action: Action::Kept,
                    edit: None,
                }
            }
            None => return,
            Some(Leak::Id) => self.id(node, text, false),
            Some(Leak::Inside(rest)) => {
                // A text holds ids among words; the form tells its rest from a field that was
                // emptied and filled again.
                let named = TargetName {
                    form: UnresolvedForm::UuidOrName,
                    ..self.named(text)
                };
                ReferenceAction::Lost {
                    named,
                    reason: Reason::NotExportable,
                    action: Action::Emptied,
                    edit: Some(Edit::Set(rest.into())),
                }
            }
            Some(Leak::ReadsAsRef(kind)) => ReferenceAction::Lost {
                named: unlabelled(kind),
                reason: Reason::NoRefMinted,
                action: Action::Emptied,
                edit: Some(emptied()),
            },
        };
        self.push(node, what);
    }

    /// Checks a key; gives whether it goes with everything inside it.
    fn key(&mut self, node: Node<'d>, key: &str) -> bool {
        let Some(leak) = leak::of(key) else {
            return false;
        };
        let what = match leak {
            Leak::Id => self.id(node, key, true),
            Leak::Inside(_) => lost_key(self.named(key), Reason::NotExportable),
            Leak::ReadsAsRef(kind) => lost_key(unlabelled(kind), Reason::NoRefMinted),
        };
        let goes = matches!(what, ReferenceAction::Lost { .. });
        if goes {
            let inside = node.span();
            self.found.retain(|other| !inside.contains(&other.at));
        }
        self.found.push(FoundReference {
            at: node.key_span().start,
            path: dotted(self.args, node),
            element: false,
            what,
        });
        goes
    }

    /// An id where nothing says what it names: a ref when it is one of the package.
    fn id(&self, node: Node<'d>, text: &str, is_key: bool) -> ReferenceAction<'s> {
        let thing = self.index.named(text);
        let kind = thing.and_then(super::workspace_index::SourceRecord::kind);
        let named = self.named(text);
        if self.in_config(node) {
            // A column's ref would become its name, which the source did not hold.
            if let Some(record) = self.index.record(text)
                && kind != Some(ReferenceKind::Column)
            {
                return ReferenceAction::Use {
                    target: ReferenceTarget::Record(record),
                    is_key,
                    named,
                    cause: Cause {
                        reason: String::new(),
                        dispensable: true,
                        by_id: true,
                    },
                };
            }
            if Some(self.index.structure.workspace.id) == crate::workspace::Id::try_parse(text).ok()
            {
                return ReferenceAction::Workspace { is_key };
            }
        }
        let reason = match kind {
            Some(ReferenceKind::Column) => Reason::NoRefMinted,
            Some(_) => Reason::NotSelected,
            None => Reason::NotExportable,
        };
        if is_key {
            return lost_key(named, reason);
        }
        ReferenceAction::Lost {
            named,
            reason,
            action: Action::Emptied,
            edit: Some(emptied()),
        }
    }

    /// What a text with an id in it refers to; what the source does not know is taken for a file.
    fn named(&self, text: &str) -> TargetName {
        let id = crate::package::uid::foreign_uuid(text);
        let thing = id.and_then(|id| self.index.named(id));
        TargetName {
            label: thing
                .and_then(super::workspace_index::SourceRecord::label)
                .and_then(leak::label),
            ..unlabelled(
                thing
                    .and_then(super::workspace_index::SourceRecord::kind)
                    .unwrap_or(ReferenceKind::File),
            )
        }
    }
}

/// Whether a field of an automation has to name something. Where it is empty all the same, the automation was applied
/// without that, or its target is gone: what is reported of it lets the draft travel (`contract` 2.7).
fn has_to_name(spot: &ConfigSpot<'_, '_>) -> bool {
    let (Some(field), Some(object)) = (spot.node.key(), spot.node.parent()) else {
        return false;
    };
    let needed = || place_of(spot).is_some_and(|(of, inside)| is_needed(of, inside, object, field));
    spot.automation && (spot.field.is_required() || needed())
}

/// The trigger type or step key of a config, and the key of the object in it that holds a value; of the config itself
/// that is empty.
fn place_of<'d>(spot: &ConfigSpot<'d, '_>) -> Option<(&'d str, &'d str)> {
    let owner = spot.config.parent()?;
    let of = owner.get_str("key").or_else(|| owner.get_str("type"))?;
    let object = spot.node.parent()?;
    let inside = if object == spot.config {
        ""
    } else {
        object.key()?
    };
    Some((of, inside))
}

/// Whether a value is in the settings of a trigger.
fn in_trigger(spot: &ConfigSpot<'_, '_>) -> bool {
    spot.config.parent().and_then(Node::key) == Some("triggerConfig")
}

/// Whether a token in a text names a column of the current records.
fn names_record_column(text: &str) -> bool {
    pieces(text)
        .any(|piece| matches!(piece, Piece::Token(token) if token.path.record_column().is_some()))
}

fn unlabelled(kind: ReferenceKind) -> TargetName {
    TargetName {
        kind,
        form: UnresolvedForm::Uuid,
        label: None,
    }
}

fn lost_key<'s>(named: TargetName, reason: Reason) -> ReferenceAction<'s> {
    ReferenceAction::Lost {
        named,
        reason,
        action: Action::Omitted,
        edit: Some(Edit::Remove),
    }
}

fn emptied() -> Edit {
    Edit::Set(Value::String(String::new()))
}

fn form(form: Form) -> UnresolvedForm {
    match form {
        Form::Uuid => UnresolvedForm::Uuid,
        Form::Name => UnresolvedForm::Name,
        Form::UuidOrName => UnresolvedForm::UuidOrName,
    }
}

/// The path that a report gives: keys that are ids are not in it.
pub(super) fn short_path(path: &str) -> String {
    let mut short = String::new();
    for segment in crate::json::path::split_dotted(path) {
        let fit = leak::of(&segment).is_none();
        push_dotted(&mut short, if fit { &segment } else { "*" });
    }
    short
}

impl<'d> ConfigVisitor<'d, 'd> for Reader<'_, '_, 'd> {
    fn spot(&mut self, spot: ConfigSpot<'d, 'd>) {
        self.declared.insert(spot.node.span().start);
        if spot.field.kind == FieldType::List {
            self.lists.push((spot.node, spot.field));
        }
        if spot.holds_tokens() {
            self.expressions.insert(spot.node.span().start);
        }
        if spot.automation {
            self.needed(&spot);
        }
        if spot.field.secret {
            self.secret(spot.node);
        } else {
            self.reference(&spot);
        }
    }

    fn fault(&mut self, fault: ConfigFault<'d, 'd>, automation: bool) {
        let spot = match fault {
            ConfigFault::Wrong { spot } => spot,
            ConfigFault::Missing { object, key, field } => {
                if automation {
                    self.absent(object, key, field);
                }
                return;
            }
            ConfigFault::UnknownKey { .. } => return,
        };
        self.declared.insert(spot.node.span().start);
        // A secret is one whatever its type.
        if spot.field.secret {
            self.secret(spot.node);
        } else if spot.field.may_hold_secret() {
            self.opaque(spot.node);
        }
    }

    fn undeclared(&mut self, node: Node<'d>) {
        self.opaque(node);
    }
}
