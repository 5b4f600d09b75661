//! Builds the steps of the plan with refs in place of ids, and reports what is lost.

use super::external::{Cause, Externals};
use super::onto::Identities;
use super::order::topological;
use super::read::{FoundReference, ReferenceAction, TargetName, short_path};
use super::record::{Record, Records, WorkspaceStep, create_tool, targets};
use super::verdict::ReferenceTarget;
use crate::context::Ids;
use crate::definitions::{Definitions, ReferenceKind};
use crate::json::{Object, Value};
use crate::package::Tool;
use crate::package::configs::{Edit, Edits};
use crate::package::model::{
    Action, Dependency, Reason, Redacted, Step, Unresolved, UnresolvedForm, UnresolvedKind,
};
use crate::workspace::RecordKind;

/// The plan, with everything that came up while it was written.
pub(super) struct WrittenPlan {
    /// Records in the order of their create steps.
    pub(super) order: Vec<usize>,
    pub(super) steps: Vec<Step>,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) unresolved: Vec<Unresolved>,
    pub(super) redacted: Vec<Redacted>,
}

/// Writes the plan; `whole` says whether the config of the workspace travels.
pub(super) fn write(
    records: &Records<'_>,
    whole: bool,
    definitions: &Definitions,
    plan_id: &str,
    identities: &mut Identities<'_>,
    ids: &mut dyn Ids,
) -> WrittenPlan {
    let order = order(&records.list);
    let mut positions = vec![0; order.len()];
    for (position, record) in order.iter().enumerate() {
        positions[*record] = position;
    }
    let mut writer = Writer {
        records: &records.list,
        positions: &positions,
        externals: Externals::new(records.names.clone(), identities, ids),
        steps: Vec::new(),
        updates: Vec::new(),
        unresolved: Vec::new(),
        redacted: Vec::new(),
    };
    for record in &order {
        writer.record(*record);
    }
    writer.workspace(&records.workspace, whole, plan_id);
    // The phases after the create steps; the sort is stable.
    writer.updates.sort_by_key(|step| step.tool.phase());
    writer.steps.append(&mut writer.updates);
    WrittenPlan {
        order,
        steps: writer.steps,
        unresolved: writer.unresolved,
        redacted: writer.redacted,
        dependencies: writer.externals.finish(definitions),
    }
}

/// By phase; columns and automations after those that they refer to.
fn order(records: &[Record<'_>]) -> Vec<usize> {
    let of = |kind: RecordKind| -> Vec<usize> {
        let all = records.iter().enumerate();
        all.filter(|(_, record)| record.kind == kind)
            .map(|(index, _)| index)
            .collect()
    };
    let sorted = |kind: RecordKind| -> Vec<usize> {
        let nodes = of(kind);
        let first = nodes.first().copied().unwrap_or_default();
        let needs = |node: usize| {
            let found = records
                .get(first + node)
                .map(|record| record.found.as_slice());
            targets(found.unwrap_or_default())
                .filter(|target| {
                    records
                        .get(*target)
                        .is_some_and(|record| record.kind == kind)
                })
                .map(|target| target - first)
                .filter(|target| *target != node)
                .collect()
        };
        let sorted = topological(nodes.len(), needs);
        sorted.into_iter().map(|node| first + node).collect()
    };
    let mut order = of(RecordKind::Feature);
    order.extend(sorted(RecordKind::Column));
    order.extend(of(RecordKind::View));
    order.extend(sorted(RecordKind::Workflow));
    order.extend(of(RecordKind::Module));
    order.extend(of(RecordKind::Rail));
    order
}

struct Writer<'r, 's, 'i, 'p> {
    records: &'r [Record<'s>],
    /// By record: the position of its create step.
    positions: &'r [usize],
    externals: Externals<'s, 'i, 'p>,
    steps: Vec<Step>,
    updates: Vec<Step>,
    unresolved: Vec<Unresolved>,
    redacted: Vec<Redacted>,
}

/// What the found values become in a record's two steps.
#[derive(Default)]
struct Rewriting {
    create: Edits,
    update: Edits,
    /// Whether a ref is in the update only.
    carries: bool,
}

impl<'s> Writer<'_, 's, '_, '_> {
    fn record(&mut self, index: usize) {
        let (records, positions) = (self.records, self.positions);
        let record = &records[index];
        let rewriting = self.rewrite(&record.uid, &record.found, |target| {
            let later = positions[target] > positions[index];
            later.then(|| update_tool(record.kind))
        });
        let mut args = record.args.clone();
        rewriting.create.apply(&mut args);
        let config = args.get("config").and_then(Value::as_object);
        if config.is_some_and(Object::is_empty) {
            args.shift_remove("config");
        }
        let (key, parent) = self.parent(record);
        args.insert(key.to_owned(), parent.into());
        self.steps.push(Step {
            uid: self.externals.create_step(&record.reference),
            tool: create_tool(record.kind),
            reference: Some(record.reference.clone()),
            args,
            unknown: Object::new(),
        });
        if let Some(tool) = update_tool(record.kind).filter(|_| rewriting.carries) {
            let mut args = record.args.clone();
            rewriting.update.apply(&mut args);
            self.update(tool, &record.reference, args.get("config"));
        }
    }

    /// What the record belongs to, and the argument that says so.
    fn parent(&mut self, record: &Record<'s>) -> (&'static str, String) {
        let tool = create_tool(record.kind);
        let Some(key) = tool.parent_argument() else {
            return ("workspaceId", "$workspace".to_owned());
        };
        if let Some(parent) = record.parent {
            return (key, format!("${}", self.records[parent].reference));
        }
        let kind = if record.kind == RecordKind::Rail {
            ReferenceKind::Module
        } else {
            ReferenceKind::Feature
        };
        let named = TargetName {
            kind,
            form: UnresolvedForm::Uuid,
            label: record.parent_behind.and_then(super::leak::label),
        };
        self.report(
            &record.uid,
            key,
            &named,
            Reason::NotSelected,
            Action::Emptied,
        );
        (key, String::new())
    }

    fn update(&mut self, tool: Tool, reference: &str, config: Option<&Value>) {
        let target = tool.target_argument().unwrap_or_default().to_owned();
        let config = config.cloned().unwrap_or_default();
        self.updates.push(Step {
            uid: self.externals.update_step(tool, reference),
            tool,
            reference: None,
            args: Object::from([
                (target, format!("${reference}").into()),
                ("config".to_owned(), config),
            ]),
            unknown: Object::new(),
        });
    }

    /// The workspace's config, when it travels and anything is left of it. What a selection leaves
    /// out is reported all the same where it is named by id: the navigation default.
    fn workspace(&mut self, step: &WorkspaceStep<'s>, whole: bool, plan_id: &str) {
        let is_reported = |found: &&FoundReference<'s>| {
            let omitted = Action::Omitted;
            whole
                || matches!(&found.what, ReferenceAction::Lost { action, .. } if *action == omitted)
        };
        let found = step.found.iter().filter(is_reported).cloned();
        let found: Vec<FoundReference<'s>> = found.collect();
        let rewriting = self.rewrite(plan_id, &found, |_| None);
        if !whole {
            return;
        }
        let mut args = step.args.clone();
        rewriting.create.apply(&mut args);
        let config = args.get("config");
        if config
            .and_then(Value::as_object)
            .is_some_and(|config| !config.is_empty())
        {
            self.update(Tool::UpdateWorkspace, "workspace", config);
        }
    }

    /// Decides about every found value. `later` says of a record that is declared later which
    /// update can carry its ref, if any can.
    fn rewrite(
        &mut self,
        uid: &str,
        found: &[FoundReference<'s>],
        later: impl Fn(usize) -> Option<Option<Tool>>,
    ) -> Rewriting {
        let mut rewriting = Rewriting::default();
        for one in found {
            let path = short_path(&one.path);
            let mut both = |edit: Edit| {
                rewriting.create.at_path(one.path.clone(), edit.clone());
                rewriting.update.at_path(one.path.clone(), edit);
            };
            match &one.what {
                ReferenceAction::Use {
                    target,
                    is_key,
                    named,
                    cause,
                } => {
                    let place = |name: String| {
                        if *is_key {
                            Edit::Rename(name)
                        } else {
                            Edit::Set(name.into())
                        }
                    };
                    let absent = || match (one.element, is_key) {
                        (true, _) => Edit::Set("".into()),
                        (false, _) => Edit::Remove,
                    };
                    let name = match target {
                        ReferenceTarget::Record(record) => {
                            let name = format!("${}", self.records[*record].reference);
                            match later(*record) {
                                None => name,
                                Some(Some(_)) => {
                                    rewriting.carries = true;
                                    rewriting.create.at_path(one.path.clone(), absent());
                                    rewriting.update.at_path(one.path.clone(), place(name));
                                    continue;
                                }
                                Some(None) => {
                                    let (action, edit) = if *is_key {
                                        (Action::Omitted, Edit::Remove)
                                    } else {
                                        (Action::Emptied, Edit::Set("".into()))
                                    };
                                    both(edit);
                                    self.report(uid, &path, named, Reason::DeclaredLater, action);
                                    continue;
                                }
                            }
                        }
                        ReferenceTarget::Outside(outside) => {
                            let cause = cause.clone();
                            format!("${}", self.externals.used(outside, uid, &path, cause))
                        }
                        ReferenceTarget::OutsideColumn(table, column) => {
                            let cause: Cause = cause.clone();
                            let reference =
                                self.externals.column_used(table, column, uid, &path, cause);
                            format!("${reference}")
                        }
                    };
                    both(place(name));
                }
                ReferenceAction::Workspace { is_key } => both(if *is_key {
                    Edit::Rename("$workspace".to_owned())
                } else {
                    Edit::Set("$workspace".into())
                }),
                ReferenceAction::Name { outside, cause } => {
                    self.externals.used(outside, uid, &path, cause.clone());
                }
                ReferenceAction::Lost {
                    named,
                    reason,
                    action,
                    edit,
                } => {
                    if let Some(edit) = edit {
                        both(edit.clone());
                    }
                    self.report(uid, &path, named, *reason, *action);
                }
                ReferenceAction::Secret { reason, left } => {
                    both(Edit::Set(left.clone()));
                    self.redacted.push(Redacted {
                        uid: uid.to_owned(),
                        path,
                        reason: reason.clone(),
                        unknown: Object::new(),
                    });
                }
            }
        }
        rewriting
    }

    fn report(
        &mut self,
        uid: &str,
        path: &str,
        named: &TargetName,
        reason: Reason,
        action: Action,
    ) {
        self.unresolved.push(Unresolved {
            uid: uid.to_owned(),
            path: path.to_owned(),
            kind: UnresolvedKind::Reference(named.kind),
            form: named.form,
            source_label: named.label.clone(),
            reason,
            action,
            count: None,
            unknown: Object::new(),
        });
    }
}

/// The tool that carries keys of a record of that kind which are declared after it.
fn update_tool(kind: RecordKind) -> Option<Tool> {
    match kind {
        RecordKind::Feature => Some(Tool::UpdateFeature),
        RecordKind::Column => Some(Tool::UpdateColumn),
        RecordKind::View => Some(Tool::UpdateView),
        RecordKind::Module => Some(Tool::UpdateModule),
        RecordKind::Workspace => Some(Tool::UpdateWorkspace),
        RecordKind::Rail | RecordKind::Workflow => None,
    }
}
