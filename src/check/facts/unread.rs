//! Facts that an unreadable value hides.
//!
//! One mistake gives one finding, so rules report nothing about hidden facts and accept other
//! statements about them: `usedBy`, of a step whose args cannot be read and of a ref that its
//! dependency does not name; the blueprint, of the same ref; an unknown uid, of an item without
//! one; an `unresolved` entry without a uid, of every item.

use super::{Dependency, ExternalRef, Facts, Item, Step, Unresolved};
use crate::json::{Node, path};
use crate::package::Tool;
use crate::package::format::Type;
use crate::package::reference::{is_declaration, prefix};

/// Whether whatever refs the args hold can be seen: they are an object, and so is what they hold
/// refs in.
fn is_read(tool: Tool, args: Option<Node<'_>>) -> bool {
    let Some(args) = args else { return false };
    tool.args().fields.iter().all(|field| {
        let Some(value) = args.get(field.key) else {
            return true;
        };
        match field.ty {
            Type::Use(_) => value.as_str().is_some(),
            Type::Config(_) | Type::Object(_) => value.is_object(),
            Type::ListOfOneConfig(_) | Type::ListOfConfigs(_) => {
                value.is_array() && value.elements().all(Node::is_object)
            }
            _ => true,
        }
    })
}

/// Whether the step is of no item that `usedBy` could name.
fn is_parentless(step: &Step<'_>) -> bool {
    step.tool
        .is_some_and(|tool| tool == Tool::UpdateWorkspace || tool.is_row_tool())
}

impl<'d> Facts<'d> {
    /// Whether that uid is meant for the subject of a step or an entry: it is its own, or it has
    /// none that can be read and nobody else has this one.
    pub fn speaks_of(&self, uid: &str, subject: &str) -> bool {
        uid == subject || (subject.is_empty() && self.is_nobodys(uid))
    }

    /// Whether an `unresolved` entry does not say whom it is about (U004, J005, J006): it may be
    /// about anybody.
    pub fn is_about_nobody(&self, entry: &Unresolved<'d>) -> bool {
        entry.uid.is_none_or(|uid| self.is_nobodys(uid))
    }

    /// Whether neither an item nor the plan has that uid.
    pub fn is_nobodys(&self, uid: &str) -> bool {
        self.item(uid).is_none() && self.plan_id != Some(uid)
    }

    /// Whether a step that creates or changes the item, as far as is known, could not be read.
    pub fn has_unread_steps(&self, item: &Item<'d>) -> bool {
        self.unread_steps().any(|step| match step.subject_ref() {
            Some(reference) => item.reference == Some(reference),
            // An update that does not say of what.
            None => (step.tool.and_then(Tool::updates_items_of))
                .is_some_and(|kind| item.kind == Some(kind)),
        })
    }

    /// Whether a step that could not be read may use the dependency: it is a step of an item that
    /// `usedBy` names, or of none that it could name.
    pub fn may_be_used_unread(&self, dependency: &Dependency<'d>) -> bool {
        let users = dependency.node.get("usedBy").filter(|list| list.is_array());
        let Some(users) = users else {
            return self.unread_steps().next().is_some();
        };
        self.unread_steps().any(is_parentless)
            || users
                .elements()
                .filter_map(|user| self.item(user.get_str("uid")?))
                .any(|item| self.has_unread_steps(item))
    }

    /// Notes the steps that cannot be read; of those of an unknown tool nothing is said (S001).
    pub(super) fn note_unread(&mut self) {
        let steps = self.steps.iter().enumerate();
        let unread =
            steps.filter(|(_, step)| !step.tool.is_none_or(|tool| is_read(tool, step.args)));
        self.unread = unread.map(|(index, _)| index).collect();
    }

    fn unread_steps(&self) -> impl Iterator<Item = &Step<'d>> {
        self.unread.iter().map(|index| &self.steps[*index])
    }

    /// Finds the refs of dependencies and identity columns that do not name theirs.
    pub(super) fn infer_missing_outside(&mut self) {
        for index in 0..self.dependencies.len() {
            let dependency = &self.dependencies[index];
            if dependency.reference.is_some() && dependency.columns_known {
                continue;
            }
            for reference in self.meant_by(index) {
                let taken = self.declared.contains_key(reference)
                    || self.outside.contains_key(reference)
                    || !is_declaration(reference);
                let dependency = &mut self.dependencies[index];
                let column = prefix(reference) == "c";
                let lacking = if column {
                    !dependency.columns_known
                } else {
                    dependency.reference.is_none()
                };
                if taken || !lacking {
                    continue;
                }
                if !column {
                    dependency.reference = Some(reference);
                }
                let outside = ExternalRef {
                    dependency: index,
                    // Which of the unreadable columns it is does not matter.
                    column: column.then_some(dependency.columns.len()),
                };
                self.outside.insert(reference, outside);
            }
        }
    }

    /// What a dependency's blueprint declares, and what is used where its `usedBy` says, or in
    /// steps that `usedBy` cannot name.
    fn meant_by(&self, index: usize) -> Vec<&'d str> {
        let dependency = &self.dependencies[index];
        let of_this = |step: &&Step<'d>| matches!(step.place, super::StepPlace::Blueprint(at, _) if at == index);
        let blueprint = self.blueprint_steps.iter().filter(of_this);
        let mut meant: Vec<&'d str> = blueprint.filter_map(|step| step.reference).collect();
        let users = dependency.node.get("usedBy");
        for user in users.into_iter().flat_map(Node::elements) {
            let Some((uid, at)) = user.get_str("uid").zip(user.get_str("path")) else {
                continue;
            };
            let values = self
                .steps_of(uid)
                .into_iter()
                .filter_map(|step| path::find(step.args?, at));
            meant.extend(values.filter_map(|value| {
                let text = value.as_str().filter(|text| text.starts_with('$'));
                text.or(value.key())?.strip_prefix('$')
            }));
        }
        let parentless = self.steps.iter().filter(|step| is_parentless(step));
        let values = parentless
            .flat_map(Step::scanned_args)
            .flat_map(Node::descendants);
        meant.extend(values.filter_map(|value| value.as_str()?.strip_prefix('$')));
        meant
    }
}
