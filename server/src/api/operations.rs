//! The table of operations: every route with its conditions.
//!
//! Routing, authorization, limits and the OpenAPI document read it; an operation outside it cannot be
//! reached, and every fact of an operation is on its line. `areas` has the facts of all paths below a
//! prefix.

use super::pages;
use crate::auth::{KeyScope, Role};
use crate::call::operation::{Access, Fact, Limit, Operation, OperationInfo, READ};
use crate::routes::{
    api_keys, auth, channels, columns, connections, features, files, health, me, members, modules,
    notifications, organizations, rails, rows, schema, template_jobs, templates, views, workflows,
    workspace_members, workspace_templates, workspaces,
};

/// Lines under the tag that they have in the document. A line: method, path, operation id, who may ask, least role,
/// limit, statuses, handler; what it does, its query parameters (behind a colon the component, where it is another
/// than that of their name), the schema of its body, the schema of its response, what it has that few have.
macro_rules! operations {
    ($($tag:literal { $($method:ident $path:literal $id:ident $access:expr, $role:ident, $limit:ident,
        [$($status:literal),*] => $handler:path, $summary:literal [$($query:ident $(: $component:ident)?)*] $(($request:ident))?
        $(-> $response:ident)? $(with [$($fact:ident)*])?;)+ })+) => {
        [$($(Operation {
            method: stringify!($method),
            path: $path,
            access: $access,
            role: Role::$role,
            limit: Limit::$limit,
            statuses: &[$($status),*],
            facts: &[$($(Fact::$fact),*)?],
            about: OperationInfo {
                id: stringify!($id),
                summary: $summary,
                tag: $tag,
                query: &[$(stringify!($query)),*],
                query_components: &[$(operations!(@component $query $($component)?)),*],
                request: operations!(@schema $($request)?),
                response: operations!(@schema $($response)?),
            },
            handler: |call| Box::pin($handler(call)),
        }),+),+]
    };
    (@component $name:ident) => { stringify!($name) };
    (@component $name:ident $component:ident) => { stringify!($component) };
    (@schema) => { None };
    (@schema $name:ident) => { Some(stringify!($name)) };
}

use Access::{Public, Users};
const WRITE: Access = Access::Scopes(&[KeyScope::Write]);
const STRUCTURE: Access = Access::Scopes(&[KeyScope::Write, KeyScope::Structure]);

/// All operations.
pub static OPERATIONS: [Operation; 108] = operations! {
    "documentation" {
        GET "/" get_root Public, Viewer, Usual, [307, 422, 429] => pages::root, "Leads to the documentation" [] with [PageAddress];
    }
    "health" {
        GET "/v1/health" get_health Public, Viewer, None, [200, 422] => health::health, "Reports whether the process runs" [] -> Health;
    }
    "ready" {
        GET "/v1/ready" get_readiness Public, Viewer, None, [200, 422, 503] => health::ready, "Reports whether the store responds" [] -> Health;
    }
    "documentation" {
        GET "/v1/openapi.json" get_openapi Public, Viewer, Usual, [200, 422, 429] => pages::openapi, "This document" [] -> OpenApi;
        GET "/docs" get_docs Public, Viewer, Usual, [200, 304, 422, 429] => pages::docs, "This document as a page" [];
    }
    "auth" {
        POST "/v1/auth/token" sign_in Public, Viewer, SignIn, [200, 401, 413, 415, 422, 429, 503] => auth::token, "Signs in" [] (SignIn) -> Tokens;
        POST "/v1/auth/refresh" refresh_session Public, Viewer, Usual, [200, 401, 413, 415, 422, 429, 503] => auth::refresh, "Exchanges a refresh token for a new pair" [] (Refresh) -> Tokens;
        POST "/v1/auth/logout" sign_out Public, Viewer, Usual, [204, 413, 415, 422, 429, 503] => auth::logout, "Ends a session" [] (Refresh);
    }
    "me" {
        GET "/v1/me" get_me READ, Viewer, Usual, [200, 422] => me::get, "Reads the caller, with roles and scopes" [] -> Me;
        POST "/v1/me/password" change_password Users, Viewer, Usual, [204, 409, 413, 415, 422] => me::password, "Changes the caller's password and ends their other sessions" [] (PasswordChange) with [SecretBody];
    }
    "organizations" {
        GET "/v1/organizations" list_organizations READ, Viewer, Usual, [200, 422] => organizations::list, "Lists the caller's organizations" [cursor limit] -> OrganizationPage;
        GET "/v1/organizations/{organization_id}" get_organization READ, Viewer, Usual, [200, 404, 422] => organizations::get, "Reads an organization" [] -> Organization;
        PATCH "/v1/organizations/{organization_id}" update_organization WRITE, Admin, Usual, [200, 404, 413, 415, 422] => organizations::patch, "Changes label or config" [] (OrganizationPatch) -> Organization;
    }
    "members" {
        GET "/v1/organizations/{organization_id}/members" list_members Users, Viewer, Usual, [200, 404, 422] => members::list, "Lists members" [cursor limit] -> MemberPage;
        POST "/v1/organizations/{organization_id}/members" add_member Users, Admin, Usual, [201, 404, 409, 413, 415, 422] => members::create, "Adds a member" [] (MemberCreate) -> Member;
        PATCH "/v1/organizations/{organization_id}/members/{user_id}" update_member Users, Admin, Usual, [200, 404, 409, 413, 415, 422] => members::patch, "Changes a member's role" [] (MemberPatch) -> Member;
        DELETE "/v1/organizations/{organization_id}/members/{user_id}" remove_member Users, Admin, Usual, [204, 404, 409, 422] => members::delete, "Removes a member" [];
    }
    "rows" {
        POST "/v1/features/{feature_id}/rows" create_row WRITE, Editor, Usual, [201, 404, 409, 413, 415, 422] => rows::create, "Creates a row" [validate] (RowCreate) -> Row with [RememberedCaller];
        POST "/v1/features/{feature_id}/rows:batch" create_rows WRITE, Editor, Usual, [201, 404, 409, 413, 415, 422] => rows::batch, "Creates up to 500 rows, or none" [validate] (RowBatch) -> RowBatchResult with [RememberedCaller];
        GET "/v1/features/{feature_id}/rows" list_rows READ, Viewer, Usual, [200, 404, 422] => rows::list, "Lists rows" [cursor limit filter match sort fields] -> RowPage with [RememberedCaller];
        GET "/v1/features/{feature_id}/rows:aggregate" aggregate_rows READ, Viewer, Usual, [200, 404, 422] => rows::aggregate, "Counts rows, or works out the sum or average of a column" [op column filter match limit: count_limit] -> Aggregate with [RememberedCaller];
        GET "/v1/features/{feature_id}/rows/{row_id}" get_row READ, Viewer, Usual, [200, 404, 422] => rows::get, "Reads a row" [] -> Row with [RememberedCaller];
        PATCH "/v1/features/{feature_id}/rows/{row_id}" update_row WRITE, Editor, Usual, [200, 404, 409, 413, 415, 422] => rows::patch, "Replaces a row's data, or merges into it" [validate merge] (RowPatch) -> Row with [RememberedCaller];
        DELETE "/v1/features/{feature_id}/rows/{row_id}" delete_row WRITE, Editor, Usual, [204, 404, 422] => rows::delete, "Removes a row" [] with [RememberedCaller];
    }
    "files" {
        GET "/v1/files" list_files READ, Viewer, Usual, [200, 404, 422] => files::list, "Lists visible files" [workspace_id attached cursor limit] -> FileRecordPage;
        POST "/v1/files" upload_file WRITE, Editor, Usual, [201, 404, 408, 409, 413, 415, 422] => files::create, "Uploads a file" [workspace_id: into_workspace name] (FileUpload) -> FileRecord with [FileBody RememberedCaller];
        GET "/v1/files/{file_id}" get_file READ, Viewer, Usual, [200, 404, 422] => files::get, "Reads the record of a file" [] -> FileRecord;
        DELETE "/v1/files/{file_id}" delete_file WRITE, Editor, Usual, [204, 404, 409, 422] => files::delete, "Deletes a file" [force: force_file];
        GET "/v1/files/{file_id}/content" get_file_content READ, Viewer, Usual, [200, 206, 304, 404, 412, 416, 422] => files::content, "Reads the bytes of a file, or a part of them" [inline] with [FileResponse RememberedCaller];
        POST "/v1/files/{file_id}/links" create_file_link READ, Viewer, Usual, [201, 404, 413, 415, 422] => files::create_link, "Makes a link to a file that needs no credential" [] (FileLinkCreate) -> FileLink;
        GET "/v1/file-links/{file_id}" open_file_link Public, Viewer, Usual, [200, 206, 304, 404, 412, 416, 429, 503] => files::open_link, "Reads the bytes of the file that a link leads to" [organization: link_organization by expires inline: link_inline signature] with [FileResponse];
    }
    "api-keys" {
        POST "/v1/api-keys" create_api_key Users, Admin, Usual, [201, 404, 413, 415, 422] => api_keys::create, "Creates an API key" [] (ApiKeyCreate) -> ApiKeyCreated with [SecretResponse];
        GET "/v1/api-keys" list_api_keys Users, Admin, Usual, [200, 404, 422] => api_keys::list, "Lists an organization's API keys" [organization_id: of_organization cursor limit] -> ApiKeyPage;
        DELETE "/v1/api-keys/{api_key_id}" revoke_api_key Users, Admin, Usual, [204, 404, 422] => api_keys::delete, "Revokes an API key" [];
    }
    "channels" {
        GET "/v1/channels" list_channels READ, Viewer, Usual, [200, 404, 422] => channels::list, "Lists an organization's channels" [organization_id: of_organization cursor limit] -> ChannelPage;
        POST "/v1/channels" create_channel STRUCTURE, Admin, Usual, [201, 404, 409, 413, 415, 422] => channels::create, "Creates a channel" [organization_id: for_organization] (ChannelCreate) -> Channel;
        PATCH "/v1/channels/{channel_id}" update_channel STRUCTURE, Admin, Usual, [200, 404, 413, 415, 422] => channels::patch, "Renames a channel" [] (ChannelPatch) -> Channel;
        DELETE "/v1/channels/{channel_id}" delete_channel STRUCTURE, Admin, Usual, [204, 404, 422] => channels::delete, "Removes a channel, whatever uses it" [];
    }
    "connections" {
        GET "/v1/connections" list_connections READ, Viewer, Usual, [200, 404, 422] => connections::list, "Lists an organization's connections" [organization_id: of_organization kind cursor limit] -> ConnectionPage;
        POST "/v1/connections" create_connection STRUCTURE, Admin, Usual, [201, 404, 409, 413, 415, 422] => connections::create, "Creates a connection" [organization_id: for_organization] (ConnectionCreate) -> Connection;
        PATCH "/v1/connections/{connection_id}" update_connection STRUCTURE, Admin, Usual, [200, 404, 409, 413, 415, 422] => connections::patch, "Changes name, address or secret of a connection" [] (ConnectionPatch) -> Connection;
        DELETE "/v1/connections/{connection_id}" delete_connection STRUCTURE, Admin, Usual, [204, 404, 422] => connections::delete, "Removes a connection, whatever uses it" [];
    }
    "workspaces" {
        GET "/v1/workspaces" list_workspaces READ, Viewer, Usual, [200, 422] => workspaces::list, "Lists visible workspaces" [cursor limit] -> WorkspacePage;
        POST "/v1/workspaces" create_workspace STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => workspaces::create, "Creates a workspace" [] (WorkspaceCreate) -> Workspace;
        GET "/v1/workspaces/{workspace_id}" get_workspace READ, Viewer, Usual, [200, 404, 422] => workspaces::get, "Reads a workspace" [] -> Workspace;
        PATCH "/v1/workspaces/{workspace_id}" update_workspace STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => workspaces::patch, "Changes a workspace" [] (WorkspacePatch) -> Workspace;
        DELETE "/v1/workspaces/{workspace_id}" delete_workspace STRUCTURE, Editor, Usual, [204, 404, 409, 422] => workspaces::delete, "Deletes a workspace with everything in it" [force];
    }
    "members" {
        PUT "/v1/workspaces/{workspace_id}/members/{user_id}" add_workspace_member STRUCTURE, Admin, Usual, [204, 404, 413, 415, 422] => workspace_members::put, "Shows a workspace to a person" [];
        DELETE "/v1/workspaces/{workspace_id}/members/{user_id}" remove_workspace_member STRUCTURE, Admin, Usual, [204, 404, 422] => workspace_members::delete, "Hides a workspace from a person" [];
    }
    "workspaces" {
        POST "/v1/workspaces/{workspace_id}/export" export_workspace READ, Viewer, Usual, [200, 404, 413, 415, 422] => workspaces::export, "Exports what the caller sees of a workspace as a package" [] (Export) -> Package;
    }
    "modules" {
        GET "/v1/modules" list_modules READ, Viewer, Usual, [200, 404, 422] => modules::list, "Lists visible modules" [workspace_id cursor limit] -> ModulePage;
        POST "/v1/modules" create_module STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => modules::create, "Creates a module" [] (ModuleCreate) -> Module;
        GET "/v1/modules/{module_id}" get_module READ, Viewer, Usual, [200, 404, 422] => modules::get, "Reads a module" [] -> Module;
        PATCH "/v1/modules/{module_id}" update_module STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => modules::patch, "Changes a module" [] (ModulePatch) -> Module;
        DELETE "/v1/modules/{module_id}" delete_module STRUCTURE, Editor, Usual, [204, 404, 409, 422] => modules::delete, "Deletes a module with its rails" [force];
    }
    "rails" {
        GET "/v1/rails" list_rails READ, Viewer, Usual, [200, 404, 422] => rails::list, "Lists visible rails" [module_id cursor limit] -> RailPage;
        POST "/v1/rails" create_rail STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => rails::create, "Creates a rail" [] (RailCreate) -> Rail;
        GET "/v1/rails/{rail_id}" get_rail READ, Viewer, Usual, [200, 404, 422] => rails::get, "Reads a rail" [] -> Rail;
        PATCH "/v1/rails/{rail_id}" update_rail STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => rails::patch, "Changes a rail" [] (RailPatch) -> Rail;
        DELETE "/v1/rails/{rail_id}" delete_rail STRUCTURE, Editor, Usual, [204, 404, 422] => rails::delete, "Deletes a rail; views stay" [];
    }
    "features" {
        GET "/v1/features" list_features READ, Viewer, Usual, [200, 422] => features::list, "Lists visible features" [workspace_id cursor limit] -> FeaturePage;
        POST "/v1/features" create_feature STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => features::create, "Creates a feature" [] (FeatureCreate) -> Feature;
        GET "/v1/features/{feature_id}" get_feature READ, Viewer, Usual, [200, 404, 422] => features::get, "Reads a feature" [] -> Feature;
        PATCH "/v1/features/{feature_id}" update_feature STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => features::patch, "Changes a feature" [] (FeaturePatch) -> Feature;
        DELETE "/v1/features/{feature_id}" delete_feature STRUCTURE, Editor, Usual, [204, 404, 409, 422] => features::delete, "Deletes a feature with its rows, columns and views" [force];
    }
    "views" {
        GET "/v1/views" list_views READ, Viewer, Usual, [200, 422] => views::list, "Lists visible views" [feature_id cursor limit] -> ViewPage;
        POST "/v1/views" create_view STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => views::create, "Creates a view" [] (ViewCreate) -> View;
        GET "/v1/views/{view_id}" get_view READ, Viewer, Usual, [200, 404, 422] => views::get, "Reads a view" [] -> View;
        PATCH "/v1/views/{view_id}" update_view STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => views::patch, "Changes a view" [] (ViewPatch) -> View;
        DELETE "/v1/views/{view_id}" delete_view STRUCTURE, Editor, Usual, [204, 404, 422] => views::delete, "Deletes a view; rows stay" [];
    }
    "workflows-v2" {
        GET "/v1/workflows-v2" list_workflow_versions READ, Viewer, Usual, [200, 422] => workflows::list, "Lists versions of automations" [workspace_id active cursor limit] -> WorkflowVersionPage;
        POST "/v1/workflows-v2" create_workflow STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => workflows::create, "Creates an automation with its first version" [] (WorkflowCreate) -> WorkflowVersion;
        POST "/v1/workflows-v2/validate" validate_workflow READ, Viewer, Usual, [200, 404, 413, 415, 422] => workflows::validate, "Validates an automation and writes nothing" [] (WorkflowValidate) -> WorkflowVerdict;
        GET "/v1/workflows-v2/{workflow_id}" get_workflow READ, Viewer, Usual, [200, 404, 422] => workflows::get, "Reads the version in force" [] -> WorkflowVersion;
        DELETE "/v1/workflows-v2/{workflow_id}" delete_workflow STRUCTURE, Editor, Usual, [204, 404, 409, 422] => workflows::delete, "Deletes an automation with its versions and runs" [force];
        POST "/v1/workflows-v2/{workflow_id}/apply" publish_workflow STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => workflows::apply, "Publishes a draft" [] (WorkflowApply) -> WorkflowVersion with [OptionalBody];
        POST "/v1/workflows-v2/{workflow_id}/versions" create_workflow_version STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => workflows::versions, "Begins a draft on the active version" [] (WorkflowVersionCreate) -> WorkflowVersion;
        POST "/v1/workflows-v2/{workflow_id}/runs" start_run WRITE, Editor, Usual, [202, 404, 409, 413, 415, 422] => workflows::run, "Begins a run" [] (RunCreate) -> Run with [OptionalBody];
        GET "/v1/workflows-v2/{workflow_id}/runs" list_runs READ, Viewer, Usual, [200, 404, 422] => workflows::list_runs, "Lists the runs of an automation" [cursor limit] -> RunSummaryPage;
    }
    "workflow-runs" {
        GET "/v1/workflow-runs/{run_id}" get_run READ, Viewer, Usual, [200, 404, 422] => workflows::get_run, "Reads a run with its steps" [] -> Run;
    }
    "notifications" {
        GET "/v1/notifications" list_notifications READ, Viewer, Usual, [200, 422] => notifications::list, "Lists the notifications of the caller, newest first" [cursor limit] -> NotificationPage;
    }
    "columns" {
        GET "/v1/features/{feature_id}/columns" list_columns READ, Viewer, Usual, [200, 404, 422] => columns::list, "Lists all columns of a feature in display order" [] -> ColumnList;
        POST "/v1/features/{feature_id}/columns" create_column STRUCTURE, Editor, Usual, [201, 404, 409, 413, 415, 422] => columns::create, "Creates a column" [] (ColumnCreate) -> Column;
        PATCH "/v1/features/{feature_id}/columns/{column_id}" update_column STRUCTURE, Editor, Usual, [200, 404, 409, 413, 415, 422] => columns::patch, "Changes a column" [] (ColumnPatch) -> Column;
        DELETE "/v1/features/{feature_id}/columns/{column_id}" delete_column STRUCTURE, Editor, Usual, [204, 404, 409, 422] => columns::delete, "Deletes the definition of a column; rows keep the key" [force];
    }
    "templates" {
        GET "/v1/templates" list_templates READ, Viewer, Usual, [200, 422] => templates::list, "Lists templates: one's own, and those for everybody" [scope visibility cursor limit] -> TemplatePage;
        POST "/v1/templates" create_template STRUCTURE, Admin, Usual, [201, 404, 409, 413, 415, 422] => templates::create, "Adds a template whose payloads follow" [] (TemplateCreate) -> Template with [PackageBody];
        POST "/v1/templates/import" import_package STRUCTURE, Admin, Usual, [201, 404, 409, 413, 415, 422] => templates::import, "Adds a package to the catalog" [organization_id: into_organization] (Package) -> Template with [PackageBody];
        POST "/v1/templates/check" check_package READ, Viewer, Usual, [200, 413, 415, 422] => templates::check, "Says what is wrong with a package, and keeps nothing" [] (PackageToCheck) -> PackageVerdict with [PackageBody];
        GET "/v1/templates/{template_id}" get_template READ, Viewer, Usual, [200, 404, 422] => templates::get, "Reads a template with its manifest" [] -> TemplateWhole;
        PATCH "/v1/templates/{template_id}" update_template STRUCTURE, Admin, Usual, [200, 404, 413, 415, 422] => templates::patch, "Changes what the catalog shows of a template, and to whom" [] (TemplatePatch) -> Template;
        DELETE "/v1/templates/{template_id}" delete_template STRUCTURE, Admin, Usual, [204, 404, 409, 422] => templates::delete, "Removes a template" [unused];
        GET "/v1/templates/{template_id}/payloads" list_payloads READ, Viewer, Usual, [200, 404, 422] => templates::list_payloads, "Lists a template's payload entries" [cursor limit] -> PayloadPage;
        PUT "/v1/templates/{template_id}/payloads/{item_uid}" put_payload STRUCTURE, Admin, Usual, [200, 201, 404, 413, 415, 422] => templates::put_payload, "Puts a payload entry into a template" [] (PayloadEntry) -> Payload with [PackageBody];
        DELETE "/v1/templates/{template_id}/payloads/{item_uid}" delete_payload STRUCTURE, Admin, Usual, [204, 404, 422] => templates::delete_payload, "Takes a payload entry out of a template" [];
        GET "/v1/templates/{template_id}/package" get_package READ, Viewer, Usual, [200, 404, 422] => templates::get_package, "Reads a template as a package file" [] -> Package;
        PUT "/v1/templates/{template_id}/package" replace_package STRUCTURE, Admin, Usual, [200, 404, 413, 415, 422] => templates::put_package, "Replaces manifest and payloads, or nothing" [] (Package) -> Template with [PackageBody];
        POST "/v1/templates/{template_id}/plan" plan_template READ, Viewer, Usual, [200, 404, 413, 415, 422] => templates::plan, "Shows what an apply would do, and writes nothing" [] (PlanRequest) -> Plan with [PackageBody];
        POST "/v1/templates/{template_id}/apply" apply_template STRUCTURE, Editor, Usual, [202, 404, 409, 413, 415, 422] => templates::apply, "Applies a template to a workspace, as a job" [] (Apply) -> Accepted with [PackageBody];
        POST "/apply/templates/{template_id}" execute_template STRUCTURE, Editor, Usual, [202, 404, 409, 413, 415, 422] => templates::apply, "The same, with refusals in the executor's form" [] (Apply) -> Accepted with [PackageBody];
    }
    "templates" {
        GET "/v1/workspaces/{workspace_id}/templates" list_applied_templates READ, Viewer, Usual, [200, 404, 422] => workspace_templates::list, "Lists the templates that were applied to a workspace" [cursor limit] -> AppliedTemplatePage;
        GET "/v1/workspaces/{workspace_id}/templates/{template_id}/drift" get_template_drift READ, Viewer, Usual, [200, 404, 409, 422] => workspace_templates::drift, "Shows what people changed in what a template made" [rows: drift_rows job] -> Drift;
    }
    "template-jobs" {
        GET "/v1/template-jobs" list_template_jobs READ, Viewer, Usual, [200, 404, 422] => template_jobs::list, "Lists visible template jobs" [workspace_id cursor limit] -> TemplateJobPage;
        GET "/v1/template-jobs/{job_id}" get_template_job READ, Viewer, Usual, [200, 404, 422] => template_jobs::get, "Reads a template job" [] -> TemplateJob;
        POST "/v1/template-jobs/{job_id}/undo" undo_template_job STRUCTURE, Editor, Usual, [200, 202, 404, 409, 413, 415, 422] => template_jobs::undo, "Takes back what a job wrote" [force] -> TemplateJob;
        POST "/v1/template-jobs/{job_id}/cancel" cancel_template_job STRUCTURE, Editor, Usual, [202, 404, 409, 413, 415, 422] => template_jobs::cancel, "Stops a job that is unfinished" [] -> TemplateJob;
    }
    "schema" {
        GET "/v1/schema" get_schema READ, Viewer, Usual, [200, 404, 422] => schema::get, "Reads the visible model, nested" [workspace_id] -> Schema;
        GET "/v1/schema/definitions" get_definitions READ, Viewer, Usual, [200, 422] => schema::definitions, "Lists what columns, views and configs may hold" [format] -> Definitions;
    }
};

#[cfg(test)]
mod tests {
    use super::OPERATIONS;

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
}
