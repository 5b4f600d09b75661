//! Documents that are made from the declarations of the command line.

use std::fs;
use std::path::Path;

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
