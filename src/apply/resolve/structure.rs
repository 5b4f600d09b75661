//! The structure phase: records to create, configs to replace, automations to publish.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::absent_names;
use super::bind::{Disposition, target_kind};
use super::bindings::{Binding, Bindings, Record};
use super::built::{Built, BuiltColumn, DeclaredRecord};
use super::completeness::{AppliedAutomation, CompletenessCheck};
use super::earlier_records::EarlierJobs;
use super::findings::Findings;
use super::record::{Positions, config_of, new};
use super::recreated::Recreated;
use super::rewrite::{Rewritten, object_of, rewrite};
use super::steps::{StepWork, Steps, name_in, subject, text_in};
use crate::apply::{Bound, DraftReason, NotPublished, Publish, RenamedRecord};
use crate::automation::complete_step_ids;
use crate::definitions::Definitions;
use crate::json::{Object, Value};
use crate::package::configs::Declared;
use crate::package::model::{Manifest, Step};
use crate::package::reference::WORKSPACE;
use crate::workspace::ledger::{ConfigChange, Created};
use crate::workspace::{AnyRecord, Change, Column, Id, New, RecordKind, Structure};

/// What the steps are carried out against.
pub(super) struct Builder<'a, 'p> {
    pub(super) manifest: &'a Manifest,
    pub(super) steps: &'a Steps<'p>,
    pub(super) dispositions: &'a IndexMap<&'p str, Disposition<'p>>,
    pub(super) bindings: &'a Bindings<'p>,
    pub(super) earlier: &'a EarlierJobs<'a>,
    pub(super) recreated: &'a Recreated,
    pub(super) destination: &'a Structure,
    /// Records that go by this apply.
    pub(super) gone: &'a HashSet<Id>,
    pub(super) definitions: &'a Definitions,
    pub(super) findings: &'a mut Findings,
    /// Whether what is there is merged afterwards, so that nothing of it is touched here.
    pub(super) upgrade: bool,
}

impl<'p> Builder<'_, 'p> {
    /// Goes through all steps but those that write rows.
    pub(super) fn build(mut self) -> Built<'p> {
        let mut built = Built::default();
        let mut positions = Positions::new(self.destination);
        for work in &self.steps.all {
            if work.step.tool.is_create() {
                self.create(work, &mut positions, &mut built);
            } else if target_kind(work.step.tool).is_some() {
                self.update(work, &mut built);
            }
        }
        built
    }

    fn rewrite(&self, work: &StepWork<'p>, declared: Declared<'_>) -> Rewritten<'p> {
        let step = work.step;
        rewrite(
            step.tool,
            &step.args,
            declared,
            self.bindings,
            self.definitions,
        )
    }

    fn create(
        &mut self,
        work: &StepWork<'p>,
        positions: &mut Positions<'_>,
        built: &mut Built<'p>,
    ) {
        let step = work.step;
        let Some(reference) = step.reference.as_deref() else {
            return;
        };
        let disposition = self.dispositions.get(reference).copied();
        if let Some(Disposition::LeftOut(cause)) = disposition {
            let argument = step.tool.parent_argument().unwrap_or_default();
            let cause = cause.unwrap_or(super::bindings::Cause::LeftOut);
            self.findings.left_out(work.uid, argument, cause);
            return;
        }
        let (Some(disposition), Some(record)) = (disposition, self.bindings.record(reference))
        else {
            return;
        };
        let (kind, component) = (
            text_in(&step.args, "type"),
            text_in(&step.args, "defaultComponent"),
        );
        let rewritten = self.rewrite(work, declared(record.kind, kind, component));
        self.findings.all_emptied(work.uid, &rewritten);
        if matches!(
            disposition,
            Disposition::Fresh | Disposition::Bound { unfinished: true }
        ) {
            self.findings.dropped(reference, &rewritten);
            self.note_rename(step, reference, record, disposition);
        }
        let fresh = disposition == Disposition::Fresh;
        let made = self.made(record, &rewritten.args, fresh.then_some(positions));
        let declared = DeclaredRecord {
            record: AnyRecord {
                order: given_order(&rewritten.args),
                name: match record.kind {
                    // Free text, which is merged like any other.
                    RecordKind::Workflow => name_in(step).to_owned(),
                    _ => record.name.clone(),
                },
                ..AnyRecord::of_new(&made)
            },
            name: text_in(&step.args, "name").to_owned(),
            fresh,
            blueprint: work.blueprint,
        };
        built.declared.insert(reference, declared);
        if disposition == Disposition::Away {
            return;
        }
        let column = if fresh {
            self.add(reference, record, made, built)
        } else {
            self.bind(reference, record, built)
        };
        if let (RecordKind::Column, Some(column), Some(feature)) =
            (record.kind, column, record.parent)
        {
            let built_column = BuiltColumn {
                feature,
                package_name: text_in(&step.args, "name").to_owned(),
                column,
                link: rewritten.link.clone(),
            };
            built.columns.insert(reference, built_column);
        }
        if record.kind == RecordKind::Workflow {
            self.promote(work, reference, record, disposition, &rewritten, built);
            built.emptied.insert(reference, rewritten.emptied);
        }
    }

    /// Reports that a record does not get the name that the package gives it.
    fn note_rename(
        &mut self,
        step: &Step,
        reference: &str,
        record: &Record,
        disposition: Disposition<'p>,
    ) {
        let from = text_in(&step.args, "name");
        // Of what is there already the job's own word counts: people rename things too.
        let to = match disposition {
            Disposition::Fresh => None,
            _ => self.earlier.once(reference, record.kind),
        };
        let to = to.map_or(record.name.as_str(), |made| made.name);
        if to != from {
            self.findings.renamed.push(RenamedRecord {
                kind: record.kind,
                reference: reference.to_owned(),
                from: from.to_owned(),
                to: to.to_owned(),
            });
        }
    }

    /// The record as the package says it; with `positions` it takes one of them.
    fn made(&self, record: &Record, args: &Object, positions: Option<&mut Positions<'_>>) -> New {
        let mut made = match positions {
            Some(positions) => new(record, args, positions),
            None => new(record, args, &mut Positions::new(self.destination)),
        };
        if let New::Workflow(made) = &mut made {
            // Who names outputs of a step names its id: it is decided before anything is written.
            let mut graph = Value::Object(std::mem::take(&mut made.graph_config));
            complete_step_ids(self.definitions, &mut graph, made.id.as_u128());
            made.graph_config = object_of(Some(&graph));
        }
        made
    }

    /// Creates a record, and gives it where it is a column.
    fn add(
        &self,
        reference: &str,
        record: &Record,
        mut made: New,
        built: &mut Built<'p>,
    ) -> Option<Column> {
        if self.upgrade {
            without_marks(&mut made);
        }
        let column = match &made {
            New::Column { column, .. } => Some(column.clone()),
            _ => None,
        };
        built.work.changes.push(Change::Create(made));
        built.work.entry.created.push(Created {
            reference: reference.to_owned(),
            kind: record.kind,
            id: record.id,
            name: record.name.clone(),
        });
        column
    }

    /// Binds a record that is there, and gives it where it is a column.
    fn bind(&self, reference: &str, record: &Record, built: &mut Built<'p>) -> Option<Column> {
        let parent = record
            .parent
            .and_then(|parent| self.destination.feature(parent));
        let mut column = parent.and_then(|parent| parent.column(record.id)).cloned();
        let fixed = (!self.upgrade)
            .then(|| self.fix_references(reference, record, built))
            .flatten();
        if let (Some(column), Some(Value::Object(config))) = (&mut column, fixed) {
            column.config = config;
        }
        built.bound.push(Bound {
            kind: record.kind,
            reference: reference.to_owned(),
            id: record.id,
            name: record.name.clone(),
        });
        column
    }

    /// Decides whether an automation goes live. What is not whole stays a draft, and what was a
    /// draft at the end of an earlier job is left to people.
    fn promote(
        &self,
        work: &StepWork<'p>,
        reference: &str,
        record: &Record,
        disposition: Disposition<'p>,
        rewritten: &Rewritten<'p>,
        built: &mut Built<'p>,
    ) {
        let flagged = work.step.args.get("published").and_then(Value::as_bool) == Some(true);
        let publish = || Publish {
            reference: reference.to_owned(),
            id: record.id,
            name: record.name.clone(),
            draft: None,
            live: true,
        };
        // What an upgrade changes arrives once it is merged.
        if self.earlier.drafted(record.id).is_some() {
            return;
        }
        if disposition != Disposition::Fresh && self.earlier.pending.contains(&reference) {
            built.publish.push(publish());
            return;
        }
        if !flagged || disposition != Disposition::Fresh && self.earlier.promotes(reference) {
            return;
        }
        let because = self.missing(work.uid, record, disposition, rewritten, &built.columns);
        if !because.is_empty() {
            built.not_published.push(NotPublished {
                reference: reference.to_owned(),
                name: record.name.clone(),
                because,
            });
        } else if disposition == Disposition::Fresh {
            let pending = &mut built.work.entry.pending_publishes;
            pending.push(reference.to_owned());
            built.publish.push(publish());
        }
    }

    /// What somebody has to enter before an automation can go live. Of what an earlier job made,
    /// what people have made of it since counts.
    fn missing(
        &self,
        uid: &str,
        record: &Record,
        disposition: Disposition<'p>,
        rewritten: &Rewritten<'p>,
        columns: &IndexMap<&'p str, BuiltColumn>,
    ) -> Vec<DraftReason> {
        let there = match disposition {
            Disposition::Bound { unfinished: false } => {
                let mut automations = self.destination.automations.iter();
                automations.find(|found| found.id == record.id)
            }
            _ => None,
        };
        if there.is_some_and(|there| there.active) {
            return Vec::new();
        }
        let now = there.map(|there| object_of(Some(&there.config())));
        let arrival = CompletenessCheck {
            manifest: self.manifest,
            destination: self.destination,
            gone: self.gone,
            bindings: self.bindings,
            columns,
            definitions: self.definitions,
        };
        arrival.missing(AppliedAutomation {
            uid,
            id: record.id,
            args: now.as_ref().unwrap_or(&rewritten.args),
            emptied: &rewritten.emptied,
            since: now.is_some(),
        })
    }

    fn update(&mut self, work: &StepWork<'p>, built: &mut Built<'p>) {
        let step = work.step;
        let Some(reference) = subject(step) else {
            return;
        };
        let record = match self.bindings.of(reference) {
            Binding::Record(record) if Some(record.kind) == target_kind(step.tool) => record,
            Binding::Nothing(cause) => {
                // The own step of a record that has no place to be has reported it.
                if !self.dispositions.contains_key(reference) {
                    let argument = step.tool.target_argument().unwrap_or_default();
                    self.findings.left_out(work.uid, argument, *cause);
                }
                return;
            }
            _ => return,
        };
        let (kind, component) = self.types(reference, record);
        let rewritten = self.rewrite(work, declared(record.kind, &kind, &component));
        self.findings.all_emptied(work.uid, &rewritten);
        let disposition = self.dispositions.get(reference).copied();
        let mut config = Value::Object(object_of(rewritten.args.get("config")));
        self.says(reference, record, &config, built);
        let of_package = disposition.is_some() || reference == WORKSPACE;
        if self.upgrade && of_package && !work.blueprint && disposition != Some(Disposition::Fresh)
        {
            if let Some(column) = built.columns.get_mut(reference) {
                column.link = rewritten.link.clone();
            }
            return;
        }
        if self.upgrade {
            config = absent_names::without(&object_of(Some(&config))).into();
        }
        if let Some(column) = built.columns.get_mut(reference) {
            column.link = rewritten.link.clone();
        }
        let replaced = self.earlier.replaced(reference, record.id);
        let needed = match disposition {
            Some(Disposition::Fresh) => true,
            Some(_) => rewritten.names_new,
            // Not of the package's making: once is enough, unless it names something new.
            None => rewritten.names_new || replaced.is_none(),
        };
        let bound = matches!(disposition, Some(Disposition::Bound { unfinished: true }));
        let unfinished = bound || replaced == Some(true);
        if needed || unfinished {
            self.findings.dropped(reference, &rewritten);
        }
        if !needed {
            // What the package made itself is fixed at its create step.
            if disposition.is_none() {
                self.fix_references(reference, record, built);
            }
            return;
        }
        if !record.fresh {
            self.keep_row_access(reference, record, &mut config);
        }
        if let (Some(column), Value::Object(config)) = (built.columns.get_mut(reference), &config) {
            column.column.config.clone_from(config);
        }
        if !record.fresh {
            self.replace(reference, record, &config, built);
        }
        built.work.changes.push(Change::Configure {
            kind: record.kind,
            id: record.id,
            config,
        });
    }

    /// Notes what an update step says of a record.
    fn says(&self, reference: &'p str, record: &Record, config: &Value, built: &mut Built<'p>) {
        if reference == WORKSPACE {
            let workspace = AnyRecord {
                config: Value::Object(Object::new()),
                ..AnyRecord::of_workspace(&self.destination.workspace)
            };
            let declared = DeclaredRecord {
                name: workspace.name.clone(),
                record: workspace,
                fresh: false,
                blueprint: false,
            };
            built.declared.entry(reference).or_insert(declared);
        }
        if let Some(declared) = built.declared.get_mut(reference) {
            declared.record.config = match record.kind {
                RecordKind::Rail => Value::List(vec![config.clone()]),
                _ => config.clone(),
            };
        }
    }

    /// Leaves it to the destination whose rows a table shows, where whoever applies may not decide that.
    fn keep_row_access(&mut self, reference: &str, record: &Record, config: &mut Value) {
        const KEY: &str = "rowAccess";
        let Value::Object(config) = config else {
            return;
        };
        if record.kind != RecordKind::Feature || !self.destination.row_access_stays {
            return;
        }
        let before = object_of(Some(&config_of(self.destination, record)));
        // What is absent is the default.
        let own = |config: &Object| config.get(KEY).and_then(Value::as_str) == Some("own");
        if own(&before) == own(config) {
            return;
        }
        match before.get(KEY) {
            Some(access) => config.insert(KEY.to_owned(), access.clone()),
            None => config.shift_remove(KEY),
        };
        self.findings.dropped_key(reference, "config.rowAccess");
    }

    /// Points the config of what was there before at what takes the place of things that are gone,
    /// and gives it. Only their ids are replaced: whatever else people made of it since stays.
    fn fix_references(
        &self,
        reference: &str,
        record: &Record,
        built: &mut Built<'p>,
    ) -> Option<Value> {
        let before = config_of(self.destination, record);
        let config = self.recreated.apply(&before)?;
        self.replace(reference, record, &config, built);
        built.work.changes.push(Change::Configure {
            kind: record.kind,
            id: record.id,
            config: config.clone(),
        });
        Some(config)
    }

    /// Remembers what was there before; of several replacements of one config, the first.
    fn replace(&self, reference: &str, record: &Record, config: &Value, built: &mut Built<'p>) {
        let mut replaced = built.work.entry.replaced.iter_mut();
        match replaced.find(|known| known.kind == record.kind && known.id == record.id) {
            Some(known) => known.after = config.clone(),
            None => built.work.entry.replaced.push(ConfigChange {
                reference: reference.to_owned(),
                kind: record.kind,
                id: record.id,
                before: config_of(self.destination, record),
                after: config.clone(),
            }),
        }
    }

    /// Type and component of a column or view: what its step says, else what it has.
    fn types(&self, reference: &str, record: &Record) -> (String, String) {
        if let Some(step) = self.steps.creating(reference) {
            let text = |key: &str| text_in(&step.args, key).to_owned();
            return (text("type"), text("defaultComponent"));
        }
        let parent = record
            .parent
            .and_then(|parent| self.destination.feature(parent));
        if let Some(column) = parent.and_then(|parent| parent.column(record.id)) {
            return (column.column_type.clone(), column.default_component.clone());
        }
        let mut views = parent.into_iter().flat_map(|parent| &parent.views);
        let view = views.find(|view| view.id == record.id);
        (
            view.map_or(String::new(), |view| view.view_type.clone()),
            String::new(),
        )
    }
}

/// The position that a package gives.
fn given_order(args: &Object) -> Option<i64> {
    match args.get("order") {
        Some(Value::Number(number)) => number.as_i64(),
        _ => None,
    }
}

/// Leaves out of a new record what is not at the destination.
fn without_marks(made: &mut New) {
    let clean = |config: &mut Object| *config = absent_names::without(config);
    match made {
        New::Workspace { .. } => {}
        New::Feature(feature) => clean(&mut feature.config),
        New::Column { column, .. } => clean(&mut column.config),
        New::View { view, .. } => clean(&mut view.config),
        New::Module(module) => clean(&mut module.config),
        New::Rail { rail, .. } => rail.config.iter_mut().for_each(clean),
        New::Workflow(automation) => {
            clean(&mut automation.trigger_config);
            clean(&mut automation.graph_config);
        }
    }
}

fn declared<'t>(kind: RecordKind, own_type: &'t str, component: &'t str) -> Declared<'t> {
    match kind {
        RecordKind::Column => Declared::Column(own_type, Some(component)),
        RecordKind::View => Declared::View(own_type),
        _ => Declared::Other,
    }
}
