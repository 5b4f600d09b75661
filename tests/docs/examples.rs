//! Packages printed in documents.

use tplkit::check::{CheckOptions, check};

#[test]
fn the_package_of_the_format_page_is_clean() {
    let page = include_str!("../../docs/FORMAT.md");
    let (_, rest) = page.split_once("```json\n").expect("a JSON block");
    let (package, _) = rest.split_once("```").expect("its end");
    let report = check(package.as_bytes(), &CheckOptions::default());
    let said: Vec<String> = report
        .findings
        .iter()
        .map(|finding| {
            format!(
                "{} {}: {}",
                finding.rule.code, finding.place.pointer, finding.message
            )
        })
        .collect();
    assert_eq!(said, Vec::<String>::new());
}
