//! Test packages built with few words, and destinations to apply them to.
#![expect(
    clippy::needless_pass_by_value,
    reason = "`json!(…)` reads better without a `&` before it"
)]

mod pack;

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::apply::{Approved, JobHistory, Minter, Refusal, Request, ResolveInput, resolve};
use crate::check::{CheckOptions, Checked, NotChecked};
use crate::definitions::Definitions;
use crate::json::{Object, Value};
use crate::problem::Code;
use crate::workspace::ledger::Entry;
use crate::workspace::memory::{Memory, State};
use crate::workspace::{
    Channel, Column, Connection, Feature, Id, Progress, Structure, Target as _, Unit, View, ready,
};

pub(in crate::apply) use pack::{Pack, uid};

pub(in crate::apply) fn id(number: u128) -> Id {
    Id::from_u128((0x7_u128 << 76) | (0b10 << 62) | number)
}

/// Reads a package that has to be good.
pub(in crate::apply) fn checked(text: &str) -> Checked<'_> {
    match Checked::read(text, &CheckOptions::default()) {
        Ok(checked) => checked,
        Err(NotChecked::Errors(report)) => {
            let errors: Vec<_> = report
                .findings
                .iter()
                .map(|f| format!("{} {}", f.rule.code, f.message))
                .collect();
            panic!("{errors:#?}")
        }
        Err(other) => panic!("{other}"),
    }
}

/// An empty workspace.
pub(in crate::apply) fn empty() -> Structure {
    State::empty(id(1), id(2), "here", "Here").structure
}

/// A workspace with a table `clients` (`id`, `name`), a shared table, a channel and a connection.
pub(in crate::apply) fn furnished() -> Structure {
    let mut structure = empty();
    structure.features.push(feature(
        10,
        "clients",
        &[(11, "id", "id"), (12, "name", "textfield")],
    ));
    structure
        .shared
        .push(feature(20, "countries", &[(21, "iso", "textfield")]));
    structure.organization.connections = Some(vec![
        Connection {
            name: "mailer".to_owned(),
            kind: "smtp".to_owned(),
        },
        Connection {
            name: "post".to_owned(),
            kind: "smtp".to_owned(),
        },
    ]);
    structure.organization.channels = Some(vec![
        Channel {
            id: id(30),
            name: Some("sales".to_owned()),
            label: None,
        },
        Channel {
            id: id(31),
            name: None,
            label: None,
        },
    ]);
    structure
}

pub(in crate::apply) fn feature(
    number: u128,
    name: &str,
    columns: &[(u128, &str, &str)],
) -> Feature {
    let column = |(number, name, component): &(u128, &str, &str)| Column {
        id: id(*number),
        name: (*name).to_owned(),
        label: (*name).to_owned(),
        column_type: "text".to_owned(),
        default_component: (*component).to_owned(),
        order: i64::try_from(*number).unwrap_or_default(),
        config: Object::new(),
    };
    Feature {
        id: id(number),
        name: name.to_owned(),
        label: name.to_owned(),
        config: Object::new(),
        is_shared: false,
        columns: columns.iter().map(column).collect(),
        views: Vec::new(),
    }
}

pub(in crate::apply) fn view(number: u128, name: &str) -> View {
    View {
        id: id(number),
        name: name.to_owned(),
        label: name.to_owned(),
        view_type: "table".to_owned(),
        order: 4,
        config: Object::new(),
    }
}

pub(in crate::apply) fn minter() -> Minter {
    Minter::at(Timestamp::UNIX_EPOCH, 5)
}

pub(in crate::apply) fn request(text: &str) -> Request {
    Request::from_json(text).expect("a request")
}

/// Resolves against a destination.
pub(in crate::apply) fn apply(
    pack: &Pack,
    body: &str,
    destination: &Structure,
) -> Result<Approved, Vec<Refusal>> {
    again(pack, body, destination, None, minter())
}

/// Resolves with ledgers of earlier jobs.
pub(in crate::apply) fn again(
    pack: &Pack,
    body: &str,
    destination: &Structure,
    earlier: Option<&[Entry]>,
    minter: Minter,
) -> Result<Approved, Vec<Refusal>> {
    let text = pack.text();
    let package = checked(&text);
    let definitions = Definitions::embedded();
    resolve(
        ResolveInput {
            package: &package,
            request: &request(body),
            destination,
            past: JobHistory::of(earlier.unwrap_or_default()),
            definitions,
        },
        minter,
    )
}

/// Codes and refs of refusals.
pub(in crate::apply) fn codes(refusals: &[Refusal]) -> Vec<(Code, &str)> {
    let named = |refusal: &Refusal| refusal.code;
    refusals
        .iter()
        .map(|r| (named(r), r.reference.as_deref().unwrap_or_default()))
        .collect()
}

/// Asserts that something is refused, in that order.
#[track_caller]
pub(in crate::apply) fn refused(
    pack: &Pack,
    body: &str,
    destination: &Structure,
    expected: &[(Code, &str)],
) {
    let refusals = apply(pack, body, destination).expect_err("refused");
    assert_eq!(codes(&refusals), expected, "{refusals:#?}");
    assert!(
        refusals
            .iter()
            .all(|refusal| refusal.detail.ends_with(['.', '?'])),
        "{refusals:#?}"
    );
}

/// The value of JSON text.
pub(in crate::apply) fn value(json: Json) -> Value {
    Value::parse(&json.to_string()).expect("JSON")
}

/// Good packages, with their names.
pub(in crate::apply) fn packages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/fixtures/cases/valid", "examples"];
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder"));
    let mut packages: Vec<(String, String)> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .filter(|path| !path.ends_with("broken-invoices.json"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
            (path.display().to_string(), text)
        })
        .collect();
    packages.sort();
    assert!(packages.len() > 40);
    packages
}

/// The destination once the structure of an apply is written.
pub(in crate::apply) fn written(approved: &Approved, before: Structure) -> Structure {
    let mut state = State::empty(before.organization.id, before.workspace.id, "", "");
    state.structure = before;
    let mut memory = Memory::new(state);
    let unit = Unit {
        changes: approved.structure.changes.clone(),
        entry: None,
        progress: Progress::default(),
        report: None,
    };
    ready(memory.commit(unit)).expect("written");
    memory.state().structure
}
