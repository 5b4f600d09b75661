//! Pages of whole packages, good and hostile.

use super::{Report, Style, page};
use crate::check::facts::Facts;
use crate::check::{CheckOptions, check};
use crate::contents::halves;
use crate::definitions::Definitions;
use crate::finding::LocatedReport;
use crate::json::Doc;

fn written(text: &str, rows: usize) -> String {
    let options = CheckOptions {
        promotion: true,
        ..CheckOptions::default()
    };
    let checked = LocatedReport::new(text.as_bytes(), check(text.as_bytes(), &options));
    let doc = Doc::parse_package(text).expect("JSON");
    let (manifest, _) = halves(doc.root());
    page(Report {
        facts: &Facts::new(&doc, manifest, Definitions::embedded()),
        check: &checked,
        file: Some("p.json"),
        rows,
        style: Style::Inline,
    })
}

const LINKS: &str = include_str!("../../tests/fixtures/cases/valid/base-links.json");
const AUTO: &str = include_str!("../../tests/fixtures/cases/valid/base-auto.json");

#[test]
fn a_page_holds_every_part_and_needs_nothing_else() {
    for text in [LINKS, AUTO] {
        let page = written(text, 5);
        for (anchor, heading) in super::PARTS {
            assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor}");
            assert!(page.contains(&format!("<h2>{heading}</h2>")), "{heading}");
        }
        assert!(page.contains("default-src 'none'"));
        for sign in [
            "<script",
            "<link",
            "<img",
            "src=",
            "@import",
            "url(http",
            "javascript:",
        ] {
            assert!(!page.contains(sign), "{sign}");
        }
        assert_eq!(page, written(text, 5), "the same bytes every time");
    }
}

#[test]
fn links_lead_to_the_rows_that_are_shown() {
    let page = written(LINKS, 50);
    let links: Vec<&str> = page
        .split("href=\"#row-")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(!links.is_empty());
    for link in links {
        assert!(page.contains(&format!("id=\"row-{link}\"")), "{link}");
    }
    let none = written(LINKS, 0);
    assert!(!none.contains("class=\"preview\""));
    assert!(none.contains("<meter"));
}

/// Every text of a package turned into markup, one kind of text at a time.
#[test]
fn text_of_a_package_stays_text() {
    let hostile = "</title></style><script>alert(1)</script><img src=x onerror=alert(2)>\\\" onload=\\\"alert(3)&lt;\\u001b\\u202e";
    for text in [LINKS, AUTO] {
        for key in [
            "label",
            "name",
            "description",
            "type",
            "defaultComponent",
            "uid",
            "ref",
            "path",
            "reason",
            "action",
            "key",
            "kind",
            "form",
            "resolution",
            "semver",
            "workspaceName",
            "summary",
            "tool",
            "featureRef",
            "keyColumn",
            "rowUid",
            "templateVersion",
        ] {
            let mut changed = String::new();
            let mut rest = text;
            let sought = format!("\"{key}\":");
            while let Some(at) = rest.find(&sought) {
                let value = at + sought.len();
                changed.push_str(&rest[..value]);
                rest = &rest[value..];
                // Strings only; all of these are short and hold no escaped quote.
                let space = rest.len() - rest.trim_start().len();
                if rest[space..].starts_with('"') {
                    let end = rest[space + 1..].find('"').expect("a string that ends");
                    changed.push_str(" \"");
                    changed.push_str(hostile);
                    changed.push('"');
                    rest = &rest[space + end + 2..];
                }
            }
            changed.push_str(rest);
            let page = written(&changed, 5);
            for sign in ["<script", "<img", "\" onload", "\u{1b}", "\u{202e}"] {
                assert!(!page.contains(sign), "{key}: {sign}");
            }
            assert_eq!(page.matches("</style>").count(), 1, "{key}");
            assert_eq!(
                page.matches("</title>").count(),
                page.matches("<title").count(),
                "{key}"
            );
        }
    }
}

#[test]
fn hostile_keys_of_rows_stay_text() {
    let text = LINKS.replace("\"columns\":", "\"columns\": [\"<b>x\"], \"was\":");
    assert!(!written(&text, 5).contains("<b>"));
    let text = LINKS.replace("\"data\":{", "\"data\":{\"<i onclick='x'>\":\"<u>\",");
    let text = text.replace("\"data\": {", "\"data\": {\"<i onclick='x'>\":\"<u>\",");
    let page = written(&text, 5);
    assert!(page.contains("&lt;u&gt;") && !page.contains("<u>") && !page.contains("<i "));
}

#[test]
fn a_leaked_secret_is_reported_and_not_shown() {
    let page = written(include_str!("../../examples/broken-invoices.json"), 3);
    assert!(page.contains("X002 secret-leak") && !page.contains("change-me-after-import"));
}

#[test]
fn rows_that_a_plan_inserts_are_shown() {
    let text = include_str!("../../examples/reading-list.json");
    let page = written(text, 3);
    assert!(page.contains("The plan inserts rows itself"));
    assert!(page.contains("class=\"preview\""));
}

#[test]
fn what_is_hardly_a_package_has_a_page() {
    for text in [
        r#"{"templateVersion": 2}"#,
        r#"{"manifest": {"templateVersion": "x", "items": [1, {}], "dependencies": [5, {}], "plan": {"steps": [{"tool": "create_view"}, 3]}}, "payloads": [1, {"rows": [1, {"data": 5}]}, {"rows": {}}]}"#,
    ] {
        let page = written(text, 5);
        assert!(page.ends_with("</html>\n"));
        assert!(page.contains("class=\"finding error\""));
    }
}

/// Findings come first, each table is a link of the bar, and what scrolls can be reached by keyboard.
#[test]
fn a_page_is_read_from_the_findings_and_by_the_keyboard() {
    let page = written(LINKS, 5);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("id=\"findings\"") < at("id=\"tables\""));
    let links = page.matches("href=\"#table-").count();
    assert!(links > 1);
    for index in 0..links {
        assert!(page.contains(&format!("id=\"table-{index}\"")), "{index}");
    }
    let areas: Vec<&str> = page.split("class=\"scroll\"").skip(1).collect();
    assert!(!areas.is_empty());
    for area in areas {
        let tag = area.split('>').next().unwrap_or_default();
        assert!(
            tag.contains("tabindex=\"0\"") && tag.contains("aria-label="),
            "{tag}"
        );
    }
}

#[test]
fn words_between_backticks_are_code() {
    let mut html = super::html::Html::default();
    html.prose("there is no `<b>` here")
        .prose("; a lone ` stays");
    assert_eq!(
        html.finish(),
        "there is no <code>&lt;b&gt;</code> here; a lone ` stays"
    );
}
