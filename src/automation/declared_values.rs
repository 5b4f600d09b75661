//! Gathers what the definitions declare about one config, in a single walk.

use crate::definitions::{ConfigFault, DeclaredValue, Field, FieldType, Fields, Visitor, walk};
use crate::json::Node;

/// The parts of a config that the validator cares about, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct ConfigReading<'d, 'f> {
    /// Values in which tokens are resolved.
    pub(super) expressions: Vec<DeclaredValue<'d, 'f>>,
    /// Values that name something.
    pub(super) references: Vec<DeclaredValue<'d, 'f>>,
    /// Lists of steps.
    pub(super) branches: Vec<DeclaredValue<'d, 'f>>,
    /// Structural mistakes.
    pub(super) faults: Vec<ConfigFault<'d, 'f>>,
}

impl<'d, 'f> ConfigReading<'d, 'f> {
    /// Walks a config object.
    pub(super) fn of(config: Node<'d>, fields: &'f Fields) -> ConfigReading<'d, 'f> {
        let mut reading = ConfigReading::default();
        walk(config, fields, &mut reading);
        reading
    }
}

impl<'d, 'f> Visitor<'d, 'f> for ConfigReading<'d, 'f> {
    fn field(&mut self, spot: DeclaredValue<'d, 'f>) {
        if spot.field.expression {
            self.expressions.push(spot);
        }
        if spot.field.is_reference() {
            self.references.push(spot);
        }
    }

    fn fault(&mut self, fault: ConfigFault<'d, 'f>) {
        self.faults.push(fault);
    }

    fn steps(&mut self, spot: DeclaredValue<'d, 'f>) {
        self.branches.push(spot);
    }
}

/// Whether lists of steps can be in the field, at whatever depth.
pub(super) fn holds_steps(field: &Field) -> bool {
    field.kind == FieldType::Steps
        || field.items.as_deref().is_some_and(holds_steps)
        || field
            .fields
            .as_ref()
            .is_some_and(|fields| fields.values().any(holds_steps))
}
