//! Changes the record of a template, and its manifest alike.

use tplkit::check::{CheckOptions, check_text};
use tplkit::json::{Doc, Value as Json, write_string};
use tplkit::package::canonical;
use uuid::Uuid;

use super::identity::Identity;
use super::manifest::{self, Member, VERSION};
use super::package::read_with;
use super::package_refusal;
use super::promotion::{self, SYSTEM};
use super::record::{Record, find, internal, lock};
use super::visibility_words::VISIBILITIES;
use super::write::{forbidden, rewrite};
use crate::auth::Actor;
use crate::json_body::{DESCRIPTION, Fields};
use crate::refusal::Refusal;
use crate::store::{StoreError, Tx};

/// The members of a manifest that change, and their new values; without one they go.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    id: Uuid,
    body: Result<Vec<Member<'static>>, Refusal>,
    /// The visibility among them.
    visibility: Option<&'static str>,
}

impl Change {
    /// Reads the fields of a body, or keeps what is wrong with it until it may be reported.
    pub(crate) fn read(id: Uuid, fields: Result<Fields, Refusal>) -> Change {
        let mut visibility = None;
        let body = fields.and_then(|fields| members(fields, &mut visibility));
        Change {
            id,
            body,
            visibility,
        }
    }

    /// What is wrong with the body.
    #[cfg(test)]
    pub(crate) fn body(&self) -> Result<(), Refusal> {
        self.body.clone().map(drop)
    }

    /// Carries it out. Who is administrator of the platform may promote, and nothing more.
    ///
    /// # Errors
    /// 404, 403, 422 for what breaks a rule, of promotion where it concerns one.
    pub(crate) async fn make(
        tx: &mut Tx,
        actor: Actor<'_>,
        change: &Change,
        now: i64,
    ) -> Result<Record, Refusal> {
        let before = find(tx, change.id).await?;
        let admin = actor.enter(before.organization_id).is_ok();
        if !admin && !actor.caller.platform() {
            return Err(forbidden(actor.least.as_str()));
        }
        let members = change.body.clone()?;
        let promotes = change.visibility == Some(SYSTEM);
        if !admin && members.len() > usize::from(promotes) {
            return Err(Refusal::forbidden(
                "An administrator of the platform promotes to system, and changes nothing else.",
            ));
        }
        if promotes && before.visibility != SYSTEM && !actor.caller.platform() {
            return Err(Refusal::forbidden(
                "Only administrators of the platform promote to system.",
            ));
        }
        if members.is_empty() {
            return Ok(before);
        }
        let (mut record, manifest) = lock(tx, before.organization_id, change.id).await?;
        let shown = record.visibility.clone();
        if let Some(visibility) = change.visibility {
            visibility.clone_into(&mut record.visibility);
        }
        let (manifest, identity) = changed(&manifest, &members)?;
        if record.visibility == SYSTEM {
            promotion::measure(read_with(tx, &record, &manifest).await?)?;
        }
        if shown != record.visibility {
            show_payloads(tx, &record).await?;
        }
        rewrite(tx, &record, &manifest, &identity, now).await
    }
}

fn members(
    mut fields: Fields,
    visibility: &mut Option<&'static str>,
) -> Result<Vec<Member<'static>>, Refusal> {
    fields.frozen(&[
        "id",
        "organization_id",
        "created_at",
        "updated_at",
        "created_by",
    ])?;
    let mut members: Vec<Member<'static>> = Vec::new();
    if let Some(word) = fields.text("visibility") {
        let known = VISIBILITIES.iter().copied().find(|known| *known == word);
        match known {
            None => fields.refuse("visibility", "must be one of system, org, public"),
            Some(known) => {
                *visibility = Some(known);
                members.push(("visibility", Some(write_string(known))));
            }
        }
    }
    let (name, label) = (fields.text("name"), fields.label("label"));
    for (name, text) in [("name", name), ("label", label)] {
        members.extend(text.map(|text| (name, Some(write_string(&text)))));
    }
    for name in ["description", "category"] {
        if let Some(text) = fields.nullable_text(name) {
            if name == "description" {
                fields.bound(name, text.as_deref().unwrap_or_default(), DESCRIPTION);
            }
            members.push((name, text.map(|text| write_string(&text))));
        }
    }
    if let Some(tags) = fields.take("tags") {
        let texts = tags
            .as_list()
            .map(|tags| tags.iter().all(|tag| tag.as_str().is_some()));
        if texts == Some(true) {
            members.push(("tags", Some(Json::write(&tags))));
        } else {
            fields.refuse("tags", "has to be a list of strings");
        }
    }
    fields.finish()?;
    Ok(members)
}

/// The manifest with its changes, in canonical form, if they break no rule.
fn changed(manifest: &str, members: &[Member<'_>]) -> Result<(String, Identity), Refusal> {
    let doc = Doc::parse(manifest).map_err(|error| internal(&error))?;
    let versioned = doc.root().get(VERSION).is_some();
    let envelope = format!("{{\"manifest\":{}}}", manifest::with(doc.root(), members));
    let report = check_text(&envelope, &CheckOptions::default());
    package_refusal::accept_where(&report, |finding| {
        let mut tokens = finding.place.pointer.split('/').skip(2);
        let field = tokens.next().unwrap_or_default();
        members.iter().any(|(key, _)| *key == field)
    })?;
    let canonical = canonical::write(&envelope).map_err(|error| internal(&error))?;
    let doc = Doc::parse(&canonical).map_err(|error| internal(&error))?;
    let manifest = doc.root().get("manifest").unwrap_or(doc.root());
    Ok(manifest::stored(manifest, versioned))
}

async fn show_payloads(tx: &mut Tx, record: &Record) -> Result<(), StoreError> {
    let sql = "UPDATE main.template_payloads SET visibility = $3 \
         WHERE {promoting organization_id} AND organization_id = $1 AND template_id = $2";
    let parameters = [
        record.organization_id.into(),
        record.id.into(),
        record.visibility.as_str().into(),
    ];
    tx.query(sql, &parameters).await.map(drop)
}
