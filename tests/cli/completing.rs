//! What shells offer while somebody types: they ask the program.

use crate::support::{Place, tiny};

/// What is offered for the last of the words.
fn offered(place: &Place, words: &[&str]) -> Vec<String> {
    let mut command = place.command(&[]);
    command
        .env("TPLKIT_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "false")
        .env("_CLAP_IFS", "\n")
        .arg("--")
        .args(words);
    let out = command.output().expect("the program runs");
    assert!(out.status.success(), "{out:?}");
    let text = String::from_utf8(out.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn rules_and_words_are_offered_wherever_a_rule_is_taken() {
    let place = Place::new();
    assert_eq!(offered(&place, &["tplkit", "explain", "R00"]).len(), 9);
    let names = offered(&place, &["tplkit", "explain", "row-count"]);
    assert!(names.iter().all(|name| name.starts_with("row-count")) && !names.is_empty());
    for flag in ["--select", "--ignore", "--warn", "--deny"] {
        let words = offered(&place, &["tplkit", "check", "x.json", flag, "w"]);
        assert!(words.contains(&"warnings".to_owned()), "{flag}: {words:?}");
        let second = offered(&place, &["tplkit", "check", "x.json", flag, "J001,R01"]);
        assert!(
            second.contains(&"J001,R017".to_owned()),
            "{flag}: {second:?}"
        );
    }
}

#[test]
fn refs_are_those_of_the_package_named_before() {
    let place = Place::with(&[("p.json", &tiny())]);
    let refs = offered(&place, &["tplkit", "why", "p.json", "c_notes_"]);
    assert_eq!(refs, ["c_notes_body", "c_notes_n", "c_notes_title"]);
    let refs = offered(&place, &["tplkit", "why", "p.json", "$v_"]);
    assert_eq!(refs, ["$v_notes"]);
    let refs = offered(&place, &["tplkit", "graph", "p.json", "--focus", "f_"]);
    assert_eq!(refs, ["f_notes"]);
    assert!(offered(&place, &["tplkit", "why", "missing.json", "f_"]).is_empty());
}

#[test]
fn targets_profiles_and_schemas_are_offered() {
    let config = "[targets.staging]\nurl = \"https://example.org\"\n[targets.shop]\nurl = \"https://example.org\"\n";
    let place = Place::with(&[("tplkit.toml", config)]);
    let targets = offered(&place, &["tplkit", "plan", "p.json", "--target", "s"]);
    assert_eq!(targets, ["staging", "shop"]);
    assert_eq!(
        offered(&place, &["tplkit", "schema", "job"]),
        ["job-report"]
    );
}

#[test]
fn workspaces_and_profiles_are_offered_as_far_as_they_are_known_offline() {
    let config = "[targets.staging]\nworkspace = \"Acme/tea\"\n";
    let profiles =
        "[ana]\nurl = \"https://a.test\"\nworkspace = \"w\"\nworkspace_name = \"coffee_shop\"\n";
    let place = Place::with(&[
        ("tplkit.toml", config),
        ("config/tplkit/profiles.toml", profiles),
    ]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = place.path("config/tplkit/profiles.toml");
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private).expect("chmod");
    }
    for words in [
        &["tplkit", "plan", "p.json", "--workspace", ""][..],
        &["tplkit", "automation", "list", "--workspace", ""],
    ] {
        assert_eq!(offered(&place, words), ["Acme/tea", "coffee_shop"]);
    }
    let found = offered(&place, &["tplkit", "profile", "use", "a"]);
    assert_eq!(found, ["ana"]);
}

#[test]
fn the_scripts_of_the_shells_ask_the_program() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]).exits(0).out;
        assert!(script.contains("TPLKIT_COMPLETE"), "{shell}: {script}");
    }
}

/// A variable of other programs changes nothing, and a wrong value of ours is an error: never a success
/// without the work.
#[test]
fn a_command_does_its_work_whatever_is_in_the_environment() {
    let place = Place::new();
    let run = |name: &str, value: &str| {
        let mut command = place.command(&["explain", "R017"]);
        command.env(name, value).output().expect("the program runs")
    };
    let others = run("COMPLETE", "1");
    assert_eq!(others.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&others.stdout).contains("R017"));
    let wrong = run("TPLKIT_COMPLETE", "nonsense");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(
        String::from_utf8_lossy(&wrong.stderr).contains("nonsense"),
        "{wrong:?}"
    );
}

/// bash takes words apart at `=`, and replaces what stands behind it.
#[test]
fn values_behind_an_equals_sign_are_offered_without_the_option() {
    let config = "[targets.staging]\nurl = \"https://example.org\"\n";
    let place = Place::with(&[("p.json", &tiny()), ("tplkit.toml", config)]);
    let offered = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        offered(&place, &words)
    };
    let codes = offered("tplkit check p.json --select = R00");
    assert_eq!(codes.len(), 9, "{codes:?}");
    assert!(codes.contains(&"R001".to_owned()), "{codes:?}");
    let codes = offered("tplkit check p.json --select = J001,R01");
    assert!(codes.contains(&"J001,R017".to_owned()), "{codes:?}");
    assert_eq!(offered("tplkit plan p.json --target = st"), ["staging"]);
    assert_eq!(offered("tplkit graph p.json --focus = f_no"), ["f_notes"]);
    let refs = offered("tplkit graph --kind = er p.json --focus = f_no");
    assert_eq!(refs, ["f_notes"]);
    // Where nothing takes it apart, it is replaced whole.
    assert_eq!(
        offered("tplkit plan p.json --target=st"),
        ["--target=staging"]
    );
}

/// Shells hand words over as they are typed.
#[test]
fn refs_are_those_of_a_package_in_quotes_or_at_home() {
    let place = Place::with(&[("sp ace/p.json", &tiny())]);
    for typed in [
        r"sp\ ace/p.json",
        "\"sp ace/p.json\"",
        "'sp ace/p.json'",
        "sp' 'ace/p.json",
        "~/sp\\ ace/p.json",
        "~/'sp ace/p.json'",
    ] {
        let refs = offered(&place, &["tplkit", "why", typed, "f_"]);
        assert_eq!(refs, ["f_notes"], "{typed}");
    }
}
