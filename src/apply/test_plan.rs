//! Handmade approved packages, for tests of the stages after resolving.

use super::{
    Approved, BaseRows, ColumnWork, LinkWork, LinkedValue, Minter, Mode, Publish, Report, RowStep,
    RowStepWork, StructureWork, TableWork, run,
};
use crate::crashing::Memory;
use crate::definitions::Definitions;
use crate::json::{Object, Value};
use crate::package::Tool;
use crate::package::payload::RawEntry;
use crate::workspace::ledger::{self, Created, Entry};
use crate::workspace::memory::State;
use crate::workspace::{
    Automation, Change, Column, Feature, Id, New, Progress, RecordKind, RowData, StoredRow, Target,
    ready,
};

/// A package in the making: tables with rows, created by the job.
pub(super) struct TestPlan {
    pub(super) approved: Approved,
    pub(super) rows: Vec<Vec<String>>,
}

/// The id of a made-up record.
pub(super) fn id(number: u128) -> Id {
    Id::from_u128(number)
}

/// A workspace with nothing in it but a config.
pub(super) fn nothing() -> State {
    let mut state = State::empty(id(1), id(2), "here", "Here");
    let config = ("sequence".to_owned(), Value::from("kept"));
    state.structure.workspace.config.extend([config]);
    state
}

/// The uid of the row of that number.
pub(super) fn uid(number: u32) -> String {
    format!("u_{number:08x}-0000-4000-8000-000000000000")
}

/// A row of a payload.
pub(super) fn row(number: u32, data: &str) -> String {
    format!(r#"{{"uid":"{}","data":{data}}}"#, uid(number))
}

/// A row with links.
pub(super) fn linked(number: u32, data: &str, refs: &str) -> String {
    format!(r#"{{"uid":"{}","data":{data},"refs":{refs}}}"#, uid(number))
}

/// What a cell points at: the row of that number by the value of a column.
pub(super) fn to(number: u32, table: &str, column: &str) -> String {
    let uid = uid(number);
    format!(r#"{{"rowUid":"{uid}","featureRef":"{table}","valueColumn":"{column}"}}"#)
}

/// What a cell with a list points at.
pub(super) fn to_all(numbers: &[u32], table: &str, column: &str) -> String {
    let rows: Vec<String> = numbers.iter().map(|at| to(*at, table, column)).collect();
    format!(r#"{{"rows":[{}]}}"#, rows.join(","))
}

/// A column from `name type component {config}`; what is left out is text.
pub(super) fn column(number: u128, spec: &str) -> ColumnWork {
    let mut words = spec.splitn(4, ' ');
    let name = words.next().unwrap_or_default();
    let column_type = words.next().unwrap_or("text");
    let component = words.next().unwrap_or("textfield");
    let config = match Value::parse(words.next().unwrap_or("{}")) {
        Ok(Value::Object(config)) => config,
        _ => Object::new(),
    };
    let link = if column_type == "linked_select" {
        LinkWork::Refs
    } else {
        LinkWork::Data
    };
    ColumnWork {
        left_empty: false,
        package_name: name.to_owned(),
        column: Column {
            id: id(number),
            name: name.to_owned(),
            label: name.to_owned(),
            column_type: column_type.to_owned(),
            default_component: component.to_owned(),
            order: 1,
            config,
        },
        link,
        linked_value: LinkedValue::AsPackaged,
        source_identities: false,
    }
}

impl TestPlan {
    pub(super) fn new() -> TestPlan {
        TestPlan {
            approved: Approved {
                structure: StructureWork::default(),
                tables: Vec::new(),
                row_steps: Vec::new(),
                not_published: Vec::new(),
                redacted: Vec::new(),
                publish: Vec::new(),
                bound: Vec::new(),
                unresolved: Vec::new(),
                renamed: Vec::new(),
                dropped_keys: Vec::new(),
                not_carried: Vec::new(),
                base_rows: BaseRows::default(),
                upgrade: None,
                copy: false,
                minter: Minter::at(jiff::Timestamp::UNIX_EPOCH, 7),
            },
            rows: Vec::new(),
        }
    }

    /// A table `f_<name>` with those columns, created by the job.
    pub(super) fn table(mut self, name: &str, columns: &[&str], rows: Vec<String>) -> TestPlan {
        let number = self.approved.tables.len() as u128 + 1;
        let feature = id(number * 0x1000);
        let work = TableWork {
            entry: self.rows.len(),
            uid: format!("rows of {name}"),
            feature_ref: format!("f_{name}"),
            feature: Some(feature),
            mode: Mode::All,
            columns: columns
                .iter()
                .enumerate()
                .map(|(at, spec)| column(number * 0x1000 + at as u128 + 1, spec))
                .collect(),
            compared: Vec::new(),
            earlier_names: Vec::new(),
            first_ordinal: u32::try_from(number * 100_000).unwrap_or_default(),
        };
        let structure = &mut self.approved.structure;
        structure.changes.push(Change::Create(New::Feature(Feature {
            id: feature,
            name: name.to_owned(),
            label: name.to_owned(),
            config: Object::new(),
            is_shared: false,
            columns: Vec::new(),
            views: Vec::new(),
        })));
        structure.entry.created.push(Created {
            reference: work.feature_ref.clone(),
            kind: RecordKind::Feature,
            id: feature,
            name: name.to_owned(),
        });
        for column in &work.columns {
            let column = column.column.clone();
            structure
                .changes
                .push(Change::Create(New::Column { feature, column }));
        }
        self.approved.tables.push(work);
        self.rows.push(rows);
        self
    }

    /// An automation that goes live.
    pub(super) fn automation(mut self, name: &str) -> TestPlan {
        let workflow = id(0xA000 + self.approved.publish.len() as u128);
        let structure = &mut self.approved.structure;
        structure
            .changes
            .push(Change::Create(New::Workflow(Automation {
                id: workflow,
                name: name.to_owned(),
                trigger_config: Object::new(),
                graph_config: Object::new(),
                active: false,
                draft: true,
                has_draft: false,
            })));
        structure.entry.created.push(Created {
            reference: format!("w_{name}"),
            kind: RecordKind::Workflow,
            id: workflow,
            name: name.to_owned(),
        });
        structure.entry.pending_publishes.push(format!("w_{name}"));
        self.approved.publish.push(Publish {
            reference: format!("w_{name}"),
            id: workflow,
            name: name.to_owned(),
            draft: None,
            live: true,
        });
        self
    }

    /// Replaces the config of the workspace.
    pub(super) fn configured(mut self, state: &State, config: &str) -> TestPlan {
        let workspace = &state.structure.workspace;
        let after = Value::parse(config).expect("JSON");
        let structure = &mut self.approved.structure;
        structure.changes.push(Change::Configure {
            kind: RecordKind::Workspace,
            id: workspace.id,
            config: after.clone(),
        });
        structure.entry.replaced.push(ledger::ConfigChange {
            reference: "workspace".to_owned(),
            kind: RecordKind::Workspace,
            id: workspace.id,
            before: Value::Object(workspace.config.clone()),
            after,
        });
        self
    }

    /// A step that inserts rows into the table of that position.
    pub(super) fn inserts(mut self, table: usize, rows: &[&str]) -> TestPlan {
        let work = &self.approved.tables[table];
        let number = self.approved.row_steps.len();
        self.approved.row_steps.push(RowStep {
            uid: format!("step {number}"),
            tool: Tool::InsertRows,
            work: RowStepWork::Insert {
                feature_ref: work.feature_ref.clone(),
                feature: work.feature.expect("bound"),
                columns: work.columns.clone(),
                rows: rows.iter().map(|row| (*row).to_owned()).collect(),
                first_ordinal: 5_000_000,
            },
        });
        self
    }

    /// A step that changes rows, named by their numbers.
    pub(super) fn updates(mut self, table: &str, merge: bool, rows: &[(u32, &str)]) -> TestPlan {
        let number = self.approved.row_steps.len();
        let rows = rows.iter();
        self.approved.row_steps.push(RowStep {
            uid: format!("step {number}"),
            tool: Tool::BulkUpdateRows,
            work: RowStepWork::Update {
                feature_ref: Some(format!("f_{table}")),
                rows: rows
                    .map(|(number, data)| (uid(*number), (*data).to_owned()))
                    .collect(),
                merge,
            },
        });
        self
    }

    /// Rows of the table of that position enter by that mode.
    pub(super) fn mode(mut self, table: usize, mode: Mode) -> TestPlan {
        self.approved.tables[table].mode = mode;
        self
    }

    /// Rows of the table of that position do not enter.
    pub(super) fn left_out(mut self, table: usize) -> TestPlan {
        self.approved.tables[table].feature = None;
        self
    }

    /// What becomes of the cells of a column.
    pub(super) fn link(mut self, table: usize, column: usize, link: LinkWork) -> TestPlan {
        self.approved.tables[table].columns[column].link = link;
        self
    }

    /// Cells of a link hold identities that its rows have at the source.
    pub(super) fn by_source_identity(mut self, table: usize, column: usize) -> TestPlan {
        self.approved.tables[table].columns[column].source_identities = true;
        self
    }

    /// A later job of the same package: everything is bound, ids are fresh.
    pub(super) fn again(mut self) -> TestPlan {
        self.approved.structure = StructureWork::default();
        self.approved.publish.clear();
        self.approved.minter = Minter::at(jiff::Timestamp::UNIX_EPOCH, 8);
        self
    }

    /// Runs it.
    pub(super) fn try_run<T: Target>(
        &self,
        target: &mut T,
        earlier: &[Entry],
    ) -> Result<Report, super::ApplyError<T::Error>> {
        self.watched(target, earlier, &mut |_| {})
    }

    /// Runs it with reports of its progress.
    pub(super) fn watched<T: Target>(
        &self,
        target: &mut T,
        earlier: &[Entry],
        watch: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Report, super::ApplyError<T::Error>> {
        let texts: Vec<String> = self
            .rows
            .iter()
            .map(|rows| format!("[{}]", rows.join(",\n ")))
            .collect();
        let mut payloads: Vec<RawEntry<'_>> = texts.iter().map(|rows| entry(rows)).collect();
        for table in &self.approved.tables {
            payloads[table.entry].item_uid.clone_from(&table.uid);
        }
        ready(run(
            target,
            &self.approved,
            &payloads,
            earlier,
            Definitions::embedded(),
            watch,
        ))
    }

    /// Runs it to its end.
    pub(super) fn run(&self, memory: &mut Memory) -> Report {
        self.try_run(memory, &[]).expect("runs")
    }
}

/// A payload entry with that list of rows.
pub(super) fn entry(rows: &str) -> RawEntry<'_> {
    RawEntry {
        feature_ref: String::new(),
        item_uid: String::new(),
        key_column: None,
        key_unique: false,
        columns: Vec::new(),
        rows,
    }
}

/// The cells of a table, row by row.
pub(super) fn cells(memory: &Memory, table: usize) -> Vec<String> {
    let state = memory.state();
    let rows = state.rows.get(&id((table as u128 + 1) * 0x1000));
    let rows = rows.into_iter().flatten();
    rows.map(|row| row.data.as_str().to_owned()).collect()
}

/// A stored row.
pub(super) fn stored(number: u128, data: &str) -> StoredRow {
    StoredRow {
        id: id(number),
        data: RowData::trusted(data),
    }
}
