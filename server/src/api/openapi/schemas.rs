//! The schemas of bodies and responses, by the names in the table of operations.
//!
//! Nearly all are made from the types that are read and written ([`derived`](super::derived)), and from the tables
//! that serve in place of a type ([`model`](super::model)).

use serde_json::{Map, Value};
use tplkit::apply::Preview;
use tplkit::definitions::Definitions;
use tplkit::export::ExportRequest;
use tplkit::upgrade::{AppliedTemplate, Drift};

use super::derived::DerivedComponents;
use super::document::OpenApi;
use super::model;
use crate::automation::connections::ConnectionRecord;
use crate::automation::{
    IssueView, Notification, RunSummary, RunView, Validation, VersionView, channels::Channel,
};
use crate::definitions::DefinitionsDocument;
use crate::files::File;
use crate::health::Health;
use crate::http::problem::{ExecutorProblem, Problem};
use crate::identity::api_keys::ApiKey;
use crate::identity::members::Member;
use crate::identity::organizations::Organization;
use crate::jobs::JobView;
use crate::json_schemas::Name;
use crate::model::{document, schema};
use crate::paging::Page;
use crate::routes::api_keys::{ApiKeyCreate, ApiKeyCreated};
use crate::routes::auth::{Refresh, SignIn, TokenResponse};
use crate::routes::channels::{ChannelCreate, ChannelPatch};
use crate::routes::connections::{ConnectionCreate, ConnectionPatch};
use crate::routes::files::{FileUpload, Link, LinkCreate};
use crate::routes::me::{Me, PasswordChange};
use crate::routes::members::{MemberCreate, MemberPatch};
use crate::routes::organizations::OrganizationPatch;
use crate::routes::workflows::{
    RunCreate, WorkflowApply, WorkflowCreate, WorkflowValidate, WorkflowVersionCreate,
};
use crate::rows::document::{Row, RowBatch, RowBatchResult, RowCreate, RowPatch};
use crate::rows::query::AggregateView;
use crate::templates::apply::{Accepted, ApplyDocument, PlanDocument};
use crate::templates::document::{
    PackageDocument, PackageToCheck, PayloadEntry, TemplateCreate, TemplatePatch,
};
use crate::templates::{PackageVerdict, Payload, Record, Template};

/// All components.
pub(super) fn all(definitions: &Definitions) -> Map<String, Value> {
    let mut all = responses();
    for (name, schema) in bodies().into_iter().chain(model::bodies(definitions)) {
        all.insert(name, schema);
    }
    all
}

/// What is written.
pub(super) fn responses() -> Map<String, Value> {
    DerivedComponents::of_responses()
        .with::<OpenApi>()
        .with::<Problem<'_>>()
        .with::<ExecutorProblem<'_>>()
        .with::<Health>()
        .with::<TokenResponse<'_>>()
        .with::<Me<'_>>()
        .with::<Page<Organization>>()
        .with::<Page<Member>>()
        .with::<Page<ApiKey>>()
        .with::<ApiKeyCreated<'_>>()
        .with::<Page<Channel>>()
        .with::<Page<ConnectionRecord>>()
        .with::<Page<File>>()
        .with::<Link>()
        .with::<Page<document::Workspace>>()
        .with::<Page<document::Module>>()
        .with::<Page<document::Rail>>()
        .with::<Page<document::Feature>>()
        .with::<Page<document::View>>()
        .with::<document::ColumnList>()
        .with::<schema::Schema>()
        .with::<DefinitionsDocument<'_>>()
        .with::<Page<Row<'_>>>()
        .with::<RowBatchResult<'_>>()
        .with::<AggregateView<'_>>()
        .with::<Page<VersionView<'_>>>()
        .with::<Validation>()
        .with::<IssueView>()
        .with::<RunView>()
        .with::<Page<RunSummary>>()
        .with::<Page<Notification>>()
        .with::<Page<Record>>()
        .with::<Template>()
        .with::<Page<Payload>>()
        .with::<PackageDocument>()
        .with::<PackageVerdict>()
        .with::<Preview>()
        .with::<Accepted>()
        .with::<Page<JobView<'_>>>()
        .with::<Page<AppliedTemplate>>()
        .with::<Drift>()
        .finish()
}

/// What is read.
pub(super) fn bodies() -> Map<String, Value> {
    DerivedComponents::of_bodies()
        .with::<SignIn>()
        .with::<Refresh>()
        .with::<PasswordChange>()
        .with::<OrganizationPatch>()
        .with::<MemberCreate>()
        .with::<MemberPatch>()
        .with::<ApiKeyCreate>()
        .with::<ChannelCreate>()
        .with::<ChannelPatch>()
        .with::<ConnectionCreate>()
        .with::<ConnectionPatch>()
        .with::<FileUpload>()
        .with::<LinkCreate>()
        .with::<Name>()
        .with::<RowCreate>()
        .with::<RowPatch>()
        .with::<RowBatch>()
        .with::<WorkflowCreate>()
        .with::<WorkflowValidate>()
        .with::<WorkflowApply>()
        .with::<WorkflowVersionCreate>()
        .with::<RunCreate>()
        .with::<TemplateCreate>()
        .with::<TemplatePatch>()
        .with::<PackageDocument>()
        .with::<PackageToCheck>()
        .with::<PayloadEntry>()
        .with::<ExportRequest>()
        .with::<ApplyDocument>()
        .with::<PlanDocument>()
        .finish()
}
