//! A package in a folder: what a check says of it, where, and what fixing makes of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use tplkit::check::fix::apply_fixes;
use tplkit::check::{CheckOptions, FixedFolder, apply_fixes_to_folder, check, check_folder};
use tplkit::finding::{FileReport, FileSpan, Finding, Located, Origin as _, Place};
use tplkit::json::Doc;
use tplkit::layout::{Files, INDEX, Joined, PackError, format, join, pack, unpack};
use tplkit::package::canonical::write;

use crate::cases;

/// Every sample that can be unpacked, in canonical form, with its folder.
fn samples() -> Vec<(String, String, Files)> {
    let all = [cases::valid(), cases::mutants(), cases::folder("examples")].concat();
    let samples = all.into_iter().filter_map(|(name, text)| {
        let mut files = Files::new();
        unpack(&text, &mut files).ok()?;
        Some((name, write(&text).unwrap(), files))
    });
    samples.collect()
}

fn joined(files: &Files) -> Joined {
    join(files).unwrap()
}

fn checked(joined: &Joined) -> FileReport {
    check_folder(joined, &CheckOptions::default())
}

fn codes(files: &Files) -> Vec<&'static str> {
    let report = checked(&joined(files));
    report.findings.iter().map(|one| one.rule.code).collect()
}

/// A text without the white space between its tokens.
fn tokens(text: &str) -> String {
    let mut out = String::new();
    let (mut inside, mut escaped) = (false, false);
    for character in text.chars() {
        if inside || !character.is_ascii_whitespace() {
            out.push(character);
        }
        inside ^= character == '"' && !escaped;
        escaped = inside && character == '\\' && !escaped;
    }
    out
}

/// What stands at a place of the packed file, and what at that of the folder.
fn texts(packed: &str, joined: &Joined, one: &Place, other: &Place) -> (String, String) {
    let FileSpan { bytes, span, .. } = joined.locate(&other.span);
    let there = String::from_utf8(bytes[span].to_vec()).unwrap();
    (tokens(&packed[one.span.clone()]), tokens(&there))
}

/// Whether a folder has no value for what stands at a pointer, or not all of it.
fn is_divided(pointer: &str) -> bool {
    let parts: Vec<&str> = pointer.split('/').skip(1).collect();
    let parts = parts.strip_prefix(&["manifest"]).unwrap_or(&parts);
    match parts {
        [] | ["plan" | "payloads"] | ["payloads", _] | ["payloads", _, "rows"] => true,
        [list] | ["plan", list] => {
            ["items", "dependencies", "unresolved", "redacted", "steps"].contains(list)
        }
        _ => false,
    }
}

fn places(finding: &Finding) -> Vec<&Place> {
    let related = finding.related.iter().map(|related| &related.place);
    std::iter::once(&finding.place).chain(related).collect()
}

#[test]
fn a_folder_has_the_findings_of_its_package_where_the_same_text_stands() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, packed, files) in samples() {
        let joined = joined(&files);
        assert!(joined.is_whole(), "{name}");
        assert_eq!(write(joined.text().unwrap()).unwrap(), packed, "{name}");
        let sorted = |report: FileReport| {
            let mut findings = report.findings;
            let key = |one: &Finding| {
                (
                    one.rule.code,
                    one.place.pointer.clone(),
                    one.message.clone(),
                )
            };
            findings.sort_by_key(key);
            findings
        };
        let one = sorted(check(packed.as_bytes(), &CheckOptions::default()));
        let other = sorted(checked(&joined));
        let key =
            |one: &Finding| format!("{} {} {}", one.rule.code, one.place.pointer, one.message);
        let (left, right): (Vec<String>, Vec<String>) = (
            one.iter().map(key).collect(),
            other.iter().map(key).collect(),
        );
        if left != right {
            wrong.push(format!("{name}: {left:#?} packed, {right:#?} unpacked"));
            continue;
        }
        for (one, other) in one.iter().zip(&other) {
            for (one, other) in places(one).into_iter().zip(places(other)) {
                if is_divided(&one.pointer) {
                    continue;
                }
                compared += 1;
                let (here, there) = texts(&packed, &joined, one, other);
                if here != there {
                    wrong.push(format!(
                        "{name} {}: {here} packed, {there} unpacked",
                        one.pointer
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 150, "{compared} places were compared");
}

/// A baseline knows findings by their messages.
#[test]
fn messages_do_not_depend_on_how_the_values_in_them_are_written() {
    let mut package: Value = serde_json::from_str(&cases::case("base-tiny")).unwrap();
    for (pointer, value) in [
        (
            "/manifest/plan/steps/0/args/name",
            json!({"b": [1, {"d": 2, "c": "é"}], "a": "x  y"}),
        ),
        (
            "/manifest/plan/steps/4/args/config",
            json!([["v", {"z": 1, "y": 2}]]),
        ),
        ("/manifest/plan/steps/1/uid", json!({"z": 1, "y": []})),
        ("/manifest/items/2/ref", json!("$c_nothing")),
        ("/payloads/0/rows/0/data/n", json!({"k": [1, 2], "j": null})),
    ] {
        *package.pointer_mut(pointer).unwrap() = value;
    }
    let messages = |report: FileReport| {
        let findings = report.findings.iter();
        let mut messages: Vec<String> = findings
            .map(|one| format!("{} {} {}", one.rule.code, one.place.pointer, one.message))
            .collect();
        messages.sort();
        messages
    };
    let checked_text = |text: &str| messages(check(text.as_bytes(), &CheckOptions::default()));
    let compact = package.to_string();
    let expected = checked_text(&compact);
    for quoted in [
        r#"`name` takes a string, not {"a": "x  y", "b": [1, {"c": "é", "d": 2}]}"#,
        r#"the config is [["v", {"y": 2, "z": 1}]], not a list of one object"#,
        r#"{"y": [], "z": 1} is not a uid"#,
        r#"no plan step declares "c_nothing""#,
        r#"{"j": null, "k": [1, 2]} cannot be stored"#,
    ] {
        let found = expected.iter().any(|message| message.contains(quoted));
        assert!(found, "{quoted}: {expected:#?}");
    }
    let indented = serde_json::to_string_pretty(&package).unwrap();
    for text in [
        indented.replace('\n', "\r\n"),
        compact.replace('é', "\\u00e9"),
        write(&compact).unwrap(),
    ] {
        assert_eq!(checked_text(&text), expected, "{text}");
    }
    let mut files = Files::new();
    unpack(&compact, &mut files).unwrap();
    assert_eq!(messages(checked(&joined(&files))), expected);
}

#[test]
fn the_order_of_findings_is_that_of_the_package() {
    for (name, packed, files) in samples() {
        let of = |report: FileReport| -> Vec<(&'static str, String)> {
            let findings = report.findings.into_iter();
            findings
                .map(|one| (one.rule.code, one.place.pointer))
                .collect()
        };
        let one = of(check(packed.as_bytes(), &CheckOptions::default()));
        assert_eq!(of(checked(&joined(&files))), one, "{name}");
    }
}

fn fixed(files: &Files, unsafe_too: bool) -> FixedFolder {
    let check = |joined: &Joined| {
        let findings = checked(joined).findings;
        wanted(findings, unsafe_too)
    };
    apply_fixes_to_folder(files, check).unwrap()
}

fn wanted(mut findings: Vec<Finding>, unsafe_too: bool) -> Vec<Finding> {
    for finding in &mut findings {
        finding.fix = finding.fix.take().filter(|fix| fix.safe || unsafe_too);
    }
    findings
}

fn packed(files: &Files) -> String {
    let mut bytes = Vec::new();
    pack(files, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn fixing_the_files_packs_to_what_fixing_the_package_gives() {
    let mut wrong = Vec::new();
    let mut changed = 0;
    for (name, text, files) in samples() {
        for unsafe_too in [false, true] {
            let one = apply_fixes(text.as_bytes(), |bytes| {
                let findings = check(bytes, &CheckOptions::default()).findings;
                wanted(findings, unsafe_too)
            });
            let expected = write(std::str::from_utf8(&one.bytes).unwrap()).unwrap();
            let other = fixed(&files, unsafe_too);
            let mut after = files.clone();
            after.extend(other.files.iter().cloned());
            changed += usize::from(!other.files.is_empty());
            if (one.count(), one.stable) != (other.count(), other.stable) {
                wrong.push(format!(
                    "{name}: {:?} {} packed, {:?} {} unpacked",
                    one.fixed, one.stable, other.fixed, other.stable
                ));
            }
            if packed(&after) != expected {
                wrong.push(format!("{name}: another package"));
            }
            // Files keep their names, so a fix is a small change.
            assert!(after.keys().eq(files.keys()), "{name}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(changed > 30, "{changed} folders were changed");
}

#[test]
fn steps_change_places_in_the_index_and_stay_in_their_files() {
    let (_, _, files) = samples()
        .into_iter()
        .find(|(name, _, _)| name.starts_with("S007"))
        .expect("a sample for S007");
    let other = fixed(&files, true);
    let index = other.files.iter().find(|(name, _)| name == INDEX);
    assert!(index.is_some(), "{:?}", other.fixed);
    for (name, bytes) in other.files.iter().filter(|(name, _)| name != INDEX) {
        let uids = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let mut uids: Vec<String> = text.split('"').map(str::to_owned).collect();
            uids.sort();
            uids
        };
        assert_eq!(
            uids(bytes),
            uids(&files[name]),
            "{name} keeps what it holds"
        );
    }
}

fn tiny() -> Files {
    let mut files = Files::new();
    unpack(&cases::case("base-tiny"), &mut files).unwrap();
    files
}

fn edited(files: &Files, name: &str, before: &str, after: &str) -> Files {
    let old = String::from_utf8(files[name].clone()).unwrap();
    assert!(old.contains(before), "{name} has no {before}:\n{old}");
    let mut files = files.clone();
    files.insert(name.to_owned(), old.replacen(before, after, 1).into_bytes());
    files
}

/// Code, file, line and column of what was found first.
fn first(files: &Files) -> (String, String, usize, usize) {
    let joined = joined(files);
    let finding = checked(&joined)
        .findings
        .into_iter()
        .next()
        .expect("a finding");
    let located = Located::new(&joined, finding);
    let at = located.spot.start;
    let file = located.spot.file.expect("a file");
    (located.rule.code.to_owned(), file, at.line, at.column)
}

fn at(code: &str, file: &str, line: usize, column: usize) -> (String, String, usize, usize) {
    (code.to_owned(), file.to_owned(), line, column)
}

#[test]
fn what_pack_refuses_is_a_finding_at_its_place() {
    let files = tiny();
    let column = "columns/notes_title.json";
    let mut gone = files.clone();
    gone.remove(column);
    assert_eq!(first(&gone), at("J010", INDEX, 5, 3));
    let mut extra = files.clone();
    extra.insert("columns/more.json".to_owned(), b"{}".to_vec());
    assert_eq!(first(&extra), at("J010", "columns/more.json", 1, 1));
    assert_eq!(codes(&extra), ["J010"], "the rest is checked");
    let many = edited(
        &files,
        INDEX,
        "\nsteps\n",
        "\nsteps\n  columns/notes_title.json\n",
    );
    assert_eq!(first(&many).0, "J010");
    let few = edited(&files, INDEX, "  columns/notes_title.json\n", "");
    assert_eq!(first(&few), at("J010", column, 2, 3));
    let bad = edited(
        &files,
        INDEX,
        "  columns/notes_title.json",
        "  ../secret.json",
    );
    assert_eq!(first(&bad).0, "J010");
    let nonsense = edited(&files, INDEX, "tplkit layout 1", "nonsense");
    assert_eq!(codes(&nonsense), ["J010"], "and nothing else");
    let unfinished = edited(&files, INDEX, "layout 1", "layout 1, unfinished");
    assert_eq!(codes(&unfinished), ["J010"]);
    assert_eq!(first(&unfinished), at("J010", INDEX, 1, 1));
    let mut without = files.clone();
    without.remove("template.json");
    assert_eq!(codes(&without), ["J010"]);
    for broken in [
        &gone,
        &extra,
        &many,
        &few,
        &bad,
        &nonsense,
        &unfinished,
        &without,
    ] {
        assert!(!joined(broken).is_whole());
        assert!(matches!(
            pack(broken, &mut Vec::new()),
            Err(PackError::Faults(_))
        ));
    }
}

#[test]
fn faults_of_json_are_in_their_own_file() {
    let files = tiny();
    let (column, rows) = ("columns/notes_title.json", "rows/notes.jsonl");
    let broken = edited(&files, column, "\"item\": {", "\"item\": {,");
    assert_eq!(first(&broken), at("J001", column, 2, 12));
    let twice = edited(&files, column, "\"item\": {", "\"item\": {\"uid\": 1,");
    assert_eq!(first(&twice), at("J002", column, 3, 5));
    let twice = edited(&files, column, "{\n", "{\n\"item\": 1,");
    assert!(codes(&twice).contains(&"J002"));
    let nul = edited(&files, column, "\"Title\"", "\"Ti\\u0000tle\"");
    assert_eq!(first(&nul).0, "J009");
    assert_eq!(first(&nul).1, column);
    let lines = edited(&files, rows, "{\"uid\"", "[}\n{\"uid\"");
    assert_eq!(first(&lines), at("J001", rows, 1, 2));
    let end = format!(
        "{}{{}} 1\n",
        String::from_utf8(files[rows].clone()).unwrap()
    );
    let mut after = files.clone();
    after.insert(rows.to_owned(), end.into_bytes());
    assert_eq!(first(&after), at("J001", rows, 4, 4));
    let twice = edited(&files, rows, "\"data\":", "\"data\": {}, \"data\":");
    let (code, file, line, _) = first(&twice);
    assert_eq!((code.as_str(), file.as_str(), line), ("J002", rows, 1));
    let mut binary = files.clone();
    binary.insert(column.to_owned(), b"{\"a\": \"\xFF\"}".to_vec());
    assert_eq!(first(&binary), at("J001", column, 1, 8));
    let template = edited(&files, "template.json", "{", "{,");
    assert_eq!(codes(&template), ["J001"], "nothing can be put together");
}

/// Packages without findings whose files name, use and count each other.
fn entangled() -> Vec<(String, Files)> {
    let all = [cases::valid(), cases::folder("examples")].concat();
    let wanted = |name: &str| name.starts_with("base-") || name.contains("event-planning");
    let chosen = all.into_iter().filter(|(name, _)| wanted(name));
    let folders = chosen.map(|(name, text)| {
        let mut files = Files::new();
        unpack(&text, &mut files).unwrap();
        (name, files)
    });
    folders.collect()
}

#[test]
fn a_file_that_cannot_be_read_is_one_finding() {
    let folders = entangled();
    assert!(folders.len() > 2, "{}", folders.len());
    for (name, files) in folders {
        assert_eq!(codes(&files), [""; 0], "{name}");
        for file in files.keys().filter(|file| *file != INDEX) {
            let mut broken = files.clone();
            broken.insert(file.clone(), b"\xFF{".to_vec());
            assert_eq!(codes(&broken), ["J001"], "{name}: {file}");
            broken.remove(file);
            let found = codes(&broken);
            assert!(!found.is_empty(), "{name}: {file}");
            assert!(found.iter().all(|code| *code == "J010"), "{name}: {file}");
        }
    }
}

#[test]
fn what_has_nothing_to_do_with_a_lost_file_is_reported() {
    let broken = |name: &str| {
        let mut files = tiny();
        files.insert(name.to_owned(), b"{".to_vec());
        files
    };
    let miscounted = edited(
        &broken("views/notes.json"),
        "rows/notes.json",
        "\"count\": ",
        "\"count\": 9",
    );
    let found = codes(&miscounted);
    assert!(
        found.contains(&"R025") || found.contains(&"R003"),
        "{found:?}"
    );
    let unknown = edited(
        &broken("modules/main.json"),
        "views/notes.json",
        "$f_notes",
        "$f_notse",
    );
    assert!(codes(&unknown).contains(&"S006"));
}

#[test]
fn rows_are_not_counted_anew_while_one_cannot_be_read() {
    let broken = edited(&tiny(), "rows/notes.jsonl", "{\"uid\"", "{{\"uid\"");
    assert_eq!(codes(&broken), ["J001"]);
    let fixed = fixed(&broken, true);
    assert_eq!(
        (fixed.count(), fixed.files.len()),
        (0, 0),
        "{:?}",
        fixed.fixed
    );
}

#[test]
fn a_row_that_cannot_be_read_is_one_finding_and_the_others_keep_their_places() {
    let mut links = Files::new();
    unpack(&cases::case("base-links"), &mut links).unwrap();
    let names: Vec<String> = links.keys().cloned().collect();
    let is_lines = |name: &&String| Path::new(name).extension().is_some_and(|of| of == "jsonl");
    for name in names.iter().filter(is_lines) {
        let text = String::from_utf8(links[name].clone()).unwrap();
        for (number, line) in text.lines().enumerate() {
            let cut = edited(&links, name, line, &line[..line.len() - 1]);
            assert_eq!(codes(&cut), ["J001"], "{name} {number}");
            let (_, file, at, _) = first(&cut);
            assert_eq!((file.as_str(), at), (name.as_str(), number + 1));
        }
    }
    let rows = "rows/notes.jsonl";
    let broken = edited(&tiny(), rows, "{\"uid\"", "{uid\"");
    let broken = edited(&broken, rows, "\"n\": 3", "\"n\": \"x\"");
    let joined = joined(&broken);
    let report = checked(&joined);
    let found: Vec<_> = report
        .findings
        .into_iter()
        .map(|finding| {
            let located = Located::new(&joined, finding);
            let (code, at) = (located.rule.code, located.spot);
            (code, at.pointer, at.start.line)
        })
        .collect();
    let expected = [
        ("J001", String::new(), 1),
        ("R017", "/payloads/0/rows/2/data/n".to_owned(), 3),
    ];
    assert_eq!(found, expected);
}

#[test]
fn lists_root_manifest_and_plan_have_their_places() {
    let files = tiny();
    let joined = joined(&files);
    let text = joined.text().unwrap();
    let doc = Doc::parse_package(text).unwrap();
    let place = |pointer: &str| {
        let mut node = doc.root();
        for key in pointer.split('/').skip(1) {
            node = node
                .get(key)
                .or_else(|| node.at(key.parse().ok()?))
                .unwrap();
        }
        let FileSpan { file, bytes, span } = joined.locate(&node.span());
        let text = String::from_utf8(bytes[span.clone()].to_vec()).unwrap();
        (file.unwrap().to_owned(), span.start, text)
    };
    let template = String::from_utf8(files["template.json"].clone()).unwrap();
    let index = String::from_utf8(files[INDEX].clone()).unwrap();
    assert_eq!(place(""), ("template.json".to_owned(), 0, String::new()));
    let (file, start, _) = place("/manifest");
    assert_eq!(
        (file.as_str(), &template[start - 12..start]),
        ("template.json", "\"template\": ")
    );
    let (file, start, _) = place("/manifest/plan");
    assert_eq!(
        (file.as_str(), &template[start - 8..start]),
        ("template.json", "\"plan\": ")
    );
    for (pointer, heading) in [
        ("/manifest/items", "items"),
        ("/manifest/plan/steps", "steps"),
        ("/payloads", "payloads"),
    ] {
        let (file, start, text) = place(pointer);
        assert_eq!(
            (file.as_str(), text.as_str()),
            (INDEX, heading),
            "{pointer}"
        );
        assert_eq!(
            Some(start),
            index.find(&format!("\n{heading}\n")).map(|at| at + 1)
        );
    }
    assert_eq!(place("/manifest/items/1/label").2, "\"Title\"");
    assert_eq!(place("/payloads/0").0, "rows/notes.json");
    assert_eq!(place("/payloads/0/rows").0, "rows/notes.jsonl");
    let bare = {
        let mut files = Files::new();
        unpack(&cases::case("bare-v1"), &mut files).unwrap();
        join(&files).unwrap()
    };
    let end = bare.text().unwrap().len();
    let FileSpan { file, bytes, span } = bare.locate(&(0..end));
    assert_eq!(file, Some("template.json"));
    assert!(bytes[span].starts_with(b"{"));
}

#[test]
fn formatting_changes_contents_and_no_names() {
    for (name, packed_text, files) in samples() {
        assert_eq!(format(&files).unwrap(), [], "{name}");
        // The same values, laid out in another way.
        let mut other = files.clone();
        for (file, bytes) in &mut other {
            let text = String::from_utf8(bytes.clone()).unwrap();
            *bytes = if file == INDEX {
                text.replace('\n', "\r\n").into_bytes()
            } else if file.strip_suffix(".jsonl").is_some() {
                text.replace('\n', "\n\n").into_bytes()
            } else {
                format!("\u{feff}{}", tokens(&text)).into_bytes()
            };
        }
        assert_eq!(packed(&other), packed_text, "{name}");
        let formatted: BTreeMap<_, _> = format(&other).unwrap().into_iter().collect();
        other.extend(formatted);
        assert!(other == files, "{name}");
    }
    let broken = edited(&tiny(), INDEX, "layout 1", "layout 2");
    assert!(matches!(format(&broken), Err(PackError::Faults(_))));
}
