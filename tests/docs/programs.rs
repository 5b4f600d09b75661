//! Example programs do what they say, to their end.

#[path = "../../examples/export_workspace.rs"]
mod export_workspace;

#[test]
fn a_workspace_is_exported() {
    export_workspace::main().expect("it ends well");
}
