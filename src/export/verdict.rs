//! Decides one declared reference: a ref, a dependency, an empty field or a dropped key.

use super::external::External;
use super::leak;
use super::workspace_index::{SourceRecord, WorkspaceIndex};
use crate::definitions::{AbsentTarget as Absent, Form, Reference, ReferenceKind};
use crate::package::model::{Action, Reason};
use crate::package::uid::is_uuid;
use crate::workspace::{Column, Feature, Id};

/// What a value stands for in the package.
#[derive(Debug, Clone)]
pub(super) enum ReferenceTarget<'s> {
    /// A record that travels.
    Record(usize),
    /// Something that does not.
    Outside(External<'s>),
    /// A column of a table that does not.
    OutsideColumn(&'s Feature, &'s Column),
}

/// What becomes of a value.
#[derive(Debug, Clone)]
pub(super) enum ReferenceVerdict<'s> {
    /// A ref takes its place.
    Use(ReferenceTarget<'s>),
    /// The name stays, and a dependency says what it names.
    Name(External<'s>),
    /// It cannot be carried over.
    Lost(Reason, Action),
}

/// Where a reference is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Referrer<'s> {
    /// The table that it belongs to.
    pub(super) owner: Option<&'s Feature>,
    /// Whether it is in the workspace's config, which no dependency can be used by.
    pub(super) workspace: bool,
}

/// Checks the value `text` of a reference; `of` is the text that names a column's table.
pub(super) fn decide<'s>(
    known: &WorkspaceIndex<'s>,
    place: Referrer<'s>,
    reference: &Reference,
    text: &str,
    of: Option<&str>,
) -> (ReferenceVerdict<'s>, Option<&'s str>) {
    let gone = (
        ReferenceVerdict::Lost(Reason::TargetGone, emptied(reference)),
        None,
    );
    match reference.kind {
        ReferenceKind::File | ReferenceKind::Mailbox | ReferenceKind::User => (
            ReferenceVerdict::Lost(Reason::NotExportable, Action::Emptied),
            None,
        ),
        ReferenceKind::Column => column(known, place, reference, text, of),
        ReferenceKind::Connection => (connection(known, reference, text, place), None),
        ReferenceKind::TimerProfile => timer_profile(known, reference, text, place),
        ReferenceKind::Channel => channel(known, reference, text, place),
        kind => {
            let Some(thing) = known.named(text).filter(|thing| thing.kind() == Some(kind)) else {
                return gone;
            };
            let verdict = match known.record(text) {
                Some(record) => ReferenceVerdict::Use(ReferenceTarget::Record(record)),
                None => match External::of(thing) {
                    Some(outside) => absent(reference, place, ReferenceTarget::Outside(outside)),
                    None => ReferenceVerdict::Lost(Reason::NoRefMinted, emptied(reference)),
                },
            };
            (verdict, thing.label())
        }
    }
}

/// What is done with a value that cannot stay: the navigation defaults are left out.
fn emptied(reference: &Reference) -> Action {
    if reference.absent_target == Absent::Omit {
        Action::Omitted
    } else {
        Action::Emptied
    }
}

/// The target exists and stays behind.
fn absent<'s>(
    reference: &Reference,
    place: Referrer<'s>,
    target: ReferenceTarget<'s>,
) -> ReferenceVerdict<'s> {
    let not_selected = |action| ReferenceVerdict::Lost(Reason::NotSelected, action);
    match reference.absent_target {
        Absent::Dependency if place.workspace => not_selected(Action::Emptied),
        Absent::Dependency => ReferenceVerdict::Use(target),
        Absent::Omit => not_selected(Action::Omitted),
        // An id cannot be kept.
        Absent::Keep if reference.form == Form::Name => not_selected(Action::Kept),
        Absent::Keep | Absent::Empty => not_selected(Action::Emptied),
    }
}

fn column<'s>(
    known: &WorkspaceIndex<'s>,
    place: Referrer<'s>,
    reference: &Reference,
    text: &str,
    of: Option<&str>,
) -> (ReferenceVerdict<'s>, Option<&'s str>) {
    let table = match reference.of.as_deref() {
        Some("$envelope") | None => {
            let kept = leak::of(text).is_none();
            return if kept {
                (
                    ReferenceVerdict::Lost(Reason::UnknownEnvelope, Action::Kept),
                    None,
                )
            } else {
                (
                    ReferenceVerdict::Lost(Reason::TargetGone, Action::Emptied),
                    None,
                )
            };
        }
        Some("$feature") => place.owner,
        Some(_) => of.and_then(|of| known.feature(of)),
    };
    let by_id = |column: &&Column| {
        reference.form != Form::Name && Id::try_parse(text).is_ok_and(|id| id == column.id)
    };
    let found = table.and_then(|table| {
        let named = table
            .column_named(text)
            .filter(|_| reference.form != Form::Uuid);
        let column = named.or_else(|| table.columns.iter().find(by_id))?;
        Some((table, column))
    });
    let Some((table, column)) = found else {
        return (
            ReferenceVerdict::Lost(Reason::TargetGone, emptied(reference)),
            None,
        );
    };
    let verdict = match known.travelling.get(&column.id) {
        Some(record) => ReferenceVerdict::Use(ReferenceTarget::Record(*record)),
        None => absent(
            reference,
            place,
            ReferenceTarget::OutsideColumn(table, column),
        ),
    };
    (verdict, Some(&column.label))
}

/// A name stays a name, unless it would be an id or a ref in the package.
fn by_name<'s>(
    reference: &Reference,
    place: Referrer<'s>,
    name: &str,
    found: Option<bool>,
    outside: External<'s>,
) -> ReferenceVerdict<'s> {
    if leak::of(name).is_some() {
        return ReferenceVerdict::Lost(Reason::NotExportable, Action::Emptied);
    }
    match (found, reference.absent_target) {
        (Some(false), _) => ReferenceVerdict::Lost(Reason::TargetGone, Action::Kept),
        (_, Absent::Dependency) if !place.workspace => ReferenceVerdict::Name(outside),
        (_, Absent::Omit) => ReferenceVerdict::Lost(Reason::NotSelected, Action::Omitted),
        _ => ReferenceVerdict::Lost(Reason::NotSelected, Action::Kept),
    }
}

fn connection<'s>(
    known: &WorkspaceIndex<'s>,
    reference: &Reference,
    text: &str,
    place: Referrer<'s>,
) -> ReferenceVerdict<'s> {
    let list = known.structure.organization.connections.as_ref();
    let found = list.map(|list| list.iter().any(|one| one.name == text));
    by_name(
        reference,
        place,
        text,
        found,
        External::Connection(text.to_owned()),
    )
}

/// Matched by id it cannot travel, by name it can.
fn timer_profile<'s>(
    known: &WorkspaceIndex<'s>,
    reference: &Reference,
    text: &str,
    place: Referrer<'s>,
) -> (ReferenceVerdict<'s>, Option<&'s str>) {
    if is_uuid(text) && reference.form != Form::Name {
        let found = known.named(text);
        let found = found.filter(|thing| thing.kind() == Some(ReferenceKind::TimerProfile));
        let gone = found.is_none() && known.structure.organization.timer_profiles.is_some();
        let reason = if gone {
            Reason::TargetGone
        } else {
            Reason::NotExportable
        };
        return (
            ReferenceVerdict::Lost(reason, Action::Emptied),
            found.and_then(SourceRecord::label),
        );
    }
    let list = known.structure.organization.timer_profiles.as_ref();
    let profile = list.and_then(|list| list.iter().find(|one| one.name == text));
    let label = profile.and_then(|profile| profile.label.clone());
    let outside = External::TimerProfile(text.to_owned(), label);
    let found = list.map(|_| profile.is_some());
    (by_name(reference, place, text, found, outside), None)
}

/// A channel is known by its name; a direct conversation has none.
fn channel<'s>(
    known: &WorkspaceIndex<'s>,
    reference: &Reference,
    text: &str,
    place: Referrer<'s>,
) -> (ReferenceVerdict<'s>, Option<&'s str>) {
    let lost = |reason| ReferenceVerdict::Lost(reason, emptied(reference));
    match known.named(text) {
        Some(thing @ SourceRecord::Channel(channel)) => {
            let verdict = match External::of(thing).filter(|_| channel.name.is_some()) {
                Some(outside) => absent(reference, place, ReferenceTarget::Outside(outside)),
                None => lost(Reason::NotExportable),
            };
            (verdict, thing.label())
        }
        // Without the list nobody can say what it is called.
        _ if known.structure.organization.channels.is_none() && is_uuid(text) => {
            (lost(Reason::NoRefMinted), None)
        }
        _ => (lost(Reason::TargetGone), None),
    }
}
