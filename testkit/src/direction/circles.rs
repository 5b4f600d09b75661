//! Circles between the folders of one module: siblings that name each other, one through the next.
//!
//! A folder stands for everything inside. What a module takes from a sibling through their parent (`super::Name`,
//! where the parent has a `use` of it) counts as taken from the sibling; what the parent defines itself counts as
//! taken from the parent. The parent is part of a circle like one of its files: a folder that takes an item of the
//! parent, which names the folder, is one. Where it only hands on what the folder has (`pub use`), it names nothing.
//! A circle of files alone passes: files of one folder are read together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use super::{Modules, NamedPath, read};

/// How many `use` are followed from one to the next.
const MOST_USES: usize = 16;

/// The parent itself, among the members of a circle.
const PARENT: &str = "self";

/// Modules of one parent that name each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// Their parent, from the root of the crate.
    pub parent: Vec<String>,
    /// They; `self` is the parent itself, with what it defines.
    pub members: BTreeSet<String>,
    /// Whether one of them is a folder.
    pub has_folder: bool,
    /// For each two of them the first place where the one names the other.
    pub places: Vec<(NamedPath, String)>,
}

impl Circle {
    /// Its parent and its members, as lists of known circles name it: `parent: one, other`.
    pub fn name(&self) -> String {
        let members: Vec<&str> = self.members.iter().map(String::as_str).collect();
        format!("{}: {}", self.parent.join("::"), members.join(", "))
    }
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} name each other", self.name())?;
        for (place, to) in &self.places {
            let from = place.module.get(self.parent.len());
            let from = from.map_or(PARENT, String::as_str);
            let file = place.file.display();
            write!(f, "\n    {file}:{}: `{from}` names `{to}`", place.line)?;
        }
        Ok(())
    }
}

/// What siblings and their parent name of each other, with the first place.
type Edges<'m> = BTreeMap<&'m str, BTreeMap<&'m str, &'m NamedPath>>;

/// All circles, at every depth below the top-level modules.
pub fn circles(modules: &Modules) -> Vec<Circle> {
    let mut siblings: BTreeMap<&[String], Edges<'_>> = BTreeMap::new();
    for named in &modules.named {
        let target = resolve(modules, &named.path);
        let both = named.module.iter().zip(target.module);
        let same = both.take_while(|(a, b)| a == b).count();
        let (from, to) = match (named.module.get(same), target.module.get(same)) {
            _ if same == 0 => continue,
            (Some(from), Some(to)) => (from.as_str(), to.as_str()),
            (Some(from), None) if target.is_item => (from.as_str(), PARENT),
            (None, Some(to)) if !named.is_reexport => (PARENT, to.as_str()),
            _ => continue,
        };
        let edges = siblings.entry(&target.module[..same]).or_default();
        edges.entry(from).or_default().entry(to).or_insert(named);
    }
    let mut circles = Vec::new();
    for (parent, edges) in siblings {
        let is_folder = |name: &str, has_parent: bool| {
            let mut path = parent.to_vec();
            path.push(name.to_owned());
            // To a parent whose file is not among them, the files of its folder are that folder.
            modules.folders.contains(&path) || (has_parent && modules.apart.contains(&path))
        };
        let has_folder = |members: &BTreeSet<&str>| {
            let has_parent = members.contains(PARENT);
            members.iter().any(|name| is_folder(name, has_parent))
        };
        let of_folders = knots(&edges);
        let of_folders = of_folders.iter().filter(|members| has_folder(members));
        circles.extend(of_folders.map(|members| circle(parent, &edges, members, true)));
        let alone = without_parent(&edges);
        let of_files = knots(&alone);
        let of_files = of_files.iter().filter(|members| !has_folder(members));
        circles.extend(of_files.map(|members| circle(parent, &alone, members, false)));
    }
    circles
}

fn without_parent<'m>(edges: &Edges<'m>) -> Edges<'m> {
    let siblings = edges.iter().filter(|(from, _)| **from != PARENT);
    let siblings = siblings.map(|(from, named)| {
        let named = named.iter().filter(|(to, _)| **to != PARENT);
        (*from, named.map(|(to, place)| (*to, *place)).collect())
    });
    siblings.collect()
}

fn circle(
    parent: &[String],
    edges: &Edges<'_>,
    members: &BTreeSet<&str>,
    has_folder: bool,
) -> Circle {
    let places = members.iter().flat_map(|from| {
        let named = edges.get(from).into_iter().flatten();
        named.filter(|(to, _)| members.contains(*to))
    });
    Circle {
        parent: parent.to_vec(),
        members: members.iter().map(|name| (*name).to_owned()).collect(),
        has_folder,
        places: places
            .map(|(to, place)| ((*place).clone(), (*to).to_owned()))
            .collect(),
    }
}

/// Sets of modules each of which leads to each other.
fn knots<'m>(edges: &Edges<'m>) -> Vec<BTreeSet<&'m str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = edges
        .keys()
        .map(|from| (*from, reach(edges, from)))
        .collect();
    let mut knots: Vec<BTreeSet<&str>> = Vec::new();
    for (from, to) in &reached {
        let back = |other: &&&str| reached.get(**other).is_some_and(|to| to.contains(from));
        let knot: BTreeSet<&str> = to.iter().filter(back).copied().collect();
        if knot.len() > 1 && !knots.contains(&knot) {
            knots.push(knot);
        }
    }
    knots
}

/// What a module names, and what that names, and so on.
fn reach<'m>(edges: &Edges<'m>, from: &str) -> BTreeSet<&'m str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(module) = next.pop() {
        for to in edges.get(module).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(*to) {
                next.push(to);
            }
        }
    }
    reached
}

/// What a path leads to.
struct Target<'m> {
    /// The module.
    module: &'m [String],
    /// Whether the path names an item that this module defines.
    is_item: bool,
}

/// What a path leads to, through the `use` of the modules that it passes.
fn resolve<'m>(modules: &'m Modules, path: &[String]) -> Target<'m> {
    let mut path = path.to_vec();
    let mut module = module_of(modules, &path);
    for _ in 0..MOST_USES {
        let item = path.get(..=module.len());
        let Some(used) = item.and_then(|item| modules.uses.get(item)) else {
            break;
        };
        let rest = path.split_off(module.len() + 1);
        path = [used.as_slice(), rest.as_slice()].concat();
        module = module_of(modules, &path);
    }
    let item = path.get(..=module.len());
    Target {
        module,
        is_item: item.is_some_and(|item| modules.items.contains(item)),
    }
}

/// The longest beginning of a path that is a module.
fn module_of<'m>(modules: &'m Modules, path: &[String]) -> &'m [String] {
    let mut lengths = (1..=path.len()).rev();
    let module = lengths.find_map(|length| modules.names.get(&path[..length]));
    module.map(Vec::as_slice).unwrap_or_default()
}

/// Panics with every circle of folders inside the top-level modules of the crate with that root file.
///
/// # Panics
///
/// When there is a circle, or a file cannot be read.
pub fn assert_no_circles(root: &Path) {
    let mut circles = all_circles(root);
    circles.retain(|circle| circle.has_folder);
    refuse(&circles, root);
}

/// Panics with every circle of files that is not among the known ones ([`Circle::name`]), and with every known one
/// that is none any more.
///
/// # Panics
///
/// When circles and list differ, or a file cannot be read.
pub fn assert_known_circles(root: &Path, known: &[&str]) {
    let mut circles = all_circles(root);
    circles.retain(|circle| !circle.has_folder);
    let names: Vec<String> = circles.iter().map(Circle::name).collect();
    let gone: Vec<&&str> = known
        .iter()
        .filter(|known| !names.iter().any(|name| name == **known))
        .collect();
    circles.retain(|circle| !known.contains(&circle.name().as_str()));
    refuse(&circles, root);
    assert!(
        gone.is_empty(),
        "these are no circles any more, or not with all of these members: shorten the list by {gone:?}"
    );
}

fn all_circles(root: &Path) -> Vec<Circle> {
    let modules = read(root).unwrap_or_else(|error| panic!("{error}"));
    circles(&modules)
}

fn refuse(circles: &[Circle], root: &Path) {
    let lines: Vec<String> = circles.iter().map(|one| format!("  {one}\n")).collect();
    assert!(
        circles.is_empty(),
        "modules of {} name each other in a circle:\n{}\
         Move what both need into a module below them, or hand it in as an argument.",
        root.display(),
        lines.concat(),
    );
}

#[cfg(test)]
mod tests {
    use super::circles;
    use crate::direction::{Modules, NamedPath};

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(str::to_owned).collect()
    }

    /// Modules, those of them that are folders, and what names what.
    fn modules(names: &[&str], folders: &[&str], named: &[(&str, &str)]) -> Modules {
        let named = named.iter().map(|(module, to)| NamedPath {
            file: "x.rs".into(),
            line: 1,
            module: path(module),
            path: path(to),
            is_reexport: false,
        });
        Modules {
            names: names.iter().map(|name| path(name)).collect(),
            folders: folders.iter().map(|name| path(name)).collect(),
            named: named.collect(),
            ..Modules::default()
        }
    }

    const NAMES: &[&str] = &["m", "m::a", "m::a::x", "m::b", "m::b::y", "m::c"];

    fn members(modules: &Modules) -> Vec<Vec<String>> {
        let circles = circles(modules).into_iter();
        circles
            .map(|circle| circle.members.into_iter().collect())
            .collect()
    }

    #[test]
    fn folders_that_name_each_other_through_a_third_are_a_circle() {
        let named = [
            ("m::a::x", "m::c::F"),
            ("m::c", "m::b::y::g"),
            ("m::b::y", "m::a::H"),
        ];
        let circle = modules(NAMES, &["m", "m::a", "m::b"], &named);
        assert_eq!(members(&circle), [["a", "b", "c"]]);
        let shown = circles(&circle)[0].to_string();
        assert!(shown.contains("`a` names `c`"), "{shown}");
        let open = modules(NAMES, &["m", "m::a", "m::b"], &named[..2]);
        assert_eq!(members(&open), Vec::<Vec<String>>::new());
    }

    #[test]
    fn files_alone_are_told_apart_from_folders() {
        let files = modules(NAMES, &["m"], &[("m::a", "m::b"), ("m::b", "m::a")]);
        let found = circles(&files);
        let names: Vec<String> = found.iter().map(super::Circle::name).collect();
        assert_eq!(names, ["m: a, b"]);
        assert!(!found[0].has_folder);
        let folder = modules(NAMES, &["m", "m::a"], &[("m::a", "m::b"), ("m::b", "m::a")]);
        assert!(circles(&folder)[0].has_folder);
    }

    #[test]
    fn a_folder_may_name_what_is_inside() {
        let inside = modules(
            NAMES,
            &["m", "m::a"],
            &[("m::a::x", "m::a::F"), ("m::a", "m::a::x::F")],
        );
        assert_eq!(members(&inside), Vec::<Vec<String>>::new());
    }

    #[test]
    fn what_comes_through_the_parent_comes_from_the_sibling() {
        let mut modules = modules(
            NAMES,
            &["m", "m::a"],
            &[("m::a::x", "m::F"), ("m::c", "m::a::x::G")],
        );
        assert_eq!(members(&modules), Vec::<Vec<String>>::new());
        modules.uses.insert(path("m::F"), path("m::c::F"));
        assert_eq!(members(&modules), [["a", "c"]]);
    }

    #[test]
    fn a_folder_and_its_parent_that_name_each_other_are_a_circle() {
        let named = [("m::a::x", "m::Options"), ("m", "m::a::Engine")];
        let mut modules = modules(NAMES, &["m", "m::a", "m::b"], &named);
        assert_eq!(
            members(&modules),
            Vec::<Vec<String>>::new(),
            "of another crate"
        );
        modules.items.insert(path("m::Options"));
        assert_eq!(members(&modules), [["a", "self"]]);
        let shown = circles(&modules)[0].to_string();
        for line in ["`a` names `self`", "`self` names `a`"] {
            assert!(shown.contains(line), "{shown}");
        }
        modules.named[1].is_reexport = true;
        assert_eq!(members(&modules), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_circle_may_lead_through_the_parent() {
        let named = [
            ("m", "m::c::F"),
            ("m::c", "m::a::x::G"),
            ("m::a::x", "m::Options"),
        ];
        let mut modules = modules(NAMES, &["m", "m::a"], &named);
        modules.items.insert(path("m::Options"));
        assert_eq!(members(&modules), [["a", "c", "self"]]);
        // What the parent has from the file is of the file.
        modules.items.clear();
        modules
            .uses
            .insert(path("m::Options"), path("m::c::Options"));
        assert_eq!(members(&modules), [["a", "c"]]);
        modules
            .uses
            .insert(path("m::Options"), path("m::b::Options"));
        assert_eq!(members(&modules), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_file_and_its_parent_are_read_together_unless_they_lie_apart() {
        let named = [("m::c", "m::Options"), ("m", "m::c::F")];
        let mut modules = modules(NAMES, &["m"], &named);
        modules.items.insert(path("m::Options"));
        assert_eq!(members(&modules), Vec::<Vec<String>>::new());
        modules.apart.insert(path("m::c"));
        assert_eq!(members(&modules), [["c", "self"]]);
    }

    #[test]
    fn circles_are_found_at_every_depth() {
        let names = &["m", "m::n", "m::n::o", "m::n::o::a", "m::n::o::b"];
        let folders = &["m", "m::n", "m::n::o", "m::n::o::a"];
        let named = [
            ("m::n::o::a", "m::n::o::b::F"),
            ("m::n::o::b", "m::n::o::a::F"),
        ];
        let deep = modules(names, folders, &named);
        assert_eq!(circles(&deep).len(), 1);
        let top = [("m", "n::F"), ("n", "m::F")];
        // What top-level modules may name is in a table.
        assert_eq!(circles(&modules(&["m", "n"], &["m"], &top)), []);
    }
}
