//! Downloads that the disk does not take.

use std::fs;

use super::{FILE, TestEnv, bytes, holding, ranges};

#[test]
fn a_folder_in_the_way_is_seen_before_anything_is_fetched() {
    let server = holding("photo.png", &bytes(), 0, 0);
    let env = TestEnv::with_key(&server.url);
    fs::create_dir_all(env.place.path("d/photo.png")).expect("a folder");
    for force in [&[][..], &["--force"]] {
        let words = [&["files", "get", FILE, "-o", "d"], force].concat();
        let ran = env.run(&words).exits(2);
        assert!(ran.err.contains("is a folder"), "{}", ran.err);
    }
    assert!(ranges(&server).is_empty());
    assert!(!env.place.path("d/photo.png.part").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_called_one() {
    let server = holding("photo.png", &bytes(), 0, 0);
    let env = TestEnv::with_key(&server.url);
    // It takes no byte, as a disk without room.
    let words = ["files", "get", FILE, "-o", "/dev/full"];
    let ran = env.run(&words).exits(2);
    assert!(ran.err.contains("make room"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn what_has_come_stays_where_the_rest_does_not_fit() {
    use std::process::{Command, Stdio};

    use crate::support::Ran;

    let bytes = bytes().repeat(40);
    let server = holding("photo.png", &bytes, 1, 400);
    let env = TestEnv::with_key(&server.url);
    let words = ["files", "get", FILE, "-o", "out"];
    // A file may have one block; what is written behind it is an error, as on a full disk.
    let command = env.command(&words);
    let mut limited = Command::new("/bin/sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            limited.env(name, value);
        }
    }
    limited.current_dir(command.get_current_dir().expect("a folder"));
    let ran = Ran::from(limited.output().expect("starts")).exits(2);
    assert!(ran.err.contains("`out.part` keeps"), "{}", ran.err);
    let kept = env.place.read("out.part");
    assert!(kept.len() >= 400 && bytes.starts_with(&kept), "{kept}");
    let ran = env.run(&words).exits(0);
    assert!(ran.err.contains("going on after"), "{}", ran.err);
    assert_eq!(env.place.read("out"), bytes);
}
