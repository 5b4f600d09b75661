//! Reads the files of a crate, from its root along `mod`, and finds the paths that name a top-level
//! module: `crate::x`, `use crate::{x, y}`, and `super::x` where that is the root.
//!
//! Works on tokens: comments and texts cannot mislead it, and macros are read as well.

use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

use super::{Import, Modules};

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
    }
    .file()?;
    modules.imports.sort();
    modules.imports.dedup();
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
                [TokenTree::Ident(word), ..] if word == "crate" || word == "super" => {
                    self.path(rest)
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
        if self.module.is_empty() {
            self.modules.names.insert(name.to_owned());
        }
        self.module.push(name.to_owned());
        let folder = self.children.join(name);
        let done = if let TokenTree::Group(body) = end {
            Reader {
                modules: self.modules,
                file: self.file,
                children: &folder,
                module: self.module,
            }
            .tokens(body.stream())
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
            }
            .file()
        };
        self.module.pop();
        done
    }

    /// A path that begins with `crate` or `super`. Gives the number of tokens that are done with.
    fn path(&mut self, tokens: &[TokenTree]) -> usize {
        let mut depth = self.module.len();
        let mut at = 0;
        while let Some(TokenTree::Ident(word)) = tokens.get(at) {
            let word = word.to_string();
            match word.as_str() {
                "crate" => depth = 0,
                "super" => depth = depth.saturating_sub(1),
                _ => break,
            }
            if !is_path_separator(&tokens[at + 1..]) {
                return at + 1;
            }
            at += 3;
        }
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) if depth == 0 => {
                self.import(&name.to_string(), name.span().start().line);
                at + 1
            }
            // Its parts are read as paths from here; what stands deeper begins with no `crate`.
            Some(TokenTree::Group(group)) if depth == 0 => {
                self.group(group);
                at + 1
            }
            _ => at,
        }
    }

    /// The first names in `{a, b::c, d::{e, f}}`.
    fn group(&mut self, group: &Group) {
        let mut first = true;
        for token in group.stream() {
            match token {
                TokenTree::Ident(name) if first => {
                    self.import(&name.to_string(), name.span().start().line);
                    first = false;
                }
                TokenTree::Punct(comma) if comma.as_char() == ',' => first = true,
                _ => first = false,
            }
        }
    }

    /// A path in a text, as attributes of serde have it.
    fn literal(&mut self, literal: &Literal) {
        let text = literal.to_string();
        if let Some(path) = text.strip_prefix("\"crate::") {
            let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &path[..end.unwrap_or(path.len())];
            self.import(name, literal.span().start().line);
        }
    }

    fn import(&mut self, to: &str, line: usize) {
        // The root itself is above everything.
        let Some(from) = self.module.first() else {
            return;
        };
        if from != to && to != "self" {
            self.modules.imports.push(Import {
                file: self.file.to_owned(),
                line,
                from: from.clone(),
                to: to.to_owned(),
            });
        }
    }
}

fn is_path_separator(tokens: &[TokenTree]) -> bool {
    let colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    colon(tokens.first()) && colon(tokens.get(1))
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
    use std::path::Path;

    use super::Reader;
    use crate::direction::Modules;

    /// What `text`, inside of the module `path`, names, with lines.
    fn named(path: &[&str], text: &str) -> Vec<(String, usize)> {
        let mut modules = Modules::default();
        Reader {
            modules: &mut modules,
            file: Path::new("x.rs"),
            children: Path::new("x"),
            module: &mut path.iter().map(|name| (*name).to_owned()).collect(),
        }
        .tokens(text.parse().expect("tokens"))
        .expect("no file is named");
        let imports = modules.imports.into_iter();
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
