//! What a dependency was mapped to holds for the next version, whatever columns of it that one uses.

use serde_json::{Value as Json, json};

use super::super::world::{link, nothing};
use super::{Line, codes, request, updates, upgrade_body};
use crate::apply::test_packages::{Pack, checked, feature, id};
use crate::apply::{Request, Resolution};
use crate::context::{FixedClock, Seeded};
use crate::crashing::Memory;
use crate::definitions::Definitions;
use crate::simulate::{KnownJob, SimulatedUpgrade, UpgradeBase, simulate, upgrade};
use crate::workspace::memory::State;

/// Visits that show these columns of a table of the source, one each.
fn visits(columns: &[&'static str]) -> Json {
    let mut pack = Pack::new().table("visits");
    for column in columns {
        let name = format!("by_{column}");
        pack = pack.column("visits", &name, "linked_select", link("countries", column));
    }
    let items = (0..columns.len()).map(|at| 1001 + at);
    let paths = ["config.linkedFeatureId", "config.linkedValueColumn"];
    let uses: Vec<(usize, &str)> = items
        .flat_map(|item| paths.map(|path| (item, path)))
        .collect();
    let mut pack = pack.far_table("countries", columns, false, &uses);
    pack.external = vec!["f_countries"];
    pack.external.extend(columns.iter().map(|name| match *name {
        "iso" => "c_countries_iso",
        _ => "c_countries_name",
    }));
    serde_json::from_str(&pack.text()).expect("JSON")
}

/// Lands stand for countries here, with both columns.
fn mapping() -> Json {
    let columns = json!({"c_countries_iso": id(11), "c_countries_name": id(12)});
    json!({"resolutions": {"f_countries": {"action": "map", "id": id(10), "columns": columns}}})
}

/// A workspace with lands.
fn with_lands() -> State {
    let mut state = nothing();
    let columns = [(11, "code", "textfield"), (12, "title", "textfield")];
    state
        .structure
        .features
        .push(feature(10, "lands", &columns));
    state
}

/// The version that shows both columns, mapped.
fn mapped() -> Line {
    let mut line = Line {
        memory: Memory::new(with_lands()),
        ..Line::empty()
    };
    let body = mapping().to_string();
    line.apply(&visits(&["iso", "name"]), &body);
    line.resolutions = request(&body).resolutions;
    line
}

#[test]
fn a_column_that_the_package_does_not_use_any_more_is_no_fault_of_the_body() {
    let mut line = mapped();
    let new = visits(&["iso"]);
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!((codes(&plan.refusals), updates(&plan)), (vec![], vec![]));
    line.upgrade(&new, &Json::Null);
}

#[test]
fn a_column_that_nobody_mapped_is_asked_for() {
    let mut line = mapped();
    let Some(Resolution::Map { columns, .. }) = line.resolutions.get_mut("f_countries") else {
        panic!("{:?}", line.resolutions)
    };
    columns.shift_remove("c_countries_name");
    let plan = line.plan(&visits(&["name"]), &upgrade_body(&Json::Null));
    assert_eq!(codes(&plan.refusals), ["mapping_columns_incomplete"]);
    assert_eq!(
        plan.refusals[0].reference.as_deref(),
        Some("c_countries_name")
    );
    let mut body = mapping();
    body["upgrade"] = true.into();
    body["resolutions"]["f_countries"]["columns"] = json!({"c_countries_name": id(12)});
    let plan = line.plan(&visits(&["name"]), &body.to_string());
    assert_eq!(codes(&plan.refusals), [""; 0]);
}

/// The version that shows both columns, with other refs for the table and them.
fn with_refs(name: &str) -> String {
    let text = visits(&["iso", "name"]).to_string();
    let text = text.replace("f_countries", &format!("f_{name}"));
    text.replace("c_countries_", &format!("c_{name}_"))
}

#[test]
fn columns_under_other_refs_are_known_by_name() {
    let line = mapped();
    let new: Json = serde_json::from_str(&with_refs("states")).expect("JSON");
    let plan = line.plan(&new, &upgrade_body(&Json::Null));
    assert_eq!((codes(&plan.refusals), updates(&plan)), (vec![], vec![]));
}

#[test]
fn a_column_that_the_destination_has_lost_is_no_fault_of_the_body() {
    let mut line = mapped();
    let Some(Resolution::Map { leave_empty, .. }) = line.resolutions.get_mut("f_countries") else {
        panic!("{:?}", line.resolutions)
    };
    leave_empty.push("gone".to_owned());
    let plan = line.plan(&visits(&["iso", "name"]), &upgrade_body(&Json::Null));
    assert_eq!(codes(&plan.refusals), [""; 0]);
}

#[test]
fn what_an_upgrade_took_over_under_other_refs_holds_for_the_next_one() {
    let definitions = Definitions::embedded();
    let (clock, ids) = (FixedClock(jiff::Timestamp::UNIX_EPOCH), &mut Seeded::new(7));
    let first = visits(&["iso", "name"]).to_string();
    let later = [with_refs("states"), with_refs("lands")];
    let body = request(&mapping().to_string());
    let package = checked(&first);
    let done = simulate(&package, "", &body, with_lands(), definitions, &clock, ids);
    let done = done.expect("applied");
    let mut state = done.applied;
    let mut jobs = vec![KnownJob {
        package,
        request: body,
        ledger: done.written,
    }];
    for text in &later {
        let package = checked(text);
        let asked = request(&upgrade_body(&Json::Null));
        let question = SimulatedUpgrade {
            package: &package,
            package_digest: "",
            request: &asked,
            base: UpgradeBase::Jobs(&jobs),
            definitions,
        };
        let done = upgrade(question, state.clone(), &mut |_| {}, &clock, ids);
        let done = done.expect("upgraded");
        assert!(updates(&done.preview).is_empty(), "{:#?}", done.preview);
        assert!(!done.again_changed && done.restored);
        let mut kept = done.resolutions.values();
        assert!(kept.all(|one| matches!(one, Resolution::Map { .. })));
        state = done.applied;
        jobs.push(KnownJob {
            package,
            request: Request {
                resolutions: done.resolutions,
                ..asked
            },
            ledger: done.written,
        });
    }
}
