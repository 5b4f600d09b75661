//! Ranks what the destination has that could take the place of a dependency.
//!
//! In: a package and a destination. Out: candidates with a score and its reason, and for tables the
//! columns that match the identity columns. It proposes and never decides.

use indexmap::IndexMap;
use serde::Serialize;

use super::resolve::fits;
use crate::check::Checked;
use crate::definitions::{Definitions, ReferenceKind};
use crate::finding::suggest::likeness as similarity;
use crate::package::model::{Dependency, DependencyForm, IdentityColumn};
use crate::workspace::{Column, Feature, Id, Structure};

/// The candidates for one dependency.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// The ref of the dependency.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What the destination has, the likeliest first. Of records of a workspace nothing that is
    /// unlike altogether; all that the organization names.
    pub candidates: Vec<Candidate>,
}

/// Something that could take the place of a dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// What a resolution gives as `id`: the id, or the name of what is known by name.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// From 0 to 100.
    pub score: u8,
    /// Why it is here.
    pub reason: String,
    /// Of a table: destination columns by the refs of identity columns, as far as some fit.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub columns: IndexMap<String, Id>,
}

/// Below this score a candidate misleads more than it helps.
const MIN_SCORE: u8 = 35;
/// As near as a slip of the keyboard.
const MIN_SIMILARITY: f64 = 0.8;

/// Suggests for every dependency of a package.
pub fn suggest(package: &Checked<'_>, destination: &Structure) -> Vec<Suggestion> {
    let layers = package.manifest.layers();
    let dependencies = layers.map_or(&[][..], |layers| &layers.dependencies);
    dependencies
        .iter()
        .map(|dependency| Suggestion {
            reference: dependency.reference.clone(),
            candidates: candidates(dependency, destination),
        })
        .collect()
}

fn candidates(dependency: &Dependency, destination: &Structure) -> Vec<Candidate> {
    let mut found = match dependency.kind {
        ReferenceKind::Feature => {
            let features = destination.features.iter().chain(&destination.shared);
            features.map(|feature| table(dependency, feature)).collect()
        }
        _ => named(dependency, destination),
    };
    // What the organization names is offered whole: there is little of it, and its names tell more
    // than their likeness.
    let of_organization = matches!(
        dependency.kind,
        ReferenceKind::Channel | ReferenceKind::Connection | ReferenceKind::TimerProfile
    );
    found.retain(|candidate| of_organization || candidate.score >= MIN_SCORE);
    found.sort_by(|one, other| {
        let key = |candidate: &Candidate| (candidate.name.clone(), candidate.id.clone());
        other
            .score
            .cmp(&one.score)
            .then_with(|| key(one).cmp(&key(other)))
    });
    found
}

/// A record of the destination that has a name.
struct NamedRecord<'s> {
    /// Its id; nothing for what is known by name alone.
    id: Option<Id>,
    name: &'s str,
    label: Option<&'s str>,
}

fn named(dependency: &Dependency, destination: &Structure) -> Vec<Candidate> {
    let organization = &destination.organization;
    let known: Vec<NamedRecord<'_>> = match dependency.kind {
        ReferenceKind::View => {
            let features = destination.features.iter().chain(&destination.shared);
            let views = features.flat_map(|feature| &feature.views);
            views
                .map(|view| NamedRecord {
                    id: Some(view.id),
                    name: &view.name,
                    label: Some(view.label.as_str()),
                })
                .collect()
        }
        ReferenceKind::Module => {
            let modules = destination.modules.iter();
            modules
                .map(|found| NamedRecord {
                    id: Some(found.id),
                    name: &found.name,
                    label: Some(found.label.as_str()),
                })
                .collect()
        }
        ReferenceKind::Rail => {
            let rails = destination.modules.iter().flat_map(|module| &module.rails);
            rails
                .map(|found| NamedRecord {
                    id: Some(found.id),
                    name: &found.name,
                    label: Some(found.label.as_str()),
                })
                .collect()
        }
        ReferenceKind::WorkflowV2 => {
            let automations = destination.automations.iter();
            automations
                .map(|found| NamedRecord {
                    id: Some(found.id),
                    name: &found.name,
                    label: None,
                })
                .collect()
        }
        ReferenceKind::Workflow => {
            let earlier = destination.earlier_automations.iter();
            earlier
                .map(|found| NamedRecord {
                    id: Some(found.id),
                    name: &found.name,
                    label: found.label.as_deref(),
                })
                .collect()
        }
        ReferenceKind::Connection => {
            let connections = organization.connections.iter().flatten();
            connections
                .map(|found| NamedRecord {
                    id: None,
                    name: &found.name,
                    label: None,
                })
                .collect()
        }
        ReferenceKind::TimerProfile => {
            let profiles = organization.timer_profiles.iter().flatten();
            profiles
                .map(|found| NamedRecord {
                    id: Some(found.id),
                    name: &found.name,
                    label: found.label.as_deref(),
                })
                .collect()
        }
        ReferenceKind::Channel => {
            let channels = organization.channels.iter().flatten();
            // A conversation without a name cannot be mapped.
            channels
                .filter_map(|found| {
                    Some(NamedRecord {
                        id: Some(found.id),
                        name: found.name.as_deref()?,
                        label: found.label.as_deref(),
                    })
                })
                .collect()
        }
        _ => Vec::new(),
    };
    known
        .into_iter()
        .map(|NamedRecord { id, name, label }| {
            let (likeness, reason) = likeness(dependency, name, label);
            let id = id.filter(|_| dependency.form == DependencyForm::Uuid);
            Candidate {
                id: id.map_or_else(|| name.to_owned(), |id| id.to_string()),
                name: name.to_owned(),
                label: label.map(str::to_owned),
                score: percent(likeness),
                reason,
                columns: IndexMap::new(),
            }
        })
        .collect()
}

fn table(dependency: &Dependency, feature: &Feature) -> Candidate {
    let (likeness, mut reason) = likeness(dependency, &feature.name, Some(&feature.label));
    let wanted = dependency.identity.columns.as_deref().unwrap_or_default();
    let (columns, fit) = match_columns(wanted, feature);
    let mut score = likeness;
    if !wanted.is_empty() {
        reason = format!(
            "{reason}; {} of {} columns fit",
            columns.len(),
            wanted.len()
        );
        score = 0.6 * likeness + 0.4 * fit;
    }
    Candidate {
        id: feature.id.to_string(),
        name: feature.name.clone(),
        label: Some(feature.label.clone()),
        score: percent(score),
        reason,
        columns,
    }
}

/// How alike a dependency and a record are, by name and label, and why.
fn likeness(dependency: &Dependency, name: &str, label: Option<&str>) -> (f64, String) {
    let identity = &dependency.identity;
    let by_name = similarity(&identity.name, name);
    let by_label = identity
        .label
        .as_deref()
        .zip(label)
        .map(|(one, other)| similarity(one, other));
    let equal = |likeness: f64| likeness >= 1.0;
    let reason = match (by_name, by_label) {
        (by_name, Some(by_label)) if equal(by_name) && equal(by_label) => "same name and label",
        (by_name, _) if equal(by_name) => "same name",
        (_, Some(by_label)) if equal(by_label) => "same label",
        (by_name, _) if by_name >= MIN_SIMILARITY => "similar name",
        (_, Some(by_label)) if by_label >= MIN_SIMILARITY => "similar label",
        _ => "little in common by name",
    };
    let score = match by_label {
        // A label is translated more easily than a name: it may help, and hardly hurts.
        Some(by_label) => (0.7 * by_name + 0.3 * by_label)
            .max(0.9 * by_name)
            .max(0.8 * by_label),
        None => by_name,
    };
    (score, reason.to_owned())
}

/// The best column for each identity column, every column at most once; and how well they fit.
fn match_columns(wanted: &[IdentityColumn], feature: &Feature) -> (IndexMap<String, Id>, f64) {
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (at, identity) in wanted.iter().enumerate() {
        for (position, column) in feature.columns.iter().enumerate() {
            let fit = fit(identity, column);
            if fit > 0.0 {
                pairs.push((fit, at, position));
            }
        }
    }
    pairs.sort_by(|one, other| {
        other
            .0
            .total_cmp(&one.0)
            .then((one.1, one.2).cmp(&(other.1, other.2)))
    });
    let mut chosen: Vec<Option<(f64, usize)>> = wanted.iter().map(|_| None).collect();
    for (fit, at, position) in pairs {
        let taken = chosen.iter().flatten().any(|(_, other)| *other == position);
        if let Some(slot) = chosen.get_mut(at).filter(|slot| slot.is_none() && !taken) {
            *slot = Some((fit, position));
        }
    }
    let sum: f64 = chosen.iter().flatten().map(|(fit, _)| fit).sum();
    let columns = wanted.iter().zip(chosen).filter_map(|(identity, chosen)| {
        let column = feature.columns.get(chosen?.1)?;
        Some((identity.reference.clone(), column.id))
    });
    let many = f64::from(u32::try_from(wanted.len().max(1)).unwrap_or(u32::MAX));
    (columns.collect(), sum / many)
}

fn fit(identity: &IdentityColumn, column: &Column) -> f64 {
    // What an apply would refuse is not a proposal.
    if !fits(identity, column, Definitions::embedded()) {
        return 0.0;
    }
    // What names rows is named by what names rows, whatever it is called.
    let both_identities = identity.default_component == "id" && column.is_identity();
    let by_name =
        similarity(&identity.name, &column.name).max(similarity(&identity.label, &column.label));
    if !both_identities && by_name < MIN_SIMILARITY {
        return 0.0;
    }
    let by_type = if identity.column_type == column.column_type {
        1.0
    } else {
        0.5
    };
    by_type * by_name.max(if both_identities { 0.9 } else { 0.0 })
}

fn percent(score: f64) -> u8 {
    let percent = (score.clamp(0.0, 1.0) * 100.0).round();
    (0..=100u8)
        .rev()
        .find(|whole| f64::from(*whole) <= percent)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::suggest;
    use crate::apply::test_packages::{Pack, checked, feature, furnished, id};

    fn pack() -> Pack {
        Pack::new()
            .far_table("clients", &["name", "id"], false, &[])
            .far("channel", "m_sales", "uuid", "sales", &[])
            .far("connection", "connection_mail", "name", "mail", &[])
    }

    #[test]
    fn the_likeliest_comes_first_with_its_columns_and_reason() {
        let text = pack().text();
        // The dependencies are nowhere used, which a check would not let pass.
        let package = crate::check::Checked::trusted(&text).expect("a package");
        let mut destination = furnished();
        destination
            .features
            .push(feature(60, "client", &[(61, "Name", "textfield")]));
        destination
            .features
            .push(feature(70, "weather", &[(71, "id", "id")]));
        let suggestions = suggest(&package, &destination);
        let clients: Vec<_> = suggestions[0]
            .candidates
            .iter()
            .map(|found| (found.name.as_str(), found.score, found.reason.as_str()))
            .collect();
        assert_eq!(
            clients,
            [
                ("clients", 100, "same name and label; 2 of 2 columns fit"),
                ("client", 71, "similar name; 1 of 2 columns fit"),
            ]
        );
        let columns: Vec<_> = suggestions[0].candidates[0]
            .columns
            .iter()
            .map(|(reference, id)| (reference.as_str(), *id))
            .collect();
        assert_eq!(
            columns,
            [("c_clients_name", id(12)), ("c_clients_id", id(11))]
        );
        let channels: Vec<_> = suggestions[1]
            .candidates
            .iter()
            .map(|found| found.id.clone())
            .collect();
        assert_eq!(
            channels,
            [id(30).to_string()],
            "a nameless conversation is not a candidate"
        );
        let connections: Vec<_> = suggestions[2]
            .candidates
            .iter()
            .map(|found| (found.id.as_str(), found.score))
            .collect();
        // All that the organization names, however unlike.
        assert_eq!(connections, [("mailer", 67), ("post", 0)]);
        assert_eq!(suggestions, suggest(&package, &destination));
    }

    #[test]
    fn a_package_without_dependencies_is_suggested_nothing() {
        let text = Pack::new().table("t").text();
        assert!(suggest(&checked(&text), &furnished()).is_empty());
    }
}
