//! Each body is read as its schema says: its `read` knows what the schema has, and refuses every other name.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tplkit::definitions::Definitions;
use uuid::Uuid;

use super::super::texts::EXAMPLES;
use crate::api::document;
use crate::api::operations::OPERATIONS;
use crate::json_body::{self, Fields};
use crate::model::RecordInput;
use crate::model::kind::{COLUMN, FEATURE, KindDescription, MODULE, RAIL, VIEW, WORKSPACE};
use crate::refusal::{Code, Refusal};
use crate::routes::api_keys::ApiKeyCreate;
use crate::routes::auth::{Refresh, SignIn};
use crate::routes::channels::{ChannelCreate, ChannelPatch};
use crate::routes::connections::{ConnectionCreate, ConnectionPatch};
use crate::routes::files::LinkCreate;
use crate::routes::me::PasswordChange;
use crate::routes::members::{MemberCreate, MemberPatch};
use crate::routes::organizations::OrganizationPatch;
use crate::routes::templates::manifest;
use crate::routes::workflows::{
    RunCreate, WorkflowApply, WorkflowCreate, WorkflowValidate, WorkflowVersionCreate,
};
use crate::rows::Submission;
use crate::templates::apply::{BodyParts, Places};
use crate::templates::{Change, Export};

/// Reads the text of a body as a request does.
type ReadBody = fn(&str) -> Result<(), Refusal>;

/// The bodies with named members, by the names of their schemas.
const READERS: &[(&str, ReadBody)] = &[
    ("SignIn", |text| SignIn::read(fields(text)?).map(drop)),
    ("Refresh", |text| Refresh::read(fields(text)?).map(drop)),
    ("PasswordChange", |text| {
        PasswordChange::read(fields(text)?).map(drop)
    }),
    ("OrganizationPatch", |text| {
        OrganizationPatch::read(fields(text)?).map(drop)
    }),
    ("MemberCreate", |text| {
        MemberCreate::read(fields(text)?).map(drop)
    }),
    ("MemberPatch", |text| {
        MemberPatch::read(fields(text)?).map(drop)
    }),
    ("ApiKeyCreate", |text| {
        let (organization, fields) = fields_below(text, "organization_id")?;
        ApiKeyCreate::read(organization, fields, 0).map(drop)
    }),
    ("ChannelCreate", |text| {
        let (organization, fields) = fields_below(text, "organization_id")?;
        ChannelCreate::read(organization, fields).map(drop)
    }),
    ("ChannelPatch", |text| {
        ChannelPatch::read(fields(text)?).map(drop)
    }),
    ("ConnectionCreate", |text| {
        let (organization, fields) = fields_below(text, "organization_id")?;
        ConnectionCreate::read(organization, fields).map(drop)
    }),
    ("ConnectionPatch", |text| {
        ConnectionPatch::read(fields(text)?).map(drop)
    }),
    ("FileLinkCreate", |text| {
        LinkCreate::read(fields(text)?).map(drop)
    }),
    ("WorkspaceCreate", |text| create(&WORKSPACE, text)),
    ("WorkspacePatch", |text| patch(&WORKSPACE, text)),
    ("ModuleCreate", |text| create(&MODULE, text)),
    ("ModulePatch", |text| patch(&MODULE, text)),
    ("RailCreate", |text| create(&RAIL, text)),
    ("RailPatch", |text| patch(&RAIL, text)),
    ("FeatureCreate", |text| create(&FEATURE, text)),
    ("FeaturePatch", |text| patch(&FEATURE, text)),
    ("ViewCreate", |text| create(&VIEW, text)),
    ("ViewPatch", |text| patch(&VIEW, text)),
    // The path names its table.
    ("ColumnCreate", |text| {
        RecordInput::create(&COLUMN, fields(text)?).map(drop)
    }),
    ("ColumnPatch", |text| patch(&COLUMN, text)),
    ("RowCreate", |text| {
        Submission::one(text.into())?.faults().finish()
    }),
    ("RowPatch", |text| match Submission::change(text.into())? {
        Some(change) => change.faults().finish(),
        None => Ok(()),
    }),
    ("RowBatch", |text| {
        Submission::batch(text.into())?.faults().finish()
    }),
    ("WorkflowCreate", |text| {
        let (workspace, fields) = fields_below(text, "workspace_id")?;
        WorkflowCreate::read(workspace, fields).map(drop)
    }),
    ("WorkflowValidate", |text| {
        let (workspace, fields) = fields_below(text, "workspace_id")?;
        WorkflowValidate::read(workspace, fields).map(drop)
    }),
    ("WorkflowApply", |text| {
        WorkflowApply::read(fields(text)?).map(drop)
    }),
    ("WorkflowVersionCreate", |text| {
        WorkflowVersionCreate::read(fields(text)?).map(drop)
    }),
    ("RunCreate", |text| RunCreate::read(fields(text)?).map(drop)),
    ("TemplateCreate", |text| {
        let doc = json_body::read(text)?;
        manifest(doc.root()).map(drop)
    }),
    ("TemplatePatch", |text| {
        Change::read(Uuid::nil(), fields(text)).body()
    }),
    ("Export", |text| Export::read(Uuid::nil(), text).map(drop)),
    ("Apply", |text| {
        Places::read(text)?;
        BodyParts::of_apply(text.to_owned())?.request().map(drop)
    }),
    ("PlanRequest", |text| {
        Places::read(text)?;
        BodyParts::of_plan(text.to_owned())?.request().map(drop)
    }),
];

/// The bodies without a closed list of members: the parts of a form, and packages, of which unknown members are a
/// finding.
const OPEN: [&str; 4] = ["FileUpload", "Package", "PackageToCheck", "PayloadEntry"];

fn fields(text: &str) -> Result<Fields, Refusal> {
    Fields::of(json_body::parse(text.as_bytes())?)
}

/// The fields of a body, without the id that is read before all others.
fn fields_below(text: &str, parent: &str) -> Result<(Uuid, Fields), Refusal> {
    let mut fields = fields(text)?;
    let id = fields.required_id(parent);
    Ok((id, fields))
}

fn create(kind: &KindDescription, text: &str) -> Result<(), Refusal> {
    let (_, fields) = fields_below(text, kind.parent_column())?;
    RecordInput::create(kind, fields).map(drop)
}

fn patch(kind: &KindDescription, text: &str) -> Result<(), Refusal> {
    RecordInput::patch(kind, fields(text)?).map(drop)
}

/// The members that a schema names, in any of its variants.
fn members(schema: &Value, root: &Value) -> BTreeSet<String> {
    if let Some(Value::String(to)) = schema.get("$ref") {
        let to = root.pointer(to.trim_start_matches('#'));
        return members(to.expect("a component"), root);
    }
    let own = schema.get("properties").and_then(Value::as_object);
    let own = own.into_iter().flatten().map(|(name, _)| name.clone());
    let variants = ["oneOf", "allOf"].into_iter().flat_map(|key| {
        let variants = schema.get(key).and_then(Value::as_array);
        variants.into_iter().flatten()
    });
    own.chain(variants.flat_map(|variant| members(variant, root)))
        .collect()
}

/// Whether the name of a member is refused, and not its value.
fn refuses_name(refusal: &Refusal) -> bool {
    let words = [
        "is not a field of this body",
        "is nothing that a request has",
        "is nothing that a selection has",
    ];
    let mut faults = refusal.errors().iter();
    // Members that never change are forbidden.
    refusal.code == Code::Forbidden
        || faults.any(|fault| words.iter().any(|words| fault.message.contains(words)))
}

/// Reads an export whose identity has one member.
fn export_of(name: &str, value: &Value) -> Result<(), Refusal> {
    let body = json!({"identity": {name: value}});
    Export::read(Uuid::nil(), &body.to_string()).map(drop)
}

#[test]
fn an_identity_is_read_as_its_schema_says() {
    let document = document(Definitions::embedded());
    let identity = &document["components"]["schemas"]["Export"]["properties"]["identity"];
    assert_eq!(identity["additionalProperties"], false, "{identity}");
    let properties = identity["properties"].as_object().expect("members");
    for name in properties.keys() {
        // Null is no value of any of them.
        let refusal = export_of(name, &Value::Null).expect_err(name);
        assert!(!refuses_name(&refusal), "{name}: {}", refusal.detail());
    }
    let refusal = export_of("zz", &Value::Null).expect_err("no member");
    assert!(refuses_name(&refusal));
    for name in ["label", "description"] {
        let most = properties[name]["maxLength"].as_u64().expect("a bound");
        let most = usize::try_from(most).expect("a length");
        export_of(name, &"x".repeat(most).into()).expect("fits");
        export_of(name, &"x".repeat(most + 1).into()).expect_err("does not fit");
    }
}

#[test]
fn an_order_is_read_as_its_schema_says() {
    let document = document(Definitions::embedded());
    for (body, read) in READERS {
        let order = &document["components"]["schemas"][*body]["properties"]["order"];
        if order.is_null() {
            continue;
        }
        let mut text = EXAMPLES[*body].clone();
        for (bound, beyond) in [("minimum", -1), ("maximum", 1)] {
            let bound = order[bound].as_i64().expect("a bound");
            text["order"] = bound.into();
            read(&text.to_string()).expect(body);
            text["order"] = (bound + beyond).into();
            read(&text.to_string()).expect_err(body);
        }
    }
}

#[test]
fn every_body_is_here() {
    let requests: BTreeSet<&str> = OPERATIONS
        .iter()
        .filter_map(|operation| operation.about.request)
        .collect();
    let read = READERS.iter().map(|(name, _)| *name);
    let read: BTreeSet<&str> = read.chain(OPEN).collect();
    assert_eq!(requests, read);
}

/// Each body is tried with every name that any schema of the document has.
#[test]
fn a_body_is_read_as_its_schema_says() {
    let document = document(Definitions::embedded());
    let schemas = document["components"]["schemas"].as_object();
    let schemas = schemas.expect("schemas");
    let names: BTreeSet<String> = schemas
        .values()
        .flat_map(|schema| members(schema, &document))
        .collect();
    assert!(names.len() > 100, "{names:?}");
    for (body, read) in READERS {
        let own = members(&schemas[*body], &document);
        let example = &EXAMPLES[*body];
        if let Err(refusal) = read(&example.to_string()) {
            panic!("the example of {body}: {}", refusal.detail());
        }
        for name in &names {
            let mut text = example.clone();
            if text.get(name).is_none() {
                text[name.as_str()] = Value::Null;
            }
            let refused = read(&text.to_string()).is_err_and(|refusal| refuses_name(&refusal));
            assert_eq!(refused, !own.contains(name), "{body}.{name}");
        }
    }
}
