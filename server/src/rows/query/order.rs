//! A page in a sort order without an index: the store reads every match and keeps the first ones.
//!
//! Cells form segments with a fixed order in both directions: in a number column first numbers,
//! then all else; in other columns all cells; and last the rows without a cell. Within a segment
//! the direction applies, and equal cells are sorted by ascending id.

use tplkit::rows::AFTER_NUMBERS;
use tplkit::rows::query::{Column, Order, Sort};

use super::CursorPosition;
use super::cell_order::{KeyOrder, order_of, segments};
use super::chosen_index::IndexChoice;
use super::composer::{Composer, Source, key_of};
use super::cursor::SortKey;
use super::index_choice::MAX_SORTED_ROWS;
use super::selected_columns::{ROWS, VERSION};
use crate::store::Dialect;

/// What the index of the times of creation says of all its rows.
const ALWAYS: &str = "created_at > -9000000000000000000";

/// How rows that are read apart from any order are sorted.
#[derive(Debug)]
pub(super) struct SortedApart {
    /// A further column that has to be read for it.
    pub(super) cell: String,
    /// Which rows are behind the page before.
    pub(super) behind: Option<String>,
    /// The order.
    pub(super) order: String,
}

/// What a place sorts by, in the words of the expression; nothing of a row without a cell.
pub(super) fn key(order: Order, at: &SortKey) -> Option<String> {
    match (order, at) {
        (Order::Number, SortKey::Number(token)) => Some(key_of(token)),
        (Order::Number, SortKey::Text(text)) => Some(format!("{AFTER_NUMBERS}{text}")),
        (Order::Text, SortKey::Number(text) | SortKey::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

impl Composer<'_> {
    /// The statements that find so many of the rows that are `found`, behind a place: each what those
    /// before it have left.
    pub(super) fn page(
        &mut self,
        found: &str,
        sort: &Sort,
        after: Option<&CursorPosition>,
        lookahead: i64,
    ) -> Vec<String> {
        if self.index_choice == IndexChoice::Filters && self.dialect == Dialect::Postgres {
            return vec![self.few(found, sort, after, lookahead)];
        }
        let along_an_index = self.along_an_index(sort, after);
        let (behind, order) = match (along_an_index, &sort.column) {
            (Some(along_an_index), _) => along_an_index,
            (None, Column::Key(key)) => {
                let order = order_of(self.table, key);
                match (self.source(key), order) {
                    (Source::Texts(slot) | Source::Keys(slot), order)
                        if self.index_choice.sorts_apart() =>
                    {
                        self.by_key(
                            &format!("+{slot}"),
                            KeyOrder {
                                order,
                                descending: sort.descending,
                            },
                            after,
                        )
                    }
                    (Source::Texts(slot) | Source::Keys(slot), order) => {
                        return self.keyset(
                            found,
                            &slot,
                            KeyOrder {
                                order,
                                descending: sort.descending,
                            },
                            after,
                            lookahead,
                        );
                    }
                    (Source::Data(key), Order::Number) if self.dialect == Dialect::Postgres => {
                        self.by_number(&key, sort.descending, after)
                    }
                    (Source::Data(key), order) => {
                        let expression = match order {
                            Order::Text => self.text(&key),
                            Order::Number => format!("cell_key(data, {key})"),
                        };
                        self.by_key(
                            &expression,
                            KeyOrder {
                                order,
                                descending: sort.descending,
                            },
                            after,
                        )
                    }
                }
            }
            // Of the times, that of the last change has no index.
            (None, _) => self.by_instant("updated_at", sort.descending, after),
        };
        let behind = behind.map_or(String::new(), |behind| format!(" AND ({behind})"));
        let limit = self.limit(lookahead);
        vec![format!(
            "SELECT {VERSION}, {ROWS} FROM rows WHERE {found}{behind} ORDER BY {order} LIMIT {limit}"
        )]
    }

    /// The page out of a bounded number of the rows that the filters find, by the index of the filters.
    /// Where they find more, its rows say so, and are not the page.
    fn few(
        &mut self,
        found: &str,
        sort: &Sort,
        after: Option<&CursorPosition>,
        lookahead: i64,
    ) -> String {
        let SortedApart {
            cell,
            behind,
            order,
        } = self.sorted_apart(sort, after);
        let behind = behind.map_or(String::new(), |behind| format!(" WHERE {behind}"));
        let (limit, most) = (self.limit(lookahead), MAX_SORTED_ROWS + 1);
        format!(
            "SELECT {VERSION}, {ROWS}, found > {MAX_SORTED_ROWS} FROM (SELECT *, count(*) OVER () AS found FROM \
             (SELECT id, created_at, updated_at, data{cell} FROM rows WHERE {found} LIMIT {most}) \
             AS looked) AS few{behind} ORDER BY {order} LIMIT {limit}"
        )
    }

    /// How rows are sorted that PostgreSQL reads apart from any order.
    pub(super) fn sorted_apart(
        &mut self,
        sort: &Sort,
        after: Option<&CursorPosition>,
    ) -> SortedApart {
        let mut cell = String::new();
        let (behind, order) = match &sort.column {
            Column::Id => self.by_id(sort.descending, after),
            Column::CreatedAt => self.by_instant("created_at", sort.descending, after),
            Column::UpdatedAt => self.by_instant("updated_at", sort.descending, after),
            Column::Key(key) => {
                let order = KeyOrder {
                    order: order_of(self.table, key),
                    descending: sort.descending,
                };
                match self.source(key) {
                    Source::Texts(slot) | Source::Keys(slot) => {
                        cell = format!(", {slot}");
                        self.by_key(&slot, order, after)
                    }
                    Source::Data(key) if order.order == Order::Number => {
                        self.by_number(&key, sort.descending, after)
                    }
                    Source::Data(key) => {
                        let text = self.text(&key);
                        self.by_key(&text, order, after)
                    }
                }
            }
        };
        SortedApart {
            cell,
            behind,
            order,
        }
    }

    /// The order of all rows that an index has them in, and which are behind the page before; nothing for the order of
    /// cells. Where rows are sorted apart from it, a sign keeps SQLite from going along the index.
    pub(super) fn along_an_index(
        &mut self,
        sort: &Sort,
        after: Option<&CursorPosition>,
    ) -> Option<(Option<String>, String)> {
        let (behind, order) = match &sort.column {
            Column::Id => self.by_id(sort.descending, after),
            Column::CreatedAt => self.by_creation(sort.descending, after),
            Column::UpdatedAt | Column::Key(_) => return None,
        };
        let sign = if self.index_choice.sorts_apart() {
            "+"
        } else {
            ""
        };
        Some((behind, format!("{sign}{order}")))
    }

    fn by_id(
        &mut self,
        descending: bool,
        after: Option<&CursorPosition>,
    ) -> (Option<String>, String) {
        let (than, direction) = if descending {
            ("<", "id DESC")
        } else {
            (">", "id")
        };
        let behind = after.map(|place| format!("id {than} {}", self.value(place.id)));
        (behind, direction.to_owned())
    }

    /// By the time of creation, along its index unless it is to be that of the filters. The index knows
    /// the ids of one instant ascending: descending, a store sorts those, instant by instant.
    fn by_creation(
        &mut self,
        descending: bool,
        after: Option<&CursorPosition>,
    ) -> (Option<String>, String) {
        let (behind, order) = self.by_instant("created_at", descending, after);
        if self.index_choice.sorts_apart() {
            return (behind, order);
        }
        let mut condition = ALWAYS.to_owned();
        if let (Some(behind), Some(CursorPosition { at, .. })) = (behind, after)
            && let SortKey::Instant(instant) = at
        {
            let from = self.value(*instant);
            let than = if descending { "<=" } else { ">=" };
            // The first half is what an index can be entered by.
            condition.extend([" AND created_at ", than, " ", &from, " AND (", &behind, ")"]);
        }
        (Some(condition), order)
    }

    fn by_instant(
        &mut self,
        column: &str,
        descending: bool,
        after: Option<&CursorPosition>,
    ) -> (Option<String>, String) {
        let behind = match after {
            Some(CursorPosition {
                id,
                at: SortKey::Instant(instant),
                ..
            }) => {
                let (instant, id) = (self.value(*instant), self.value(*id));
                let than = if descending { "<" } else { ">" };
                Some(format!(
                    "{column} {than} {instant} OR ({column} = {instant} AND id > {id})"
                ))
            }
            _ => None,
        };
        let direction = if descending { " DESC" } else { "" };
        (behind, format!("{column}{direction}, id"))
    }

    /// By an expression that sorts as the cells do, segment by segment.
    fn by_key(
        &mut self,
        expression: &str,
        KeyOrder { order, descending }: KeyOrder,
        after: Option<&CursorPosition>,
    ) -> (Option<String>, String) {
        let direction = if descending { "DESC" } else { "ASC" };
        let split = segments(order, descending).len() > 1;
        let mut by = format!("{expression} {direction} NULLS LAST, id");
        if split {
            by = format!("{expression} >= '{AFTER_NUMBERS}' ASC NULLS LAST, {by}");
        }
        let behind = after.map(|place| {
            let id = self.value(place.id);
            let Some(key) = key(order, &place.at) else {
                return format!("{expression} IS NULL AND id > {id}");
            };
            let is_number = key.as_str() < AFTER_NUMBERS;
            let key = self.value(key);
            let than = if descending { "<" } else { ">" };
            // Behind the numbers, the other segment; within it, nothing of the numbers.
            let rest = match (split, is_number) {
                (true, true) => {
                    format!("{expression} < {key} OR {expression} >= '{AFTER_NUMBERS}'")
                }
                (true, false) => {
                    format!("({expression} < {key} AND {expression} >= '{AFTER_NUMBERS}')")
                }
                (false, _) => format!("{expression} {than} {key}"),
            };
            format!("{rest} OR ({expression} = {key} AND id > {id}) OR {expression} IS NULL")
        });
        (behind, by)
    }

    /// The same on PostgreSQL, which compares the numbers of the data themselves. Equal numbers have
    /// equal texts there.
    fn by_number(
        &mut self,
        key: &str,
        descending: bool,
        after: Option<&CursorPosition>,
    ) -> (Option<String>, String) {
        let (number, text) = (self.number(key), self.text(key));
        let (direction, than) = if descending {
            ("DESC", "<")
        } else {
            ("ASC", ">")
        };
        let by = format!("{number} {direction} NULLS LAST, {text} {direction} NULLS LAST, id");
        let behind = after.map(|place| {
            let id = self.value(place.id);
            match &place.at {
                SortKey::Number(token) => {
                    let value = self.number_value(token);
                    format!(
                        "{number} {than} {value} OR ({number} = {value} AND id > {id}) \
                         OR {number} IS NULL"
                    )
                }
                SortKey::Text(value) => {
                    let value = self.value(value.as_str());
                    format!(
                        "{number} IS NULL AND ({text} {than} {value} \
                         OR ({text} = {value} AND id > {id}) OR {text} IS NULL)"
                    )
                }
                _ => format!("{text} IS NULL AND id > {id}"),
            }
        });
        (behind, by)
    }
}
