//! Every rule's page holds a failing and a fixed example, and both do what the page says.

use std::collections::BTreeSet;

use serde_json::Value;
use tplkit::check::{CheckOptions, check, check_folder, promote};
use tplkit::finding::Rule;
use tplkit::finding::catalog::RULES;
use tplkit::layout::{Files, join, unpack};

/// One fenced example of a page.
struct Fence<'p> {
    info: Vec<&'p str>,
    body: String,
}

/// The fences below a heading, and the further codes it announces.
struct Section<'p> {
    fences: Vec<Fence<'p>>,
    also: BTreeSet<&'p str>,
}

fn section<'p>(page: &'p str, heading: &str) -> Section<'p> {
    let mut section = Section {
        fences: Vec::new(),
        also: BTreeSet::new(),
    };
    let mut inside = false;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            inside = title.trim() == heading;
        } else if inside && line.starts_with("```") {
            let info = line.trim_start_matches('`').split_whitespace().collect();
            let body = lines.by_ref().take_while(|line| !line.starts_with("```"));
            section.fences.push(Fence {
                info,
                body: body.collect::<Vec<_>>().join("\n"),
            });
        } else if inside && let Some(codes) = line.strip_prefix("Also reported:") {
            section
                .also
                .extend(codes.split([',', ' ', '.']).filter(|code| !code.is_empty()));
        }
    }
    section
}

fn base(name: &str) -> Value {
    let path = format!("tests/fixtures/cases/valid/base-{name}.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).expect("a base is JSON")
}

/// The bytes of the example that the fences describe.
fn build(fences: &[Fence<'_>]) -> Vec<u8> {
    let first = fences.first().expect("an example");
    if first.info.get(1) == Some(&"file") {
        return first.body.clone().into_bytes();
    }
    let mut package = base(first.info[1]);
    for fence in fences {
        assert_eq!(fence.info[1], first.info[1], "one base per example");
        let edit = fence.info[2];
        let value =
            || serde_json::from_str(&fence.body).unwrap_or_else(|e| panic!("{}: {e}", fence.body));
        if let Some(pointer) = edit.strip_prefix("set=") {
            set(&mut package, pointer, value());
        } else if let Some(pointer) = edit.strip_prefix("remove=") {
            let removed = remove(&mut package, pointer);
            assert_eq!(
                removed,
                value(),
                "the page shows another value than {pointer} has"
            );
        } else if let Some(pointer) = edit.strip_prefix("grow=") {
            let count = fence.info[3]
                .strip_prefix("count=")
                .expect("a count")
                .parse()
                .expect("a number");
            grow(&mut package, pointer, &fence.body, count);
        } else {
            panic!("no edit: {edit}");
        }
    }
    serde_json::to_vec(&package).expect("writes")
}

fn parent<'v>(package: &'v mut Value, pointer: &str) -> (&'v mut Value, String) {
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer");
    let last = last.replace("~1", "/").replace("~0", "~");
    (
        package
            .pointer_mut(parent)
            .unwrap_or_else(|| panic!("nothing at {parent}")),
        last,
    )
}

fn set(package: &mut Value, pointer: &str, value: Value) {
    match parent(package, pointer) {
        (Value::Object(object), key) => {
            object.insert(key, value);
        }
        (Value::Array(list), end) if end == "-" => list.push(value),
        (Value::Array(list), index) => list[index.parse::<usize>().expect("an index")] = value,
        _ => panic!("no container holds {pointer}"),
    }
}

fn remove(package: &mut Value, pointer: &str) -> Value {
    match parent(package, pointer) {
        (Value::Object(object), key) => object.shift_remove(&key).expect("the member"),
        (Value::Array(list), index) => list.remove(index.parse().expect("an index")),
        _ => panic!("no container holds {pointer}"),
    }
}

/// Replaces the rows of an entry by `count` generated ones, and all counts with them.
fn grow(package: &mut Value, pointer: &str, data: &str, count: usize) {
    let rows = (0..count).map(|n| {
        let data: Value =
            serde_json::from_str(&data.replace("{n}", &n.to_string())).expect("row data");
        serde_json::json!({"uid": format!("u_00000000-0000-4000-8000-{n:012}"), "data": data})
    });
    *package.pointer_mut(pointer).expect("rows") = rows.collect();
    let entry = pointer.strip_suffix("/rows").expect("an entry");
    let uid = package.pointer(&format!("{entry}/itemUid")).cloned();
    set(package, &format!("{entry}/count"), count.into());
    for item in package
        .pointer_mut("/manifest/items")
        .and_then(Value::as_array_mut)
        .expect("items")
    {
        if item.get("uid") == uid.as_ref() {
            item["count"] = count.into();
        }
    }
}

/// The folder that the fences describe, if they describe one: a base, unpacked, with files of the page.
fn unpacked(fences: &[Fence<'_>]) -> Option<Files> {
    let file = |fence: &Fence<'_>| fence.info.get(2)?.strip_prefix("in=").map(str::to_owned);
    file(fences.first()?)?;
    let package = serde_json::to_string(&base(fences[0].info[1])).expect("writes");
    let mut files = Files::new();
    unpack(&package, &mut files).expect("a base is a package");
    for fence in fences {
        let name = file(fence).expect("all fences of a folder are files");
        files.insert(name, format!("{}\n", fence.body).into_bytes());
    }
    Some(files)
}

fn codes_of_folder(files: &Files) -> BTreeSet<&'static str> {
    let joined = join(files).expect("there is an index");
    let report = check_folder(&joined, &CheckOptions::default());
    report
        .findings
        .iter()
        .map(|finding| finding.rule.code)
        .collect()
}

fn codes(bytes: &[u8]) -> BTreeSet<&'static str> {
    check(bytes, &CheckOptions::default())
        .findings
        .iter()
        .map(|finding| finding.rule.code)
        .collect()
}

fn failed_verdicts(bytes: &[u8]) -> BTreeSet<&'static str> {
    let verdicts = promote(bytes, &CheckOptions::default())
        .promotion
        .expect("verdicts");
    verdicts
        .iter()
        .filter(|verdict| !verdict.passed)
        .map(|verdict| verdict.rule.code)
        .collect()
}

fn verdict_of(rule: &Rule, fences: &[Fence<'_>]) -> BTreeSet<&'static str> {
    match unpacked(fences) {
        Some(files) => codes_of_folder(&files),
        None if rule.family() == 'P' => failed_verdicts(&build(fences)),
        None => codes(&build(fences)),
    }
}

#[test]
fn every_page_has_a_failing_and_a_fixed_example_and_both_are_true() {
    let mut wrong = Vec::new();
    for rule in RULES {
        let title = format!("# {} {}", rule.code, rule.name);
        if !rule.page.starts_with(&title) {
            wrong.push(format!(
                "{}: the page begins with another title than {title}",
                rule.code
            ));
            continue;
        }
        let failing = section(rule.page, "Failing");
        let fixed = section(rule.page, "Fixed");
        if failing.fences.is_empty() || fixed.fences.is_empty() {
            wrong.push(format!("{}: an example is missing", rule.code));
            continue;
        }
        let mut expected = failing.also;
        expected.insert(rule.code);
        let found = verdict_of(rule, &failing.fences);
        if found != expected {
            wrong.push(format!(
                "{} failing: {expected:?} is expected, {found:?} reported",
                rule.code
            ));
        }
        let found = verdict_of(rule, &fixed.fences);
        if !found.is_empty() {
            wrong.push(format!("{} fixed: {found:?} reported", rule.code));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} pages are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn pages_and_catalog_name_the_same_rules() {
    let pages: BTreeSet<String> = std::fs::read_dir("src/finding/catalog/pages")
        .expect("pages")
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .collect();
    let rules: BTreeSet<String> = RULES
        .iter()
        .map(|rule| format!("{}-{}", rule.code, rule.name))
        .collect();
    assert_eq!(pages, rules);
    assert!(
        RULES.windows(2).all(|pair| pair[0].code != pair[1].code),
        "codes are unique"
    );
}
