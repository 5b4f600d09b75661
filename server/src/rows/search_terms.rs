//! Terms: what the index of searched cells knows of a row, and what a filter looks for in it.
//!
//! A text form is folded as the filters fold it, and every three characters in a row of it are a term: a number that
//! also stands for table and column, because one index serves all tables. A cell of too many terms has one that says
//! so; then every search looks at its row. Both stores keep the same numbers, which never change: this is pure.

use tplkit::rows::query::Search;
use tplkit::rows::{fold, members, text_form};
use uuid::Uuid;

use super::table::Table;
use crate::store::Dialect;

/// How many terms a cell may have. Of a text of which there is more, an index would be larger than the text.
const MAX_TERMS_PER_CELL: usize = 4096;
/// How many terms a search asks for: rows with these nearly always have the rest.
const TERMS_PER_SEARCH: usize = 24;
/// Stands in the place of three characters for "too many to be kept". Three characters have 63 bits.
const MARKER: u64 = 1 << 63;

/// What a filter looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SearchedTerms {
    /// A row has all of these…
    pub(super) terms: Vec<i64>,
    /// …or this one, if the filter finds it.
    pub(super) marker: i64,
}

/// The terms of a row, ascending, each once.
pub(super) fn of_row(table: &Table, data: &str) -> Vec<i64> {
    let mut terms = Vec::new();
    for (key, value) in members(data) {
        let at = table.position(&key.decoded());
        let Some(column) = at.map(|at| &table.columns[at]) else {
            continue;
        };
        if column.is_searched()
            && let Some(text) = text_form(value)
        {
            of_cell(seed(table.id, column.definition.id), &text, &mut terms);
        }
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn of_cell(seed: u64, text: &str, terms: &mut Vec<i64>) {
    let before = terms.len();
    terms.extend(triples(&fold(text)).map(|triple| term(seed, triple)));
    if terms.len() - before > MAX_TERMS_PER_CELL {
        terms[before..].sort_unstable();
        let mut cell = terms.split_off(before);
        cell.dedup();
        if cell.len() > MAX_TERMS_PER_CELL {
            cell = vec![term(seed, MARKER)];
        }
        terms.append(&mut cell);
    }
}

/// What a filter on a column of a table looks for; nothing where it names no three characters in a row.
pub(super) fn of_filter(
    table: &Table,
    column: Uuid,
    search: Search,
    value: &str,
) -> Option<SearchedTerms> {
    let seed = seed(table.id, column);
    let folded = fold(value);
    let parts: Vec<&str> = match search {
        Search::Contains | Search::Startswith | Search::Endswith => vec![folded.as_str()],
        Search::Like | Search::Ilike => folded.split('*').collect(),
        Search::Ncontains => return None,
    };
    let triples = parts.into_iter().flat_map(triples);
    let mut terms: Vec<i64> = triples.map(|triple| term(seed, triple)).collect();
    terms.sort_unstable();
    terms.dedup();
    // They are in no order of the text, so what is left out is any of them.
    terms.truncate(TERMS_PER_SEARCH);
    (!terms.is_empty()).then(|| SearchedTerms {
        terms,
        marker: term(seed, MARKER),
    })
}

/// A number by which terms are known to be others.
pub(super) fn digest(terms: &[i64]) -> i64 {
    let digest = terms
        .iter()
        .fold(0, |digest, term| mix(digest ^ term.cast_unsigned()));
    digest.cast_signed()
}

/// The terms of a row in the form in which a store takes them.
pub(super) fn stored(terms: &[i64], dialect: Dialect) -> String {
    match dialect {
        Dialect::Postgres => {
            let mut digits = itoa::Buffer::new();
            let mut list = String::with_capacity(2 + 21 * terms.len());
            list.push('{');
            for (at, term) in terms.iter().enumerate() {
                if at > 0 {
                    list.push(',');
                }
                list.push_str(digits.format(*term));
            }
            list.push('}');
            list
        }
        Dialect::Sqlite => words(terms, " "),
    }
}

impl SearchedTerms {
    /// The question for SQLite's index.
    pub(super) fn matched(&self) -> String {
        let marker = words(&[self.marker], "");
        format!("({}) OR {marker}", words(&self.terms, " AND "))
    }
}

/// Terms as words of small letters and digits.
fn words(terms: &[i64], between: &str) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    let mut words = String::with_capacity(terms.len() * (13 + between.len()));
    for (at, term) in terms.iter().enumerate() {
        if at > 0 {
            words.push_str(between);
        }
        let mut left = term.cast_unsigned();
        for _ in 0..13 {
            let digit = usize::try_from(left & 31).unwrap_or_default();
            words.push(char::from(DIGITS[digit]));
            left >>= 5;
        }
    }
    words
}

/// Every three characters in a row, as one number.
fn triples(text: &str) -> impl Iterator<Item = u64> {
    let mut last = 0;
    let numbers = text.chars().map(move |character| {
        last = ((last << 21) | u64::from(u32::from(character))) & (MARKER - 1);
        last
    });
    numbers.skip(2)
}

/// What distinguishes the terms of a column.
fn seed(feature: Uuid, column: Uuid) -> u64 {
    let ((one, two), (three, four)) = (feature.as_u64_pair(), column.as_u64_pair());
    [one, two, three, four]
        .into_iter()
        .fold(0, |seed, part| mix(seed ^ part))
}

/// Of different triples of a column it is different.
fn term(seed: u64, triple: u64) -> i64 {
    mix(seed ^ triple).cast_signed()
}

/// The finalizer of `SplitMix64`, which takes no two numbers to one.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use tplkit::rows::query::Search;

    use super::{MAX_TERMS_PER_CELL, SearchedTerms, digest, of_filter, of_row, stored};
    use crate::rows::{SearchIndex, Table};
    use crate::store::Dialect;

    fn table() -> Table {
        let mut table = Table::sample(&[("t", "text", None), ("u", "text", None)]);
        table.columns[0].search = SearchIndex::Ready;
        table
    }

    fn finds(data: &str, search: Search, value: &str) -> Option<bool> {
        let table = table();
        let has = of_row(&table, data);
        let asked = of_filter(&table, table.columns[0].definition.id, search, value)?;
        let all = asked.terms.iter().all(|term| has.contains(term));
        Some(all || has.contains(&asked.marker))
    }

    #[test]
    fn what_a_filter_finds_has_its_terms() {
        for (cell, search, value, found) in [
            ("abcdef", Search::Contains, "bcd", Some(true)),
            ("abcdef", Search::Contains, "BCD", Some(true)),
            ("ABCDEF", Search::Contains, "bcde", Some(true)),
            ("abcdef", Search::Contains, "bce", Some(false)),
            ("abcdef", Search::Contains, "bc", None),
            ("abcdef", Search::Contains, "", None),
            ("abcdef", Search::Ncontains, "abc", None),
            ("abcdef", Search::Startswith, "abc", Some(true)),
            ("abcdef", Search::Endswith, "def", Some(true)),
            ("abcdef", Search::Ilike, "ABC*f", Some(true)),
            ("abcdef", Search::Like, "ab*ef", None),
            ("abcdef", Search::Like, "*xyz*", Some(false)),
            ("ΟΔΟΣ 1", Search::Contains, "οδος", Some(true)),
            ("50 % \\\\_x", Search::Contains, "% \\_", Some(true)),
            ("😀😀😀", Search::Contains, "😀😀😀", Some(true)),
            ("", Search::Contains, "abc", Some(false)),
        ] {
            let data = format!(r#"{{"t":"{cell}"}}"#);
            assert_eq!(finds(&data, search, value), found, "{cell} {value}");
        }
        assert_eq!(
            finds(r#"{"t":[1,23]}"#, Search::Contains, "1,2"),
            Some(true)
        );
        assert_eq!(
            finds(r#"{"u":"abc"}"#, Search::Contains, "abc"),
            Some(false)
        );
        assert_eq!(finds(r#"{"t":null}"#, Search::Contains, "nul"), Some(false));
    }

    #[test]
    fn a_cell_of_too_many_terms_is_always_looked_at() {
        let long: String = (0..=u32::try_from(MAX_TERMS_PER_CELL).expect("few"))
            .filter_map(|n| char::from_u32(0x4e00 + n))
            .chain("xy".chars())
            .collect();
        let data = format!(r#"{{"t":"{long}"}}"#);
        assert_eq!(of_row(&table(), &data).len(), 1);
        assert_eq!(finds(&data, Search::Contains, "abc"), Some(true));
        // Much of the same is not too much.
        let data = format!(r#"{{"t":"{}"}}"#, "abc".repeat(MAX_TERMS_PER_CELL));
        assert_eq!(of_row(&table(), &data).len(), 3);
    }

    /// They are in stores: no version of the program may make others of the same text.
    #[test]
    fn terms_never_change() {
        let terms = of_row(&table(), r#"{"t":"Abcd"}"#);
        assert_eq!(
            terms,
            [-6_329_402_238_560_081_916, -2_846_455_277_558_388_853]
        );
        assert_eq!(digest(&terms), 352_975_534_395_010_174);
        let (one, other) = ("40q01db6ibaga", "bs9h1c60sqvgd");
        assert_eq!(stored(&terms, Dialect::Sqlite), format!("{one} {other}"));
        let list = format!("{{{},{}}}", terms[0], terms[1]);
        assert_eq!(stored(&terms, Dialect::Postgres), list);
        let asked = SearchedTerms {
            marker: terms[1],
            terms,
        };
        assert_eq!(asked.matched(), format!("({one} AND {other}) OR {other}"));
    }

    #[test]
    fn each_column_of_each_table_has_terms_of_its_own() {
        let [one, other] = [1, 2].map(uuid::Uuid::from_u128);
        let mut seeds = Vec::new();
        for feature in [one, other] {
            for column in [one, other] {
                seeds.push(super::seed(feature, column));
            }
        }
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 4);
    }
}
