//! Facts that the README repeats are those of the package.

#[test]
fn the_version_of_rust_is_that_of_the_package() {
    let readme = include_str!("../../README.md");
    let version = format!("Rust {} or later", env!("CARGO_PKG_RUST_VERSION"));
    assert!(readme.contains(&version), "README.md lacks `{version}`");
}
