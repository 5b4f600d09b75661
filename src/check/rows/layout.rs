//! The columns and rules of a payload entry, arranged so that reading rows needs no look-ups.

use std::borrow::Cow;

use super::context::RowsContext;
use super::form;
use crate::check::facts::{Column, Origin};
use crate::json::{JsonKind, Node, write_string};
use crate::maps::HashMap;
use crate::package::reference::undollared;
use crate::rows::{Mask, Storable};

/// One payload entry, or a list of rows that belongs to none.
#[derive(Debug)]
pub(super) struct Layout<'c> {
    /// The unread list, when there is one.
    pub(super) rows: Option<Node<'c>>,
    /// Pointer of the list.
    pub(super) pointer: String,
    /// The entry; `None` for a list that stands where no entry can be.
    pub(super) entry: Option<Node<'c>>,
    /// Index of the rows item that declares the entry.
    pub(super) item: Option<usize>,
    /// Index of the table that the rows belong to.
    pub(super) table: Option<usize>,
    /// Columns of the table in table order, then names that only the entry lists.
    pub(super) columns: Vec<Slot<'c>>,
    /// By column: what decides at a glance that a cell needs no more than its form.
    pub(super) hot: Vec<CellLimits>,
    /// By column: the name as a JSON string, for a comparison without reading.
    pub(super) tokens: Vec<Token>,
    /// The first link column: where `refs` begin.
    pub(super) first_link: usize,
    by_name: HashMap<&'c str, usize>,
}

/// The few bits of a [`Slot`] that every cell is held against, close together in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellLimits {
    /// Forms of values that are surely storable.
    pub(super) plain: u16,
    /// Whether any rule but storability asks about cells of this column.
    pub(super) has_rules: bool,
}

/// A column as the entry has it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own, asked for every cell"
)]
#[derive(Debug)]
pub(super) struct Slot<'c> {
    /// Technical name.
    pub(super) name: &'c str,
    /// Whether `columns` lists it.
    pub(super) listed: bool,
    /// The table's column.
    pub(super) column: Option<&'c Column<'c>>,
    /// What its cells can be; `None` where the type is not known.
    pub(super) storable: Option<Storable<'c>>,
    /// Forms of values that are surely storable.
    pub(super) plain: u16,
    /// Decimal places kept, for a currency.
    pub(super) decimals: Option<u64>,
    /// Cells must be filled.
    pub(super) required: bool,
    /// A text in the form of a UUID is the id of a file.
    pub(super) file: bool,
    /// Values must differ.
    pub(super) unique: bool,
    /// It is the key, said to be unique, and fit to be one.
    pub(super) key: bool,
    /// It is the automatic identity.
    pub(super) automatic: bool,
    /// Other tables link by its values.
    pub(super) wanted: bool,
    /// Where it links to.
    pub(super) link: Option<Link<'c>>,
}

/// A key as it is written, compared a word first: most differ there.
#[derive(Debug)]
pub(super) struct Token {
    word: u64,
    mask: u64,
    text: String,
}

impl Token {
    fn new(name: &str) -> Token {
        let text = write_string(name);
        let mut head = [0; 8];
        let mut mask = [0; 8];
        for (at, byte) in text.bytes().take(8).enumerate() {
            (head[at], mask[at]) = (byte, 0xFF);
        }
        Token {
            word: u64::from_le_bytes(head),
            mask: u64::from_le_bytes(mask),
            text,
        }
    }

    /// Bytes, quotes included.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether text whose first eight bytes are `word` may begin with it.
    #[inline]
    pub(super) fn begins(&self, word: u64) -> bool {
        word & self.mask == self.word
    }

    /// Whether `rest`, of which the first eight bytes fit, begins with it.
    #[inline]
    pub(super) fn ends(&self, rest: &[u8]) -> bool {
        let bytes = self.text.as_bytes();
        bytes.len() <= 8 || rest.get(8..bytes.len()) == bytes.get(8..)
    }
}

/// The target of a link column.
#[derive(Debug)]
pub(super) struct Link<'c> {
    /// Ref of the linked table; `None` when the config does not say.
    pub(super) table: Option<&'c str>,
    /// Technical name of the column whose values cells hold, when it is known.
    pub(super) value: Option<&'c str>,
    /// Entries with rows of that table.
    pub(super) entries: Vec<usize>,
    /// The table travels without an entry, and nothing in `unresolved` says so: R026.
    pub(super) unreported: bool,
}

impl<'c> Layout<'c> {
    /// A list of rows that is checked as JSON only.
    pub(super) fn unbound(rows: Node<'c>) -> Layout<'c> {
        Layout {
            rows: Some(rows),
            pointer: rows.pointer(),
            entry: None,
            item: None,
            table: None,
            columns: Vec::new(),
            hot: Vec::new(),
            tokens: Vec::new(),
            first_link: 0,
            by_name: HashMap::default(),
        }
    }

    /// An entry with the table that its item, or else its own `featureRef`, names.
    pub(super) fn new(context: &RowsContext<'c>, entry: Node<'c>) -> Layout<'c> {
        let item = context.item_of(entry);
        let table = table_of(context, item, entry);
        let rows = entry
            .get("rows")
            .filter(|rows| matches!(rows.kind(), JsonKind::Rows));
        let mut layout = Layout {
            rows,
            entry: Some(entry),
            item,
            table,
            ..Layout::unbound(rows.unwrap_or(entry))
        };
        for column in table
            .into_iter()
            .flat_map(|table| &context.tables[table].columns)
        {
            // Of two columns with one name (S020) the first is the one that cells belong to.
            if !layout.by_name.contains_key(column.name) {
                layout.push(Slot::of_column(column));
            }
        }
        let listed = entry.get("columns").into_iter().flat_map(Node::elements);
        for name in listed.filter_map(Node::as_str) {
            let index = layout
                .by_name
                .get(name)
                .copied()
                .unwrap_or_else(|| layout.push(Slot::named(name)));
            layout.columns[index].listed = true;
        }
        let columns = entry.get("columns");
        if columns.is_some_and(|list| list.elements().any(|name| name.as_str().is_none())) {
            // J005: the column that was meant could be any.
            layout
                .columns
                .iter_mut()
                .for_each(|slot| slot.listed = true);
        }
        layout.mark_key(entry);
        layout
    }

    fn push(&mut self, slot: Slot<'c>) -> usize {
        let index = self.columns.len();
        self.by_name.entry(slot.name).or_insert(index);
        self.columns.push(slot);
        index
    }

    /// Uniqueness is asked only of a key that could be one: the others have findings already.
    fn mark_key(&mut self, entry: Node<'c>) {
        if entry.get("keyUnique").and_then(Node::as_bool) != Some(true) {
            return;
        }
        let index = entry
            .get_str("keyColumn")
            .and_then(|name| self.by_name.get(name));
        if let Some(slot) = index.map(|index| &mut self.columns[*index]) {
            slot.key = slot.can_be_key() == Some(true);
        }
    }

    /// The slot of a column.
    pub(super) fn slot(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Finds out where link columns lead, once all entries have a table.
    pub(super) fn connect(layouts: &mut [Layout<'c>], context: &RowsContext<'c>) {
        let mut entries: HashMap<&str, Vec<usize>> = HashMap::default();
        for (index, layout) in layouts.iter().enumerate() {
            if let Some(table) = layout.table {
                entries
                    .entry(context.tables[table].reference)
                    .or_default()
                    .push(index);
            } else if let Some(name) = layout.entry.and_then(|entry| entry.get_str("featureRef")) {
                entries.entry(undollared(name)).or_default().push(index);
            }
        }
        let mut wanted: Vec<(usize, &str)> = Vec::new();
        for layout in layouts.iter_mut() {
            let table = layout.table.map(|table| context.tables[table].reference);
            // What is reported about a table is reported under its rows item.
            let item = table
                .and_then(|table| context.item_of_table(table))
                .or(layout.item);
            for slot in &mut layout.columns {
                let Some(column) = slot.column.filter(|column| column.is_link()) else {
                    continue;
                };
                let link = Link::new(column, slot.name, item, context, &entries);
                let value = link.value;
                wanted.extend(
                    link.entries
                        .iter()
                        .filter_map(|entry| Some((*entry, value?))),
                );
                slot.link = Some(link);
            }
        }
        for (entry, name) in wanted {
            if let Some(index) = layouts[entry].slot(name) {
                let slot = &mut layouts[entry].columns[index];
                slot.wanted = !slot.automatic;
            }
        }
        for layout in layouts {
            layout.hot = layout.columns.iter().map(Slot::limits).collect();
            layout.tokens = layout
                .columns
                .iter()
                .map(|slot| Token::new(slot.name))
                .collect();
            let link = layout.columns.iter().position(|slot| slot.link.is_some());
            layout.first_link = link.unwrap_or_default();
        }
    }
}

/// The table whose rows an entry holds: that of its item, or the one it names itself. Where the
/// two disagree (R002), the one that has more of the listed columns was surely meant.
fn table_of(context: &RowsContext<'_>, item: Option<usize>, entry: Node<'_>) -> Option<usize> {
    let position = |reference: &str| context.table_index(reference);
    let by_item = item.and_then(|item| context.items[item].table.reference());
    let by_name = entry.get_str("featureRef").map(undollared);
    let named = by_name.and_then(position);
    let Some(own) = by_item else { return named };
    let own = position(own);
    let (Some(one), Some(other)) = (own, named) else {
        return own;
    };
    let listed = |table: usize| {
        let columns = entry.get("columns").into_iter().flat_map(Node::elements);
        let known = columns
            .filter_map(Node::as_str)
            .filter(|name| context.tables[table].column(name).is_some());
        known.count()
    };
    Some(if listed(other) > listed(one) {
        other
    } else {
        one
    })
}

impl<'c> Link<'c> {
    fn new(
        column: &Column<'c>,
        name: &str,
        item: Option<usize>,
        context: &RowsContext<'c>,
        entries: &HashMap<&str, Vec<usize>>,
    ) -> Link<'c> {
        let reference = column.linked_table();
        let table = reference.and_then(|reference| context.table(reference));
        let value = column
            .linked_value_column()
            .and_then(|value| context.column_name(value));
        let entries = reference
            .and_then(|reference| entries.get(reference))
            .cloned()
            .unwrap_or_default();
        let travels = table.is_some_and(|table| table.origin == Origin::Plan);
        let unreported = travels && entries.is_empty() && !context.is_reported(item, name);
        Link {
            table: reference,
            value,
            entries,
            unreported,
        }
    }
}

impl<'c> Slot<'c> {
    fn named(name: &'c str) -> Slot<'c> {
        Slot {
            name,
            listed: false,
            column: None,
            storable: None,
            plain: form::ALL,
            decimals: None,
            required: false,
            file: false,
            unique: false,
            key: false,
            automatic: false,
            wanted: false,
            link: None,
        }
    }

    fn of_column(column: &'c Column<'c>) -> Slot<'c> {
        let automatic = column.is_automatic_identity();
        let file = column.kind.is_some_and(|kind| kind.file);
        // The automatic identity must not be there at all: nothing else is said about its cells.
        let storable = column.kind.filter(|_| !automatic).map(|kind| Storable {
            storage: kind.storage,
            options: column.config.and_then(options),
            mask: column
                .config
                .and_then(|config| config.get_str("mask"))
                .and_then(Mask::parse),
        });
        Slot {
            column: Some(column),
            plain: storable.as_ref().map_or(form::ALL, |storable| {
                form::surely_storable(storable.storage)
            }),
            decimals: decimals(column),
            required: column.flag("required") && !column.is_identity() && !file,
            file,
            unique: !automatic && (column.flag("unique") || column.is_identity()),
            automatic,
            storable,
            ..Slot::named(column.name)
        }
    }

    fn limits(&self) -> CellLimits {
        let has_rules = self.automatic
            || !self.listed
            || self.required
            || self.file
            || self.decimals.is_some()
            || self.unique
            || self.key
            || self.wanted
            || self.link.is_some();
        CellLimits {
            plain: self.plain,
            has_rules,
        }
    }

    /// Whether its place among the table's columns is known: not when its step has no `order`.
    pub(super) fn is_placed(&self) -> bool {
        self.column.is_none_or(|column| column.order.is_some())
    }

    /// Whether rows could be matched by it; `None` when its type is not known.
    pub(super) fn can_be_key(&self) -> Option<bool> {
        if !self.listed || self.automatic {
            return Some(false);
        }
        match self.column {
            Some(column) => column.kind.map(|kind| kind.text_key && !kind.link),
            None => None,
        }
    }
}

fn options(config: Node<'_>) -> Option<Vec<Cow<'_, str>>> {
    let options = config.get("options").filter(|options| options.is_array())?;
    Some(
        options
            .elements()
            .filter_map(Node::as_str)
            .map(Cow::Borrowed)
            .collect(),
    )
}

/// Decimal places of a currency: what the definitions of its type call `decimals`.
fn decimals(column: &Column<'_>) -> Option<u64> {
    let field = column.kind?.config.get("decimals")?;
    let declared = column
        .config
        .and_then(|config| config.get("decimals"))
        .and_then(Node::as_i64);
    let default = field.default.as_ref().and_then(serde_json::Value::as_i64);
    u64::try_from(declared.or(default)?).ok()
}
