//! The direction of dependencies inside a crate: which of its modules may name which.
//!
//! Goes in: a table of [`Layer`]s and the root file of a crate. Comes out: each place that names a top-level
//! module further up, as a sentence. The order is total, so no circle passes. Inside of a module there is no
//! table; [`assert_no_circles`] finds folders that name each other, or the module around them, in a circle, and
//! [`assert_known_circles`] files that do. Unit tests may name anything: what is compiled for tests alone is not read.

mod circles;
mod reader;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

pub use circles::{Circle, assert_known_circles, assert_no_circles, circles};
pub use reader::{DirectionError, read};

/// Modules that belong together. Layers and their modules stand in order: each module may name
/// those before it, in its own layer and in lower ones.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    /// What people call it.
    pub name: &'static str,
    /// Names of top-level modules, the lowest first.
    pub modules: &'static [&'static str],
}

/// A place where one top-level module names another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The top-level module that the file belongs to.
    pub from: String,
    /// The top-level module that is named.
    pub to: String,
}

/// A path in the code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedPath {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The module that it is in, from the root of the crate.
    pub module: Vec<String>,
    /// What it names, from the root of the crate.
    pub path: Vec<String>,
    /// Whether the module only hands it on: a `pub use`.
    pub is_reexport: bool,
}

/// What a crate consists of, as far as the direction of dependencies goes.
#[derive(Debug, Default)]
pub struct Modules {
    /// The modules that are compiled outside of tests, each as its path from the root.
    pub names: BTreeSet<Vec<String>>,
    /// Those of them that have files of their own for modules inside.
    pub folders: BTreeSet<Vec<String>>,
    /// Those of them whose file lies in another folder than that of their parent: `a/b.rs`, where the parent is `a.rs`.
    pub apart: BTreeSet<Vec<String>>,
    /// What the modules define themselves, each item as its path from the root.
    pub items: BTreeSet<Vec<String>>,
    /// What `use` makes known: the name in its module, and what it stands for.
    pub uses: BTreeMap<Vec<String>, Vec<String>>,
    /// What the code names.
    pub named: Vec<NamedPath>,
}

impl Modules {
    /// Where top-level modules name each other, or an item of the root.
    pub fn imports(&self) -> Vec<Import> {
        let named = self.named.iter().filter_map(|named| {
            // The root itself is above everything.
            let (from, to) = (named.module.first()?, named.path.first()?);
            (from != to).then(|| Import {
                file: named.file.clone(),
                line: named.line,
                from: from.clone(),
                to: to.clone(),
            })
        });
        let mut imports: Vec<Import> = named.collect();
        imports.sort();
        imports.dedup();
        imports
    }
}

/// What is wrong with the order of a crate's modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// A module names one that stands after it.
    Upward(Import),
    /// A module is in no layer.
    Unlisted(String),
    /// A layer has a module that the crate does not have.
    Missing(&'static str),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Upward(Import {
                file,
                line,
                from,
                to,
            }) => write!(
                f,
                "{}:{line}: `{from}` names `{to}`, which stands above it",
                file.display()
            ),
            Violation::Unlisted(module) => write!(f, "`{module}` is in no layer"),
            Violation::Missing(module) => write!(f, "the crate has no module `{module}`"),
        }
    }
}

/// Holds the modules against the table.
pub fn violations(layers: &[Layer], modules: &Modules) -> Vec<Violation> {
    let order: Vec<&'static str> = layers
        .iter()
        .flat_map(|layer| layer.modules)
        .copied()
        .collect();
    let rank = |name: &str| order.iter().position(|module| *module == name);
    let top: BTreeSet<&str> = modules
        .names
        .iter()
        .filter_map(|path| match path.as_slice() {
            [name] => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let unlisted = top.iter().filter(|name| rank(name).is_none());
    let missing = order.iter().filter(|name| !top.contains(**name));
    // A name that is not a module is an item of the crate's root, which stands above everything.
    let upward = modules.imports().into_iter().filter(|import| {
        rank(&import.from).is_some_and(|from| rank(&import.to).is_none_or(|to| to > from))
    });
    let unlisted = unlisted.map(|name| Violation::Unlisted((*name).to_owned()));
    let missing = missing.copied().map(Violation::Missing);
    let upward = upward.map(Violation::Upward);
    unlisted.chain(missing).chain(upward).collect()
}

/// Panics with every violation when the modules of the crate with that root file are not in the
/// order of `layers`; `table` says where the table is, for whoever has to change it.
///
/// # Panics
///
/// When there is a violation, or a file cannot be read.
pub fn assert_direction(root: &Path, layers: &[Layer], table: &str) {
    let modules = read(root).unwrap_or_else(|error| panic!("{error}"));
    let wrong = violations(layers, &modules);
    let lines: Vec<String> = wrong.iter().map(|wrong| format!("  {wrong}\n")).collect();
    assert!(
        wrong.is_empty(),
        "modules of {} are out of order:\n{}\
         A module names only modules that stand before it in LAYERS of {table}. Move what is needed \
         down into a lower module, or hand it in as an argument. Where the order is wrong, or a module \
         is new, change LAYERS and the map in docs/ARCHITECTURE.md.",
        root.display(),
        lines.concat(),
    );
}

#[cfg(test)]
mod tests {
    use super::{Import, Layer, Modules, NamedPath, Violation, violations};

    const LAYERS: &[Layer] = &[
        Layer {
            name: "ground",
            modules: &["a", "b"],
        },
        Layer {
            name: "above",
            modules: &["c"],
        },
    ];

    fn modules(names: &[&str], imports: &[(&str, &str)]) -> Modules {
        let named = imports.iter().map(|(from, to)| NamedPath {
            file: format!("src/{from}.rs").into(),
            line: 3,
            module: vec![(*from).to_owned()],
            path: vec![(*to).to_owned()],
            is_reexport: false,
        });
        Modules {
            names: names.iter().map(|name| vec![(*name).to_owned()]).collect(),
            named: named.collect(),
            ..Modules::default()
        }
    }

    fn import(from: &str, to: &str) -> Import {
        Import {
            file: format!("src/{from}.rs").into(),
            line: 3,
            from: from.to_owned(),
            to: to.to_owned(),
        }
    }

    #[test]
    fn downward_imports_pass() {
        let modules = modules(&["a", "b", "c"], &[("b", "a"), ("c", "a"), ("c", "b")]);
        assert_eq!(violations(LAYERS, &modules), []);
    }

    #[test]
    fn upward_imports_are_reported_inside_a_layer_and_across() {
        let modules = modules(&["a", "b", "c"], &[("a", "b"), ("b", "c"), ("c", "Root")]);
        let expected = [("a", "b"), ("b", "c"), ("c", "Root")]
            .map(|(from, to)| Violation::Upward(import(from, to)));
        assert_eq!(violations(LAYERS, &modules), expected);
        assert_eq!(
            expected[0].to_string(),
            "src/a.rs:3: `a` names `b`, which stands above it"
        );
    }

    #[test]
    fn the_table_has_every_module_and_no_other() {
        assert_eq!(
            violations(LAYERS, &modules(&["a", "b", "d"], &[])),
            [Violation::Unlisted("d".to_owned()), Violation::Missing("c")]
        );
    }
}
