//! Translates filters into SQL conditions.
//!
//! In SQL a condition on an absent or null cell is NULL, so it finds no row, negated or not, as the
//! rules demand. Only `is` has to test whether a cell exists.

use std::sync::LazyLock;

use tplkit::rows::query::{CellTest, Compare, Condition, Filter, IsValue, Match, OwnTest, Search};
use tplkit::rows::{AFTER_NUMBERS, Decimal, fold, fold_pairs, number_key};

use super::chosen_index::IndexChoice;
use super::composer::{Composer, Source, key_of};
use super::pattern::compare_much;
use super::selected_columns::WHOSE;
use crate::store::{Dialect, Value};

/// The characters beyond ASCII that are folded into it, and into what.
static TO_ASCII: LazyLock<(String, String)> = LazyLock::new(|| {
    let pairs = fold_pairs().filter(|(from, to)| to.is_ascii() && !from.is_ascii());
    pairs.unzip()
});

impl Composer<'_> {
    /// The rows of the table that the caller sees and the filters find.
    pub(super) fn where_clause(&mut self, filters: &[Filter], together: Match) -> String {
        let mut found = WHOSE.to_owned();
        if !filters.is_empty() {
            // Whose rows they are is outside the brackets.
            found.extend([" AND ", &self.filters(filters, together)]);
        }
        found
    }

    /// The condition of the filters alone, of which there is one at least.
    pub(super) fn filters(&mut self, filters: &[Filter], together: Match) -> String {
        self.compares_much = compare_much(filters);
        let conditions: Vec<String> = filters.iter().map(|filter| self.filter(filter)).collect();
        let word = match together {
            Match::All => ") AND (",
            Match::Any => ") OR (",
        };
        format!("(({}))", conditions.join(word))
    }

    fn filter(&mut self, filter: &Filter) -> String {
        let is = !filter.negated;
        match &filter.condition {
            Condition::Id(test) => self.own("id", test, is, |ids| Value::Ids(ids.to_vec())),
            Condition::CreatedAt(test) => self.own("created_at", test, is, |instants| {
                Value::Ints(instants.to_vec())
            }),
            Condition::UpdatedAt(test) => self.own("updated_at", test, is, |instants| {
                Value::Ints(instants.to_vec())
            }),
            Condition::Cell { key, test } => {
                // So SQLite cannot use the index. PostgreSQL knows what rows that are known by their ids cost.
                let passes_by = match self.index_choice {
                    IndexChoice::Sort => true,
                    IndexChoice::Ids => self.dialect == Dialect::Sqlite,
                    IndexChoice::Either | IndexChoice::Filters => false,
                };
                let source = match self.source(key) {
                    Source::Texts(slot) if passes_by => Source::Texts(format!("+{slot}")),
                    Source::Keys(slot) if passes_by => Source::Keys(format!("+{slot}")),
                    source => source,
                };
                self.cell(key, &source, test, is)
            }
        }
    }

    fn own<T: Clone + Into<Value>>(
        &mut self,
        column: &str,
        test: &OwnTest<T>,
        is: bool,
        list: impl Fn(&[T]) -> Value,
    ) -> String {
        match test {
            OwnTest::Compare(compare, value) => {
                let value = self.value(value.clone());
                format!("{column} {} {value}", sign(*compare, is))
            }
            OwnTest::In(values) => self.one_of(column, list(values), is),
            OwnTest::Is(_) => (if is { "1 = 0" } else { "1 = 1" }).to_owned(),
        }
    }

    fn cell(&mut self, key: &str, source: &Source, test: &CellTest, is: bool) -> String {
        match (test, source) {
            (CellTest::Is(IsValue::Null), source) => {
                let there = match source {
                    Source::Texts(slot) | Source::Keys(slot) => slot.clone(),
                    Source::Data(key) => self.text(key),
                };
                format!("{there} {}", if is { "IS NULL" } else { "IS NOT NULL" })
            }
            (CellTest::Is(boolean), source) => {
                let value = *boolean == IsValue::True;
                let parameter = self.parameter(key, source);
                let condition = self.boolean(&parameter, value, is);
                match source {
                    // The index finds the texts that look like it.
                    Source::Texts(slot) if is => format!("{slot} = '{value}' AND {condition}"),
                    _ => condition,
                }
            }
            (CellTest::Number(compare, number), Source::Keys(slot)) => {
                self.number_in_slot(slot, *compare, number.as_str(), is)
            }
            (CellTest::Number(compare, number), source) => {
                let parameter = self.parameter(key, source);
                let cell = self.number(&parameter);
                let number = self.number_value(number.as_str());
                format!("{cell} {} {number}", sign(*compare, is))
            }
            (CellTest::Text(Compare::Eq, value), Source::Keys(slot)) => {
                let keys = Value::Texts(keys_of_text(value).collect());
                self.one_of(slot, keys, is)
            }
            (CellTest::Text(Compare::Neq, value), Source::Keys(slot)) => {
                let keys = Value::Texts(keys_of_text(value).collect());
                self.one_of(slot, keys, !is)
            }
            (CellTest::In(values), Source::Keys(slot)) => {
                let keys = values.iter().flat_map(|value| keys_of_text(value));
                let keys = Value::Texts(keys.collect());
                self.one_of(slot, keys, is)
            }
            (test, Source::Texts(slot)) => {
                let condition = self.text_test(slot, test, is);
                let prefix = if is { self.prefix(slot, test) } else { None };
                match prefix {
                    Some(prefix) => format!("{prefix} AND {condition}"),
                    None => condition,
                }
            }
            (test, source) => {
                let parameter = self.parameter(key, source);
                match self.data_test(&parameter, test, is) {
                    Some(condition) => condition,
                    None => self.text_test(&self.text(&parameter), test, is),
                }
            }
        }
    }

    /// A test of the text form of the cell in the data, in one function where the store has one: every
    /// row may be asked.
    fn data_test(&mut self, key: &str, test: &CellTest, is: bool) -> Option<String> {
        if self.dialect == Dialect::Postgres {
            return None;
        }
        let (word, value, is) = match test {
            CellTest::Text(compare, value) => {
                let compare = if is { *compare } else { opposite(*compare) };
                (compared(compare), value.clone(), true)
            }
            CellTest::Search(search, value) => {
                let is = is == (*search != Search::Ncontains);
                (searched(*search), search_text(*search, value), is)
            }
            CellTest::In(_) | CellTest::Is(_) | CellTest::Number(..) => return None,
        };
        let value = self.value(value);
        let not = if is { "" } else { "NOT " };
        Some(format!("{not}cell_{word}(data, {key}, {value})"))
    }

    /// The parameter that is the key of the data.
    fn parameter(&mut self, key: &str, source: &Source) -> String {
        match source {
            Source::Data(parameter) => parameter.clone(),
            Source::Texts(_) | Source::Keys(_) => self.data_key(key),
        }
    }

    fn text_test(&mut self, text: &str, test: &CellTest, is: bool) -> String {
        match test {
            CellTest::Text(compare, value) => {
                let value = self.value(value.as_str());
                format!("{text} {} {value}", sign(*compare, is))
            }
            CellTest::In(values) => self.one_of(text, Value::Texts(values.clone()), is),
            CellTest::Search(Search::Ncontains, value) => {
                self.search(text, Search::Contains, value, !is)
            }
            CellTest::Search(search, value) => self.search(text, *search, value, is),
            // They are handled above.
            CellTest::Is(_) | CellTest::Number(..) => "1 = 0".to_owned(),
        }
    }

    fn search(&mut self, text: &str, search: Search, value: &str, is: bool) -> String {
        let folded = search_text(search, value);
        match self.dialect {
            Dialect::Sqlite => {
                let not = if is { "" } else { "NOT " };
                let value = self.value(folded);
                format!("{not}text_{}({text}, {value})", searched(search))
            }
            Dialect::Postgres => {
                let searched = match search {
                    Search::Like => text.to_owned(),
                    // Folding whole texts is slow. What is compared with ASCII alone need not be
                    // folded but where it becomes ASCII.
                    _ if folded.is_ascii() => {
                        let (from, to) = &*TO_ASCII;
                        format!("translate(lower({text} COLLATE \"C\"), '{from}', '{to}')")
                    }
                    _ => format!("fold({text})"),
                };
                self.pattern_test(text, &searched, (search, &folded), is)
            }
        }
    }

    /// The range of the index in which everything stands that begins as a pattern does.
    fn prefix(&mut self, slot: &str, test: &CellTest) -> Option<String> {
        let CellTest::Search(Search::Like, pattern) = test else {
            return None;
        };
        let prefix = pattern
            .split('*')
            .next()
            .filter(|prefix| !prefix.is_empty())?;
        let from = self.value(prefix);
        Some(match after_all_with(prefix) {
            Some(to) => {
                let to = self.value(to);
                format!("{slot} >= {from} AND {slot} < {to}")
            }
            None => format!("{slot} >= {from}"),
        })
    }

    /// A comparison with the numbers of a slot that holds order keys.
    fn number_in_slot(&mut self, slot: &str, compare: Compare, token: &str, is: bool) -> String {
        let compare = if is { compare } else { opposite(compare) };
        let number = self.value(key_of(token));
        let condition = format!("{slot} {} {number}", sign(compare, true));
        match compare {
            Compare::Eq | Compare::Lt | Compare::Lte => condition,
            Compare::Neq | Compare::Gt | Compare::Gte => {
                format!("{condition} AND {slot} < '{AFTER_NUMBERS}'")
            }
        }
    }
}

/// The keys of the cells that have this text form: the text, and the number that is written so.
fn keys_of_text(text: &str) -> impl Iterator<Item = String> {
    let number = tplkit::json::Number::parse(text).and_then(|number| {
        let number = Decimal::new(number.as_str());
        let key = number_key(&number)?;
        let mut form = String::new();
        number.write_to(&mut form);
        (form == text).then_some(key)
    });
    std::iter::once(format!("{AFTER_NUMBERS}{text}")).chain(number)
}

fn opposite(compare: Compare) -> Compare {
    match compare {
        Compare::Eq => Compare::Neq,
        Compare::Neq => Compare::Eq,
        Compare::Gt => Compare::Lte,
        Compare::Gte => Compare::Lt,
        Compare::Lt => Compare::Gte,
        Compare::Lte => Compare::Gt,
    }
}

fn sign(compare: Compare, is: bool) -> &'static str {
    match if is { compare } else { opposite(compare) } {
        Compare::Eq => "=",
        Compare::Neq => "<>",
        Compare::Gt => ">",
        Compare::Gte => ">=",
        Compare::Lt => "<",
        Compare::Lte => "<=",
    }
}

/// The end of the name of a function of SQLite that compares so.
fn compared(compare: Compare) -> &'static str {
    match compare {
        Compare::Eq => "eq",
        Compare::Neq => "neq",
        Compare::Lt => "lt",
        Compare::Lte => "lte",
        Compare::Gt => "gt",
        Compare::Gte => "gte",
    }
}

/// The end of the name of a function of SQLite that searches so.
fn searched(search: Search) -> &'static str {
    match search {
        Search::Like => "like",
        Search::Ilike => "ilike",
        Search::Contains | Search::Ncontains => "contains",
        Search::Startswith => "starts",
        Search::Endswith => "ends",
    }
}

/// What is looked for, in the form in which texts are looked through.
fn search_text(search: Search, value: &str) -> String {
    match search {
        Search::Like => value.to_owned(),
        _ => fold(value),
    }
}

/// The least text that is greater than every one with that prefix, if there is one.
fn after_all_with(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        let next = (u32::from(last) + 1..=0x10_FFFF).find_map(char::from_u32);
        if let Some(next) = next {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{TO_ASCII, after_all_with, keys_of_text};

    #[test]
    fn few_characters_become_ascii() {
        let (from, to) = &*TO_ASCII;
        let from: Vec<char> = from.chars().collect();
        assert_eq!(from, ['\u{130}', '\u{131}', '\u{17f}', '\u{212a}']);
        assert_eq!(to, "iisk");
    }

    #[test]
    fn what_follows_a_prefix() {
        for (prefix, after) in [
            ("abc", Some("abd")),
            ("a\u{7f}", Some("a\u{80}")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("a\u{10ffff}", Some("b")),
            ("\u{10ffff}\u{10ffff}", None),
        ] {
            assert_eq!(after_all_with(prefix).as_deref(), after, "{prefix:?}");
        }
    }

    #[test]
    fn only_the_form_of_a_number_is_one() {
        for (text, keys) in [
            ("10", 2),
            ("10.0", 1),
            ("1e1", 1),
            ("-0", 1),
            ("0", 2),
            ("ten", 1),
        ] {
            assert_eq!(keys_of_text(text).count(), keys, "{text}");
        }
    }
}
