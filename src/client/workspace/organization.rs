//! Named records of an organization that packages refer to but do not carry.

use crate::client::{Client, Error, Pages};
use crate::workspace::{Channel, Connection, Id, Named, Organization};

/// Reads the lists. What a server has no route for is unknown, which is another thing than none.
pub(super) fn read(client: &Client, id: Option<Id>) -> Result<Organization, Error> {
    let mut organization = Organization {
        id: id.unwrap_or_default(),
        connections: None,
        channels: None,
        timer_profiles: None,
    };
    let Some(id) = id.map(|id| id.to_string()) else {
        return Ok(organization);
    };
    if let Some(mut list) = unless_forbidden(client.channels(&id))? {
        // By name, as a server of ours reads them for an export of its own.
        list.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        let named = list.into_iter().filter_map(|one| {
            Some(Channel {
                id: Id::try_parse(&one.id).ok()?,
                name: Some(one.name),
                label: None,
            })
        });
        organization.channels = Some(named.collect());
    }
    if let Some(mut list) = unless_forbidden(client.connections(&id, None))? {
        list.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        let (mut connections, mut timers) = (Vec::new(), Vec::new());
        for one in list {
            // A timer profile is kept like a connection and referred to by a name of its own kind.
            match (one.kind.as_str(), Id::try_parse(&one.id)) {
                ("timer", Ok(id)) => timers.push(Named {
                    id,
                    name: one.name,
                    label: None,
                }),
                ("timer", Err(_)) => {}
                _ => connections.push(Connection {
                    name: one.name,
                    kind: one.kind,
                }),
            }
        }
        organization.connections = Some(connections);
        organization.timer_profiles = Some(timers);
    }
    Ok(organization)
}

/// All of a list; nothing where the server has no such route.
fn unless_forbidden<T: serde::de::DeserializeOwned>(
    pages: Pages<'_, T>,
) -> Result<Option<Vec<T>>, Error> {
    let mut all = Vec::new();
    for page in pages {
        match page {
            Ok(page) => all.extend(page.items),
            Err(error) if matches!(error.status(), Some(404 | 405 | 422 | 501)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(all))
}
