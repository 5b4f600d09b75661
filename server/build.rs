//! Builds the playground into the program, where `TPLKIT_PLAYGROUND_BUNDLE` names the folder that
//! `scripts/playground` has written; relative to the root of the repository.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=TPLKIT_PLAYGROUND_BUNDLE");
    let mut files = Vec::new();
    if let Some(folder) = variable("TPLKIT_PLAYGROUND_BUNDLE").filter(|value| !value.is_empty()) {
        let root = variable("CARGO_MANIFEST_DIR").unwrap_or_default();
        let folder = Path::new(&root).join("..").join(folder).canonicalize()?;
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, "", &mut files)?;
        if !files.iter().any(|(name, _)| name == "index.html") {
            let why = format!("{} holds no playground", folder.display());
            return Err(io::Error::other(why));
        }
    }
    files.sort();
    let mut code = String::from("static BUILT_IN: &[(&str, &[u8])] = &[");
    for (name, path) in &files {
        // Writing to a String cannot fail.
        let _ = write!(
            code,
            "({name:?}, include_bytes!({:?})),",
            path.display().to_string()
        );
    }
    code.push_str("];\n");
    let out = variable("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&out).join("playground_files.rs"), code)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push((name, entry.path()));
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "Cargo tells a build script by variables"
)]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}
