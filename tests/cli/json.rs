//! `--format json`: one document on stdout, whatever happens.

use serde_json::{Value, json};

use crate::support::{Place, faulty, fixable, tiny};

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a number")).expect("fits")
}

#[test]
fn the_document_of_a_check_has_the_contracts_shape() {
    let place = Place::with(&[("p.json", &faulty())]);
    let document = place
        .run(&["check", "p.json", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["schemaVersion"], 1);
    assert_eq!(document["outcome"], "findings");
    assert_eq!(
        document["summary"],
        json!({"files": 1, "packages": 1, "plain": 0, "errors": 1, "warnings": 1, "hints": 0})
    );
    let file = &document["files"][0];
    assert_eq!(
        (&file["path"], &file["kind"]),
        (&json!("p.json"), &json!("package"))
    );
    assert_eq!(file.get("promotion"), None);
    let finding = &file["findings"][0];
    let keys: Vec<&String> = finding.as_object().expect("object").keys().collect();
    let expected = [
        "code", "name", "severity", "pointer", "line", "column", "offset", "length", "message",
        "help", "related",
    ];
    assert_eq!(keys.get(..11).expect("eleven"), expected);
    assert_eq!(finding["code"], "M001");
    assert_eq!(finding["pointer"], "/manifest/scope");
    assert_eq!(
        (&finding["line"], &finding["column"]),
        (&json!(4), &json!(14))
    );
    let text = faulty();
    let offset = number(&finding["offset"]);
    let length = number(&finding["length"]);
    assert_eq!(text.get(offset..offset + length), Some("\"everywhere\""));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_do_not_move_places() {
    let text = format!("\u{feff}{}", faulty().replace('\n', "\r\n"));
    let place = Place::with(&[("p.json", &text)]);
    let document = place
        .run(&["check", "p.json", "--format", "json"])
        .exits(1)
        .json();
    let finding = &document["files"][0]["findings"][0];
    assert_eq!(
        (&finding["line"], &finding["column"]),
        (&json!(4), &json!(14))
    );
    let offset = number(&finding["offset"]);
    assert_eq!(text.get(offset + 3..offset + 15), Some("\"everywhere\""));
}

#[test]
fn promotion_comes_with_five_verdicts() {
    let place = Place::with(&[("p.json", &tiny())]);
    for words in [
        &["promote", "p.json", "--format", "json"][..],
        &["check", "--promotion=system", "p.json", "--format=json"],
    ] {
        let document = place.run(words).exits(0).json();
        let verdicts = document["files"][0]["promotion"]
            .as_array()
            .expect("list")
            .clone();
        let codes: Vec<&Value> = verdicts.iter().map(|verdict| &verdict["code"]).collect();
        assert_eq!(codes, ["P001", "P002", "P003", "P004", "P005"]);
        assert!(
            verdicts
                .iter()
                .all(|verdict| verdict["passed"] == true && verdict["places"] == json!([]))
        );
    }
}

#[test]
fn every_exit_path_has_its_document() {
    let place = Place::with(&[
        ("p.json", &tiny()),
        ("broken.json", "{"),
        ("plain.json", "[]"),
        ("fix.json", &fixable()),
    ]);
    let schema = place.run(&["schema", "report"]).exits(0).json();
    let report = jsonschema::validator_for(&schema).expect("a schema");
    let paths: [(&[&str], i32, &str); 26] = [
        (&["check", "p.json"], 0, "clean"),
        (&["check", "broken.json"], 1, "findings"),
        (&["check", "plain.json"], 1, "findings"),
        (&["check", "gone.json"], 2, "failed"),
        (&["check"], 2, "failed"),
        (&["check", "p.json", "--nope"], 2, "failed"),
        (&["check", "p.json", "--select", "Q"], 2, "failed"),
        (
            &["check", "p.json", "--definitions", "plain.json"],
            2,
            "failed",
        ),
        (&["check", "--help"], 0, "clean"),
        (&["check", "p.json", "--statistics"], 0, "clean"),
        (&["check", "fix.json", "--diff"], 1, "findings"),
        (&["check", "p.json", "--promotion", "system"], 0, "clean"),
        (&["schema", "plan"], 0, "clean"),
        (&["promote", "p.json"], 0, "clean"),
        (&["promote", "broken.json"], 1, "findings"),
        (&["nope"], 2, "failed"),
        (&["explain", "R003"], 0, "clean"),
        (&["explain", "R999"], 2, "failed"),
        (&["rules"], 0, "clean"),
        (&["show", "p.json"], 0, "clean"),
        (&["show", "broken.json"], 1, "findings"),
        (&["show", "gone.json"], 2, "failed"),
        (&["why", "p.json", "f_notes"], 0, "clean"),
        (&["why", "p.json", "f_nots"], 1, "findings"),
        (&["fmt", "--check", "p.json"], 1, "findings"),
        (&["new", "x"], 0, "clean"),
    ];
    for (words, code, outcome) in paths {
        for format in [&["--format", "json"][..], &["--format=json"]] {
            let words: Vec<&str> = words.iter().chain(format).copied().collect();
            let ran = place.run(&words).exits(code);
            let document = ran.json();
            assert_eq!(document["schemaVersion"], 1, "{words:?}");
            assert_eq!(document["outcome"], outcome, "{words:?}");
            if matches!(words.first(), Some(&"check" | &"promote"))
                && document.get("help").is_none()
            {
                let fault = report
                    .iter_errors(&document)
                    .next()
                    .map(|error| error.to_string());
                assert_eq!(fault, None, "{words:?}");
            }
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let place = Place::new();
    for index in 0..40 {
        place.write(&format!("d{}/p{index}.json", index % 3), &faulty());
    }
    let one = place
        .run(&["check", ".", "--format", "json", "-j", "1"])
        .exits(1);
    let four = place
        .run(&["check", ".", "--format", "json", "-j", "4"])
        .exits(1);
    assert_eq!(one.out, four.out);
    let document = one.json();
    let paths: Vec<&str> = document["files"]
        .as_array()
        .expect("list")
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    assert_eq!(paths.len(), 40);
    assert!(paths.is_sorted());
}

#[test]
fn standard_input_is_a_file_called_minus() {
    let place = Place::new();
    let document = place
        .feed(&["check", "-", "--format", "json"], faulty().as_bytes())
        .exits(1)
        .json();
    assert_eq!(document["files"][0]["path"], "-");
    place.feed(&["check", "-"], tiny().as_bytes()).exits(0);
    place.feed(&["check", "-"], b"").exits(1);
    place.feed(&["promote", "-"], tiny().as_bytes()).exits(0);
    place.feed(&["show", "-"], tiny().as_bytes()).exits(0);
    place
        .feed(&["why", "-", "$f_notes"], tiny().as_bytes())
        .exits(0);
}
