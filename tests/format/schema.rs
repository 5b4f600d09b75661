//! The published JSON Schemas.

use jsonschema::Validator;
use serde_json::{Value, json};
use tplkit::finding::{Severity, catalog};
use tplkit::package::schema;

use crate::cases;

fn validator(name: &str) -> Validator {
    jsonschema::draft202012::new(&schema::schema(name).unwrap()).unwrap()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// What a schema says about a value, one line per mistake.
fn mistakes(validator: &Validator, value: &Value) -> Vec<String> {
    let errors = validator.iter_errors(value);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// `UPDATE=1 cargo test` rewrites the published files.
#[test]
fn the_published_files_are_current() {
    for name in schema::NAMES {
        let path = cases::root().join(format!("schemas/{name}.json"));
        let mut text = serde_json::to_string_pretty(&schema::schema(name).unwrap()).unwrap();
        text.push('\n');
        #[expect(
            clippy::disallowed_methods,
            reason = "asked for by whoever runs the tests"
        )]
        let update = std::env::var_os("UPDATE").is_some();
        if update {
            std::fs::write(&path, &text).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == text,
            "schemas/{name}.json is old: run with UPDATE=1"
        );
    }
    assert_eq!(schema::schema("definitions"), None);
}

#[test]
fn they_are_schemas_and_name_themselves() {
    for name in schema::NAMES {
        let schema = schema::schema(name).unwrap();
        jsonschema::draft202012::meta::validate(&schema)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            schema["$id"],
            format!("https://tplkit.dev/schemas/{name}.json")
        );
        let text = schema.to_string();
        for reference in text.split("\"$ref\":\"").skip(1) {
            let target = reference.split('"').next().unwrap();
            let found = schema.pointer(target.strip_prefix('#').unwrap());
            assert!(found.is_some_and(Value::is_object), "{name}: {target}");
        }
    }
}

/// Every property that an editor can show says what it is for.
#[test]
fn everything_is_described() {
    fn assert_described(schema: &Value, path: &str) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let described =
                property["description"].is_string() || property["items"]["description"].is_string();
            assert!(described, "{path}/{key}");
            assert_described(property, &format!("{path}/{key}"));
            assert_described(&property["items"], &format!("{path}/{key}/items"));
        }
    }
    for name in schema::NAMES {
        let schema = schema::schema(name).unwrap();
        assert_described(&schema, name);
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            assert_described(definition, name);
        }
    }
}

#[test]
fn good_packages_are_valid() {
    let [package, manifest, payload, plan] =
        ["package", "manifest", "payload", "plan"].map(validator);
    let mut files = cases::valid();
    files.extend(
        cases::folder("examples")
            .into_iter()
            .filter(|(name, _)| !name.starts_with("broken")),
    );
    for (name, text) in files {
        let file = parsed(&text);
        assert_eq!(mistakes(&package, &file), Vec::<String>::new(), "{name}");
        let inside = file.get("manifest").unwrap_or(&file);
        assert!(
            manifest.is_valid(inside) && plan.is_valid(&inside["plan"]),
            "{name}"
        );
        for entry in file["payloads"].as_array().into_iter().flatten() {
            assert!(payload.is_valid(entry), "{name}");
        }
    }
}

/// Codes of mistakes that stand in one place, or between neighbours.
const SEEN: &str = "A001 A002 A003 A005 A016 A017 A019 D001 D002 D003 D004 D005 D006 D010 D011 I001 \
    I003 I004 I005 I007 I010 I011 I015 J003 J004 J005 J006 J008 M001 M002 M004 M005 \
    P001 S001 S002 S003 S009 S010 S011 S012 S015 S017 S021 U001 U002 U003 U007 U010 \
    X002";

#[test]
fn mistakes_that_a_schema_can_see_are_seen() {
    let package = validator("package");
    let mut wrong = Vec::new();
    for (name, text) in cases::mutants() {
        let code = &name[..4];
        let Ok(value) = serde_json::from_str(&text) else {
            assert_eq!(code, "J001");
            continue;
        };
        let refused = !package.is_valid(&value);
        let expected = SEEN.contains(code);
        let warning = catalog::find(code).unwrap().severity == Severity::Warning;
        assert!(
            !(refused && warning),
            "{name} may be applied: {:?}",
            mistakes(&package, &value)
        );
        if refused != expected {
            wrong.push(format!("{name}: {:?}", mistakes(&package, &value)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn versions_and_forms_are_distinguished() {
    let package = validator("package");
    let bare = parsed(&cases::case("bare-v1"));
    for (key, value) in [
        ("templateVersion", json!("1")),
        ("templateVersion", json!(3)),
        ("plan", json!([])),
        ("scope", json!("row")),
    ] {
        let mut changed = bare.clone();
        changed[key] = value;
        assert!(!package.is_valid(&changed), "{key}");
        assert!(!package.is_valid(&json!({"manifest": changed})), "{key}");
    }
    let mut second = bare.clone();
    second["templateVersion"] = json!(2);
    assert!(
        !package.is_valid(&second),
        "the layers of version 2 are missing"
    );
    let mut announced = bare;
    announced["$schema"] = json!("https://tplkit.dev/schemas/package.json");
    assert!(package.is_valid(&announced));
    assert!(package.is_valid(&json!({"$schema": "x", "manifest": announced})));
    for other in [
        json!({}),
        json!([]),
        json!({"manifest": {}}),
        json!({"manifest": 1}),
    ] {
        assert!(!package.is_valid(&other), "{other}");
    }
}

#[test]
fn resolutions_are_the_body_of_an_apply() {
    let resolutions = validator("resolutions");
    let id = "0197b6f5-4c1e-7c3a-9d52-0a1b2c3d4e5f";
    let good = [
        json!({}),
        json!({"workspaceId": id, "includeRows": false, "rowsModes": {"$f_a": "missingByKey", "f_b": "none"}}),
        json!({"resolutions": {"f_a": {"action": "map", "id": id, "columns": {"$c_a": id}}, "connection_erp": {"action": "map", "id": "erp"}}}),
        json!({"resolutions": {"$f_a": {"action": "import"}, "m_a": {"action": "skip"}}, "copy": true}),
    ];
    for body in good {
        assert_eq!(mistakes(&resolutions, &body), Vec::<String>::new());
    }
    let bad = [
        json!([]),
        json!({"workspaceId": "here"}),
        json!({"resolutions": {"f_a": {}}}),
        json!({"resolutions": {"f_a": {"action": "map"}}}),
        json!({"resolutions": {"f_a": {"action": "import", "columns": {}}}}),
        json!({"resolutions": {"x_a": {"action": "skip"}}}),
        json!({"rowsModes": {"f_a": "some"}}),
        json!({"includeRow": true}),
    ];
    for body in bad {
        assert!(!resolutions.is_valid(&body), "{body}");
    }
}

#[test]
fn a_report_is_what_the_contract_shows() {
    let place = json!({"pointer": "/a~1b/0", "line": 1, "column": 2, "message": "m"});
    let finding = json!({
        "code": "J005", "name": "wrong-type", "severity": "error", "pointer": "", "line": 1, "column": 1,
        "offset": 0, "length": 0, "message": "m", "help": "h", "related": [place],
        "fix": {"title": "t", "safe": true, "edits": [{"offset": 0, "length": 1, "text": ""}]},
    });
    let verdict =
        json!({"code": "P001", "name": "version-declared", "passed": false, "places": [place]});
    let report = json!({
        "schemaVersion": 1, "outcome": "findings",
        "files": [{"path": "a.json", "kind": "package", "findings": [finding], "promotion": [verdict]}],
        "summary": {"files": 1, "packages": 1, "plain": 0, "errors": 1, "warnings": 0, "hints": 0},
    });
    assert_eq!(
        mistakes(&validator("finding"), &finding),
        Vec::<String>::new()
    );
    assert_eq!(
        mistakes(&validator("report"), &report),
        Vec::<String>::new()
    );
    for (pointer, value) in [
        ("/outcome", json!("ok")),
        ("/schemaVersion", json!(2)),
        ("/files/0/findings/0/line", json!(0)),
        ("/files/0/kind", json!(null)),
        ("/summary", json!({})),
    ] {
        let mut changed = report.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert!(!validator("report").is_valid(&changed), "{pointer}");
    }
}

/// What the commands print is what the schema says, on every path out.
#[test]
fn printed_reports_are_valid() {
    let Some(tplkit) = option_env!("CARGO_BIN_EXE_tplkit") else {
        return; // built without the command line
    };
    let report = validator("report");
    let runs: [&[&str]; 5] = [
        &["check", "tests/fixtures/cases/mutants"],
        &["check", "--promotion", "system", "examples"],
        &[
            "promote",
            "examples/crm.json",
            "tests/fixtures/cases/mutants/J001-1.json",
        ],
        &["check", "examples/README.md"],
        &["check", "no-such-file.json"],
    ];
    for run in runs {
        let output = std::process::Command::new(tplkit)
            .args(run)
            .args(["--format", "json"])
            .current_dir(cases::root())
            .output()
            .unwrap();
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(mistakes(&report, &printed), Vec::<String>::new(), "{run:?}");
    }
}

/// No object holds anything that the schema does not name.
fn closed(mut schema: Value) -> Value {
    if schema["properties"].is_object() {
        schema["additionalProperties"] = json!(false);
    }
    let parts: Vec<&mut Value> = match &mut schema {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(elements) => elements.iter_mut().collect(),
        _ => Vec::new(),
    };
    for part in parts {
        *part = closed(part.take());
    }
    schema
}

/// What an apply of every good package prints, once all is decided and once nothing is.
#[test]
fn reports_and_previews_of_applies_are_valid() {
    use tplkit::apply::{Request, Resolution, package_digest};
    use tplkit::check::{CheckOptions, Checked};
    use tplkit::context::{FixedClock, Seeded};
    use tplkit::definitions::Definitions;
    use tplkit::simulate::simulate;
    use tplkit::workspace::memory::{Memory, State};
    use tplkit::workspace::{Id, Source as _, ready};

    let validator =
        |name: &str| jsonschema::draft202012::new(&closed(schema::schema(name).unwrap())).unwrap();
    let (reports, previews) = (validator("job-report"), validator("plan-preview"));
    let (mut applied, mut refused) = (0, 0);
    for name in [
        "crm",
        "project-tracker",
        "inventory",
        "service-desk",
        "event-planning",
    ] {
        let path = cases::root().join(format!("examples/{name}.json"));
        let text = std::fs::read_to_string(path).unwrap();
        let package = Checked::read(&text, &CheckOptions::default()).unwrap();
        let empty = State::empty(Id::from_u128(1), Id::from_u128(2), "here", "Here");
        let mut request = Request::default();
        for dependency in package
            .manifest
            .layers()
            .map_or(&[][..], |layers| &layers.dependencies)
        {
            let reference = dependency.reference.clone();
            request.resolutions.insert(reference, Resolution::Skip);
        }
        let clock = FixedClock("2026-03-01T09:30:00Z".parse().unwrap());
        let digest = package_digest(&text);
        let definitions = Definitions::embedded();
        let mut ids = Seeded::new(7);
        let done = simulate(
            &package,
            &digest,
            &request,
            empty.clone(),
            definitions,
            &clock,
            &mut ids,
        )
        .unwrap();
        for report in [&done.report, &done.again] {
            let value = serde_json::to_value(report).unwrap();
            assert_eq!(mistakes(&reports, &value), Vec::<String>::new(), "{name}");
        }
        let mut documents = vec![done.preview];
        let memory = Memory::new(empty);
        let structure = ready(memory.structure()).unwrap();
        let input = tplkit::apply::PreviewInput {
            package: &package,
            package_digest: &digest,
            request: &Request::default(),
            earlier: &[],
            base: None,
            definitions,
        };
        documents.push(ready(tplkit::apply::preview(&memory, &structure, input)).unwrap());
        for preview in documents {
            applied += usize::from(preview.refusals.is_empty());
            refused += preview.refusals.len();
            let value = serde_json::to_value(preview).unwrap();
            assert_eq!(mistakes(&previews, &value), Vec::<String>::new(), "{name}");
        }
    }
    assert!(applied >= 5 && refused > 0, "{applied} {refused}");
    for validator in [&reports, &previews] {
        assert!(!validator.is_valid(&json!({})));
    }
}
