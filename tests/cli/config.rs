//! `tplkit.toml`: the nearest one upwards alone, flags before it, places of mistakes, targets.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tplkit::finding::catalog::M003;
use tplkit::package::schema;

use crate::support::{Place, Ran, faulty, tiny, warned};

#[test]
fn the_nearest_file_alone_counts_for_each_package() {
    let place = Place::with(&[
        ("tplkit.toml", "ignore = [\"M003\"]\n"),
        ("a/p.json", &faulty()),
        ("b/tplkit.toml", "ignore = [\"M001\"]\n"),
        ("b/p.json", &faulty()),
        ("b/deep/p.json", &faulty()),
    ]);
    let ran = place.run(&["check", ".", "--format", "json"]);
    let codes = |at: usize| {
        let document = ran.json();
        let findings = document["files"][at]["findings"].as_array().cloned();
        let findings = findings.unwrap_or_default().into_iter();
        let codes = findings.map(|one| one["code"].as_str().unwrap_or_default().to_owned());
        codes.collect::<Vec<String>>()
    };
    assert_eq!(codes(0), ["M001"]);
    assert_eq!(codes(1), ["M003"]);
    assert_eq!(codes(2), ["M003"]);
    // Standard input is checked as a package of the working folder.
    let ran = place.feed(&["check", "-"], faulty().as_bytes());
    assert!(
        ran.out.contains("M001") && !ran.out.contains("M003"),
        "{}",
        ran.out
    );
    // An unpacked folder may have its own.
    place.run(&["unpack", "a/p.json", "a/u"]).exits(0);
    place.write("a/u/tplkit.toml", "ignore = [\"M\"]\n");
    place.run(&["check", "a/u"]).exits(0);
    place.run(&["pack", "a/u", "-o", "again.json"]).exits(0);
}

#[test]
fn a_flag_replaces_the_key_of_its_name_and_goes_before_the_file() {
    let place = Place::with(&[
        ("p.json", &warned()),
        (
            "tplkit.toml",
            "ignore = [\"M003\"]\ndeny = [\"warnings\"]\n",
        ),
    ]);
    place.run(&["check", "p.json"]).exits(0);
    place.run(&["check", "p.json", "--ignore", "M001"]).exits(1);
    let ran = place
        .run(&["check", "p.json", "--select", "M003", "--warn", "M003"])
        .exits(0);
    assert!(ran.out.contains("warning[M003 "), "{}", ran.out);
    // A weight that a flag gives to a rule asks for it, whatever the file selects.
    for (flag, code, shown) in [("--deny", 1, "error[M003 "), ("--warn", 0, "warning[M003 ")] {
        for file in ["ignore = [\"M003\"]\n", "select = [\"S\"]\n"] {
            place.write("tplkit.toml", file);
            for rule in ["M003", "M00", M003.name] {
                let ran = place.run(&["check", "p.json", flag, rule]).exits(code);
                assert!(ran.out.contains(shown), "{file}{rule}: {}", ran.out);
            }
            // A whole severity says how findings weigh, and not which ones there are.
            let ran = place.run(&["check", "p.json", flag, "warnings"]).exits(0);
            assert!(!ran.out.contains("M003"), "{file}: {}", ran.out);
        }
    }
    // The severity that is meant is the one of the rule, not what the file made of it.
    place.write("tplkit.toml", "deny = [\"M003\"]\n");
    let ran = place
        .run(&["check", "p.json", "--warn", "warnings"])
        .exits(0);
    assert!(ran.out.contains("warning[M003 "), "{}", ran.out);
    place.write(
        "tplkit.toml",
        "ignore = [\"M003\"]\ndeny = [\"warnings\"]\n",
    );
    // Verdicts of a promotion are nobody's choice.
    fs::remove_file(place.path("tplkit.toml")).expect("goes");
    let alone = place.run(&["promote", "p.json"]).out;
    place.write("tplkit.toml", "select = [\"J001\"]\ndeny = [\"all\"]\n");
    assert_eq!(place.run(&["promote", "p.json"]).out, alone);
}

#[test]
fn mistakes_have_their_place_and_secrets_are_not_repeated() {
    let place = Place::with(&[("d/p.json", &tiny())]);
    for (text, expected) in [
        (
            "select = [\"M\"]\nignor = []\n",
            "d/tplkit.toml:2:1: unknown key `ignor`; did you mean `ignore`?",
        ),
        (
            "ignore = \"M003\"\n",
            "d/tplkit.toml:1:10: a list is expected here",
        ),
        (
            "ignore = [\"M03\"]\n",
            "d/tplkit.toml:1:11: no rule has the code",
        ),
        ("ignore = [\n", "d/tplkit.toml:"),
        (
            "[targets.a]\ntoken = \"very-secret\"\n",
            "d/tplkit.toml:2:1: unknown key `token`",
        ),
        (
            "[targets.a]\nworkspace = \"\"\n",
            "d/tplkit.toml:2:13: name a workspace",
        ),
    ] {
        place.write("d/tplkit.toml", text);
        let ran = place.run(&["check", "d"]).exits(2);
        assert!(ran.err.contains(expected), "{text}: {}", ran.err);
        assert!(!ran.err.contains("very-secret"), "{}", ran.err);
        let ran = place
            .run(&["check", "d/p.json", "--format", "json"])
            .exits(2);
        assert!(!ran.out.contains("very-secret"), "{}", ran.out);
    }
    // A file that is not text has a place, too.
    let bytes = b"ignore = []\nselect = [\"\xff\"]\n";
    std::fs::write(place.dir.path().join("d/tplkit.toml"), bytes).expect("written");
    let ran = place.run(&["check", "d"]).exits(2);
    let expected = "d/tplkit.toml:2:12: this byte is not UTF-8";
    assert!(ran.err.contains(expected), "{}", ran.err);
}

#[test]
fn a_file_that_is_named_and_missing_is_reported_where_it_is_named() {
    let place = Place::with(&[("d/p.json", &warned())]);
    let toml = place.path("d/tplkit.toml");
    for (text, expected) in [
        (
            "ignore = []\nbaseline = \"known.json\"\n",
            "d/tplkit.toml:2:12: there is no baseline `d/known.json`",
        ),
        (
            "definitions = \"registry.json\"\n",
            "d/tplkit.toml:1:15: cannot read `d/registry.json`",
        ),
    ] {
        fs::write(&toml, text).expect("writes");
        let ran = place.run(&["check", "d"]).exits(2);
        assert!(ran.err.contains(expected), "{text}: {}", ran.err);
        let ran = place.run(&["check", "d", "--format", "json"]).exits(2);
        let error = &ran.json()["errors"][0];
        assert_eq!(error["path"], "d/tplkit.toml", "{error}");
    }
    let ran = place.run(&["show", "d/p.json"]);
    assert!(!ran.err.contains("tplkit.toml:"), "{}", ran.err);
    let ran = place.run(&["simulate", "d/p.json"]).exits(2);
    assert!(ran.err.contains("d/tplkit.toml:1:15: "), "{}", ran.err);
    place.write("d/tplkit.toml", "baseline = \"known.json\"\n");
    place.run(&["check", "d", "--write-baseline"]).exits(0);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_reported_and_hides_no_file_further_up() {
    use std::os::unix::fs::symlink;
    let place = Place::with(&[
        ("tplkit.toml", "ignore = [\"M003\"]\n"),
        ("shared.toml", "deny = [\"M003\"]\n"),
        ("d/p.json", &warned()),
    ]);
    let link = place.path("d/tplkit.toml");
    for (target, code) in [("gone.toml", 2), ("tplkit.toml", 2), ("../shared.toml", 1)] {
        symlink(target, &link).expect("a link");
        let ran = place.run(&["check", "d"]).exits(code);
        let expected = format!(
            "error: `d/tplkit.toml` is a link to `{target}`, and no file is there\n  help: correct"
        );
        assert_eq!(ran.err.contains(&expected), code == 2, "{}", ran.err);
        let document = place.run(&["check", "d", "--format", "json"]).json();
        let path = document["errors"][0]["path"].as_str();
        assert_eq!(path, (code == 2).then_some("d/tplkit.toml"));
        fs::remove_file(&link).expect("removed");
    }
    place.run(&["check", "d"]).exits(0);
}

#[test]
fn the_baseline_is_relative_to_the_file_and_can_be_pruned() {
    let place = Place::with(&[
        ("d/p.json", &faulty()),
        ("d/tplkit.toml", "baseline = \"known.json\"\n"),
    ]);
    place.run(&["check", "d", "--write-baseline"]).exits(0);
    let written = place.read("d/known.json");
    // The order of the file is its owner's.
    let mut known: Value = serde_json::from_str(&written).expect("JSON");
    known["findings"].as_array_mut().expect("a list").reverse();
    let reversed = serde_json::to_string_pretty(&known).expect("JSON") + "\n";
    place.write("d/known.json", &reversed);
    let ran = place.run(&["check", "d"]).exits(0);
    assert!(ran.out.contains("2 in the baseline"), "{}", ran.out);
    // One of the two is fixed, another file is of no concern.
    place.write("d/p.json", &warned());
    let ran = place.run(&["check", "d", "--format", "json"]).exits(0);
    let summary = &ran.json()["summary"];
    assert_eq!(
        (&summary["baseline"], &summary["stale"]),
        (&1.into(), &1.into())
    );
    assert_eq!(place.read("d/known.json"), reversed);
    let ran = place.run(&["check", "d", "--prune-baseline"]).exits(0);
    assert!(
        ran.out.contains("1 in the baseline, 1 stale"),
        "{}",
        ran.out
    );
    let pruned: Value = serde_json::from_str(&place.read("d/known.json")).expect("JSON");
    assert_eq!(pruned["findings"].as_array().map(Vec::len), Some(1));
    assert_eq!(pruned["findings"][0]["code"], "M003");
    let ran = place.run(&["check", "d", "--prune-baseline"]).exits(0);
    assert!(
        ran.out.contains("1 in the baseline, 0 stale"),
        "{}",
        ran.out
    );
    // Without any there is nothing to prune.
    place.write("d/tplkit.toml", "");
    for flag in ["--prune-baseline", "--write-baseline"] {
        let ran = place.run(&["check", "d", flag]).exits(2);
        assert!(ran.err.contains("no baseline"), "{}", ran.err);
    }
}

/// Wherever the baseline lies, and however a package is named.
#[test]
fn paths_in_a_baseline_are_relative_to_the_folder_of_the_file() {
    let place = Place::with(&[
        ("sub/deep/p.json", &faulty()),
        ("tplkit.toml", "baseline = \"base/known.json\"\n"),
    ]);
    std::fs::create_dir(place.path("base")).expect("a folder");
    let absolute = place.path("sub/deep/p.json");
    let absolute = absolute.to_str().expect("UTF-8");
    place.run(&["check", absolute, "--write-baseline"]).exits(0);
    let known: Value = serde_json::from_str(&place.read("base/known.json")).expect("JSON");
    assert_eq!(known["findings"][0]["path"], "sub/deep/p.json");
    for path in ["sub/deep/p.json", "./sub/deep/p.json", ".", absolute] {
        let ran = place.run(&["check", path]).exits(0);
        assert!(ran.out.contains("2 in the baseline"), "{path}: {}", ran.out);
    }
    let mut inside = place.command(&["check", "deep/p.json"]);
    inside.current_dir(place.path("sub"));
    let ran = Ran::from(inside.output().expect("runs")).exits(0);
    assert!(ran.out.contains("2 in the baseline"), "{}", ran.out);
}

/// Only what a run looked for, and did not find, is no more.
#[test]
fn what_a_run_does_not_look_for_stays_in_the_baseline() {
    let place = Place::with(&[("p.json", &faulty())]);
    let check = |more: &[&str]| {
        let words = ["check", "p.json", "--baseline", "known.json"];
        place.run(&[&words, more].concat())
    };
    check(&["--write-baseline"]).exits(0);
    let written = place.read("known.json");
    for more in [&["--select", "M003"][..], &["--ignore", "warnings,errors"]] {
        let ran = check(&[more, &["--prune-baseline"]].concat()).exits(0);
        assert!(ran.out.contains("0 stale"), "{more:?}: {}", ran.out);
        assert_eq!(place.read("known.json"), written, "{more:?}");
    }
    // Nor does one that cannot read the file to its end.
    place.write("p.json", &faulty()[..200]);
    let ran = check(&["--prune-baseline"]).exits(1);
    assert!(
        ran.out.contains("J001") && ran.out.contains("0 stale"),
        "{}",
        ran.out
    );
    assert_eq!(place.read("known.json"), written);
}

#[test]
fn a_target_that_is_not_there_is_named_with_those_that_are() {
    let place = Place::with(&[("p.json", &tiny())]);
    let ran = place.run(&["plan", "--target", "staging"]).exits(2);
    assert!(ran.err.contains("`tplkit.toml`"), "{}", ran.err);
    place.write(
        "tplkit.toml",
        "[targets.staging]\nurl = \"http://127.0.0.1:1\"\n",
    );
    let ran = place.run(&["plan", "--target", "stagin"]).exits(2);
    assert!(ran.err.contains("Did you mean `staging`?"), "{}", ran.err);
    let ran = place.run(&["plan", "--target", "staging"]).exits(2);
    assert!(
        ran.err.contains("no package and no template"),
        "{}",
        ran.err
    );
    let ran = place
        .run(&["plan", "p.json", "--target", "staging"])
        .exits(2);
    assert!(ran.err.contains("no workspace is named"), "{}", ran.err);
}

#[test]
fn a_new_package_may_come_with_a_file() {
    let place = Place::new();
    place.run(&["new", "Tool shed", "-o", "shed/"]).exits(0);
    place.run(&["check", "shed", "--require-package"]).exits(0);
    let package: Value =
        serde_json::from_str(&place.read("shed/tool-shed.tplkit.json")).expect("JSON");
    assert_eq!(package["$schema"], schema::schema_id("package"));
    place.write("shed/tplkit.toml", "# mine\n");
    place.run(&["new", "Other", "-o", "shed"]).exits(0);
    assert_eq!(place.read("shed/tplkit.toml"), "# mine\n");
    place.run(&["new", "Other", "-o", "shed"]).exits(2);
    place.run(&["new", "Lone", "-o", "lone.json"]).exits(0);
    assert!(!place.path("tplkit.toml").exists());
}

#[test]
fn the_schema_of_editors_is_no_content() {
    let place = Place::new();
    let with = place.run(&["new", "Tool shed"]).exits(0).out;
    let mut package: Value = serde_json::from_str(&with).expect("JSON");
    package
        .as_object_mut()
        .expect("an object")
        .shift_remove("$schema");
    place.write("with.json", &with);
    place.write("without.json", &package.to_string());
    place.run(&["fmt", "without.json"]).exits(0);
    let ran = place
        .run(&["diff", "with.json", "without.json", "--exit-code"])
        .exits(0);
    assert!(ran.out.contains("No difference"), "{}", ran.out);
    let digest = tplkit::apply::content_digest;
    let without = place.read("without.json");
    assert_eq!(digest(&with), digest(&without));
    assert_eq!(digest(&without), tplkit::apply::package_digest(&without));
    assert_ne!(
        digest(&with),
        digest(&without.replace("Tool shed", "Tool Shed"))
    );
}

/// What the files for the catalog of schemas say is also what the command says.
#[test]
fn the_published_schema_and_the_reader_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/store");
    let config = schema::schema("config").expect("known");
    let validator = jsonschema::validator_for(&config).expect("a schema");
    let place = Place::with(&[("p.json", &tiny())]);
    place.write(
        "other/definitions.json",
        include_str!("../../schemas/definitions.json"),
    );
    place.write("known.json", "{\"schemaVersion\": 1, \"findings\": []}");
    for (kind, fits) in [("positive", true), ("negative", false)] {
        let files = fs::read_dir(folder.join(kind)).expect("is there");
        let files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
        assert!(files.len() > 2);
        for file in files {
            let text = fs::read_to_string(&file).expect("text");
            let value: Value = toml::from_str(&text).expect("TOML");
            assert_eq!(validator.is_valid(&value), fits, "{}", file.display());
            place.write("tplkit.toml", &text);
            let ran = place.run(&["check", "p.json"]);
            assert_eq!(ran.code != Some(2), fits, "{}: {}", file.display(), ran.err);
        }
    }
    let catalog = fs::read_to_string(folder.join("catalog.json")).expect("text");
    let catalog: Value = serde_json::from_str(&catalog).expect("JSON");
    let urls = catalog.as_array().expect("a list").iter();
    let urls: Vec<&str> = urls.filter_map(|one| one["url"].as_str()).collect();
    assert_eq!(
        urls,
        [schema::schema_id("package"), schema::schema_id("config")]
    );
}

#[test]
fn a_new_folder_names_its_package_in_the_settings() {
    let place = Place::new();
    place.run(&["new", "My shop", "-o", "shop/"]).exits(0);
    assert!(place.path("shop/my-shop.tplkit.json").exists());
    let settings = place.read("shop/tplkit.toml");
    assert!(
        settings.contains("# template = \"my-shop.tplkit.json\""),
        "{settings}"
    );
    // Without the marks it is what a file may hold.
    let live = settings
        .replace("# [targets", "[targets")
        .replace("# template", "template");
    place.write("shop/tplkit.toml", &live);
    place.run(&["check", "shop"]).exits(0);
}
