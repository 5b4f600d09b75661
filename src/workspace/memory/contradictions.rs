//! Finds contradictions in a workspace file.

use std::collections::{HashMap, HashSet};

use super::State;
use crate::workspace::{Id, RecordKind};

/// Everything that is wrong, in the order of the file.
pub(super) fn contradictions(state: &State) -> Vec<String> {
    let mut found = Contradictions::default();
    let structure = &state.structure;
    let workspaces = std::iter::once(&structure.workspace).chain(&state.other_workspaces);
    found.records(RecordKind::Workspace, "", workspaces.map(|w| (w.id, None)));
    let modules = structure.modules.iter();
    found.records(
        RecordKind::Module,
        "",
        modules.map(|m| (m.id, Some(m.name.as_str()))),
    );
    for module in &structure.modules {
        let rails = module.rails.iter();
        let within = format!(" in the module {:?}", module.name);
        found.records(
            RecordKind::Rail,
            &within,
            rails.map(|r| (r.id, Some(r.name.as_str()))),
        );
    }
    let features = structure.features.iter();
    found.records(
        RecordKind::Feature,
        "",
        features.map(|f| (f.id, Some(f.name.as_str()))),
    );
    // Shared tables are of many workspaces, each of which names its own.
    let shared = structure.shared.iter();
    found.records(RecordKind::Feature, "", shared.map(|f| (f.id, None)));
    for feature in structure.features.iter().chain(&structure.shared) {
        let within = format!(" in the table {:?}", feature.name);
        let columns = feature.columns.iter();
        found.records(
            RecordKind::Column,
            &within,
            columns.map(|c| (c.id, Some(c.name.as_str()))),
        );
        let views = feature.views.iter();
        found.records(
            RecordKind::View,
            &within,
            views.map(|v| (v.id, Some(v.name.as_str()))),
        );
    }
    let automations = structure.automations.iter();
    found.records(RecordKind::Workflow, "", automations.map(|a| (a.id, None)));
    for (table, rows) in &state.rows {
        if found.ids.get(table) != Some(&RecordKind::Feature) {
            found.faults.push(format!(
                "`rows` has rows of {table}, which is not a table of the file"
            ));
        }
        for pair in rows.windows(2).filter(|pair| pair[0].id == pair[1].id) {
            let row = pair[0].id;
            found
                .faults
                .push(format!("the row {row} appears twice in the table {table}"));
        }
    }
    for column in state.sequences.keys() {
        if found.ids.get(column) != Some(&RecordKind::Column) {
            found.faults.push(format!(
                "`sequences` names {column}, which is not a column of the file"
            ));
        }
    }
    found.faults
}

#[derive(Default)]
struct Contradictions {
    /// What each id is of: the first record that has it.
    ids: HashMap<Id, RecordKind>,
    seen: HashSet<Id>,
    faults: Vec<String>,
}

impl Contradictions {
    /// Records of one kind in one parent: ids differ from all others, names from each other.
    fn records<'n>(
        &mut self,
        kind: RecordKind,
        within: &str,
        records: impl Iterator<Item = (Id, Option<&'n str>)>,
    ) {
        let mut names = HashSet::new();
        for (id, name) in records {
            let first = *self.ids.entry(id).or_insert(kind);
            if !self.seen.insert(id) {
                let (one, other) = (first.noun(), kind.noun());
                let fault = format!("{id} is the id of two records: {one} and {other}");
                self.faults.push(fault);
            }
            if let Some(name) = name.filter(|name| !names.insert(*name)) {
                let kind = kind.noun();
                let fault = format!("the name {name:?} ({kind}) appears twice{within}");
                self.faults.push(fault);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::workspace::memory::State;

    const A: &str = "00000000-0000-4000-8000-00000000000a";
    const B: &str = "00000000-0000-4000-8000-00000000000b";
    const C: &str = "00000000-0000-4000-8000-00000000000c";

    fn file() -> Json {
        json!({
            "structure": {
                "organization": {"id": "00000000-0000-4000-8000-000000000001"},
                "workspace": {"id": "00000000-0000-4000-8000-000000000002", "name": "w", "label": "W"},
                "modules": [],
                "features": [{"id": A, "name": "t", "label": "T", "columns": [
                    {"id": B, "name": "c", "label": "C", "type": "text", "defaultComponent": "textfield", "order": 1}]}],
                "automations": [],
            },
            "rows": {A: [{"id": C, "data": {"c": 1}}, {"id": B, "data": {}}]},
        })
    }

    fn load(change: impl FnOnce(&mut Json)) -> Result<State, String> {
        let mut file = file();
        change(&mut file);
        State::load(&file.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_by_hand_is_read_and_its_rows_are_sorted() {
        let state = load(|_| {}).expect("a workspace");
        let rows: Vec<String> = state
            .rows
            .values()
            .flatten()
            .map(|row| row.id.to_string())
            .collect();
        assert_eq!(rows, [B, C]);
    }

    #[test]
    fn what_contradicts_itself_is_refused_all_at_once() {
        let error = load(|file| {
            let column = file["structure"]["features"][0]["columns"][0].clone();
            let columns = file["structure"]["features"][0]["columns"]
                .as_array_mut()
                .expect("a list");
            columns.push(column);
            file["structure"]["automations"] =
                json!([{"id": A, "name": "f", "triggerConfig": {}, "graphConfig": {}}]);
            file["rows"][A][0]["id"] = B.into();
            file["rows"][C] = json!([{"id": A, "data": {}}]);
            file["sequences"] = json!({A: 2});
        });
        let expected = format!(
            "the workspace contradicts itself: {B} is the id of two records: column and column; \
             the name \"c\" (column) appears twice in the table \"t\"; \
             {A} is the id of two records: table and automation; \
             the row {B} appears twice in the table {A}; \
             `rows` has rows of {C}, which is not a table of the file; \
             `sequences` names {A}, which is not a column of the file"
        );
        assert_eq!(error.expect_err("refused"), expected);
    }

    #[test]
    fn other_shapes_are_refused_with_their_place() {
        let workspace = "/structure/workspace";
        for (message, place, key, value) in [
            ("unknown field `colour`", workspace, "colour", json!("red")),
            ("invalid type: null", workspace, "label", json!(null)),
            ("unknown field `row`", "", "row", json!({})),
            ("unknown field `feature`", "/rows/A/0", "feature", json!(A)),
            ("a row's data is an object", "/rows/A/0", "data", json!([1])),
        ] {
            let change = |file: &mut Json| {
                let place = file.pointer_mut(&place.replace("/A/", &format!("/{A}/")));
                place.expect("there")[key] = value;
            };
            let error = load(change).expect_err("refused");
            assert!(error.starts_with("not a workspace file: "), "{error}");
            assert!(
                error.contains(message) && error.contains("line 1"),
                "{error}"
            );
        }
        for text in ["", "[]", "{", "null", "{\"structure\":1}"] {
            assert!(State::load(text).is_err(), "{text}");
        }
    }
}
