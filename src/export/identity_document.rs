//! What the identity of a package may hold in the request of an export: for its schema alone.

use crate::package::model::{Scope, Visibility, WireWord};
use crate::package::size::{MOST_DESCRIPTION, MOST_LABEL};

/// What an identity may hold.
#[derive(schemars::JsonSchema)]
#[schemars(inline)]
#[expect(
    dead_code,
    reason = "an identity is read from its text; this is what it has"
)]
pub(super) struct IdentityDocument {
    /// Identity in the publisher's catalog.
    id: Option<String>,
    /// Technical name.
    name: Option<String>,
    /// Name for people.
    #[schemars(length(min = 1, max = MOST_LABEL))]
    label: Option<String>,
    /// One paragraph for the catalog.
    #[schemars(length(max = MOST_DESCRIPTION))]
    description: Option<String>,
    /// Icon.
    icon: Option<String>,
    /// Colour.
    color: Option<String>,
    /// Words of the field that the template uses.
    vocabulary: Option<serde_json::Map<String, serde_json::Value>>,
    /// Heading in the catalog.
    category: Option<String>,
    /// How much the package holds.
    #[schemars(extend("enum" = words::<Scope>()))]
    scope: Option<String>,
    /// What the template asks for.
    variables: Option<Vec<VariableDocument>>,
    /// Building blocks of the catalog page.
    blocks: Option<Vec<serde_json::Map<String, serde_json::Value>>>,
    /// Words to find it by.
    tags: Option<Vec<String>>,
    /// Version of the package.
    semver: Option<String>,
    /// Who is to see it; a catalog begins with `org` whatever stands here.
    #[schemars(extend("enum" = words::<Visibility>()))]
    visibility: Option<String>,
}

/// Something that a template asks for.
#[derive(schemars::JsonSchema)]
#[schemars(inline)]
#[expect(
    dead_code,
    reason = "an identity is read from its text; this is what it has"
)]
struct VariableDocument {
    /// Its key.
    key: String,
    /// Name for people.
    label: String,
}

fn words<W: WireWord>() -> Vec<&'static str> {
    W::ALL.iter().map(|word| word.word()).collect()
}
