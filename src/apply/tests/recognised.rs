//! Rows whose uids are other ones in a later package.

use serde_json::{Value as Json, json};

use super::world::{attempt, cells, link, nothing, points};
use crate::apply::test_packages::{Pack, again, codes, uid};
use crate::apply::{Minter, Report, undo};
use crate::crashing::Memory;
use crate::problem::Code;
use crate::workspace::ledger::Entry;
use crate::workspace::{Source as _, ready};

/// People with a key or without, and notes that point at them.
fn pack(key: Option<&str>, people: &[(&str, &str)], from: usize) -> Pack {
    let rows = people.iter();
    let rows: Vec<(Json, Json)> = rows
        .map(|(code, name)| (json!({"code": code, "name": name}), Json::Null))
        .collect();
    let pack = Pack::new()
        .table("people")
        .table("notes")
        .column("people", "code", "text", json!(null))
        .column("people", "name", "text", json!(null))
        .column("notes", "of", "linked_select", link("people", "name"))
        .rows("people", key, &rows);
    let notes = people.iter().enumerate();
    let notes: Vec<(Json, Json)> = notes
        .map(|(at, (_, name))| {
            (
                json!({"of": name}),
                json!({"of": points(6000 + at, "people", "name")}),
            )
        })
        .collect();
    renewed(pack.rows("notes", None, &notes), from)
}

/// The same with other uids of its rows.
fn renewed(mut pack: Pack, from: usize) -> Pack {
    let mut text = json!(pack.payloads).to_string();
    for number in 6000..6200 {
        text = text.replace(&uid(number), &uid(from + number));
    }
    let Ok(Json::Array(payloads)) = serde_json::from_str(&text) else {
        panic!("payloads");
    };
    pack.payloads = payloads;
    pack
}

/// Mode `all` for the notes, which have no key.
const NOTES: &str = r#"{"rowsModes": {"f_notes": "none"}}"#;

fn applied(
    pack: &Pack,
    body: &str,
    memory: &mut Memory,
    earlier: &mut Vec<Entry>,
    nonce: u64,
) -> Report {
    let report = attempt(pack, body, memory, earlier, nonce).expect("applies");
    earlier.extend(memory.next_job());
    report
}

fn refusals(
    pack: &Pack,
    body: &str,
    memory: &Memory,
    earlier: &[Entry],
) -> Vec<crate::apply::Refusal> {
    let structure = ready(memory.structure()).expect("a structure");
    let minter = Minter::at(jiff::Timestamp::UNIX_EPOCH, 0xABC_0099);
    again(pack, body, &structure, Some(earlier), minter)
        .err()
        .unwrap_or_default()
}

const FIRST: [(&str, &str); 2] = [("a", "Ann"), ("b", "Bob")];
const SECOND: [(&str, &str); 3] = [("b", "Bea"), ("a", "Ann"), ("c", "Cid")];

#[test]
fn a_row_is_known_by_its_key_and_pointed_at_under_its_new_uid() {
    let (mut memory, mut earlier) = (Memory::new(nothing()), Vec::new());
    applied(
        &pack(Some("code"), &FIRST, 0),
        NOTES,
        &mut memory,
        &mut earlier,
        0,
    );
    let all = r#"{"rowsModes": {"f_notes": "all"}}"#;
    let second = pack(Some("code"), &SECOND, 1000);
    let report = applied(&second, all, &mut memory, &mut earlier, 1);
    let people = &report.rows["f_people"];
    assert_eq!((people.inserted, people.skipped), (1, 2));
    assert_eq!(
        cells(&memory, "people"),
        [
            r#"{"code":"a","name":"Ann"}"#,
            r#"{"code":"b","name":"Bob"}"#,
            r#"{"code":"c","name":"Cid"}"#
        ]
    );
    assert_eq!(
        cells(&memory, "notes"),
        [r#"{"of":"Bob"}"#, r#"{"of":"Ann"}"#, r#"{"of":"Cid"}"#]
    );
    // From now on they are known by those uids, whatever becomes of the key.
    let third = pack(None, &SECOND, 1000);
    let report = applied(&third, all, &mut memory, &mut earlier, 2);
    assert_eq!(report.rows["f_people"].skipped, 3);
    assert_eq!(cells(&memory, "people").len(), 3);
}

#[test]
fn a_row_has_the_key_of_the_pass_that_last_recognised_it() {
    let (mut memory, mut earlier) = (Memory::new(nothing()), Vec::new());
    applied(
        &pack(Some("code"), &FIRST, 0),
        NOTES,
        &mut memory,
        &mut earlier,
        0,
    );
    // The author changes a key and gives the old one to another row.
    let second = [("x", "Ann"), ("b", "Bob"), ("a", "Amy")];
    applied(
        &pack(Some("code"), &second, 0),
        NOTES,
        &mut memory,
        &mut earlier,
        1,
    );
    assert_eq!(cells(&memory, "people").len(), 3);
    let report = applied(
        &pack(Some("code"), &second, 1000),
        NOTES,
        &mut memory,
        &mut earlier,
        2,
    );
    let people = &report.rows["f_people"];
    assert_eq!((people.inserted, people.skipped), (0, 3));
}

#[test]
fn rows_that_nothing_distinguishes_are_refused_unless_a_mode_is_given() {
    let (mut memory, mut earlier) = (Memory::new(nothing()), Vec::new());
    applied(&pack(None, &FIRST, 0), "{}", &mut memory, &mut earlier, 0);
    let second = pack(None, &SECOND, 1000);
    let refused = refusals(&second, "{}", &memory, &earlier);
    let expected = [
        (Code::RowsUnmatched, "f_people"),
        (Code::RowsUnmatched, "f_notes"),
    ];
    assert_eq!(codes(&refused), expected);
    assert!(
        refused[0].detail.starts_with("`rowsModes.f_people`: "),
        "{refused:?}"
    );
    for body in [
        r#"{"includeRows": false}"#,
        r#"{"copy": true}"#,
        r#"{"rowsModes": {"f_people": "none", "f_notes": "none"}}"#,
        r#"{"rowsModes": {"f_people": "all", "f_notes": "all"}}"#,
    ] {
        assert_eq!(refusals(&second, body, &memory, &earlier), [], "{body}");
    }
    // A key that the earlier package did not have tells nothing apart either.
    let keyed = pack(Some("code"), &SECOND, 1000);
    assert_eq!(
        codes(&refusals(&keyed, NOTES, &memory, &earlier)),
        expected[..1]
    );
    // One row that is known is enough: then the others are new.
    let known = pack(None, &SECOND, 0);
    assert_eq!(refusals(&known, "{}", &memory, &earlier), []);
}

#[test]
fn keys_that_are_all_new_are_new_rows() {
    let (mut memory, mut earlier) = (Memory::new(nothing()), Vec::new());
    applied(
        &pack(Some("code"), &FIRST, 0),
        NOTES,
        &mut memory,
        &mut earlier,
        0,
    );
    let new = pack(Some("code"), &[("y", "Yan"), ("z", "Zoe")], 1000);
    let report = applied(&new, NOTES, &mut memory, &mut earlier, 1);
    assert_eq!(report.rows["f_people"].inserted, 2);
    // Its values repeat or are missing, so the key column is not a key any more: nobody guesses.
    for people in [[("a", "Ann"), ("a", "Bea")], [("a", "Ann"), ("", "Bea")]] {
        let lost = pack(None, &people, 3000);
        let expected = [(Code::RowsUnmatched, "f_people")];
        assert_eq!(codes(&refusals(&lost, NOTES, &memory, &earlier)), expected);
    }
}

#[test]
fn the_key_of_the_earlier_package_counts_where_the_package_has_another_or_none() {
    for key in [Some("name"), None] {
        let (mut memory, mut earlier) = (Memory::new(nothing()), Vec::new());
        applied(
            &pack(Some("code"), &FIRST, 0),
            NOTES,
            &mut memory,
            &mut earlier,
            0,
        );
        // One of the names is another one, and all uids are.
        let second = pack(key, &SECOND, 1000);
        assert_eq!(refusals(&second, NOTES, &memory, &earlier), [], "{key:?}");
        let report = applied(&second, NOTES, &mut memory, &mut earlier, 1);
        let people = &report.rows["f_people"];
        assert_eq!((people.inserted, people.skipped), (1, 2), "{key:?}");
        // From now on they are known by their new uids, and by the key that the package has now.
        let report = applied(&second, NOTES, &mut memory, &mut earlier, 2);
        assert_eq!(report.rows["f_people"].skipped, 3, "{key:?}");
        let codes_changed = [("x", "Bea"), ("y", "Ann"), ("z", "Cid")];
        let third = pack(key, &codes_changed, 2000);
        let refused = refusals(&third, NOTES, &memory, &earlier);
        if key.is_none() {
            assert_eq!(codes(&refused), [(Code::RowsUnmatched, "f_people")]);
            continue;
        }
        assert_eq!(refused, []);
        let report = applied(&third, NOTES, &mut memory, &mut earlier, 3);
        assert_eq!(report.rows["f_people"].skipped, 3);
        assert_eq!(cells(&memory, "people").len(), 3);
    }
}

#[test]
fn values_of_the_earlier_key_that_are_all_new_are_new_rows() {
    let (mut memory, mut earlier) = (Memory::new(nothing()), Vec::new());
    applied(
        &pack(Some("code"), &FIRST, 0),
        NOTES,
        &mut memory,
        &mut earlier,
        0,
    );
    let new = pack(Some("name"), &[("y", "Ann"), ("z", "Zoe")], 1000);
    assert_eq!(refusals(&new, NOTES, &memory, &earlier), []);
    let report = applied(&new, NOTES, &mut memory, &mut earlier, 1);
    assert_eq!(report.rows["f_people"].inserted, 2);
}

#[test]
fn a_mode_that_is_given_doubles_no_row_that_is_known() {
    for mode in ["all", "missingByKey"] {
        let (mut memory, mut earlier) = (Memory::new(nothing()), Vec::new());
        applied(
            &pack(Some("code"), &FIRST, 0),
            NOTES,
            &mut memory,
            &mut earlier,
            0,
        );
        let body = json!({"rowsModes": {"f_people": mode, "f_notes": "none"}}).to_string();
        let report = applied(
            &pack(Some("code"), &SECOND, 1000),
            &body,
            &mut memory,
            &mut earlier,
            1,
        );
        let people = &report.rows["f_people"];
        assert_eq!(
            (people.inserted, people.skipped, people.existing),
            (1, 2, 0),
            "{mode}"
        );
    }
}

#[test]
fn what_was_only_recognised_goes_with_the_pass_that_wrote_it() {
    let (mut memory, mut earlier) = (Memory::new(nothing()), Vec::new());
    applied(
        &pack(Some("code"), &FIRST, 0),
        NOTES,
        &mut memory,
        &mut earlier,
        0,
    );
    let first = std::mem::take(&mut earlier);
    let mut both = first.clone();
    applied(
        &pack(Some("code"), &SECOND, 1000),
        NOTES,
        &mut memory,
        &mut both,
        1,
    );
    let second = both.split_off(first.len());
    assert!(
        second
            .iter()
            .any(|entry| matches!(entry, Entry::Recognised(_)))
    );
    // Undoing the second takes only its own row.
    memory.take_up(second.clone());
    ready(undo(&mut memory, false)).expect("undone");
    assert_eq!(cells(&memory, "people").len(), 2);
    memory.next_job();
    let mut ledger = first;
    let report = applied(
        &pack(Some("code"), &SECOND, 1000),
        NOTES,
        &mut memory,
        &mut ledger,
        2,
    );
    assert_eq!(report.rows["f_people"].skipped, 2);
    // Without the pass that wrote them nobody vouches for the rows of the first.
    let alone = crate::apply::ledger_rows::LedgerRows::read(&second);
    let text = pack(Some("code"), &SECOND, 1000).text();
    let package = crate::apply::test_packages::checked(&text);
    let feature = memory
        .state()
        .structure
        .features
        .iter()
        .find(|found| found.name == "people")
        .expect("a table")
        .id;
    let known = alone.recognise(feature, &package.payloads[0], &[]);
    let known: Vec<bool> = known.iter().map(Option::is_some).collect();
    assert_eq!(known, [false, false, true]);
}
