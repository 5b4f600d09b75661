//! What bodies and responses hold of packages: for their schemas alone.
//!
//! The library reads and writes packages as text, so nothing is ever made of these types. Its own schemas
//! (`schemas/` of the repository) say everything about a package; these say what its parts are.

use schemars::JsonSchema;
use tplkit::package::size::{MOST_DESCRIPTION, MOST_LABEL};
use uuid::Uuid;

use super::visibility_words::VISIBILITIES;
use crate::json_schemas::{AnyObject, Cells, Manifest, Nullable};

/// What a uid looks like.
pub(crate) const UID: &str =
    "^u_[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$";

/// The rows of one table as they travel in a package. Unknown members are a finding, no refusal.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
#[expect(
    dead_code,
    reason = "the library reads and writes entries; this is what they have"
)]
pub(crate) struct PayloadEntry {
    /// The item of the manifest whose rows these are.
    #[schemars(regex(pattern = UID))]
    item_uid: String,
    /// Ref of the table.
    feature_ref: String,
    /// Columns.
    columns: Vec<String>,
    /// The column that tells rows apart; null where none does.
    #[schemars(with = "Nullable<String>")]
    key_column: Option<String>,
    /// Whether the values of `keyColumn` are filled and distinct.
    key_unique: bool,
    /// How many.
    count: i64,
    /// Rows.
    rows: Vec<PayloadRow>,
}

/// One row as it travels in a package.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[expect(
    dead_code,
    reason = "the library reads and writes rows; this is what they have"
)]
pub(crate) struct PayloadRow {
    /// Identity of the row within the package.
    #[schemars(regex(pattern = UID))]
    uid: String,
    /// Cells by the technical names of their columns.
    data: Cells,
    /// Rows of the package that link cells point at.
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    refs: Option<AnyObject>,
}

/// A package file: `manifest` and `payloads`, or a bare manifest. Unknown members are a finding, no refusal.
#[derive(JsonSchema)]
#[schemars(rename = "Package", extend("additionalProperties" = true))]
#[expect(
    dead_code,
    reason = "the library reads and writes packages; this is what they have"
)]
pub(crate) struct PackageDocument {
    /// What it holds.
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    manifest: Option<Manifest>,
    /// The rows of the package, one entry for each table.
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    payloads: Option<Vec<PayloadEntry>>,
}

/// What is to be checked: any object, good or bad. `Package` says what a good one has.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct PackageToCheck {}

/// Who sees a template: its organization, everybody, or everybody as an official one.
#[derive(JsonSchema)]
pub(crate) struct Visibility(
    #[schemars(extend("enum" = VISIBILITIES))]
    #[expect(dead_code, reason = "it is there to be named")]
    String,
);

/// A manifest to add to the catalog; payloads follow one by one.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the body is read as text, a manifest is large")]
pub(crate) struct TemplateCreate {
    /// The organization.
    organization_id: Uuid,
    /// What the package holds.
    manifest: Manifest,
}

/// Changes to what the catalog shows of a template.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the body becomes members of a manifest")]
pub(crate) struct TemplatePatch {
    /// Who sees it.
    visibility: Option<Visibility>,
    /// Technical name.
    name: Option<String>,
    /// Name for people.
    #[schemars(length(min = 1, max = MOST_LABEL))]
    label: Option<String>,
    /// One paragraph for the catalog.
    #[schemars(with = "Option<Nullable<String>>", length(max = MOST_DESCRIPTION))]
    description: Option<String>,
    /// Heading in the catalog.
    #[schemars(with = "Option<Nullable<String>>")]
    category: Option<String>,
    /// Words to find it by.
    tags: Option<Vec<String>>,
}
