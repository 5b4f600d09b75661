//! What PostgreSQL takes in place of a search: patterns of `LIKE`, and regular expressions.
//!
//! At each place of a cell `LIKE` compares anew what stands between two stars, and nothing ends it within one cell: no
//! limit of time, nor whoever cancels the statement. So where much may be compared, long cells are searched with a
//! regular expression, which reads each of their characters once and can be ended. For each cell its start takes the
//! longer the longer it is itself, so short cells keep `LIKE`.
//!
//! In: what is looked for, folded where the search folds. The library defines what it finds; both forms find the same.

use tplkit::rows::query::{CellTest, Condition, Filter, Search};

use super::composer::Composer;

/// How many bytes the searches of a statement may compare, all together, at each place of a cell, to be left to `LIKE`
/// however long the cell is. Unless the limit of bodies is raised, a cell has 4 MiB at most: that takes a second.
const MOST_COMPARED: usize = 64;

/// Up to so many bytes, `LIKE` is done with a cell at once whatever it compares.
const SHORT_CELL: usize = 8192;

/// What is special in a regular expression.
const SPECIAL: [char; 14] = [
    '\\', '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '^', '$',
];

/// Whether `LIKE` may compare too much for the searches of these filters.
pub(super) fn compare_much(filters: &[Filter]) -> bool {
    filters.iter().map(compared).sum::<usize>() > MOST_COMPARED
}

/// How many bytes `LIKE` may compare at each place of a cell.
fn compared(filter: &Filter) -> usize {
    let Condition::Cell {
        test: CellTest::Search(search, wanted),
        ..
    } = &filter.condition
    else {
        return 0;
    };
    match search {
        // It begins at one place.
        Search::Startswith => 0,
        Search::Contains | Search::Ncontains | Search::Endswith => wanted.len(),
        // The first part, too, begins at one place; each further one is found before the next is looked for.
        Search::Like | Search::Ilike => {
            let parts = wanted.split('*').skip(1);
            parts.map(str::len).max().unwrap_or(0)
        }
    }
}

impl Composer<'_> {
    /// The condition that a text is of a pattern, or that it is not: `text` as it is, and `searched` in the form in
    /// which it is looked through.
    pub(super) fn pattern_test(
        &mut self,
        text: &str,
        searched: &str,
        (search, wanted): (Search, &str),
        is: bool,
    ) -> String {
        let not = if is { "" } else { "NOT " };
        let like = format!("{searched} {not}LIKE {}", self.value(like(search, wanted)));
        if !self.compares_much || search == Search::Startswith {
            return like;
        }
        // A regular expression takes memory for each of its characters times each different one. Seen as bytes there
        // are few different ones, and texts in UTF-8 are found at the same places.
        let (searched, regex) = if wanted.is_ascii() {
            (searched.to_owned(), regex(search, wanted))
        } else {
            let bytes: String = wanted.bytes().map(char::from).collect();
            let searched = format!("convert_from(convert_to({searched}, 'UTF8'), 'LATIN1')");
            (searched, regex(search, &bytes))
        };
        let not = if is { "" } else { "!" };
        let regex = self.value(regex);
        format!(
            "CASE WHEN octet_length({text}) > {SHORT_CELL} \
             THEN {searched} COLLATE \"C\" {not}~ {regex} ELSE {like} END"
        )
    }
}

/// The pattern of `LIKE`.
fn like(search: Search, wanted: &str) -> String {
    let wanted = escaped(wanted, &['%', '_', '\\']);
    match search {
        Search::Like | Search::Ilike => wanted.replace('*', "%"),
        Search::Contains | Search::Ncontains => format!("%{wanted}%"),
        Search::Startswith => format!("{wanted}%"),
        Search::Endswith => format!("%{wanted}"),
    }
}

/// The regular expression.
fn regex(search: Search, wanted: &str) -> String {
    match search {
        Search::Like | Search::Ilike => {
            // Several stars are as good as one.
            let mut parts = wanted.split('*').enumerate().peekable();
            let mut regex = "^".to_owned();
            while let Some((number, part)) = parts.next() {
                if number > 0 && (!part.is_empty() || parts.peek().is_none()) {
                    regex.push_str(".*");
                }
                regex.push_str(&escaped(part, &SPECIAL));
            }
            regex.push('$');
            regex
        }
        Search::Contains | Search::Ncontains => escaped(wanted, &SPECIAL),
        Search::Startswith => format!("^{}", escaped(wanted, &SPECIAL)),
        Search::Endswith => format!("{}$", escaped(wanted, &SPECIAL)),
    }
}

/// The text with what is special standing for itself.
fn escaped(text: &str, special: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if special.contains(&character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use tplkit::rows::query::{Match, Search, parse};

    use super::super::composer::Composer;
    use super::{compare_much, like, regex};
    use crate::rows::Table;
    use crate::store::Dialect;

    #[test]
    fn what_is_special_stands_for_itself() {
        for (search, wanted, of_like, of_regex) in [
            (Search::Like, "", "", "^$"),
            (Search::Like, "*", "%", "^.*$"),
            (Search::Like, "**", "%%", "^.*$"),
            (Search::Ilike, "a*", "a%", "^a.*$"),
            (Search::Ilike, "*a**b", "%a%%b", "^.*a.*b$"),
            (
                Search::Contains,
                "50%_\\.*",
                "%50\\%\\_\\\\.*%",
                "50%_\\\\\\.\\*",
            ),
            (Search::Ncontains, "***", "%***%", "\\*\\*\\*"),
            (
                Search::Contains,
                "(?x) a{2}",
                "%(?x) a{2}%",
                "\\(\\?x\\) a\\{2\\}",
            ),
            (Search::Startswith, "^a", "^a%", "^\\^a"),
            (Search::Endswith, "[a]|$", "%[a]|$", "\\[a\\]\\|\\$$"),
        ] {
            assert_eq!(like(search, wanted), of_like, "{wanted}");
            assert_eq!(regex(search, wanted), of_regex, "{wanted}");
        }
    }

    /// Whether the searches of these filters may compare much.
    fn much(texts: &[String]) -> bool {
        compare_much(&parse(texts).expect("filters"))
    }

    #[test]
    fn what_is_compared_at_each_place_counts() {
        let long = "a".repeat(65);
        for operator in ["contains", "ncontains", "endswith", "not.contains"] {
            assert!(much(&[format!("t:{operator}:{long}")]), "{operator}");
            assert!(
                !much(&[format!("t:{operator}:{}", &long[1..])]),
                "{operator}"
            );
        }
        for operator in ["like", "ilike", "not.like"] {
            assert!(much(&[format!("t:{operator}:*{long}*")]), "{operator}");
            assert!(much(&[format!("t:{operator}:*{long}")]), "{operator}");
            assert!(!much(&[format!("t:{operator}:{long}*")]), "{operator}");
            assert!(
                !much(&[format!("t:{operator}:{}", "*a".repeat(999))]),
                "{operator}"
            );
        }
        for operator in ["startswith", "eq"] {
            assert!(!much(&[format!("t:{operator}:{long}")]), "{operator}");
        }
        // All of a statement together: one cell is asked about each of them.
        let several = |count| -> Vec<String> {
            let each = |n| format!("t:contains:{n}{}", "a".repeat(15));
            (0..count).map(each).collect()
        };
        assert!(!much(&several(4)));
        assert!(much(&several(5)));
    }

    #[test]
    fn long_cells_are_searched_with_regular_expressions() {
        let table = Table::sample(&[("u", "text", None)]);
        let composed = |texts: &[String]| {
            let filters = parse(texts).expect("filters");
            let mut composer = Composer::new(&table, Dialect::Postgres);
            composer.filters(&filters, Match::Any)
        };
        let long = "b".repeat(64);
        let text = composed(&[
            format!("u:not.contains:{long}.é"),
            format!("u:like:*{long}*"),
            "u:startswith:a".to_owned(),
        ]);
        let cell = "(data ->> $3::text) COLLATE \"C\"";
        let expected = format!(
            "((CASE WHEN octet_length({cell}) > 8192 \
             THEN convert_from(convert_to(fold({cell}), 'UTF8'), 'LATIN1') COLLATE \"C\" !~ $5 \
             ELSE fold({cell}) NOT LIKE $4 END) OR \
             (CASE WHEN octet_length({cell}) > 8192 THEN {cell} COLLATE \"C\" ~ $7 ELSE {cell} LIKE $6 END) OR ("
        );
        assert!(text.starts_with(&expected), "{text}");
        assert!(text.ends_with("LIKE $8))"), "{text}");
        assert!(!composed(&["u:like:*b*".to_owned()]).contains("CASE"));
    }
}
