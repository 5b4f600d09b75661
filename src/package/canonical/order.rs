//! The order of an object's members.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Value, View};
use crate::package::format::{Shape, Type, UNRESOLVED};

/// The `columns` of a payload entry, as ranks.
#[derive(Debug, Default)]
pub(crate) struct Columns<'c> {
    names: Vec<Cow<'c, str>>,
    ranks: HashMap<Cow<'c, str>, usize, foldhash::fast::FixedState>,
}

impl<'c> Columns<'c> {
    /// The columns that an entry lists; what is not a list of strings ranks nothing.
    pub(crate) fn of<V: Value<'c>>(list: V) -> Columns<'c> {
        let mut columns = Columns::default();
        if !matches!(list.view(), View::List) {
            return columns;
        }
        for name in list.elements().filter_map(|element| element.view().text()) {
            let rank = columns.names.len();
            if !columns.ranks.contains_key(&name) {
                columns.ranks.insert(name.clone(), rank);
                columns.names.push(name);
            }
        }
        columns
    }

    /// The rank of `key`, tried first at `hint`: rows mostly hold their cells in order.
    fn rank(&self, key: &str, hint: usize) -> usize {
        if self.names.get(hint).is_some_and(|name| name == key) {
            return hint;
        }
        self.ranks.get(key).copied().unwrap_or(self.names.len())
    }
}

/// What decides the order of an object's members, and what they are. Ties (unknown keys) go by
/// code point.
#[derive(Clone, Copy)]
pub(crate) enum Order<'o> {
    /// The fields of a shape.
    Shape(&'static Shape),
    /// The columns of an entry; values are of that type.
    Columns(&'o Columns<'o>, Type),
    /// Code point alone.
    CodePoint,
}

impl<'o> Order<'o> {
    /// The order of an object that stands where the format expects `ty`.
    pub(crate) fn of(ty: Type, columns: &'o Columns<'o>) -> Order<'o> {
        match ty {
            Type::Object(shape) => Order::Shape(shape),
            Type::Data => Order::Columns(columns, Type::Any),
            Type::MapOf(shape) => Order::Columns(columns, Type::Object(shape)),
            _ => Order::CodePoint,
        }
    }

    /// The rank of `key`; `hint` is where a member in order would stand.
    pub(crate) fn rank(self, key: &str, hint: usize) -> usize {
        match self {
            Order::Shape(shape) => {
                let fields = shape.fields;
                if fields.get(hint).is_some_and(|field| field.key == key) {
                    return hint;
                }
                let found = fields.iter().position(|field| field.key == key);
                found.unwrap_or(fields.len())
            }
            Order::Columns(columns, _) => columns.rank(key, hint),
            Order::CodePoint => 0,
        }
    }

    /// What the member of that rank is.
    pub(crate) fn inside(self, rank: usize) -> Type {
        match self {
            Order::Shape(shape) => match shape.fields.get(rank) {
                // No package needs this one, but where it is it is a declaration.
                Some(field) if field.key == "ref" && std::ptr::eq(shape, &raw const UNRESOLVED) => {
                    Type::Declaration
                }
                Some(field) => field.ty,
                None => Type::Any,
            },
            Order::Columns(_, ty) => ty,
            Order::CodePoint => Type::Any,
        }
    }
}
