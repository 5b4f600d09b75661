//! Suggests the nearest valid name for a misspelt one.

use super::{Edit, Finding, Fix, edit};
use crate::json::{Node, raw_range, write_string};
use crate::package::canonical::write_cell;

/// The candidate that `word` was surely meant to be, if one is near enough.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    near(word, candidates).map(|near| near.name)
}

/// How much two words resemble each other, from 0 to 1, whatever their case. Where one is very long, only equal ones do.
pub fn likeness(one: &str, other: &str) -> f64 {
    let (one_is_long, other_is_long) = (is_long(one), is_long(other));
    if one_is_long != other_is_long {
        return 0.0;
    }
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    if one_is_long {
        return f64::from(u8::from(one == other));
    }
    strsim::normalized_damerau_levenshtein(&one, &other)
}

/// Names are shorter. Comparing two words takes time by the product of their lengths, so that two of a megabyte each
/// would take hours.
const MAX_COMPARED_CHARS: usize = 128;

fn is_long(word: &str) -> bool {
    word.chars().nth(MAX_COMPARED_CHARS).is_some()
}

/// The name that is nearest to a misspelt one.
struct NearestName<'c> {
    name: &'c str,
    /// Whether another is as near.
    ambiguous: bool,
}

fn near<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<NearestName<'c>> {
    if is_long(word) {
        return None;
    }
    // A third of the letters may be wrong; beyond that a guess misleads.
    let limit = (word.chars().count() / 3).max(1);
    let word = word.to_lowercase();
    let length = word.chars().count();
    let mut best: Option<(usize, NearestName<'c>)> = None;
    for name in candidates.into_iter().filter(|name| !is_long(name)) {
        let lower = name.to_lowercase();
        let most = best.as_ref().map_or(limit, |(least, _)| *least);
        // So many letters are missing or too many.
        if lower.chars().count().abs_diff(length) > most {
            continue;
        }
        let distance = strsim::damerau_levenshtein(&word, &lower);
        match &mut best {
            _ if distance > limit => {}
            Some((least, near)) if distance == *least => near.ambiguous |= near.name != name,
            Some((least, _)) if distance > *least => {}
            _ => {
                let near = NearestName {
                    name,
                    ambiguous: false,
                };
                best = Some((distance, near));
            }
        }
    }
    best.map(|(_, near)| near)
}

/// Where a misspelt name stands, for a tool that replaces it.
#[derive(Debug, Clone, Copy)]
pub struct Misspelt<'d> {
    node: Node<'d>,
    part: Part,
    prefix: &'static str,
}

/// What of a member is misspelt.
#[derive(Debug, Clone, Copy)]
enum Part {
    Key,
    Value,
    /// A word inside the string, from that byte of its decoded text on.
    Word(usize),
}

impl<'d> Misspelt<'d> {
    /// A string.
    pub fn value(node: Node<'d>) -> Misspelt<'d> {
        Misspelt {
            node,
            part: Part::Value,
            prefix: "",
        }
    }

    /// A word of a path (`vars.total`) inside a string, from that byte of its decoded text on.
    pub fn word(node: Node<'d>, start: usize) -> Misspelt<'d> {
        Misspelt {
            node,
            part: Part::Word(start),
            prefix: "",
        }
    }

    /// The key of a member.
    pub fn key(node: Node<'d>) -> Misspelt<'d> {
        Misspelt {
            node,
            part: Part::Key,
            prefix: "",
        }
    }

    /// What stands there is a ref, which begins with a dollar sign.
    #[must_use]
    pub fn reference(self) -> Misspelt<'d> {
        Misspelt {
            prefix: "$",
            ..self
        }
    }

    /// Writes `name` there, unless the word is only a part of what stands there, or the object has such a
    /// member already.
    fn edit(self, word: &str, name: &str) -> Option<Edit> {
        let written = match self.part {
            Part::Key => self.node.key()?,
            Part::Value => self.node.as_str()?,
            Part::Word(start) => return self.edit_word(start, word, name),
        };
        if written != word && written.strip_prefix(self.prefix) != Some(word) {
            return None;
        }
        let name = format!("{}{name}", self.prefix);
        if matches!(self.part, Part::Value) {
            return Some(edit::replace(self.node, write_string(&name)));
        }
        let repeated = self.node.parent()?.get(&name).is_some();
        (!repeated).then(|| Edit {
            span: self.node.key_span(),
            text: write_string(&name),
        })
    }

    /// Writes `name` over a word inside the string, whose other characters stay as they are escaped; not a
    /// name that would be read as more than one word there, or end the path.
    fn edit_word(self, start: usize, word: &str, name: &str) -> Option<Edit> {
        let is_word = name.trim() == name && !name.contains(['.', '{', '}']);
        let written = self.node.as_str()?.get(start..)?;
        if !is_word || !written.starts_with(word) {
            return None;
        }
        let inner = self.node.raw().strip_prefix('"')?.strip_suffix('"')?;
        let range = raw_range(inner, start..start + word.len())?;
        let inside = self.node.span().start + 1;
        let name = write_string(name);
        Some(Edit {
            span: inside + range.start..inside + range.end,
            text: name.strip_prefix('"')?.strip_suffix('"')?.to_owned(),
        })
    }
}

impl Finding {
    /// Names the candidate that `word` was surely meant to be, if one is near enough; where no other is as
    /// near, a tool may write it, which is not safe: only its author knows what was meant.
    #[must_use]
    pub fn meant<'c>(
        mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
        place: Misspelt<'_>,
    ) -> Finding {
        let Some(near) = near(word, candidates) else {
            return self;
        };
        let shown = format!("{}{}", place.prefix, near.name);
        self.help = format!("Did you mean `{shown}`?");
        if !near.ambiguous
            && let Some(edit) = place.edit(word, near.name)
        {
            self.fix = Some(Fix {
                title: format!("Write `{shown}`"),
                safe: false,
                edits: vec![edit],
            });
        }
        self
    }

    /// Like [`meant`](Finding::meant); where no candidate is near enough, lists them all if they are few.
    #[must_use]
    pub fn meant_or_known<'c>(
        mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str> + Clone,
        place: Misspelt<'_>,
    ) -> Finding {
        if let Some(help) = help(word, candidates.clone()) {
            self.help = help;
        }
        self.meant(word, candidates, place)
    }
}

/// Help that names the nearest right name, or all of them when none is near.
pub fn help<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str> + Clone,
) -> Option<String> {
    if let Some(name) = nearest(word, candidates.clone()) {
        return Some(format!("Did you mean `{name}`?"));
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    // A long list helps nobody.
    (!all.is_empty() && all.len() <= 20).then(|| format!("Known here: {}.", all.join(", ")))
}

/// A text, cut to a length that fits into a message.
pub fn short_text(text: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 60;
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A value of JSON as messages quote it: in canonical form, on one line, and cut.
///
/// A baseline knows findings by their messages. Quoted as it is written, the value would change its message with the
/// white space, the order of members and the escapes, which `tplkit fmt` and `tplkit unpack` do not keep.
pub fn short_value(raw: &str) -> String {
    let mut written = String::new();
    match write_cell(raw, &mut written) {
        Ok(()) => short_text(&written),
        // A repeated key, or too much nesting: it has no canonical form.
        Err(_) if raw.starts_with('{') => "an object".to_owned(),
        Err(_) => "a list".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Misspelt, likeness, nearest, short_value};
    use crate::finding::catalog::S001;
    use crate::finding::{Finding, fix};
    use crate::json::Doc;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["create_feature", "create_column"];
        assert_eq!(nearest("create_featre", names), Some("create_feature"));
        assert_eq!(nearest("Create_Column", names), Some("create_column"));
        assert_eq!(nearest("drop_table", names), None);
        // The nearer one, wherever it stands.
        for names in [["label", "labels", "lab"], ["lab", "labels", "label"]] {
            assert_eq!(nearest("labelss", names), Some("labels"));
        }
    }

    /// Each of these would take hours if the words were compared.
    #[test]
    fn a_word_is_not_compared_however_long_it_is() {
        let long = "k".repeat(1_000_000);
        let other = format!("{long}z");
        let names: Vec<String> = (0..100).map(|number| format!("name_{number}")).collect();
        assert_eq!(nearest(&long, names.iter().map(String::as_str)), None);
        assert_eq!(nearest(&long, [other.as_str()]), None);
        assert_eq!(nearest("name", [long.as_str(), "nam"]), Some("nam"));
        assert!(likeness(&long, &other) <= 0.0);
        assert!(likeness(&long, "k") <= 0.0);
        assert!(likeness(&long, &long.to_uppercase()) >= 1.0);
        // As long as a name may be.
        let name = "n".repeat(128);
        let misspelt = format!("{}m", &name[1..]);
        assert_eq!(nearest(&misspelt, [name.as_str()]), Some(name.as_str()));
        assert!(likeness(&misspelt, &name) > 0.9);
    }

    #[test]
    fn a_value_is_quoted_alike_however_it_is_written() {
        for (written, quoted) in [
            ("5", "5"),
            ("-0.10e2", "-0.10e2"),
            ("[]", "[]"),
            ("{ }", "{}"),
            (r#""a  b""#, r#""a  b""#),
            (r#""\u0061\/\u0022\u00e9""#, r#""a/\"é""#),
            (
                "{\r\n  \"b\": [1,\t2],\n  \"a\" :\"\\u0078 y\"}",
                r#"{"a": "x y", "b": [1, 2]}"#,
            ),
            (r#"{"a":"x y","b":[1,2]}"#, r#"{"a": "x y", "b": [1, 2]}"#),
            // No canonical form.
            (r#"{"a":1, "a":2}"#, "an object"),
            (r#"[{"a":1,"\u0061":2}]"#, "a list"),
        ] {
            assert_eq!(short_value(written), quoted, "{written}");
        }
        let long = format!("[ {} ]", ["1"; 100].join(" , "));
        assert_eq!(short_value(&long), format!("[{}1,…", "1, ".repeat(19)));
    }

    #[test]
    fn only_the_one_name_that_fits_is_written() {
        let text = r#"{"lable": "$f_task", "x": "in $f_task"}"#;
        let doc = Doc::parse(text).expect("JSON");
        let member = |key| doc.root().get(key).expect("a member");
        let fixed = |word, names: &[&str], place: Misspelt<'_>| {
            let finding =
                Finding::at(&S001, doc.root(), "").meant(word, names.iter().copied(), place);
            let (text, _) = fix::apply(text, &[&finding.fix?])?;
            Some(text)
        };
        let reference = Misspelt::value(member("lable")).reference();
        assert_eq!(
            fixed("f_task", &["f_tasks", "f_people"], reference).expect("a fix"),
            r#"{"lable": "$f_tasks", "x": "in $f_task"}"#
        );
        // Two are as near, one of them twice.
        assert_eq!(fixed("f_task", &["f_tasks", "f_taske"], reference), None);
        assert!(fixed("f_task", &["f_tasks", "f_tasks"], reference).is_some());
        // A part of what stands there.
        assert_eq!(
            fixed(
                "f_task",
                &["f_tasks"],
                Misspelt::value(member("x")).reference()
            ),
            None
        );
        let key = Misspelt::key(member("lable"));
        assert!(fixed("lable", &["label"], key).is_some());
        // The member is there already.
        assert_eq!(
            fixed("lable", &["x", "lab"], Misspelt::key(member("x"))),
            None
        );
    }
}
