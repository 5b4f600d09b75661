//! What link cells of a payload point at, read from the text of a row's `refs`.

use crate::package::reference::undollared;
use crate::rows::{Cell, Text, elements, members};

/// One target of a link cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Triple<'t> {
    /// uid of the row.
    pub(super) row_uid: Text<'t>,
    /// The table, perhaps with a dollar.
    feature: Text<'t>,
    /// The column whose value the cell holds; the row id in older packages.
    pub(super) value_column: Option<Text<'t>>,
}

/// What one cell points at.
#[derive(Debug, Clone)]
pub(super) enum CellRefs<'t> {
    /// One row.
    One(Triple<'t>),
    /// Several, in the order of the cell.
    Many(Vec<Triple<'t>>),
}

impl<'t> Triple<'t> {
    /// The ref of the table, without the dollar.
    pub(super) fn feature_ref(&self) -> std::borrow::Cow<'t, str> {
        match self.feature.decoded() {
            std::borrow::Cow::Borrowed(text) => undollared(text).into(),
            std::borrow::Cow::Owned(text) => undollared(&text).to_owned().into(),
        }
    }

    fn read(object: &'t str) -> Triple<'t> {
        let mut triple = Triple {
            row_uid: EMPTY,
            feature: EMPTY,
            value_column: None,
        };
        for (key, value) in members(object) {
            let Cell::String(text) = Cell::new(value) else {
                continue;
            };
            if key.is("rowUid") {
                triple.row_uid = text;
            } else if key.is("featureRef") {
                triple.feature = text;
            } else if key.is("valueColumn") {
                triple.value_column = Some(text);
            }
        }
        triple
    }
}

const EMPTY: Text<'static> = Text {
    inner: "",
    escaped: false,
};

/// The cells of a row that point at rows, by column.
pub(super) fn cells(refs: &str) -> impl Iterator<Item = (Text<'_>, CellRefs<'_>)> {
    members(refs).map(|(column, cell)| {
        let list = members(cell).find(|(key, _)| key.is("rows"));
        let refs = match list {
            Some((_, rows)) => CellRefs::Many(elements(rows).map(Triple::read).collect()),
            None => CellRefs::One(Triple::read(cell)),
        };
        (column, refs)
    })
}

/// All targets that a row names.
pub(super) fn triples(refs: &str) -> impl Iterator<Item = Triple<'_>> {
    cells(refs).flat_map(|(_, refs)| match refs {
        CellRefs::One(triple) => vec![triple],
        CellRefs::Many(triples) => triples,
    })
}
