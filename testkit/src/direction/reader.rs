//! Reads the files of a crate, from its root along `mod`, and finds the paths that begin with `crate`, `self`,
//! `super` or a module inside, those in `use crate::{x, y}` one by one.
//!
//! Works on tokens: comments and texts cannot mislead it, and macros are read as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

use super::{Modules, NamedPath};

/// Why a crate cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DirectionError {
    /// A file is not there or not readable.
    #[error("{}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not Rust.
    #[error("{}: {reason}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

/// The top-level modules of the crate whose root file is `root`, and where they name each other.
/// What is compiled for tests alone is left out.
pub fn read(root: &Path) -> Result<Modules, DirectionError> {
    let mut modules = Modules::default();
    let folder = root.parent().unwrap_or(Path::new(""));
    Reader {
        modules: &mut modules,
        file: root,
        children: folder,
        module: &mut Vec::new(),
        inside: BTreeSet::new(),
    }
    .file()?;
    modules.named.sort();
    modules.named.dedup();
    Ok(modules)
}

/// One file, or an inline module of it.
struct Reader<'r> {
    modules: &'r mut Modules,
    file: &'r Path,
    /// The folder of files that `mod name;` names here.
    children: &'r Path,
    /// The path of the module, from the root of the crate.
    module: &'r mut Vec<String>,
    /// The names of the modules inside.
    inside: BTreeSet<String>,
}

impl Reader<'_> {
    fn file(&mut self) -> Result<(), DirectionError> {
        let text = std::fs::read_to_string(self.file).map_err(|source| DirectionError::File {
            file: self.file.to_owned(),
            source,
        })?;
        let tokens: TokenStream = text.parse().map_err(|error| DirectionError::Syntax {
            file: self.file.to_owned(),
            reason: format!("{error}"),
        })?;
        self.body(tokens)
    }

    /// All that is in the module.
    fn body(&mut self, tokens: TokenStream) -> Result<(), DirectionError> {
        let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
        for (at, token) in all.iter().enumerate() {
            let TokenTree::Ident(keyword) = token else {
                continue;
            };
            // The second is `macro_rules! name`.
            let ([TokenTree::Ident(name), ..] | [TokenTree::Punct(_), TokenTree::Ident(name), ..]) =
                &all[at + 1..]
            else {
                continue;
            };
            let name = name.to_string();
            match keyword.to_string().as_str() {
                "mod" => {
                    self.inside.insert(name);
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static"
                | "macro_rules" => {
                    let mut item = self.module.clone();
                    item.push(name);
                    self.modules.items.insert(item);
                }
                _ => {}
            }
        }
        self.tokens(tokens)
    }

    fn tokens(&mut self, tokens: TokenStream) -> Result<(), DirectionError> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let rest = &tokens[at..];
            at += match rest {
                [TokenTree::Punct(hash), TokenTree::Group(attribute), ..]
                    if hash.as_char() == '#' && is_test_only(attribute) =>
                {
                    2 + item_length(&rest[2..])
                }
                [TokenTree::Ident(word), TokenTree::Ident(name), end, ..] if word == "mod" => {
                    self.child(&name.to_string(), end)?;
                    3
                }
                [TokenTree::Ident(word), ..] if is_root_word(word) => {
                    self.path(None, rest, Naming::Path)
                }
                [TokenTree::Ident(word), rest @ ..] if word == "use" => {
                    let naming = if is_public(&tokens[..at]) {
                        Naming::Reexport
                    } else {
                        Naming::Use
                    };
                    1 + self.path(None, rest, naming)
                }
                [TokenTree::Ident(word), after @ ..]
                    if is_path_separator(after)
                        && self.inside.contains(&word.to_string())
                        && !goes_on(&tokens[..at]) =>
                {
                    self.path(None, rest, Naming::Path)
                }
                [TokenTree::Group(group), ..] => {
                    self.tokens(group.stream())?;
                    1
                }
                [TokenTree::Literal(literal), ..] => {
                    self.literal(literal);
                    1
                }
                _ => 1,
            };
        }
        Ok(())
    }

    /// `mod name;` or `mod name { … }`.
    fn child(&mut self, name: &str, end: &TokenTree) -> Result<(), DirectionError> {
        let has_file = matches!(end, TokenTree::Punct(_));
        if has_file {
            self.modules.folders.insert(self.module.clone());
        }
        self.module.push(name.to_owned());
        let is_top_level = self.module.len() == 1;
        if has_file && !is_top_level && !self.file.ends_with("mod.rs") {
            self.modules.apart.insert(self.module.clone());
        }
        self.modules.names.insert(self.module.clone());
        let folder = self.children.join(name);
        let done = if let TokenTree::Group(body) = end {
            Reader {
                modules: self.modules,
                file: self.file,
                children: &folder,
                module: self.module,
                inside: BTreeSet::new(),
            }
            .body(body.stream())
        } else {
            let alone = folder.with_extension("rs");
            let file = if alone.exists() {
                alone
            } else {
                folder.join("mod.rs")
            };
            Reader {
                modules: self.modules,
                file: &file,
                children: &folder,
                module: self.module,
                inside: BTreeSet::new(),
            }
            .file()
        };
        self.module.pop();
        done
    }

    /// A path, inside of a list the rest of one that begins with `before`. Gives the number of tokens that are
    /// done with.
    fn path(&mut self, before: Option<&[String]>, tokens: &[TokenTree], naming: Naming) -> usize {
        let mut path = before.map(<[String]>::to_vec).unwrap_or_default();
        let (mut at, mut line) = (0, None);
        while let Some(TokenTree::Ident(word)) = tokens.get(at) {
            match word.to_string().as_str() {
                "as" => break,
                "crate" => path.clear(),
                // In a list it is the module before it.
                "self" if before.is_some() => {
                    line.get_or_insert(word.span().start().line);
                }
                "self" => path.clone_from(self.module),
                "super" => {
                    if at == 0 {
                        path.clone_from(self.module);
                    }
                    path.pop();
                }
                name => {
                    // What begins otherwise is a child of this module, or another crate.
                    if at == 0 && before.is_none() {
                        path.clone_from(self.module);
                    }
                    line.get_or_insert(word.span().start().line);
                    path.push(name.to_owned());
                }
            }
            at += 1;
            if !is_path_separator(&tokens[at..]) {
                break;
            }
            at += 2;
        }
        if let Some(TokenTree::Group(group)) = tokens.get(at)
            && at > 2
            && is_path_separator(&tokens[at - 2..])
        {
            self.group(&path, group, naming);
            return at + 1;
        }
        if let Some(line) = line {
            self.name(path, line, naming, &tokens[at..]);
        }
        at
    }

    /// Paths in `{a, b::c, d::{e, f}}`.
    fn group(&mut self, before: &[String], group: &Group, naming: Naming) {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        let is_comma =
            |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
        for part in tokens.split(is_comma) {
            self.path(Some(before), part, naming);
        }
    }

    /// A path in a text, as attributes of serde have it.
    fn literal(&mut self, literal: &Literal) {
        let text = literal.to_string();
        if let Some(path) = text.strip_prefix("\"crate::") {
            let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &path[..end.unwrap_or(path.len())];
            let line = literal.span().start().line;
            self.name(vec![name.to_owned()], line, Naming::Path, &[]);
        }
    }

    /// Notes a path; `after` is what follows it.
    fn name(&mut self, path: Vec<String>, line: usize, naming: Naming, after: &[TokenTree]) {
        if !matches!(naming, Naming::Path) {
            let alias = match after {
                [TokenTree::Ident(word), TokenTree::Ident(alias), ..] if word == "as" => {
                    Some(alias.to_string())
                }
                _ => path.last().cloned(),
            };
            let mut known = self.module.clone();
            known.extend(alias);
            if known != path {
                self.modules.uses.insert(known, path.clone());
            }
        }
        self.modules.named.push(NamedPath {
            file: self.file.to_owned(),
            line,
            module: self.module.clone(),
            path,
            is_reexport: matches!(naming, Naming::Reexport),
        });
    }
}

/// Where a path is.
#[derive(Debug, Clone, Copy)]
enum Naming {
    /// In a `use`: its last name is known in the module from then on.
    Use,
    /// The same in a `pub use`, for others.
    Reexport,
    /// Anywhere else.
    Path,
}

fn is_root_word(word: &proc_macro2::Ident) -> bool {
    word == "crate" || word == "self" || word == "super"
}

fn is_path_separator(tokens: &[TokenTree]) -> bool {
    let colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    colon(tokens.first()) && colon(tokens.get(1))
}

/// Whether what follows these tokens is visible outside of its module, as far as that may be.
fn is_public(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word)] | [.., TokenTree::Ident(word), TokenTree::Group(_)] => {
            word == "pub"
        }
        _ => false,
    }
}

/// Whether a name behind these tokens is not the first of its path, or a method.
fn goes_on(before: &[TokenTree]) -> bool {
    let is_dot =
        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '.');
    let last_two = &before[before.len().saturating_sub(2)..];
    is_path_separator(last_two) || before.last().is_some_and(is_dot)
}

/// Whether an attribute is `cfg(test)`, or `cfg(all(test, …))`.
fn is_test_only(attribute: &Group) -> bool {
    let text: String = attribute
        .stream()
        .into_iter()
        .map(|token| token.to_string().replace(' ', ""))
        .collect();
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// The number of tokens of the item that `tokens` begin with, its other attributes included.
fn item_length(tokens: &[TokenTree]) -> usize {
    // These end with a semicolon, whatever braces they have; others with braces, too.
    let (mut statement, mut named) = (false, false);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "use" | "const" | "static" | "type" | "let" if !named => {
                    (statement, named) = (true, true);
                }
                "fn" => (statement, named) = (false, true),
                "mod" | "struct" | "enum" | "trait" | "impl" | "macro_rules" => named = true,
                _ => {}
            },
            TokenTree::Punct(punct) if punct.as_char() == ';' => return at + 1,
            TokenTree::Punct(punct) if punct.as_char() == ',' && !named => return at + 1,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !statement => {
                return at + 1;
            }
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::Reader;
    use crate::direction::Modules;

    /// What is read of `text`, inside of the module `path`.
    fn read(path: &[&str], text: &str) -> Modules {
        let mut modules = Modules::default();
        Reader {
            modules: &mut modules,
            file: Path::new("x.rs"),
            children: Path::new("x"),
            module: &mut path.iter().map(|name| (*name).to_owned()).collect(),
            inside: BTreeSet::new(),
        }
        .body(text.parse().expect("tokens"))
        .expect("no file is named");
        modules
    }

    /// What `text`, inside of the module `path`, names, with lines.
    fn named(path: &[&str], text: &str) -> Vec<(String, usize)> {
        let modules = read(path, text);
        let imports = modules.imports().into_iter();
        imports.map(|import| (import.to, import.line)).collect()
    }

    #[test]
    fn every_form_of_a_path_is_read() {
        let text = "
            use crate::a::{b, c};
            use crate::{d::{e, f}, g as h, i};
            fn x(y: &crate::j::K) { let z = vec![crate::l::m()]; }
            pub(in crate::own) use super::super::n::o;
            #[serde(with = \"crate::p\")]
            pub(crate) struct Q;
        ";
        let found: Vec<String> = named(&["own", "inner"], text)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(found, ["a", "d", "g", "i", "j", "l", "n", "p"]);
    }

    #[test]
    fn lines_are_those_of_the_name() {
        let found = named(&["own"], "\nuse crate::{\n    a,\n    b,\n};\n");
        assert_eq!(found, [("a".to_owned(), 3), ("b".to_owned(), 4)]);
    }

    #[test]
    fn what_stays_inside_of_the_module_is_not_read() {
        let text = "
            use super::a; // crate::b
            /// [`crate::c`]
            mod inline { use super::super::d; use super::e; }
            const TEXT: &str = \"see crate::f\";
        ";
        assert_eq!(named(&["own", "inner"], text), []);
    }

    #[test]
    fn what_a_module_has_inside_is_read_as_its_own() {
        let text = "
            mod inside { pub struct Far; }
            pub(super) use inside::Handed;
            use inside::{Own, open};
            pub(crate) struct Item { field: inside::Field }
            macro_rules! words { () => { other::inside::Not } }
            fn work(list: &[u8]) { inside::act(list.inside::<u8>()); crate::too::act(); }
        ";
        let modules = read(&["m"], text);
        let joined = |path: &Vec<String>| path.join("::");
        let of_inside = modules.named.iter().filter(|named| named.path[0] == "m");
        let found: Vec<(String, bool)> = of_inside
            .map(|named| (joined(&named.path), named.is_reexport))
            .collect();
        let expected = [
            ("m::inside::Handed", true),
            ("m::inside::Own", false),
            ("m::inside::open", false),
            ("m::inside::Field", false),
            ("m::inside::act", false),
        ];
        assert_eq!(found, expected.map(|(path, last)| (path.to_owned(), last)));
        let items: Vec<String> = modules.items.iter().map(joined).collect();
        assert_eq!(items, ["m::Item", "m::inside::Far", "m::words", "m::work"]);
    }

    #[test]
    fn what_is_compiled_for_tests_alone_is_not_read() {
        let text = "
            #[cfg(test)]
            use crate::{a, b};
            #[cfg(test)]
            #[allow(dead_code)]
            pub(crate) fn c<A, B>(a: A) -> crate::d::E { crate::f::g() }
            #[cfg(test)]
            mod tests { use crate::h; }
            #[cfg(test)]
            const I: crate::j::K = crate::j::K { l: 1 };
            #[cfg(feature = \"x\")]
            use crate::seen;
            #[cfg(all(test, unix))]
            mod more { use crate::m; }
            use crate::too;
        ";
        let found: Vec<String> = named(&["own"], text)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(found, ["seen", "too"]);
    }
}
