//! Upgrades in memory: a package applied, people who work on, and the next version of the package.

mod absent_orders;
mod adopted;
mod automations;
mod based;
mod configs;
mod dangling;
mod decisions;
mod drift;
mod dropped;
mod exchanged;
mod files;
mod followed;
mod found;
mod gone_targets;
mod held_mappings;
mod hidden;
mod imported;
mod invalid_together;
mod killed;
mod laid_out;
mod laws;
mod leaves;
mod legacy_jobs;
mod linked_values;
mod measured;
mod moved;
mod namesakes;
mod removed;
mod renamed;
mod rows;
mod undone;
mod undone_orders;
mod unfit_cells;
mod unlinked;
mod values;

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::world::{link, nothing, person, points};
use crate::apply::test_packages::{Pack, checked, request, uid};
use crate::apply::{
    BasePackage, JobHistory, LegacyJob, LineJob, Minter, Preview, PreviewInput, Refusal, Report,
    Request, Resolutions, ResolveInput, RowBase, UNDO_UNIT, UndoProgress, decide_from, preview,
    run_from, undo_in_units,
};
use crate::check::Checked;
use crate::crashing::Memory;
use crate::definitions::Definitions;
use crate::json::Value;
use crate::workspace::ledger::{Entry, MovedLeaf, is_unnoted};
use crate::workspace::{
    AnyRecord, Change, Id, RecordKind, RowData, RowWrite, Source as _, StoredRow, ready,
};

/// The first version: clients with a city, orders that point at them, a view, an automation, a module
/// with two navigation entries. Clients are reference data.
fn v1() -> Json {
    let flow = json!({"workspaceId": "$workspace", "name": "Flow", "label": "Flow", "triggerConfig": {"type": "manual"}, "graphConfig": {"steps": [
        {"key": "feature.read", "id": "stp_aaaaaaaaaaaa", "name": "Read", "config": {"featureId": "$f_orders"}},
        {"key": "feature.write", "id": "stp_bbbbbbbbbbbb", "config": {"mode": "insert", "targetFeatureId": "$f_clients", "bindings": [{"targetColumn": "$c_clients_name", "value": "x"}]}}]}, "isDraft": true, "published": true});
    let rail = |name: &str| json!({"moduleId": "$m_m", "name": name, "label": name, "order": if name == "r" { 1 } else { 2 }, "config": [{"views": ["$v_orders"]}]});
    let pack = Pack::new()
        .table("clients")
        .table("orders")
        .column("clients", "name", "text", json!(null))
        .column("clients", "city", "text", json!({"required": false}))
        .column("clients", "note", "text", json!(null))
        .column("orders", "code", "text", json!(null))
        .column("orders", "client", "linked_select", link("clients", "name"))
        .view(
            "orders",
            json!({"visibleColumns": ["$c_orders_code", "$c_orders_client"]}),
        )
        .create("create_workflow_v2", "w_flow", flow)
        .create(
            "create_module",
            "m_m",
            json!({"workspaceId": "$workspace", "name": "m", "label": "m", "icon": "box"}),
        )
        .create("create_rail", "r_r", rail("r"))
        .create("create_rail", "r_s", rail("s"))
        .step(
            "update_workspace",
            json!({"workspaceId": "$workspace", "config": {"defaultModuleId": "$m_m"}}),
        )
        .rows(
            "clients",
            Some("name"),
            &[
                (
                    json!({"name": "A", "city": "Bonn", "note": "1"}),
                    Json::Null,
                ),
                (
                    json!({"name": "B", "city": "Kiel", "note": "2"}),
                    Json::Null,
                ),
                (
                    json!({"name": "C", "city": "Jena", "note": "3"}),
                    Json::Null,
                ),
            ],
        )
        .rows(
            "orders",
            Some("code"),
            &[(
                json!({"code": "1", "client": "A"}),
                json!({"client": points(6000, "clients", "name")}),
            )],
        );
    serde_json::from_str(&pack.text()).expect("JSON")
}

/// The same with changes.
fn v2(change: impl FnOnce(&mut Json)) -> Json {
    let mut package = v1();
    change(&mut package);
    package
}

/// The args of a step by its ref.
fn args<'j>(package: &'j mut Json, reference: &str) -> &'j mut Json {
    let steps = package["manifest"]["plan"]["steps"]
        .as_array_mut()
        .expect("steps");
    let mut steps = steps.iter_mut();
    let step = steps.find(|step| step["ref"] == reference).expect("a step");
    &mut step["args"]
}

/// Takes a thing out of a package.
fn without(package: &mut Json, reference: &str) {
    let other = |one: &Json| one["ref"] != reference;
    let steps = package["manifest"]["plan"]["steps"]
        .as_array_mut()
        .expect("steps");
    steps.retain(other);
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    items.retain(other);
}

/// Adds what a create step makes, with its item.
#[expect(clippy::needless_pass_by_value, reason = "`json!(…)` reads better")]
fn with(package: &mut Json, tool: &str, reference: &str, args: Json) {
    let kind = tool.trim_start_matches("create_");
    let parent = args["featureId"].as_str().or(args["moduleId"].as_str());
    let items = package["manifest"]["items"].as_array_mut().expect("items");
    let mut item = json!({"uid": uid(1900 + items.len()), "kind": kind, "ref": reference, "label": args["label"]});
    if let Some(parent) = parent.map(|parent| parent.trim_start_matches('$')) {
        let of = items
            .iter()
            .find(|one| one["ref"] == parent)
            .expect("a parent");
        item["parent"] = of["uid"].clone();
    }
    items.push(item);
    let steps = package["manifest"]["plan"]["steps"]
        .as_array_mut()
        .expect("steps");
    // Columns before what shows them, views before what opens them, everything else at the end.
    let before = match tool {
        "create_column" => "create_view",
        "create_view" => "create_workflow_v2",
        "create_module" => "create_rail",
        _ => "update_workspace",
    };
    let place = steps.iter().position(|step| step["tool"] == before);
    let place = place.unwrap_or(steps.len());
    let uid = uid(900 + steps.len());
    steps.insert(
        place,
        json!({"uid": uid, "tool": tool, "ref": reference, "args": args}),
    );
}

/// The package without rows.
fn rowless(mut package: Json) -> Json {
    package["payloads"] = json!([]);
    let items = package["manifest"]["items"].as_array_mut();
    items.expect("items").retain(|item| item["kind"] != "rows");
    package
}

/// The cells of a row of clients in a package.
fn client(package: &mut Json, at: usize) -> &mut Json {
    &mut package["payloads"][0]["rows"][at]["data"]
}

/// A workspace with what was applied to it.
struct Line {
    memory: Memory,
    /// Completed jobs: package, ledger, and whether rows were compared.
    jobs: Vec<(String, Vec<Entry>, bool)>,
    nonce: u64,
    resolutions: Resolutions,
}

/// An empty workspace that returns one row at a time, as a store does whose rows are large.
fn large() -> Memory {
    let mut memory = Memory::new(nothing());
    memory.limit_lookups(1);
    memory
}

impl Line {
    /// The first version, applied to an empty workspace.
    fn new() -> Line {
        Line::of(&v1())
    }

    /// A package, applied to an empty workspace.
    fn of(package: &Json) -> Line {
        let mut line = Line::empty();
        line.apply(package, "{}");
        line
    }

    /// An empty workspace.
    fn empty() -> Line {
        Line {
            memory: large(),
            jobs: Vec::new(),
            nonce: 0,
            resolutions: Resolutions::new(),
        }
    }

    /// The ledgers as they were written before ledgers held the base.
    fn forget_base(&mut self) {
        for (_, ledger, _) in &mut self.jobs {
            ledger.retain(|entry| !matches!(entry, Entry::Cells(_)));
            for entry in ledger {
                if let Entry::Structure(structure) = entry {
                    structure.base.clear();
                }
            }
        }
    }

    fn past<R>(&self, then: impl FnOnce(JobHistory<'_>) -> R) -> R {
        let entries: Vec<Entry> = self
            .jobs
            .iter()
            .flat_map(|(_, ledger, _)| ledger.clone())
            .collect();
        let packages: Vec<Checked<'_>> = self.jobs.iter().map(|(text, ..)| checked(text)).collect();
        let mut legacy_jobs = Vec::new();
        let mut jobs = Vec::new();
        let mut end = 0;
        for ((text, ledger, compared), package) in self.jobs.iter().zip(&packages) {
            let start = end;
            end += ledger.len();
            jobs.push(LineJob {
                package,
                entries: start..end,
                compares_rows: *compared,
            });
            if is_unnoted(ledger) {
                let mut package = checked(text);
                package.payloads.clear();
                legacy_jobs.push(LegacyJob {
                    entries: start..end,
                    package,
                    resolutions: &self.resolutions,
                });
            }
        }
        let rows = RowBase::of_line(&entries, jobs);
        then(JobHistory {
            entries: &entries,
            base: packages.last().map(|package| BasePackage {
                job: None,
                package,
                resolutions: &self.resolutions,
                legacy_jobs: &legacy_jobs,
                rows: &rows,
            }),
        })
    }

    /// What would be done.
    fn plan(&self, package: &Json, body: &str) -> Preview {
        let text = package.to_string();
        let package = checked(&text);
        let structure = ready(self.memory.structure()).expect("a structure");
        self.past(|past| {
            let input = PreviewInput {
                package: &package,
                package_digest: "",
                request: &request(body),
                earlier: past.entries,
                base: past.base,
                definitions: Definitions::embedded(),
            };
            let plan = ready(preview(&self.memory, &structure, input)).expect("a plan");
            // What there is not yet has no id that anybody could look up.
            let text = serde_json::to_string(&plan).expect("JSON");
            let minter = Minter::at(Timestamp::UNIX_EPOCH, 0);
            let ids = text.split('"').filter_map(|part| Id::try_parse(part).ok());
            let mut placeholders = ids.filter(|id| minter.minted(*id));
            assert_eq!(placeholders.next(), None, "{text}");
            plan
        })
    }

    /// One job, from its start to its end, whatever its plan says.
    fn apply(&mut self, package: &Json, body: &str) -> Report {
        self.carry_out(package, &request(body))
    }

    /// The same by the decisions of a plan, while people may have come since.
    fn apply_planned(&mut self, package: &Json, body: &str, plan: Preview) -> Report {
        let mut request = request(body);
        request.terms.planned = Some(plan.seen);
        self.carry_out(package, &request)
    }

    fn carry_out(&mut self, package: &Json, request: &Request) -> Report {
        let text = package.to_string();
        let report = {
            let package = checked(&text);
            let structure = ready(self.memory.structure()).expect("a structure");
            self.nonce += 1;
            let minter = Minter::at(Timestamp::UNIX_EPOCH, 0xABC_0000 + self.nonce);
            let mut memory = std::mem::replace(&mut self.memory, Memory::new(nothing()));
            let report = self.past(|past| {
                let definitions = Definitions::embedded();
                let decided = decide_from(
                    &memory,
                    ResolveInput {
                        package: &package,
                        request,
                        destination: &structure,
                        past,
                        definitions,
                    },
                    minter,
                );
                let approved = ready(decided).expect("decided").expect("approved");
                let payloads = &package.payloads;
                let mut unwatched = |_| {};
                let ran = run_from(
                    &mut memory,
                    &approved,
                    payloads,
                    past,
                    definitions,
                    &mut unwatched,
                );
                ready(ran).expect("a report")
            });
            self.memory = memory;
            report
        };
        let ledger = self.memory.next_job();
        let compared = request.compares_rows();
        self.jobs.push((text, ledger, compared));
        report
    }

    /// An upgrade that nothing is against.
    fn upgrade(&mut self, package: &Json, decisions: &Json) -> Report {
        let body = upgrade_body(decisions);
        let plan = self.plan(package, &body);
        assert_eq!(plan.refusals, [], "{plan:#?}");
        self.apply(package, &body)
    }

    /// Takes a job back that others came after.
    fn undo_at(&mut self, at: usize) {
        let (_, ledger, _) = self.jobs.remove(at);
        self.memory.take_up(ledger);
        let mut go_on = |_| true;
        let undone = undo_in_units(&mut self.memory, false, UNDO_UNIT, &mut go_on);
        assert!(matches!(ready(undone), Ok(UndoProgress::Done(_))));
        self.memory.next_job();
    }

    /// Takes the last job back.
    fn undo(&mut self, force: bool) -> Result<Vec<MovedLeaf>, String> {
        let (text, ledger, compared) = self.jobs.pop().expect("a job");
        self.memory.take_up(ledger.clone());
        let mut go_on = |_| true;
        let undone = undo_in_units(&mut self.memory, force, UNDO_UNIT, &mut go_on);
        let undone = match ready(undone) {
            Ok(UndoProgress::Done(left)) => Ok(left),
            Ok(UndoProgress::Paused) => Err("paused".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        self.memory.next_job();
        if undone.is_err() {
            self.jobs.push((text, ledger, compared));
        }
        undone
    }

    /// A record by its name.
    fn thing(&self, kind: RecordKind, name: &str) -> Option<AnyRecord> {
        let structure = self.memory.state().structure;
        let parents = structure.features.iter().map(|feature| feature.id);
        let parents = parents.chain(structure.modules.iter().map(|module| module.id));
        let parents = std::iter::once(None).chain(parents.map(Some));
        let mut all = parents.flat_map(|parent| AnyRecord::siblings(&structure, kind, parent));
        all.find(|thing| thing.name == name)
    }

    fn get(&self, kind: RecordKind, name: &str) -> AnyRecord {
        self.thing(kind, name).expect("a record")
    }

    /// People change a record.
    fn edit(&mut self, kind: RecordKind, name: &str, change: impl FnOnce(&mut AnyRecord)) {
        let from = self.get(kind, name);
        let mut to = from.clone();
        change(&mut to);
        let (from, to) = (Box::new(from), Box::new(to));
        person(&mut self.memory, vec![Change::Update { from, to }]);
    }

    /// People change the workspace.
    fn edit_workspace(&mut self, change: impl FnOnce(&mut AnyRecord)) {
        let structure = self.memory.state().structure;
        let from = AnyRecord::of_workspace(&structure.workspace);
        let mut to = from.clone();
        change(&mut to);
        let (from, to) = (Box::new(from), Box::new(to));
        person(&mut self.memory, vec![Change::Update { from, to }]);
    }

    /// People take a record away.
    fn remove(&mut self, kind: RecordKind, name: &str) {
        let id = self.get(kind, name).id;
        let force = true;
        person(&mut self.memory, vec![Change::Remove { kind, id, force }]);
    }

    /// The cells of clients, row by row.
    fn clients(&self) -> Vec<String> {
        super::world::cells(&self.memory, "clients")
    }

    fn client_row(&self, at: usize) -> (Id, Id) {
        let feature = self.get(RecordKind::Feature, "clients").id;
        let rows = &self.memory.state().rows[&feature];
        (feature, rows[at].id)
    }

    /// People add a row to a table.
    fn insert(&mut self, table: &str, data: &str) -> Id {
        let feature = self.get(RecordKind::Feature, table).id;
        let count = self.memory.state().rows.get(&feature).map_or(0, Vec::len);
        let id = Id::from_u128(u128::MAX - 1000 + count as u128);
        let data = RowData::parse(data).expect("cells");
        let rows = vec![StoredRow { id, data }];
        person(&mut self.memory, vec![Change::InsertRows { feature, rows }]);
        id
    }

    /// People change cells of a client.
    fn cells(&mut self, at: usize, cells: &Json) {
        let (feature, id) = self.client_row(at);
        let write = RowWrite {
            id,
            cells: RowData::parse(&cells.to_string()).expect("cells"),
            replace: false,
            digest: None,
        };
        let rows = vec![write];
        person(&mut self.memory, vec![Change::UpdateRows { feature, rows }]);
    }
}

/// The body of an upgrade.
fn upgrade_body(decisions: &Json) -> String {
    let mut body = json!({"upgrade": true});
    if *decisions != Json::Null {
        body["decisions"] = decisions.clone();
    }
    body.to_string()
}

fn label(text: &str) -> impl FnOnce(&mut AnyRecord) {
    let text = text.to_owned();
    move |thing| thing.label = Some(text)
}

fn config(key: &str, value: &Json) -> impl FnOnce(&mut AnyRecord) {
    let (key, value) = (
        key.to_owned(),
        Value::parse(&value.to_string()).expect("JSON"),
    );
    move |thing| {
        if let Value::Object(config) = &mut thing.config {
            config.insert(key, value);
        }
    }
}

/// Conflicts of a plan: code, ref and path.
fn conflicts(plan: &Preview) -> Vec<(&'static str, &str, &str)> {
    let conflicts = plan.conflicts.iter();
    conflicts
        .map(|one| {
            (
                one.code.as_str(),
                one.reference.as_str(),
                one.path.as_deref().unwrap_or_default(),
            )
        })
        .collect()
}

/// Leaves that a plan changes: ref and path.
fn updates(plan: &Preview) -> Vec<(&str, &str)> {
    let updates = plan.update.iter();
    updates
        .map(|one| (one.reference.as_str(), one.path.as_str()))
        .collect()
}

/// What a plan keeps: ref and path.
fn kept(plan: &Preview) -> Vec<(&str, &str)> {
    let kept = plan.kept.iter();
    kept.map(|one| {
        (
            one.reference.as_str(),
            one.path.as_deref().unwrap_or_default(),
        )
    })
    .collect()
}

fn codes(refusals: &[Refusal]) -> Vec<&'static str> {
    refusals
        .iter()
        .map(|refusal| refusal.code.as_str())
        .collect()
}
