//! Packages as folders, and back.

use std::fs;

use crate::support::{Place, tiny};

fn unpacked() -> Place {
    let place = Place::with(&[("p.json", &tiny())]);
    place.run(&["unpack", "p.json", "d"]).exits(0);
    place
}

#[test]
fn there_and_back_is_formatting() {
    let place = unpacked();
    let canonical = place.feed(&["fmt", "-"], tiny().as_bytes()).exits(0).out;
    assert_eq!(place.run(&["pack", "d"]).exits(0).out, canonical);
    place.run(&["pack", "d", "-o", "q.json"]).exits(0);
    assert_eq!(place.read("q.json"), canonical);
    let document = place
        .run(&["pack", "d", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(document["text"], canonical);
    place.run(&["check", "d"]).exits(0);
    let fed = place.feed(&["unpack", "-", "e/f"], tiny().as_bytes());
    assert_eq!(fed.exits(2).out, "", "folders above are not made");
    place
        .feed(&["unpack", "-", "e"], tiny().as_bytes())
        .exits(0);
    assert_eq!(place.read("e/tplkit.index"), place.read("d/tplkit.index"));
    let left: Vec<_> = fs::read_dir(place.path(".")).expect("folder").collect();
    assert_eq!(left.len(), 4, "nothing temporary stays: {left:?}");
}

#[test]
fn an_earlier_package_is_replaced_and_foreign_files_stay() {
    let place = unpacked();
    place.write("d/README.md", "mine");
    place.write("d/columns/note.txt", "mine too");
    let other = tiny().replace("c_notes_body", "c_notes_text");
    place.write("q.json", &other);
    let ran = place.run(&["unpack", "q.json", "d"]).exits(2);
    assert!(ran.err.contains("is not empty"), "{}", ran.err);
    let document = place
        .run(&["unpack", "q.json", "d", "--force", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        document["removed"],
        serde_json::json!(["columns/notes_body.json"])
    );
    assert_eq!(place.read("d/README.md"), "mine");
    assert_eq!(place.read("d/columns/note.txt"), "mine too");
    let canonical = place.feed(&["fmt", "-"], other.as_bytes()).out;
    assert_eq!(place.run(&["pack", "d"]).exits(0).out, canonical);
    // Without an index nothing there is ours.
    fs::remove_file(place.path("d/tplkit.index")).expect("removed");
    let ran = place.run(&["unpack", "q.json", "d", "--force"]).exits(2);
    assert!(ran.err.contains("is in the way"), "{}", ran.err);
    place.run(&["pack", "d"]).exits(2);
}

#[test]
fn an_empty_folder_needs_no_force() {
    let place = Place::with(&[("p.json", &tiny())]);
    fs::create_dir(place.path("d")).expect("folder");
    place.run(&["unpack", "p.json", "d"]).exits(0);
    place.run(&["pack", "d"]).exits(0);
    place.run(&["unpack", "p.json", "p.json"]).exits(2);
}

#[test]
fn a_state_between_two_is_known() {
    let place = unpacked();
    let index = place.read("d/tplkit.index");
    place.write(
        "d/tplkit.index",
        &index.replacen("layout 1", "layout 1, unfinished", 1),
    );
    let ran = place.run(&["pack", "d"]).exits(1);
    assert!(
        ran.err.contains("d/tplkit.index:1:1") && ran.out.is_empty(),
        "{ran:?}"
    );
    place.run(&["unpack", "p.json", "d", "--force"]).exits(0);
    assert_eq!(place.read("d/tplkit.index"), index);
}

#[test]
fn problems_name_file_and_line() {
    let place = unpacked();
    place.write("d/rows/notes.jsonl", "{}\n{\n");
    place.write("d/views/more.json", "{}");
    fs::remove_file(place.path("d/rails/home.json")).expect("removed");
    let ran = place.run(&["pack", "d", "-o", "q.json"]).exits(1);
    assert!(
        ran.err.contains("d/rows/notes.jsonl:2:2: the line ends"),
        "{}",
        ran.err
    );
    assert!(!place.path("q.json").exists());
    let document = place
        .run(&["pack", "d", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["outcome"], "findings");
    assert_eq!(document["problems"].as_array().expect("list").len(), 3);
    let ran = place.run(&["unpack", "d/views/more.json", "e"]).exits(1);
    assert!(
        ran.out.contains("J003") && !place.path("e").exists(),
        "{ran:?}"
    );
    place.write("twice.json", "{\"templateVersion\": 1, \"a\": 1, \"a\": 2}");
    let document = place
        .run(&["unpack", "twice.json", "e", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(document["files"][0]["findings"][0]["code"], "J002");
    assert_eq!(
        place
            .run(&["pack", "gone", "--format", "json"])
            .exits(2)
            .json()["outcome"],
        "failed"
    );
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out() {
    use std::os::unix::fs::symlink;
    let place = unpacked();
    fs::rename(place.path("d/columns"), place.path("elsewhere")).expect("moved");
    symlink(place.path("elsewhere"), place.path("d/columns")).expect("link");
    let ran = place.run(&["pack", "d"]).exits(2);
    assert!(ran.err.contains("lead out of the folder"), "{}", ran.err);
    place.run(&["unpack", "p.json", "d", "--force"]).exits(2);
}

/// Whoever opens a pipe waits for somebody to write into it.
#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_refused_at_once() {
    let place = Place::with(&[("p.json", &tiny())]);
    let pipe = |name: &str| {
        let _ = std::fs::remove_file(place.path(name));
        let made = std::process::Command::new("mkfifo")
            .arg(place.path(name))
            .status();
        assert!(made.expect("mkfifo runs").success());
    };
    place.run(&["unpack", "p.json", "whole"]).exits(0);
    pipe("whole/template.json");
    let ran = place.run(&["pack", "whole"]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("it is a pipe"), "{}", ran.err);
    // Nor is one replaced that somebody has put there for a reason.
    let ran = place.run(&["unpack", "p.json", "whole", "--force"]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("it is a pipe"), "{}", ran.err);
    std::fs::remove_file(place.path("whole/template.json")).expect("removes");
    place
        .run(&["unpack", "p.json", "whole", "--force"])
        .exits(0);
    pipe("whole/tplkit.index");
    let ran = place.run(&["pack", "whole"]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("it is a pipe"), "{}", ran.err);
    std::fs::create_dir(place.path("d")).expect("a folder");
    place.write("d/p.json", &tiny());
    pipe("d/pipe.json");
    place.run(&["check", "d"]).exits(0);
}
