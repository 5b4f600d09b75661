//! Tests of the workspace that fails where it is asked to.

use tplkit::workspace::ledger::Entry;
use tplkit::workspace::memory::State;
use tplkit::workspace::{
    Change, CommitError, Feature, Id, New, Progress, Source as _, Target as _, Unit, ready,
};
use tplkit_testkit::crashing::{Crash, Error, Memory};

/// A unit that adds a table.
fn unit(number: u128) -> Unit {
    let table = Feature {
        id: Id::from_u128(number),
        name: format!("table_{number}"),
        label: "Table".to_owned(),
        config: tplkit::json::Object::new(),
        is_shared: false,
        columns: Vec::new(),
        views: Vec::new(),
    };
    Unit {
        changes: vec![Change::Create(New::Feature(table))],
        entry: Some(Entry::Completed),
        progress: Progress::default(),
        report: None,
    }
}

fn memory() -> Memory {
    let (organization, workspace) = (Id::from_u128(1), Id::from_u128(2));
    Memory::new(State::empty(organization, workspace, "here", "Here"))
}

#[test]
fn a_crash_comes_before_or_after_the_effect_and_lasts() {
    for written in [false, true] {
        let mut memory = memory();
        memory.crash_at(Crash { call: 1, written });
        assert!(ready(memory.ledger()).is_ok());
        let crashed = ready(memory.commit(unit(300)));
        assert!(matches!(
            crashed,
            Err(CommitError::Store(Error::Crashed(1)))
        ));
        // Whoever is dead writes nothing, and reads nothing.
        let dead = ready(memory.commit(unit(301)));
        assert!(matches!(dead, Err(CommitError::Store(_))));
        assert!(ready(memory.structure()).is_err());
        memory.recover();
        let tables = memory.state().structure.features.len();
        assert_eq!(tables, usize::from(written));
        let ledger = ready(memory.ledger()).expect("reads");
        assert_eq!(ledger.len(), usize::from(written));
        assert_eq!(memory.calls(), 1);
    }
}

#[test]
fn a_fenced_workspace_reads_and_writes_nothing() {
    let mut memory = memory();
    memory.fence();
    let fenced = ready(memory.commit(unit(300)));
    assert!(matches!(fenced, Err(CommitError::Fenced)), "{fenced:?}");
    assert!(ready(memory.structure()).is_ok());
    memory.recover();
    ready(memory.commit(unit(300))).expect("is written");
}
