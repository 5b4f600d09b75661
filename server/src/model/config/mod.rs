//! Configs: normalized, validated against the definitions, with references looked up in the store.
//! The names of the fields in refusals are those of the body: `config.views[0]`,
//! `config[0].views[0]` in a list.

mod references;
mod validate;

use tplkit::definitions::{Definitions, Field};
use tplkit::json::{Doc, Value as Json};

use self::validate::ConfigValidator;
use super::column;
use super::kind::RecordKind;
use super::record::Record;
use crate::refusal::{Fault, Refusal};
use crate::store::Tx;

/// Puts a config into a record whose type is settled; without a new one the keys of the old one are checked anew, or
/// a record that is new gets the empty one. Gives the names of the columns that the config singles out.
///
/// # Errors
/// 422 with everything that is wrong.
pub(super) async fn put(
    tx: &mut Tx,
    record: &mut Record,
    given: Option<&Json>,
    new: bool,
) -> Result<Vec<String>, Refusal> {
    let what = record.kind.what;
    let mut listed = what.lists_config();
    if let Some(given) = given {
        listed &= matches!(given, Json::List(_));
        record.config = shaped(what, given)?;
    } else if new {
        // Nobody has sent the list.
        listed = false;
        record.config = shaped(what, &empty(what))?;
    }
    let text = record.config.clone();
    let doc = Doc::parse(&text).map_err(|_| Refusal::fault("config", "is not JSON"))?;
    let fields = declared(record);
    let mut validator = ConfigValidator::default();
    let root = doc.root();
    if root.is_array() {
        for element in root.elements() {
            let path = if listed {
                format!("config[{}]", element.index())
            } else {
                "config".to_owned()
            };
            validator.object(element, path, &fields);
        }
    } else {
        validator.object(root, "config".to_owned(), &fields);
    }
    let names = validator.own_columns();
    let mut faults = validator.faults;
    if what == RecordKind::Column {
        faults.extend(column::config_fault(record));
    }
    // Of a config that is not sent they were there when it was: what has gone since stands in the way of no other change.
    if given.is_some() {
        references::check(tx, record, &validator.references, &mut faults).await?;
    }
    if faults.is_empty() {
        Ok(names)
    } else {
        Err(Refusal::invalid(faults))
    }
}

/// The names of the columns that a config singles out, which was checked elsewhere.
///
/// # Errors
/// When it is not JSON.
pub(super) fn own_columns(record: &Record) -> Result<Vec<String>, Refusal> {
    let doc = Doc::parse(&record.config).map_err(|_| Refusal::fault("config", "is not JSON"))?;
    let fields = declared(record);
    let mut validator = ConfigValidator::default();
    let root = doc.root();
    for object in root.elements().chain((!root.is_array()).then_some(root)) {
        validator.object(object, String::new(), &fields);
    }
    Ok(validator.own_columns())
}

fn empty(what: RecordKind) -> Json {
    match what {
        RecordKind::Rail => Json::List(Vec::new()),
        _ => Json::Object(tplkit::json::Object::default()),
    }
}

/// The shape in which a config is kept.
fn shaped(what: RecordKind, given: &Json) -> Result<String, Refusal> {
    let fault = |why: &str| Err(Refusal::fault("config", why));
    match (what, given) {
        (RecordKind::Rail | RecordKind::View, Json::Object(_)) => {
            Ok(Json::List(vec![given.clone()]).write())
        }
        (RecordKind::View, Json::List(elements)) if elements.is_empty() => Ok("[{}]".to_owned()),
        (RecordKind::View, Json::List(elements)) if elements.len() > 1 => {
            fault("has more than one element")
        }
        (RecordKind::Rail | RecordKind::View, Json::List(elements)) => {
            let other = |element: &Json| element.as_object().is_none();
            let positions = elements.iter().enumerate();
            let faults: Vec<Fault> = positions
                .filter(|(_, element)| other(element))
                .map(|(index, _)| Fault::new(format!("config[{index}]"), "has to be an object"))
                .collect();
            if faults.is_empty() {
                Ok(given.write())
            } else {
                Err(Refusal::invalid(faults))
            }
        }
        (RecordKind::Rail | RecordKind::View, _) => {
            fault("has to be an object or a list of objects")
        }
        (_, Json::Object(_)) => Ok(given.write()),
        _ => fault("has to be an object"),
    }
}

/// The keys that the config of a record may have.
fn declared(record: &Record) -> Vec<(&'static str, &'static Field)> {
    let definitions = Definitions::embedded();
    let keys = &definitions.config_keys;
    let fields = match record.kind.what {
        RecordKind::Workspace => &keys.workspace,
        RecordKind::Module => &keys.module,
        RecordKind::Rail => &keys.rail,
        RecordKind::Feature => &keys.feature,
        RecordKind::View => match definitions.view_types.get(record.text("type")) {
            Some(known) => &known.config,
            None => return Vec::new(),
        },
        RecordKind::Column => {
            let (kind, component) = (record.text("type"), record.text("default_component"));
            return definitions
                .column_fields(kind, component)
                .unwrap_or_default();
        }
    };
    let fields = fields.iter();
    fields.map(|(name, field)| (name.as_str(), field)).collect()
}
