//! One process serves a SQLite file, whatever names it has.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::process::{Serving, admin, database, run, stderr};

fn url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

/// Neither `serve` nor `worker` gets the file.
#[track_caller]
fn refused(database: &str) {
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["worker"]] {
        let output = run(&[command, &["--database", database]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?} {database}");
        let message = stderr(&output);
        assert!(message.contains("served by another process"), "{message}");
    }
}

fn create(database: &str, email: &str) -> Result<(), String> {
    let create = ["create-user", "--email", email, "--password-stdin"];
    let made = admin(database, &create, "correct horse battery");
    made.map(drop).map_err(|output| stderr(&output))
}

#[test]
fn a_file_is_served_once_whatever_it_is_called() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = database(folder.path());
    let file = Path::new(served.strip_prefix("sqlite:").expect("a file")).to_owned();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let (soft, hard, moved) = (
        elsewhere.join("soft.db"),
        elsewhere.join("hard.db"),
        elsewhere.join("moved.db"),
    );
    let serving = Serving::start(&served);
    symlink(&file, &soft).expect("a symbolic link");
    fs::hard_link(&file, &hard).expect("a hard link");
    refused(&served);
    refused(&url(&soft));
    refused(&url(&elsewhere.join("../elsewhere/soft.db")));
    refused(&url(&hard));
    // What was refused has left nothing next to the other names.
    for name in ["hard.db-wal", "hard.db-shm", "soft.db-wal"] {
        assert!(!elsewhere.join(name).exists(), "{name}");
    }
    // Commands next to the server go on by its own name and by what leads to it, not by another name,
    // which would have another log.
    create(&served, "a@acme.test").expect("by the same name");
    create(&url(&soft), "b@acme.test").expect("by a link to it");
    let message = create(&url(&hard), "c@acme.test").expect_err("by another name");
    assert!(message.contains("served by another process"), "{message}");
    // A copy is another file.
    let copy = elsewhere.join("copy.db");
    run(&["migrate", "--database", &url(&copy)]);
    drop(Serving::start(&url(&copy)));
    // The lock goes where the file goes.
    fs::rename(&file, &moved).expect("moves");
    refused(&url(&moved));
    fs::rename(&moved, &file).expect("moves back");
    serving.signal("-TERM");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0), "{log}");
    // Nobody serves it any more; everything that was written is there.
    let serving = Serving::start(&url(&soft));
    create(&served, "a@acme.test").expect_err("is there");
    create(&served, "b@acme.test").expect_err("is there");
    create(&served, "c@acme.test").expect("was not made");
    drop(serving);
    // A process that was killed holds nothing.
    drop(Serving::start(&served));
}
