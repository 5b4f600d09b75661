//! Renders conditions as predicates of statements: the first line of defence.
//!
//! What is known about the caller before the statement runs is left out of its text, so that stores
//! plan only what it asks.

use super::Condition;
use super::condition::ORGANIZATION_ONLY;
use crate::store::dialect::{Dialect, Shape};
use crate::store::scope_ids::{Id, Ids};
use crate::store::statement::{ScopeParameter, Statement};

/// A mark of statements that stands for a predicate.
#[derive(Debug)]
pub(in crate::store) struct Mark {
    /// The word of the mark.
    pub(super) word: &'static str,
    pub(super) condition: Condition,
    columns: usize,
    /// Whether it says whose rows the statement means.
    pub(in crate::store) names_owner: bool,
}

impl Mark {
    /// One that asks of so many columns, three at most.
    pub(super) const fn new(word: &'static str, condition: Condition, columns: usize) -> Mark {
        Mark {
            word,
            condition,
            columns,
            names_owner: false,
        }
    }

    /// The same, as one that says whose rows a statement means.
    pub(super) const fn owner(self) -> Mark {
        Mark {
            names_owner: true,
            ..self
        }
    }

    /// The predicate on these columns of a statement; nothing when they are too few.
    pub(in crate::store) fn predicate(
        &self,
        argument: &str,
        predicates: &mut Predicates<'_>,
    ) -> Option<String> {
        let columns = argument.split(' ');
        let columns = columns.map(|column| predicates.dialect.column(column));
        let columns: Vec<String> = columns.collect();
        if columns.len() != self.columns {
            return None;
        }
        Some(predicates.text(&self.condition, &columns))
    }
}

/// Writes predicates for one statement.
pub(in crate::store) struct Predicates<'a> {
    /// Gets the parameters that they add.
    pub(in crate::store) statement: &'a mut Statement,
    /// How many it has of its own.
    pub(in crate::store) given: usize,
    /// In whose words.
    pub(in crate::store) dialect: Dialect,
    /// Who asks.
    pub(in crate::store) shape: Shape,
}

impl Predicates<'_> {
    /// What becomes of a condition whatever the row is.
    fn certain(&self, condition: &Condition) -> Option<bool> {
        let certain = |conditions: &[Condition], decides: bool| {
            let mut each = conditions.iter().map(|one| self.certain(one));
            if each.clone().any(|one| one == Some(decides)) {
                return Some(decides);
            }
            each.all(|one| one == Some(!decides)).then_some(!decides)
        };
        match condition {
            // What is about one table has no such list.
            Condition::NotIn(_, Ids::Hidden) if self.shape.only => Some(false),
            // Nothing is kept from this caller.
            Condition::NotIn(_, ids) => (!self.shape.has(*ids)).then_some(true),
            Condition::Only(_, id, _) if self.shape.is_about(*id) => None,
            Condition::Only(_, _, other) => self.certain(other),
            Condition::Is(_, Id::Run) => (!self.shape.run).then_some(false),
            Condition::Platform => Some(self.shape.platform),
            Condition::Any(conditions) => certain(conditions, true),
            Condition::All(conditions) => certain(conditions, false),
            _ => None,
        }
    }

    fn text(&mut self, condition: &Condition, columns: &[String]) -> String {
        if let Some(certain) = self.certain(condition) {
            return certain.to_string();
        }
        match *condition {
            Condition::In(column, Ids::Organizations) if self.shape.one => {
                self.equals(&columns[column], ScopeParameter::Organization)
            }
            Condition::In(column, ids) => {
                let list = self
                    .statement
                    .parameter(self.given, ScopeParameter::List(ids));
                self.dialect.one_of(&columns[column], list)
            }
            Condition::NotIn(column, ids) => {
                let list = self
                    .statement
                    .parameter(self.given, ScopeParameter::List(ids));
                self.dialect.none_of(&columns[column], list)
            }
            Condition::Only(column, id, _) if self.shape.is_about(id) => {
                self.equals(&columns[column], ScopeParameter::Id(id))
            }
            Condition::Only(_, _, other) => self.text(other, columns),
            Condition::Is(column, id) => self.equals(&columns[column], ScopeParameter::Id(id)),
            Condition::Word(column, word) => format!("{} = '{word}'", columns[column]),
            // An index of the store has those of which this holds, in these words.
            Condition::ForEverybody(column) => {
                format!("{} <> '{ORGANIZATION_ONLY}'", columns[column])
            }
            Condition::Flag(column) => columns[column].clone(),
            Condition::Platform => self.shape.platform.to_string(),
            Condition::Any(conditions) => self.joined(conditions, columns, " OR "),
            Condition::All(conditions) => self.joined(conditions, columns, " AND "),
        }
    }

    fn joined(&mut self, conditions: &[Condition], columns: &[String], word: &str) -> String {
        let mut parts = Vec::with_capacity(conditions.len());
        for condition in conditions {
            if self.certain(condition).is_none() {
                parts.push(self.text(condition, columns));
            }
        }
        match parts.as_slice() {
            [only] => only.clone(),
            _ => format!("({})", parts.join(word)),
        }
    }

    fn equals(&mut self, column: &str, added: ScopeParameter) -> String {
        let index = self.statement.parameter(self.given, added);
        format!("{column} = {}", self.dialect.parameter(index))
    }
}
