use super::{UndoError, UndoProgress, undo, undo_in_units};
use crate::apply::Mode;
use crate::apply::test_plan::{TestPlan, cells, id, linked, nothing, row, stored, to};
use crate::crashing::{Crash, Memory};
use crate::problem::Code;
use crate::workspace::ledger::{Entry, RemovedContent};
use crate::workspace::memory::State;
use crate::workspace::{Change, KeptRow, Progress, RowData, RowWrite, Target as _, Unit, ready};

/// A package that has something of everything an undo takes back.
fn sample(state: &State) -> TestPlan {
    let refs = |n| format!(r#"{{"to":{}}}"#, to(n, "f_a", "no"));
    let mut rows: Vec<String> = (0..700)
        .map(|n| row(n, &format!(r#"{{"code":"{n}"}}"#)))
        .collect();
    rows[1] = linked(1, r#"{"code":"1","to":9}"#, &refs(600));
    TestPlan::new()
        .configured(state, r#"{"later":true}"#)
        .table(
            "a",
            &[
                "code",
                r#"no number id {"idType":"sequence"}"#,
                "to linked_select linkfield",
            ],
            rows,
        )
        .automation("one")
        .inserts(0, &[r#"{"code":"step"}"#])
        .updates("a", true, &[(5, r#"{"code":"five"}"#)])
        .updates(
            "a",
            false,
            &[(5, r#"{"code":"six"}"#), (1, r#"{"to":null}"#)],
        )
}

fn text(memory: &Memory) -> String {
    memory.state().save().expect("saves")
}

fn edit(memory: &mut Memory, change: Change) {
    let unit = Unit {
        changes: vec![change],
        entry: None,
        progress: Progress::default(),
        report: None,
    };
    ready(memory.commit(unit)).expect("edits");
}

#[test]
fn everything_is_as_before_byte_for_byte() {
    let before = nothing();
    let mut memory = Memory::new(before.clone());
    sample(&before).run(&mut memory);
    assert_eq!(cells(&memory, 0).len(), 701);
    ready(undo(&mut memory, false)).expect("undone");
    assert_eq!(text(&memory), before.save().expect("saves"));
    assert_eq!(memory.next_job().last(), Some(&Entry::Undone));
}

/// A workspace that has rows, null cells and a sequence of its own, and a package bound to it.
fn lived_in() -> (State, TestPlan) {
    let package = sample(&nothing());
    let mut memory = Memory::new(nothing());
    let mut structure_only = sample(&nothing());
    structure_only.rows[0].clear();
    structure_only.approved.row_steps.clear();
    structure_only.run(&mut memory);
    let mut state = memory.state();
    let own = r#"{"code":"0","no":41,"odd":null,"to":null}"#;
    state.rows.insert(id(0x1000), vec![stored(1, own)]);
    state.sequences.insert(id(0x1002), 42);
    let mut bound = package.again();
    bound.approved.tables[0].mode = Mode::MissingByKey {
        column: "code".to_owned(),
    };
    let more = bound.updates("a", true, &[(0, r#"{"code":"changed","odd":1}"#)]);
    (state, more.configured_again())
}

impl TestPlan {
    /// Replaces the config that the first job wrote.
    fn configured_again(self) -> TestPlan {
        let mut memory = Memory::new(nothing());
        TestPlan::new()
            .configured(&nothing(), r#"{"later":true}"#)
            .run(&mut memory);
        self.configured(&memory.state(), r#"{"later":false}"#)
    }
}

#[test]
fn rows_configs_and_sequences_of_others_are_restored_byte_for_byte() {
    let (state, package) = lived_in();
    let mut memory = Memory::new(state.clone());
    let report = package.run(&mut memory);
    assert_eq!(report.rows["f_a"].existing, 1);
    assert_eq!(report.rows["f_a"].updated, 4);
    assert!(cells(&memory, 0)[0].contains("changed"));
    assert!(memory.state().sequence(id(0x1002)) > 42);
    ready(undo(&mut memory, false)).expect("undone");
    assert_eq!(text(&memory), state.save().expect("saves"));
}

#[test]
fn an_undo_crashes_wholly_or_not_at_all() {
    let (state, package) = lived_in();
    for written in [false, true] {
        for call in 0.. {
            let mut memory = Memory::new(state.clone());
            package.run(&mut memory);
            let applied = text(&memory);
            memory.crash_at(Crash { call, written });
            let undone = ready(undo(&mut memory, false));
            memory.recover();
            if undone.is_ok() {
                assert!(call > 3, "{call}");
                break;
            }
            match ready(undo(&mut memory, false)) {
                // The response was lost, the effect was not.
                Err(UndoError::Conflict) => assert!(written),
                other => other.expect("undone"),
            }
            assert_ne!(text(&memory), applied);
            assert_eq!(text(&memory), state.save().expect("saves"));
        }
    }
}

#[test]
fn an_undo_in_units_that_is_killed_after_any_of_them_ends_as_one_that_is_not() {
    let (state, package) = lived_in();
    for size in [97, 300] {
        for (call, written) in (0..).flat_map(|call| [(call, false), (call, true)]) {
            let mut memory = Memory::new(state.clone());
            package.run(&mut memory);
            memory.crash_at(Crash { call, written });
            let undone = ready(undo_in_units(&mut memory, false, size, &mut |_| true));
            memory.recover();
            if undone.is_ok() {
                assert!(call > 700 / size, "{call}");
                break;
            }
            match ready(undo_in_units(&mut memory, false, size, &mut |_| true)) {
                // The response to the last unit was lost, the effect was not.
                Err(UndoError::Conflict) => assert!(written),
                other => assert_eq!(other.expect("undone"), UndoProgress::Done(Vec::new())),
            }
            assert_eq!(
                text(&memory),
                state.save().expect("saves"),
                "{call} {written}"
            );
        }
    }
}

#[test]
fn an_undo_stops_after_a_unit_and_counts_how_far_it_is() {
    let before = nothing();
    let mut memory = Memory::new(before.clone());
    let sample = sample(&before);
    sample.run(&mut memory);
    let (mut seen, mut calls) = (Vec::new(), 0);
    loop {
        let mut stop = |progress: Progress| {
            seen.push(progress.done);
            assert_eq!(progress.phase, "undo");
            // Rows, the table, the automation and the config; sequences count, too.
            assert!((704..710).contains(&progress.total), "{progress:?}");
            false
        };
        calls += 1;
        match ready(undo_in_units(&mut memory, false, 300, &mut stop)).expect("goes on") {
            UndoProgress::Done(_) => break,
            UndoProgress::Paused => {}
        }
        let error = sample
            .try_run(&mut memory, &[])
            .expect_err("is being undone");
        assert!(error.to_string().contains("undone"), "{error}");
    }
    assert_eq!((seen, calls), (vec![300, 600], 3));
    assert_eq!(text(&memory), before.save().expect("saves"));
}

fn written_over(row: crate::workspace::Id, cells: &str) -> Change {
    Change::UpdateRows {
        feature: id(0x1000),
        rows: vec![RowWrite {
            id: row,
            cells: RowData::trusted(cells),
            replace: false,
            digest: None,
        }],
    }
}

#[test]
fn what_refuses_an_undo_in_units_refuses_it_before_the_first() {
    for at in [1, 350, 699] {
        let mut memory = Memory::new(nothing());
        sample(&nothing()).run(&mut memory);
        let row = memory.state().rows[&id(0x1000)][at].id;
        edit(&mut memory, written_over(row, r#"{"code":"mine"}"#));
        let state = text(&memory);
        let error = ready(undo_in_units(&mut memory, false, 100, &mut |_| true));
        let error = error.expect_err("edited");
        let UndoError::NotEmpty(lost) = error else {
            panic!("{error}");
        };
        assert_eq!(lost[0].edited, [row]);
        assert_eq!(text(&memory), state);
        assert!(
            !memory
                .next_job()
                .iter()
                .any(|entry| matches!(entry, Entry::Undoing { .. }))
        );
    }
    let mut memory = Memory::new(nothing());
    sample(&nothing()).run(&mut memory);
    let mine = Change::InsertRows {
        feature: id(0x1000),
        rows: vec![stored(u128::MAX, r#"{"code":"mine"}"#)],
    };
    edit(&mut memory, mine);
    let state = text(&memory);
    let error = ready(undo_in_units(&mut memory, false, 100, &mut |_| true));
    assert!(matches!(error, Err(UndoError::NotEmpty(_))), "{error:?}");
    assert_eq!(text(&memory), state);
    let forced = ready(undo_in_units(&mut memory, true, 100, &mut |_| true));
    assert_eq!(forced.expect("undone"), UndoProgress::Done(Vec::new()));
    assert_eq!(text(&memory), nothing().save().expect("saves"));
}

/// The undo was decided on: nothing stops it half way, and what people do meanwhile in a table that
/// stays is theirs.
#[test]
fn edits_made_while_an_undo_goes_on_do_not_stop_it() {
    let mut memory = Memory::new(nothing());
    sample(&nothing()).run(&mut memory);
    let paused = ready(undo_in_units(&mut memory, false, 300, &mut |_| false));
    assert_eq!(paused.expect("begins"), UndoProgress::Paused);
    let row = memory.state().rows[&id(0x1000)][0].id;
    edit(&mut memory, written_over(row, r#"{"code":"mine"}"#));
    let mine = Change::InsertRows {
        feature: id(0x1000),
        rows: vec![stored(u128::MAX, r#"{"code":"also mine"}"#)],
    };
    edit(&mut memory, mine);
    ready(undo_in_units(&mut memory, false, 300, &mut |_| true)).expect("goes on");
    assert_eq!(text(&memory), nothing().save().expect("saves"));

    let (state, package) = lived_in();
    let mut memory = Memory::new(state.clone());
    package.run(&mut memory);
    let paused = ready(undo_in_units(&mut memory, false, 300, &mut |_| false));
    assert_eq!(paused.expect("begins"), UndoProgress::Paused);
    let left = memory.state().rows[&id(0x1000)].clone();
    let row = left
        .iter()
        .find(|row| row.id != id(1))
        .expect("of the job")
        .id;
    edit(&mut memory, written_over(row, r#"{"code":"mine"}"#));
    ready(undo_in_units(&mut memory, false, 300, &mut |_| true)).expect("goes on");
    let rows = memory.state().rows[&id(0x1000)].clone();
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), 2, "{rows:?}");
    assert!(ids.contains(&row));
    assert_eq!(memory.next_job().last(), Some(&Entry::Undone));
}

/// A row of somebody else gets its unique value back after the job's row that took it has gone.
#[test]
fn unique_values_go_back_in_the_opposite_order() {
    let unique = [r#"code text textfield {"unique":true}"#];
    let mut memory = Memory::new(nothing());
    TestPlan::new()
        .table("a", &unique, Vec::new())
        .run(&mut memory);
    let mut state = memory.state();
    let own = vec![stored(1, r#"{"code":"1"}"#)];
    state.rows.insert(id(0x1000), own);
    for size in [1, 2000] {
        let mut memory = Memory::new(state.clone());
        let package = TestPlan::new()
            .table("a", &unique, vec![row(0, r#"{"code":"1"}"#)])
            .mode(
                0,
                Mode::MissingByKey {
                    column: "code".to_owned(),
                },
            )
            .again()
            .updates("a", true, &[(0, r#"{"code":"2"}"#)])
            .inserts(0, &[r#"{"code":"1"}"#]);
        package.run(&mut memory);
        assert_eq!(cells(&memory, 0).len(), 2);
        ready(undo_in_units(&mut memory, false, size, &mut |_| true)).expect("undone");
        assert_eq!(text(&memory), state.save().expect("saves"));
    }
}

/// A workspace after a job that took seven rows of a table away.
fn emptied() -> Memory {
    let unique = [r#"code text textfield {"unique":true}"#];
    let mut memory = Memory::new(nothing());
    TestPlan::new()
        .table("a", &unique, Vec::new())
        .run(&mut memory);
    let rows = (1..=7).map(|n| stored(n, &format!(r#"{{"code":"{n}"}}"#)));
    memory.take_up(vec![Entry::Taken(RemovedContent {
        feature: id(0x1000),
        column: None,
        rows: rows.map(KeptRow::of).collect(),
    })]);
    memory
}

#[test]
fn rows_without_room_refuse_an_undo_before_its_first_unit() {
    let mut memory = emptied();
    memory.limit_rows(6);
    let state = text(&memory);
    for force in [false, true] {
        let error = ready(undo_in_units(&mut memory, force, 3, &mut |_| true));
        let error = error.expect_err("no room");
        assert!(
            matches!(
                error,
                UndoError::Refused {
                    code: Code::QuotaExceeded,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(text(&memory), state);
        let ledger = ready(memory.ledger()).expect("a ledger");
        assert_eq!(ledger.len(), 1, "{ledger:?}");
    }
    memory.limit_rows(7);
    let done = ready(undo_in_units(&mut memory, false, 3, &mut |_| true));
    assert_eq!(done.expect("undone"), UndoProgress::Done(Vec::new()));
    assert_eq!(cells(&memory, 0).len(), 7);
}

#[test]
fn an_undo_whose_room_somebody_takes_waits_and_loses_nothing() {
    let mut memory = emptied();
    let paused = ready(undo_in_units(&mut memory, false, 3, &mut |_| false));
    assert_eq!(paused.expect("begins"), UndoProgress::Paused);
    memory.limit_rows(5);
    for _ in 0..2 {
        let error = ready(undo_in_units(&mut memory, false, 3, &mut |_| true));
        let error = error.expect_err("no room");
        assert!(matches!(error, UndoError::Waiting { .. }), "{error}");
        assert_eq!(cells(&memory, 0).len(), 3);
    }
    memory.limit_rows(7);
    let done = ready(undo_in_units(&mut memory, false, 3, &mut |_| true));
    assert_eq!(done.expect("undone"), UndoProgress::Done(Vec::new()));
    assert_eq!(cells(&memory, 0).len(), 7);
}

/// Whoever dies between two parts of a unit finds rows that are there already.
#[test]
fn a_row_whose_unique_value_is_taken_meanwhile_alone_stays_away_and_is_named() {
    for call in 0.. {
        let mut memory = emptied();
        let paused = ready(undo_in_units(&mut memory, false, 2, &mut |_| false));
        assert_eq!(paused.expect("begins"), UndoProgress::Paused);
        let mine = Change::InsertRows {
            feature: id(0x1000),
            rows: vec![stored(100, r#"{"code":"5"}"#)],
        };
        edit(&mut memory, mine);
        memory.recover();
        memory.crash_at(Crash {
            call,
            written: true,
        });
        let whole = ready(undo_in_units(&mut memory, false, 5, &mut |_| true));
        memory.recover();
        let left = match whole {
            Ok(UndoProgress::Done(left)) => left,
            _ => match ready(undo_in_units(&mut memory, false, 5, &mut |_| true)) {
                Ok(UndoProgress::Done(left)) => left,
                // The response to the last unit was lost, the effect was not.
                Err(UndoError::Conflict) => continue,
                other => panic!("{other:?}"),
            },
        };
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!((left[0].id, left[0].kind), (Some(id(5)), None));
        // The others, and the one that took the value.
        assert_eq!(cells(&memory, 0).len(), 7);
        if call > 20 {
            break;
        }
    }
}

#[test]
fn a_second_undo_is_a_conflict_and_so_is_going_on() {
    let mut memory = Memory::new(nothing());
    let sample = sample(&nothing());
    sample.run(&mut memory);
    ready(undo(&mut memory, false)).expect("undone");
    let state = memory.state();
    let error = ready(undo(&mut memory, false)).expect_err("twice");
    assert!(matches!(error, UndoError::Conflict));
    let error = sample.try_run(&mut memory, &[]).expect_err("undone");
    assert!(matches!(
        error,
        crate::apply::ApplyError::Refused {
            code: Code::Conflict,
            ..
        }
    ));
    assert_eq!(memory.state(), state);
}

#[test]
fn an_edited_row_refuses_the_undo_by_name_unless_forced() {
    let before = nothing();
    let mut memory = Memory::new(before.clone());
    sample(&before).run(&mut memory);
    let row = memory.state().rows[&id(0x1000)][3].id;
    edit(
        &mut memory,
        Change::UpdateRows {
            feature: id(0x1000),
            rows: vec![RowWrite {
                id: row,
                cells: RowData::trusted(r#"{"code":"mine"}"#),
                replace: false,
                digest: None,
            }],
        },
    );
    let state = text(&memory);
    let error = ready(undo(&mut memory, false)).expect_err("edited");
    assert_eq!(
        error.to_string(),
        "people have worked on what the job wrote: table \"a\" has 1 row edited since; \
         undo with force takes that away, too"
    );
    let UndoError::NotEmpty(lost) = error else {
        panic!("{error}");
    };
    assert_eq!(lost[0].edited, [row]);
    assert_eq!(text(&memory), state);
    ready(undo(&mut memory, true)).expect("forced");
    assert_eq!(text(&memory), before.save().expect("saves"));
}

#[test]
fn an_edit_that_was_taken_back_refuses_nothing() {
    let mut memory = Memory::new(nothing());
    sample(&nothing()).run(&mut memory);
    let row = memory.state().rows[&id(0x1000)][3].clone();
    for cells in [r#"{"code":"mine"}"#, row.data.as_str()] {
        edit(
            &mut memory,
            Change::UpdateRows {
                feature: id(0x1000),
                rows: vec![RowWrite {
                    id: row.id,
                    cells: RowData::trusted(cells),
                    replace: false,
                    digest: None,
                }],
            },
        );
    }
    ready(undo(&mut memory, false)).expect("undone");
}

#[test]
fn rows_of_others_in_a_created_table_refuse_the_undo_unless_forced() {
    let before = nothing();
    let mut memory = Memory::new(before.clone());
    sample(&before).run(&mut memory);
    edit(
        &mut memory,
        Change::InsertRows {
            feature: id(0x1000),
            rows: vec![stored(u128::MAX, r#"{"code":"mine"}"#)],
        },
    );
    let state = text(&memory);
    let error = ready(undo(&mut memory, false)).expect_err("not empty");
    assert_eq!(
        error.to_string(),
        "people have worked on what the job wrote: table \"a\" has 1 row of others; \
         undo with force takes that away, too"
    );
    assert_eq!(text(&memory), state);
    ready(undo(&mut memory, true)).expect("forced");
    assert_eq!(text(&memory), before.save().expect("saves"));
}

#[test]
fn what_people_took_away_or_configured_since_is_left_alone() {
    let mut memory = Memory::new(nothing());
    sample(&nothing()).run(&mut memory);
    let row = memory.state().rows[&id(0x1000)][5].id;
    let taken = Change::RemoveRows {
        feature: id(0x1000),
        rows: vec![crate::workspace::Removal {
            id: row,
            digest: None,
        }],
    };
    edit(&mut memory, taken);
    let config = crate::json::Value::parse(r#"{"mine":1}"#).expect("JSON");
    let configured = Change::Configure {
        kind: crate::workspace::RecordKind::Workspace,
        id: id(2),
        config: config.clone(),
    };
    edit(&mut memory, configured);
    ready(undo(&mut memory, false)).expect("undone");
    let mut expected = nothing();
    expected.structure.workspace.config = config.as_object().expect("an object").clone();
    assert_eq!(memory.state(), expected);
}

#[test]
fn a_job_whose_table_is_gone_can_be_undone() {
    let mut memory = Memory::new(nothing());
    sample(&nothing()).run(&mut memory);
    let gone = Change::Remove {
        kind: crate::workspace::RecordKind::Feature,
        id: id(0x1000),
        force: true,
    };
    edit(&mut memory, gone);
    ready(undo(&mut memory, false)).expect("undone");
    assert_eq!(memory.state(), nothing());
}

#[test]
fn a_later_job_takes_back_only_its_own_rows() {
    let rows = |more: u32| (0..more).map(|n| row(n, "{}")).collect::<Vec<_>>();
    let mut sample = TestPlan::new().table("a", &["id text id"], rows(3));
    let mut memory = Memory::new(nothing());
    sample.run(&mut memory);
    let first = memory.state();
    let earlier = memory.next_job();
    sample = sample.again();
    sample.rows[0] = rows(5);
    let report = sample.try_run(&mut memory, &earlier).expect("runs");
    assert_eq!(report.rows["f_a"].recorded, Some(2));
    ready(undo(&mut memory, false)).expect("undone");
    assert_eq!(memory.state(), first);
}
