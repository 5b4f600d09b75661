//! Packages to apply, and what the library's workspace in memory makes of them: what the store must provide.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tplkit::apply::{JobHistory, Minter, Report, Request, Resolution, ResolveInput, resolve, run};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::json::{Object, Value};
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Automation, Column, Id, RowData, Source as _, ready};
use tplkit_server::context::Context;
use tplkit_server::jobs::{New, PackedPart};
use tplkit_testkit::packaged::packaged;
use tplkit_testkit::random::large;
use uuid::Uuid;

use super::fixtures;

/// A package, and how it is to be applied.
pub(super) struct Package {
    pub(super) text: String,
    pub(super) request: Request,
}

impl Package {
    /// All of a workspace. What the package uses and does not bring is created where it has a
    /// blueprint and skipped where it has none.
    pub(super) fn of(state: State) -> Package {
        let text = packaged(state).expect("exports");
        let mut request = Request::default();
        for dependency in Checked::trusted(&text)
            .expect("reads")
            .manifest
            .dependencies()
        {
            let resolution = match dependency.blueprint {
                Some(_) => Resolution::Import,
                None => Resolution::Skip,
            };
            let reference = dependency.reference.clone();
            request.resolutions.insert(reference, resolution);
        }
        Package { text, request }
    }

    /// Gives every automation the same four steps, of which one has an id.
    pub(super) fn nest_steps_without_ids(&mut self) {
        let delay = json!({"key": "delay", "config": {"seconds": 0}});
        let decision = json!({"key": "ifElse", "config": {
            "condition": {"subject": "expression", "expression": "{{sys.today}}", "op": "isNotEmpty"},
            "then": [delay.clone()], "else": [delay.clone()]}});
        let named = json!({"key": "delay", "id": "stp_thisonestays", "config": {"seconds": 0}});
        let mut envelope: serde_json::Value = serde_json::from_str(&self.text).expect("JSON");
        let steps = envelope["manifest"]["plan"]["steps"].as_array_mut();
        for step in steps.expect("steps") {
            if step["tool"] == "create_workflow_v2" {
                step["args"]["graphConfig"] = json!({"steps": [decision.clone(), named.clone()]});
            }
        }
        self.text = envelope.to_string();
    }

    /// Has every column of texts searched.
    pub(super) fn search_texts(&mut self) {
        let mut envelope: serde_json::Value = serde_json::from_str(&self.text).expect("JSON");
        let steps = envelope["manifest"]["plan"]["steps"].as_array_mut();
        for step in steps.expect("steps") {
            let is_text = ["text", "long_text"].map(|kind| step["args"]["type"] == kind);
            if step["tool"] == "create_column" && is_text.contains(&true) {
                step["args"]["config"]["search"] = json!(true);
            }
        }
        self.text = envelope.to_string();
    }

    /// The manifest and the payload entries, as a job keeps them.
    pub(super) fn parts(&self) -> Vec<PackedPart> {
        #[derive(Deserialize)]
        struct Envelope {
            manifest: Box<RawValue>,
            #[serde(default)]
            payloads: Vec<Box<RawValue>>,
        }
        let envelope: Envelope = serde_json::from_str(&self.text).expect("an envelope");
        let all = std::iter::once(&envelope.manifest).chain(&envelope.payloads);
        all.map(|part| PackedPart::pack(part.get())).collect()
    }

    /// A job that applies it to a workspace.
    pub(super) fn job(&self, context: &Context, organization: Uuid, workspace: Uuid) -> New {
        New {
            request: self.request.clone(),
            parts: self.parts(),
            ..fixtures::new(context, organization, workspace)
        }
    }

    /// What an apply to an empty workspace comes to.
    pub(super) fn expected(&self, state: State, minter: Minter) -> (Memory, Report) {
        let package = Checked::trusted(&self.text).expect("reads");
        let mut memory = Memory::new(state);
        let structure = ready(memory.structure()).expect("reads");
        let definitions = Definitions::embedded();
        let approved = resolve(
            ResolveInput {
                package: &package,
                request: &self.request,
                destination: &structure,
                past: JobHistory::default(),
                definitions,
            },
            minter,
        );
        let approved = approved.expect("can be applied");
        let (payloads, mut watch) = (&package.payloads, |_| {});
        let ran = run(
            &mut memory,
            &approved,
            payloads,
            &[],
            definitions,
            &mut watch,
        );
        let report = ready(ran).expect("is applied");
        (memory, report)
    }
}

/// Tables with links of every kind (to the table before, to many, to themselves, in a circle), minted
/// identities and sequences that were given in part, and three automations that go live.
pub(super) fn everything(tables: usize, rows: usize) -> Package {
    let mut state = large(7, tables, rows);
    let mut number = 1_u128 << 64;
    let mut id = || {
        number += 1;
        Id::from_u128((0x7_u128 << 76) | (0b10 << 62) | number)
    };
    let last = state.structure.features.len() - 1;
    let last = (
        state.structure.features[last].id,
        state.structure.features[last].columns[1].name.clone(),
    );
    let codes: Vec<String> = state.rows[&last.0]
        .iter()
        .map(|row| row.data.cell(&last.1).expect("a code").to_owned())
        .collect();
    for (table, feature) in state.structure.features.iter_mut().enumerate() {
        let config = Object::from_iter([("idType".to_owned(), "sequence".into())]);
        let sequence = column(id(), "running", ("number", "id"), 90, config);
        state.sequences.insert(sequence.id, rows as u64 + 1);
        feature.columns.push(sequence);
        if table == 0 {
            let config = Object::from_iter([
                ("linkedFeatureId".to_owned(), last.0.to_string().into()),
                ("linkedValueColumn".to_owned(), last.1.as_str().into()),
            ]);
            let back = column(id(), "back", ("linked_select", "linkfield"), 91, config);
            feature.columns.push(back);
        }
        let stored = state.rows.get_mut(&feature.id).expect("rows");
        for (at, row) in stored.iter_mut().enumerate() {
            let mut more = String::new();
            if at % 2 == 0 {
                more += &["\"running\":", &(at + 1).to_string(), ","].concat();
            }
            if table == 0 {
                more += &["\"back\":", &codes[at % codes.len()], ","].concat();
            }
            let data = format!("{{{more}{}", &row.data.as_str()[1..]);
            row.data = RowData::parse(&data).expect("JSON");
        }
    }
    for name in ["one", "two", "three"] {
        state.structure.automations.push(Automation {
            id: id(),
            name: name.to_owned(),
            trigger_config: Object::from_iter([("type".to_owned(), "manual".into())]),
            graph_config: Object::from_iter([("steps".to_owned(), Value::List(Vec::new()))]),
            active: true,
            draft: false,
            has_draft: false,
        });
    }
    Package::of(state)
}

fn column(id: Id, name: &str, of: (&str, &str), order: i64, config: Object) -> Column {
    Column {
        id,
        name: name.to_owned(),
        label: name.to_owned(),
        column_type: of.0.to_owned(),
        default_component: of.1.to_owned(),
        order,
        config,
    }
}
