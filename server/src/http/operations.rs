//! The table of operations: every route with its conditions.
//!
//! Routing, authorization and limits read it; an operation outside it cannot be reached.

use std::borrow::Cow;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::LazyLock;

use axum::response::Response;
use percent_encoding::percent_decode;

use super::call::Call;
use crate::auth::{KeyScope, Role};
use crate::refusal::Refusal;
use crate::routes::{
    api_keys, auth, channels, columns, connections, documentation, features, health, me, members,
    modules, notifications, organizations, rails, rows, schema, template_jobs, templates, views,
    workflows, workspace_members, workspaces,
};

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody, without a credential.
    Public,
    /// Users, and keys with these scopes.
    Scopes(&'static [KeyScope]),
    /// Users only.
    Users,
}

/// How often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// As often as they like.
    None,
    /// The configured rate.
    Usual,
    /// Ten times a minute, for each client and each address.
    SignIn,
}

/// The description of an operation.
#[derive(Debug)]
pub struct About {
    /// One line.
    pub summary: &'static str,
    /// Names of the query parameters.
    pub query: &'static [&'static str],
    /// The schema of the body.
    pub request: Option<&'static str>,
    /// The schema of the response.
    pub response: Option<&'static str>,
}

type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response, Refusal>> + Send>>;

/// One operation.
pub struct Operation {
    /// `GET`, `POST`, …
    pub method: &'static str,
    /// Segments in braces are parameters.
    pub path: &'static str,
    /// Who may ask.
    pub access: Access,
    /// The least role in the organization concerned.
    pub role: Role,
    /// How often.
    pub limit: Limit,
    /// The statuses that it answers with, beyond those of every operation of its access.
    pub statuses: &'static [u16],
    /// For the OpenAPI document.
    pub about: About,
    handler: fn(Call) -> ResponseFuture,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl Operation {
    /// Answers a call.
    pub fn call(&self, call: Call) -> ResponseFuture {
        (self.handler)(call)
    }

    /// Whether a body may come with it.
    pub fn has_body(&self) -> bool {
        matches!(self.method, "POST" | "PUT" | "PATCH")
    }

    /// Whether its bodies are packages or parts of packages, which may be much larger than others.
    pub fn takes_package(&self) -> bool {
        matches!(
            self.about.request,
            Some("TemplateCreate" | "Package" | "PayloadEntry" | "PlanRequest")
        )
    }

    /// Whether a body has to come with it. Memberships of workspaces are a pair of ids in the path, and
    /// what is published or run need not be said more closely.
    pub fn takes_body(&self) -> bool {
        let all_optional = ["WorkflowApply", "RunCreate"];
        matches!(self.method, "POST" | "PATCH")
            && !self
                .about
                .request
                .is_some_and(|name| all_optional.contains(&name))
    }

    /// All statuses that it answers with, ascending.
    pub fn all_statuses(&self) -> Vec<u16> {
        let mut all = self.statuses.to_vec();
        if self.access != Access::Public {
            // 413 also without a body: of a head that is too large.
            all.extend([401, 403, 413, 429, 503]);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether it may be sent again under an `Idempotency-Key`. What answers with a secret is not
    /// kept anywhere.
    pub fn repeatable(&self) -> bool {
        self.method == "POST"
            && self.access != Access::Public
            && !self.path.starts_with("/v1/api-keys")
    }

    /// Whether it only says something: a POST that needs no right but that to read. Sent again it says so
    /// again, so its answers are kept under no key.
    pub fn changes_nothing(&self) -> bool {
        self.access == READ
    }

    /// Whether its body holds a password, of which nothing may be kept that could be guessed at.
    pub fn takes_secret(&self) -> bool {
        self.about.request == Some("PasswordChange")
    }

    /// Whether the caller may be taken from memory and be checked along with the first statement. Its
    /// handler decides nothing by the caller outside [`Call::read`] and [`Call::write`].
    pub fn is_hot(&self) -> bool {
        self.path.starts_with("/v1/features/{feature_id}/rows")
    }

    /// The names of the path's parameters, in order.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        let segments = self.path.split('/');
        segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// Where a request leads.
#[derive(Debug)]
pub enum RouteMatch {
    /// To an operation, with the parameters of its path.
    Operation(&'static Operation, Vec<String>),
    /// To a path that has other methods.
    OtherMethods(String),
    /// Nowhere.
    Nothing,
}

/// The operations by how many segments their paths have, and by the second one, which is a word wherever
/// there is one.
static ROUTES: LazyLock<HashMap<(usize, &'static str), Vec<Route>>> = LazyLock::new(|| {
    let mut routes: HashMap<_, Vec<Route>> = HashMap::new();
    for operation in &OPERATIONS {
        let segments: Vec<&str> = operation.path.split('/').skip(1).collect();
        let word = segments.get(1).copied().unwrap_or_default();
        let parameters = operation.parameters().count();
        let alike = routes.entry((segments.len(), word)).or_default();
        alike.push(Route {
            operation,
            segments,
            parameters,
        });
    }
    routes
});

struct Route {
    operation: &'static Operation,
    segments: Vec<&'static str>,
    parameters: usize,
}

impl Route {
    /// Whether a path of as many decoded segments is one of this operation.
    fn matches(&self, path: &[Cow<'_, str>]) -> bool {
        let mut pairs = self.segments.iter().zip(path);
        pairs.all(|(own, given)| {
            if own.starts_with('{') {
                !given.is_empty()
            } else {
                own == given
            }
        })
    }

    fn parameters(&self, path: &[Cow<'_, str>]) -> Vec<String> {
        let pairs = self.segments.iter().zip(path);
        let parameters = pairs.filter(|(own, _)| own.starts_with('{'));
        parameters.map(|(_, given)| given.to_string()).collect()
    }
}

/// Finds the operation of a method and a path. Segments are decoded before they are compared, so
/// that `rows%3Abatch` is `rows:batch`; an encoded slash separates nothing.
pub fn find(method: &str, path: &str) -> RouteMatch {
    // A HEAD is answered like a GET; the body is dropped on its way out.
    let method = if method == "HEAD" { "GET" } else { method };
    let segments = path.split('/').skip(1);
    let segments = segments.map(|segment| percent_decode(segment.as_bytes()).decode_utf8());
    let Ok(segments) = segments.collect::<Result<Vec<Cow<'_, str>>, _>>() else {
        return RouteMatch::Nothing;
    };
    let word = segments.get(1).map_or("", |word| word);
    let alike = ROUTES.get(&(segments.len(), word));
    let routes = alike.map_or(&[][..], Vec::as_slice);
    let matching = || routes.iter().filter(|route| route.matches(&segments));
    // A word that is a path of its own is no id in another one.
    let Some(least) = matching().map(|route| route.parameters).min() else {
        return RouteMatch::Nothing;
    };
    let found = || matching().filter(|route| route.parameters == least);
    if let Some(route) = found().find(|route| route.operation.method == method) {
        return RouteMatch::Operation(route.operation, route.parameters(&segments));
    }
    let mut methods: Vec<&str> = found().map(|route| route.operation.method).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.sort_unstable();
    RouteMatch::OtherMethods(methods.join(", "))
}

/// A line: method, path, who may ask, least role, limit, statuses, handler; what it does, its query
/// parameters, the schema of its body, the schema of its response.
macro_rules! operations {
    ($($method:ident $path:literal $access:expr, $role:ident, $limit:ident, [$($status:literal),*]
        => $handler:path, $summary:literal [$($query:ident)*] $(($request:ident))? $(-> $response:ident)?;)+) => {
        [$(Operation {
            method: stringify!($method),
            path: $path,
            access: $access,
            role: Role::$role,
            limit: Limit::$limit,
            statuses: &[$($status),*],
            about: About {
                summary: $summary,
                query: operations!(@words $($query)*),
                request: operations!(@schema $($request)?),
                response: operations!(@schema $($response)?),
            },
            handler: |call| Box::pin($handler(call)),
        }),+]
    };
    (@words $($word:ident)*) => { &[$(stringify!($word)),*] };
    (@schema) => { None };
    (@schema $name:ident) => { Some(stringify!($name)) };
}

use Access::{Public, Users};
const READ: Access = Access::Scopes(&[KeyScope::Read]);
const WRITE: Access = Access::Scopes(&[KeyScope::Write]);
const STRUCTURE: Access = Access::Scopes(&[KeyScope::Write, KeyScope::Structure]);

/// All operations.
pub static OPERATIONS: [Operation; 98] = operations! {
    GET "/" Public, Viewer, Usual, [307, 422, 429] => documentation::root, "Leads to the documentation" [];
    GET "/v1/health" Public, Viewer, None, [200, 422] => health::health, "Says that the process runs" [] -> Health;
    GET "/v1/ready" Public, Viewer, None, [200, 422, 503] => health::ready, "Says that the store answers" [] -> Health;
    GET "/v1/openapi.json" Public, Viewer, Usual, [200, 422, 429] => documentation::openapi, "This document" [] -> OpenApi;
    GET "/docs" Public, Viewer, Usual, [200, 422, 429] => documentation::page, "This document as a page" [];
    POST "/v1/auth/token" Public, Viewer, SignIn, [200, 401, 413, 415, 422, 429, 503] => auth::token, "Signs in" [] (SignIn) -> Tokens;
    POST "/v1/auth/refresh" Public, Viewer, Usual, [200, 401, 413, 415, 422, 429, 503] => auth::refresh, "Exchanges a refresh token for a new pair" [] (Refresh) -> Tokens;
    POST "/v1/auth/logout" Public, Viewer, Usual, [204, 413, 415, 422, 429, 503] => auth::logout, "Ends a session" [] (Refresh);
    GET "/v1/me" READ, Viewer, Usual, [200, 422] => me::get, "Tells who is asking" [] -> Me;
    POST "/v1/me/password" Users, Viewer, Usual, [204, 409, 413, 415, 422] => me::password, "Changes the caller's password and ends their other sessions" [] (PasswordChange);
    GET "/v1/organizations" READ, Viewer, Usual, [200, 422] => organizations::list, "Lists the caller's organizations" [cursor limit] -> OrganizationPage;
    GET "/v1/organizations/{organization_id}" READ, Viewer, Usual, [200, 404, 422] => organizations::get, "Reads an organization" [] -> Organization;
    PATCH "/v1/organizations/{organization_id}" WRITE, Admin, Usual, [200, 404, 413, 415, 422] => organizations::patch, "Changes label or config" [] (OrganizationPatch) -> Organization;
    GET "/v1/organizations/{organization_id}/members" Users, Viewer, Usual, [200, 404, 422] => members::list, "Lists members" [cursor limit] -> MemberPage;
    POST "/v1/organizations/{organization_id}/members" Users, Admin, Usual, [201, 404, 409, 413, 415, 422] => members::create, "Adds a member" [] (MemberCreate) -> Member;
    PATCH "/v1/organizations/{organization_id}/members/{user_id}" Users, Admin, Usual, [200, 404, 409, 413, 415, 422] => members::patch, "Changes a member's role" [] (MemberPatch) -> Member;
    DELETE "/v1/organizations/{organization_id}/members/{user_id}" Users, Admin, Usual, [204, 404, 409, 422] => members::delete, "Removes a member" [];
    POST "/v1/features/{feature_id}/rows" WRITE, Editor, Usual, [201, 404, 409, 413, 415, 422] => rows::create, "Creates a row" [validate] (RowCreate) -> Row;
    POST "/v1/features/{feature_id}/rows:batch" WRITE, Editor, Usual, [201, 404, 409, 413, 415, 422] => rows::batch, "Creates up to 500 rows, or none" [validate] (RowBatch) -> RowBatchResult;
    GET "/v1/features/{feature_id}/rows" READ, Viewer, Usual, [200, 404, 422] => rows::list, "Lists rows" [cursor limit filter match sort fields] -> RowPage;
    GET "/v1/features/{feature_id}/rows:aggregate" READ, Viewer, Usual, [200, 404, 422] => rows::aggregate, "Counts rows, or works out the sum or average of a column" [op column filter match] -> Aggregate;
    GET "/v1/features/{feature_id}/rows/{row_id}" READ, Viewer, Usual, [200, 404, 422] => rows::get, "Reads a row" [] -> Row;
    PATCH "/v1/features/{feature_id}/rows/{row_id}" WRITE, Editor, Usual, [200, 404, 409, 413, 415, 422] => rows::patch, "Replaces a row's data, or merges into it" [validate merge] (RowPatch) -> Row;
    DELETE "/v1/features/{feature_id}/rows/{row_id}" WRITE, Editor, Usual, [204, 404, 422] => rows::delete, "Removes a row" [];
    POST "/v1/api-keys" Users, Admin, Usual, [201, 404, 413, 415, 422] => api_keys::create, "Creates an API key" [] (ApiKeyCreate) -> ApiKeyCreated;
    GET "/v1/api-keys" Users, Admin, Usual, [200, 404, 422] => api_keys::list, "Lists an organization's API keys" [organization_id cursor limit] -> ApiKeyPage;
    DELETE "/v1/api-keys/{api_key_id}" Users, Admin, Usual, [204, 404, 422] => api_keys::delete, "Revokes an API key" [];
    GET "/v1/channels" READ, Viewer, Usual, [200, 404, 422] => channels::list, "Lists an organization's channels" [organization_id cursor limit] -> ChannelPage;
    POST "/v1/channels" STRUCTURE, Admin, Usual, [201, 404, 409, 413, 415, 422] => channels::create, "Creates a channel" [organization_id] (ChannelCreate) -> Channel;
    PATCH "/v1/channels/{channel_id}" STRUCTURE, Admin, Usual, [200, 404, 413, 415, 422] => channels::patch, "Renames a channel" [] (ChannelPatch) -> Channel;
    DELETE "/v1/channels/{channel_id}" STRUCTURE, Admin, Usual, [204, 404, 422] => channels::delete, "Removes a channel, whatever uses it" [];
    GET "/v1/connections" READ, Viewer, Usual, [200, 404, 422] => connections::list, "Lists an organization's connections" [organization_id kind cursor limit] -> ConnectionPage;
    POST "/v1/connections" STRUCTURE, Admin, Usual, [201, 404, 409, 413, 415, 422] => connections::create, "Creates a connection" [organization_id] (ConnectionCreate) -> Connection;
    PATCH "/v1/connections/{connection_id}" STRUCTURE, Admin, Usual, [200, 404, 409, 413, 415, 422] => connections::patch, "Changes name, address or secret of a connection" [] (ConnectionPatch) -> Connection;
    DELETE "/v1/connections/{connection_id}" STRUCTURE, Admin, Usual, [204, 404, 422] => connections::delete, "Removes a connection, whatever uses it" [];
    GET "/v1/workspaces" READ, Viewer, Usual, [200, 422] => workspaces::list, "Lists visible workspaces" [cursor limit] -> WorkspacePage;
    POST "/v1/workspaces" STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => workspaces::create, "Creates a workspace" [] (WorkspaceCreate) -> Workspace;
    GET "/v1/workspaces/{workspace_id}" READ, Viewer, Usual, [200, 404, 422] => workspaces::get, "Reads a workspace" [] -> Workspace;
    PATCH "/v1/workspaces/{workspace_id}" STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => workspaces::patch, "Changes a workspace" [] (WorkspacePatch) -> Workspace;
    DELETE "/v1/workspaces/{workspace_id}" STRUCTURE, Editor, Usual, [204, 404, 409, 422] => workspaces::delete, "Deletes a workspace with everything in it" [force];
    PUT "/v1/workspaces/{workspace_id}/members/{user_id}" STRUCTURE, Admin, Usual, [204, 404, 413, 415, 422] => workspace_members::put, "Shows a workspace to a person" [];
    DELETE "/v1/workspaces/{workspace_id}/members/{user_id}" STRUCTURE, Admin, Usual, [204, 404, 422] => workspace_members::delete, "Shows a workspace to a person no more" [];
    POST "/v1/workspaces/{workspace_id}/export" READ, Viewer, Usual, [200, 404, 413, 415, 422] => workspaces::export, "Exports what the caller sees of a workspace as a package" [] (Export) -> Package;
    GET "/v1/modules" READ, Viewer, Usual, [200, 404, 422] => modules::list, "Lists visible modules" [workspace_id cursor limit] -> ModulePage;
    POST "/v1/modules" STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => modules::create, "Creates a module" [] (ModuleCreate) -> Module;
    GET "/v1/modules/{module_id}" READ, Viewer, Usual, [200, 404, 422] => modules::get, "Reads a module" [] -> Module;
    PATCH "/v1/modules/{module_id}" STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => modules::patch, "Changes a module" [] (ModulePatch) -> Module;
    DELETE "/v1/modules/{module_id}" STRUCTURE, Editor, Usual, [204, 404, 409, 422] => modules::delete, "Deletes a module with its rails" [force];
    GET "/v1/rails" READ, Viewer, Usual, [200, 404, 422] => rails::list, "Lists visible rails" [module_id cursor limit] -> RailPage;
    POST "/v1/rails" STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => rails::create, "Creates a rail" [] (RailCreate) -> Rail;
    GET "/v1/rails/{rail_id}" READ, Viewer, Usual, [200, 404, 422] => rails::get, "Reads a rail" [] -> Rail;
    PATCH "/v1/rails/{rail_id}" STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => rails::patch, "Changes a rail" [] (RailPatch) -> Rail;
    DELETE "/v1/rails/{rail_id}" STRUCTURE, Editor, Usual, [204, 404, 422] => rails::delete, "Deletes a rail; views stay" [];
    GET "/v1/features" READ, Viewer, Usual, [200, 422] => features::list, "Lists visible features" [workspace_id cursor limit] -> FeaturePage;
    POST "/v1/features" STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => features::create, "Creates a feature" [] (FeatureCreate) -> Feature;
    GET "/v1/features/{feature_id}" READ, Viewer, Usual, [200, 404, 422] => features::get, "Reads a feature" [] -> Feature;
    PATCH "/v1/features/{feature_id}" STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => features::patch, "Changes a feature" [] (FeaturePatch) -> Feature;
    DELETE "/v1/features/{feature_id}" STRUCTURE, Editor, Usual, [204, 404, 409, 422] => features::delete, "Deletes a feature with its rows, columns and views" [force];
    GET "/v1/views" READ, Viewer, Usual, [200, 422] => views::list, "Lists visible views" [feature_id cursor limit] -> ViewPage;
    POST "/v1/views" STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => views::create, "Creates a view" [] (ViewCreate) -> View;
    GET "/v1/views/{view_id}" READ, Viewer, Usual, [200, 404, 422] => views::get, "Reads a view" [] -> View;
    PATCH "/v1/views/{view_id}" STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => views::patch, "Changes a view" [] (ViewPatch) -> View;
    DELETE "/v1/views/{view_id}" STRUCTURE, Editor, Usual, [204, 404, 422] => views::delete, "Deletes a view; rows stay" [];
    GET "/v1/workflows-v2" READ, Viewer, Usual, [200, 422] => workflows::list, "Lists versions of automations" [workspace_id active cursor limit] -> WorkflowVersionPage;
    POST "/v1/workflows-v2" STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => workflows::create, "Creates an automation with its first version" [] (WorkflowCreate) -> WorkflowVersion;
    POST "/v1/workflows-v2/validate" READ, Viewer, Usual, [200, 404, 413, 415, 422] => workflows::validate, "Judges an automation and writes nothing" [] (WorkflowValidate) -> WorkflowVerdict;
    GET "/v1/workflows-v2/{workflow_id}" READ, Viewer, Usual, [200, 404, 422] => workflows::get, "Reads the version in force" [] -> WorkflowVersion;
    DELETE "/v1/workflows-v2/{workflow_id}" STRUCTURE, Editor, Usual, [204, 404, 409, 422] => workflows::delete, "Deletes an automation with its versions and runs" [force];
    POST "/v1/workflows-v2/{workflow_id}/apply" STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => workflows::apply, "Publishes a draft" [] (WorkflowApply) -> WorkflowVersion;
    POST "/v1/workflows-v2/{workflow_id}/versions" STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => workflows::versions, "Begins a draft on the active version" [] (WorkflowVersionCreate) -> WorkflowVersion;
    POST "/v1/workflows-v2/{workflow_id}/runs" WRITE, Editor, Usual, [202, 404, 409, 413, 415, 422] => workflows::run, "Begins a run" [] (RunCreate) -> Run;
    GET "/v1/workflows-v2/{workflow_id}/runs" READ, Viewer, Usual, [200, 404, 422] => workflows::list_runs, "Lists the runs of an automation" [cursor limit] -> RunSummaryPage;
    GET "/v1/workflow-runs/{run_id}" READ, Viewer, Usual, [200, 404, 422] => workflows::get_run, "Reads a run with its steps" [] -> Run;
    GET "/v1/notifications" READ, Viewer, Usual, [200, 422] => notifications::list, "Lists the notifications of the caller, newest first" [cursor limit] -> NotificationPage;
    GET "/v1/features/{feature_id}/columns" READ, Viewer, Usual, [200, 404, 422] => columns::list, "Lists all columns of a feature in display order" [] -> ColumnList;
    POST "/v1/features/{feature_id}/columns" STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => columns::create, "Creates a column" [] (ColumnCreate) -> Column;
    PATCH "/v1/features/{feature_id}/columns/{column_id}" STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => columns::patch, "Changes a column" [] (ColumnPatch) -> Column;
    DELETE "/v1/features/{feature_id}/columns/{column_id}" STRUCTURE, Editor, Usual, [204, 404, 409, 422] => columns::delete, "Deletes the definition of a column; rows keep the key" [force];
    GET "/v1/templates" READ, Viewer, Usual, [200, 422] => templates::list, "Lists templates: one's own, and those for everybody" [scope visibility cursor limit] -> TemplatePage;
    POST "/v1/templates" STRUCTURE, Admin, Usual, [201, 404, 409, 413, 415, 422] => templates::create, "Adds a template whose payloads follow" [] (TemplateCreate) -> Template;
    POST "/v1/templates/import" STRUCTURE, Admin, Usual, [201, 404, 409, 413, 415, 422] => templates::import, "Adds a package to the catalog" [organization_id] (Package) -> Template;
    GET "/v1/templates/{template_id}" READ, Viewer, Usual, [200, 404, 422] => templates::get, "Reads a template with its manifest" [] -> TemplateWhole;
    PATCH "/v1/templates/{template_id}" STRUCTURE, Admin, Usual, [200, 404, 413, 415, 422] => templates::patch, "Changes what the catalog shows of a template, and to whom" [] (TemplatePatch) -> Template;
    DELETE "/v1/templates/{template_id}" STRUCTURE, Admin, Usual, [204, 404, 422] => templates::delete, "Removes a template" [];
    GET "/v1/templates/{template_id}/payloads" READ, Viewer, Usual, [200, 404, 422] => templates::list_payloads, "Lists a template's payload entries" [cursor limit] -> PayloadPage;
    PUT "/v1/templates/{template_id}/payloads/{item_uid}" STRUCTURE, Admin, Usual, [200, 201, 404, 413, 415, 422] => templates::put_payload, "Puts a payload entry into a template" [] (PayloadEntry) -> Payload;
    DELETE "/v1/templates/{template_id}/payloads/{item_uid}" STRUCTURE, Admin, Usual, [204, 404, 422] => templates::delete_payload, "Takes a payload entry out of a template" [];
    GET "/v1/templates/{template_id}/package" READ, Viewer, Usual, [200, 404, 422] => templates::get_package, "Reads a template as a package file" [] -> Package;
    PUT "/v1/templates/{template_id}/package" STRUCTURE, Admin, Usual, [200, 404, 413, 415, 422] => templates::put_package, "Replaces manifest and payloads, or nothing" [] (Package) -> Template;
    POST "/v1/templates/{template_id}/plan" READ, Viewer, Usual, [200, 404, 413, 415, 422] => templates::plan, "Tells what an apply would do, and writes nothing" [] (PlanRequest) -> Plan;
    POST "/v1/templates/{template_id}/apply" STRUCTURE, Editor, Usual, [202, 404, 409, 413, 415, 422] => templates::apply, "Applies a template to a workspace, as a job" [] (Apply) -> Accepted;
    POST "/apply/templates/{template_id}" STRUCTURE, Editor, Usual, [202, 404, 409, 413, 415, 422] => templates::apply, "The same, with refusals in the executor's form" [] (Apply) -> Accepted;
    GET "/v1/template-jobs" READ, Viewer, Usual, [200, 404, 422] => template_jobs::list, "Lists visible template jobs" [workspace_id cursor limit] -> TemplateJobPage;
    GET "/v1/template-jobs/{job_id}" READ, Viewer, Usual, [200, 404, 422] => template_jobs::get, "Reads a template job" [] -> TemplateJob;
    POST "/v1/template-jobs/{job_id}/undo" STRUCTURE, Editor, Usual, [200, 202, 404, 409, 413, 415, 422] => template_jobs::undo, "Takes back what a job wrote" [force] -> TemplateJob;
    POST "/v1/template-jobs/{job_id}/cancel" STRUCTURE, Editor, Usual, [202, 404, 409, 413, 415, 422] => template_jobs::cancel, "Stops a job that is unfinished" [] -> TemplateJob;
    GET "/v1/schema" READ, Viewer, Usual, [200, 404, 422] => schema::get, "Reads the visible model, nested" [workspace_id] -> Schema;
    GET "/v1/schema/definitions" READ, Viewer, Usual, [200, 422] => schema::definitions, "Tells what columns, views and configs may hold" [format] -> Definitions;
};

#[cfg(test)]
mod tests {
    use super::{OPERATIONS, RouteMatch, find};

    #[test]
    fn no_two_operations_are_the_same() {
        for (index, operation) in OPERATIONS.iter().enumerate() {
            for other in &OPERATIONS[index + 1..] {
                assert!(
                    operation.method != other.method || operation.path != other.path,
                    "{operation:?}"
                );
            }
        }
    }

    #[test]
    fn paths_are_compared_decoded_and_whole() {
        let leads = |method: &str, path: &str| match find(method, path) {
            RouteMatch::Operation(operation, parameters) => format!("{operation:?} {parameters:?}"),
            RouteMatch::OtherMethods(methods) => methods,
            RouteMatch::Nothing => "nothing".to_owned(),
        };
        let organization = "GET /v1/organizations/{organization_id} [\"a/b\"]";
        assert_eq!(leads("GET", "/v1/org%61nizations/a%2Fb"), organization);
        assert_eq!(leads("HEAD", "/v1/health"), "GET /v1/health []");
        assert_eq!(leads("PUT", "/v1/organizations/x"), "GET, HEAD, PATCH");
        assert_eq!(leads("POST", "/v1/health"), "GET, HEAD");
        assert_eq!(leads("PATCH", "/v1/templates/import"), "POST");
        assert_eq!(leads("GET", "/v1/templates/import"), "POST");
        assert_eq!(leads("GET", "/"), "GET / []");
        for nothing in [
            "",
            "/v1",
            "/v1/health/",
            "//v1/health",
            "/V1/health",
            "/v1/organizations/",
            "/v1/%FF",
            "*",
        ] {
            assert_eq!(leads("GET", nothing), "nothing", "{nothing}");
        }
    }
}
