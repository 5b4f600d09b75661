//! The body of a record, of any kind.

use tplkit::json::Value as Json;
use tplkit::package::name;

use super::kind::{KindDescription, OwnFieldForm, RecordKind};
use super::record::Record;
use crate::json_body::Fields;
use crate::refusal::Refusal;
use crate::store::Value;

/// Never changed by anybody.
const FROZEN: [&str; 6] = [
    "id",
    "created_at",
    "updated_at",
    "created_by",
    "seats",
    "row_quota",
];

/// The fields that are in a body.
#[derive(Debug, Clone, Default)]
pub struct RecordInput {
    /// Technical name.
    pub(super) name: Option<String>,
    /// For people.
    pub(super) label: Option<String>,
    /// As it was sent.
    pub(super) config: Option<Json>,
    /// Own fields, by their column.
    own: Vec<(&'static str, Value)>,
}

impl RecordInput {
    /// Reads the body of a create; the id of the parent was taken from it.
    ///
    /// # Errors
    /// 422 with everything that is wrong.
    pub fn create(kind: &KindDescription, mut fields: Fields) -> Result<RecordInput, Refusal> {
        fields.required("label");
        let required = kind.own.iter().filter(|own| own.required);
        for key in required.filter_map(|own| own.key) {
            fields.required(key);
        }
        RecordInput::read(kind, fields)
    }

    /// Reads the body of a PATCH.
    ///
    /// # Errors
    /// 403 for what never changes, 422 with everything that is wrong.
    pub fn patch(kind: &KindDescription, fields: Fields) -> Result<RecordInput, Refusal> {
        fields.frozen(&FROZEN)?;
        fields.frozen(kind.within)?;
        if kind.what == RecordKind::Column {
            // It is the key in the data of every row.
            fields.frozen(&["name"])?;
        }
        RecordInput::read(kind, fields)
    }

    fn read(kind: &KindDescription, mut fields: Fields) -> Result<RecordInput, Refusal> {
        let name = fields.text("name");
        if let Some(why) = name.as_deref().and_then(name::fault) {
            fields.refuse("name", format!("is not a technical name: {why}"));
        }
        let mut written = RecordInput {
            name,
            label: fields.label("label"),
            config: fields.take("config"),
            own: Vec::new(),
        };
        for own in kind.own {
            let Some(key) = own.key else { continue };
            let value = match own.form {
                OwnFieldForm::Word(words) => fields.text(key).map(|word| {
                    let words = words();
                    if !words.contains(&word.as_str()) {
                        fields.refuse(key, format!("must be one of {}", words.join(", ")));
                    }
                    word.into()
                }),
                OwnFieldForm::Nullable => fields.nullable_text(key).map(Value::from),
                OwnFieldForm::Integer => fields.integer(key).map(Value::from),
                OwnFieldForm::Flag => fields.flag(key).map(Value::from),
                OwnFieldForm::Maybe => None,
            };
            written.own.extend(value.map(|value| (own.column, value)));
        }
        fields.finish()?;
        Ok(written)
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.name.is_none() && self.label.is_none() && self.config.is_none() && self.own.is_empty()
    }

    /// Whether it says something of an own field.
    pub(super) fn sets(&self, column: &str) -> bool {
        self.own.iter().any(|(known, _)| *known == column)
    }

    /// Puts what it says into a record, name and config aside.
    pub(super) fn fill(&self, record: &mut Record) {
        if let Some(label) = &self.label {
            record.label.clone_from(label);
        }
        for (column, value) in &self.own {
            record.set(column, value.clone());
        }
    }
}
