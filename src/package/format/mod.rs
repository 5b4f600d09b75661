//! The format as tables: which objects a package is made of, their fields, in canonical order.
//!
//! One source for the checks of types and unknown fields, for the key order of canonical
//! writing, and for the published JSON Schemas.

mod args;
mod manifest;
mod payload;

pub(crate) use args::*;
pub(crate) use manifest::*;
pub(crate) use payload::*;

use crate::definitions::ReferenceKind;

/// An object of the format.
#[derive(Debug)]
pub struct Shape {
    /// What people call it, with an article.
    pub name: &'static str,
    /// One sentence for editors.
    pub doc: &'static str,
    /// Its fields in canonical order.
    pub fields: &'static [Field],
}

/// A field of a [`Shape`].
#[derive(Debug)]
pub struct Field {
    /// The key.
    pub key: &'static str,
    /// What its value is.
    pub ty: Type,
    /// Whether it must be there.
    pub need: Presence,
    /// The rule that checks wrong values, when it is a more specific one than J005.
    pub rule: Option<&'static str>,
    /// One sentence for editors.
    pub doc: &'static str,
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Always; its absence is J006.
    Required,
    /// Never.
    Optional,
    /// Under conditions that a more specific rule checks.
    Ruled,
}

/// What a value is.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// Anything.
    Any,
    /// A string.
    Text,
    /// A string or null.
    TextOrNull,
    /// `true` or `false`.
    Flag,
    /// Always `true`.
    True,
    /// An integer.
    Integer,
    /// An integer from 0.
    Count,
    /// One of these integers.
    OneOfIntegers(&'static [i64]),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `u_` and a version 4 UUID.
    Uid,
    /// A ref, declared (without a dollar).
    Declaration,
    /// A ref of that kind, used (with a dollar), or `""` where `unresolved` says so.
    Use(ReferenceKind),
    /// The builtin `$workspace`.
    Workspace,
    /// An RFC 3339 instant.
    Instant,
    /// A technical name.
    Name,
    /// A list.
    List(&'static Type),
    /// An object of a shape.
    Object(&'static Shape),
    /// An object with free keys.
    Map,
    /// A map from column names to values of a shape.
    MapOf(&'static Shape),
    /// The args of a step, whose shape its tool decides.
    Args,
    /// A config that the definitions declare.
    Config(Configured),
    /// A list of exactly one config object.
    ListOfOneConfig(Configured),
    /// A list of config objects.
    ListOfConfigs(Configured),
    /// Row data: data, never looked into for refs.
    Data,
}

/// Whose config keys of the definitions apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Configured {
    /// A column's, by its type and component.
    Column,
    /// A view's, by its type.
    View,
    /// A module's.
    Module,
    /// A rail entry's.
    Rail,
    /// A table's.
    Feature,
    /// The workspace's.
    Workspace,
}

impl Shape {
    /// The field of that key.
    pub fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.key == key)
    }
}

const fn required(key: &'static str, ty: Type, doc: &'static str) -> Field {
    Field {
        key,
        ty,
        need: Presence::Required,
        rule: None,
        doc,
    }
}

const fn optional(key: &'static str, ty: Type, doc: &'static str) -> Field {
    Field {
        key,
        ty,
        need: Presence::Optional,
        rule: None,
        doc,
    }
}

const fn ruled(key: &'static str, ty: Type, doc: &'static str) -> Field {
    Field {
        key,
        ty,
        need: Presence::Ruled,
        rule: None,
        doc,
    }
}

impl Field {
    /// The same field, wrong values of which another rule checks.
    const fn checked_by(mut self, code: &'static str) -> Field {
        self.rule = Some(code);
        self
    }
}
