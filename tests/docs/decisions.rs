//! Each page of `docs/decisions` says what holds, why and what was tried, and the list there names it once.

use std::fs;
use std::path::Path;

const HEADINGS: [&str; 3] = ["## Decision", "## Why", "## What was tried"];

/// Name and text of each page, in order.
fn pages() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/decisions");
    let entries = fs::read_dir(folder).expect("the folder of decisions");
    let mut pages: Vec<(String, String)> = entries
        .map(|entry| entry.expect("a readable folder"))
        .map(|entry| (entry.file_name(), entry.path()))
        .map(|(name, path)| {
            let text = fs::read_to_string(path).expect("text");
            (name.to_string_lossy().into_owned(), text)
        })
        .filter(|(name, _)| name != "README.md")
        .collect();
    pages.sort();
    pages
}

/// The headings of a page with the text below each.
fn sections(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("\n## ").skip(1);
    parts
        .map(|part| part.split_once('\n').unwrap_or((part, "")))
        .map(|(heading, text)| (heading, text.trim()))
        .collect()
}

/// What a page lacks.
fn faults(page: &str) -> Vec<String> {
    let sections = sections(page);
    let mut faults = Vec::new();
    let mut places = Vec::new();
    for heading in HEADINGS {
        let is_this = |(found, _): &(&str, &str)| heading.strip_prefix("## ") == Some(*found);
        match sections.iter().position(is_this) {
            None => faults.push(format!("lacks `{heading}`")),
            Some(place) if sections[place].1.is_empty() => {
                faults.push(format!("says nothing under `{heading}`"));
            }
            Some(place) => places.push(place),
        }
    }
    if !places.is_sorted() {
        faults.push(format!("has not this order: {}", HEADINGS.join(", ")));
    }
    faults
}

#[test]
fn each_decision_says_what_why_and_what_was_tried() {
    let pages = pages();
    assert!(pages.len() > 100, "{} pages", pages.len());
    let mut found = Vec::new();
    for (name, page) in &pages {
        let faults = faults(page).into_iter();
        found.extend(faults.map(|fault| format!("docs/decisions/{name} {fault}")));
    }
    assert!(
        found.is_empty(),
        "{}\n(where nothing else was tried, write `Nothing else was tried.`)",
        found.join("\n")
    );
}

#[test]
fn the_list_names_each_decision_once() {
    let list = include_str!("../../docs/decisions/README.md");
    let mut listed: Vec<&str> = list
        .lines()
        .filter(|line| line.starts_with("- ["))
        .collect();
    listed.sort_unstable();
    let expected: Vec<String> = pages()
        .iter()
        .map(|(name, page)| {
            let title = page.lines().next().unwrap_or_default();
            let title = title.strip_prefix("# ").unwrap_or_default();
            let (number, words) = title.split_once(' ').unwrap_or_default();
            assert!(name.starts_with(&format!("{number}-")), "{name}: {title}");
            format!("- [{number}]({name}) {words}")
        })
        .collect();
    assert_eq!(listed, expected);
    let mut numbers: Vec<&str> = expected
        .iter()
        .filter_map(|line| line.split(']').next())
        .collect();
    numbers.dedup();
    assert_eq!(numbers.len(), expected.len(), "two pages have one number");
}

#[test]
fn faults_of_a_page_are_found() {
    let good = "# 001 A\n\n## Decision\n\nB.\n\n## Why\n\nC.\n\n## What was tried\n\nD.\n\n## What it costs\n\nE.\n";
    assert_eq!(faults(good), Vec::<String>::new());
    let lacking = good.replace("## What was tried", "## Other ways");
    assert_eq!(faults(&lacking), ["lacks `## What was tried`"]);
    let empty = good.replace("C.", "");
    assert_eq!(faults(&empty), ["says nothing under `## Why`"]);
    let turned = "# 001 A\n\n## Why\n\nC.\n\n## Decision\n\nB.\n\n## What was tried\n\nD.\n";
    assert_eq!(
        faults(turned),
        ["has not this order: ## Decision, ## Why, ## What was tried"]
    );
}
