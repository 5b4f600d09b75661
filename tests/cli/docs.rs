//! Documents that are made from the declarations of the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tplkit_testkit::help::read;

use crate::support::Place;

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/CLI.md");
    let page = Place::new().run(&["man", "--markdown"]).exits(0).out;
    #[expect(clippy::disallowed_methods, reason = "how a person asks for a rewrite")]
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(&path, &page).expect("write");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/CLI.md is out of date: run `UPDATE=1 cargo test --test cli`"
    );
}

#[test]
fn manual_pages_and_completions_exist() {
    let place = Place::new();
    assert!(place.run(&["man"]).exits(0).out.contains(".TH tplkit"));
    assert!(
        place
            .run(&["man", "check"])
            .exits(0)
            .out
            .contains("baseline")
    );
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            place
                .run(&["completions", shell])
                .exits(0)
                .out
                .contains("COMPLETE"),
            "{shell}"
        );
    }
}

/// The long names of the options under a heading of a help.
fn options(help: &str, heading: &str) -> BTreeSet<String> {
    let group = help.lines().skip_while(|line| *line != heading).skip(1);
    let group = group.take_while(|line| line.is_empty() || line.starts_with(' '));
    let names = group.filter_map(|line| {
        let line = line.trim_start();
        let name = line.starts_with('-').then(|| line.split_once("--"))??.1;
        let end = name.find(|next: char| !next.is_ascii_alphanumeric() && next != '-');
        Some(name[..end.unwrap_or(name.len())].to_owned())
    });
    names.collect()
}

#[test]
fn a_heading_holds_its_own_options_alone() {
    let place = Place::new();
    let mut by_server: BTreeMap<BTreeSet<String>, Vec<String>> = BTreeMap::new();
    for command in read(Path::new(env!("CARGO_BIN_EXE_tplkit"))) {
        let words: Vec<&str> = command.command.split(' ').skip(1).collect();
        let help = place.run(&[words, vec!["--help"]].concat()).exits(0).out;
        let server = options(&help, "Server:");
        if !server.is_empty() {
            by_server
                .entry(server)
                .or_default()
                .push(command.command.clone());
        }
        for heading in ["Upgrade:", "Selection:", "Identity:"] {
            let named = options(&help, heading);
            assert!(!named.contains("format"), "{}: {named:?}", command.command);
        }
    }
    let commands: usize = by_server.values().map(Vec::len).sum();
    assert!(commands > 30, "{commands} commands use a server");
    assert_eq!(
        by_server.len(),
        1,
        "options under \"Server\" differ: {by_server:#?}"
    );
}
