//! Secrets inside graphs: stored encrypted when the process has a key, and masked in responses.
//!
//! A secret is stored as `sealed:` and its ciphertext, or without a key as `plain:` and its text,
//! together with its destination: the connection of its step, and the server of that connection. A
//! mask in a request keeps the stored secret of that step and connection; a run sends it nowhere
//! else. The definitions declare which fields are secrets.

use std::collections::{BTreeSet, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tplkit::automation::{SecretPlace, each_secret};
use tplkit::definitions::Definitions;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::connections::{OpenConnection, targets};
use super::encryption;
use crate::ids::{self, WorkflowKey};
use crate::refusal::{Code, Fault, Refusal};
use crate::secret_key::SecretKey;
use crate::store::Tx;

/// What stands in responses in place of a secret.
pub(super) const MASK: &str = "********";

const SEALED: &str = "sealed:";
const PLAIN: &str = "plain:";

/// To what a secret is bound: one that is moved to another automation does not open.
fn bound(workflow: Uuid) -> String {
    format!("workflow {workflow}")
}

/// Puts the secrets of a graph into the form in which they are kept. `kept` is the graph of the version on
/// which this one is based.
///
/// # Errors
/// 422 `secret_required` for a mask where no secret is kept, or one that belongs to another connection.
pub async fn keep(
    tx: &mut Tx,
    key: Option<&SecretKey>,
    WorkflowKey {
        organization,
        workflow,
    }: WorkflowKey,
    graph: &mut Json,
    kept: Option<&str>,
) -> Result<(), Refusal> {
    let mut named = BTreeSet::new();
    each_secret(Definitions::embedded(), graph, &mut |at, secret| {
        if secret != MASK && !at.connection.is_empty() {
            named.insert(at.connection.clone());
        }
    });
    let targets = targets(tx, organization, named).await?;
    store(
        key,
        WorkflowKey {
            organization,
            workflow,
        },
        graph,
        kept,
        &targets,
    )
}

fn store(
    key: Option<&SecretKey>,
    WorkflowKey {
        organization,
        workflow,
    }: WorkflowKey,
    graph: &mut Json,
    kept: Option<&str>,
    targets: &HashMap<String, Uuid>,
) -> Result<(), Refusal> {
    let known = stored_by_place(kept);
    let mut faults = Vec::new();
    each_secret(Definitions::embedded(), graph, &mut |at, secret| {
        if secret == MASK {
            match known.get(&SecretField::of(at)) {
                Some(stored) if stored.connection == at.connection => {
                    secret.clone_from(&stored.secret);
                }
                known => faults.push(required(at, known.is_some())),
            }
            return;
        }
        let target = targets.get(&at.connection).copied();
        let entered = SecretInput {
            connection: at.connection.clone(),
            target,
            secret: secret.clone(),
        };
        let text = entered.write();
        *secret = match key {
            Some(key) => {
                let bytes = encryption::encrypt(key, organization, &bound(workflow), &text);
                format!("{SEALED}{}", STANDARD_NO_PAD.encode(bytes))
            }
            None => format!("{PLAIN}{text}"),
        };
    });
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Refusal::invalid_with(Code::SecretRequired, faults))
    }
}

fn required(at: &SecretPlace, elsewhere: bool) -> Fault {
    let message = if elsewhere {
        "is the mask of a secret that was entered for another connection: send the secret itself"
    } else {
        "is the mask of a secret, and none is kept for the step of this id: send the secret itself"
    };
    Fault {
        path: format!("graph_config.{}", at.place),
        code: Code::SecretRequired.as_str(),
        message: message.to_owned(),
    }
}

/// A secret, and what it was entered for.
#[derive(Debug, PartialEq, Eq)]
struct SecretInput {
    /// The name of the connection; empty where the step named none.
    connection: String,
    /// The server that it led to; nothing when there was no such connection yet.
    target: Option<Uuid>,
    secret: String,
}

impl SecretInput {
    fn write(&self) -> String {
        let target = self.target.map(|target| target.to_string().into());
        Json::List(vec![
            self.connection.as_str().into(),
            target.unwrap_or_default(),
            self.secret.as_str().into(),
        ])
        .write()
    }

    fn read(text: &str) -> Option<SecretInput> {
        let parts = Json::parse(text).ok()?;
        let [connection, target, secret] = parts.as_list()? else {
            return None;
        };
        Some(SecretInput {
            connection: connection.as_str()?.to_owned(),
            target: target.as_str().and_then(ids::uuid),
            secret: secret.as_str()?.to_owned(),
        })
    }
}

/// By what a secret is found again.
#[derive(PartialEq, Eq, Hash)]
struct SecretField {
    step: String,
    key: String,
    field: String,
}

impl SecretField {
    fn of(at: &SecretPlace) -> SecretField {
        SecretField {
            step: at.step.clone(),
            key: at.key.clone(),
            field: at.field.clone(),
        }
    }
}

/// A secret as it is kept.
struct StoredSecret {
    /// The name of the connection of its step.
    connection: String,
    secret: String,
}

/// The secrets of a graph, as they are kept, with the connection of their step. Those of steps without an id
/// are nobody's: another step could take them for its own.
fn stored_by_place(graph: Option<&str>) -> HashMap<SecretField, StoredSecret> {
    let mut known = HashMap::new();
    let graph = graph.and_then(|graph| Json::parse(graph).ok());
    each_secret(
        Definitions::embedded(),
        &mut graph.unwrap_or_default(),
        &mut |at, secret| {
            if !at.step.is_empty() {
                let stored = StoredSecret {
                    connection: at.connection.clone(),
                    secret: secret.clone(),
                };
                known.insert(SecretField::of(at), stored);
            }
        },
    );
    known
}

/// A graph as responses have it; nothing when it holds no secret.
pub(super) fn masked(graph: &str) -> Option<String> {
    let mut graph = Json::parse(graph).ok()?;
    let mut any = false;
    each_secret(Definitions::embedded(), &mut graph, &mut |_, secret| {
        MASK.clone_into(secret);
        any = true;
    });
    any.then(|| graph.write())
}

/// A secret as a step uses it on that connection; or why it cannot be used.
///
/// # Errors
/// In words for the run.
pub(super) fn open(
    key: Option<&SecretKey>,
    WorkflowKey {
        organization,
        workflow,
    }: WorkflowKey,
    stored: &str,
    name: &str,
    connection: &OpenConnection,
) -> Result<String, String> {
    let text = if let Some(text) = stored.strip_prefix(SEALED) {
        let key = key.ok_or("is encrypted, and this process has no TPLKIT_SECRET_KEY")?;
        let bytes = STANDARD_NO_PAD.decode(text).unwrap_or_default();
        let opened = encryption::decrypt(key, organization, &bound(workflow), &bytes);
        opened.ok_or(
            "was encrypted with another TPLKIT_SECRET_KEY: save the automation with it again",
        )?
    } else if let Some(text) = stored.strip_prefix(PLAIN) {
        text.to_owned()
    } else {
        return Ok(stored.to_owned());
    };
    let entered = SecretInput::read(&text)
        .ok_or("is kept in a form that cannot be read: save the automation with it again")?;
    if entered.connection != name {
        let message = "was entered for another connection: save the automation with it again";
        return Err(message.to_owned());
    }
    if entered
        .target
        .is_some_and(|target| connection.target != Some(target))
    {
        return Err(
            "was entered for another server than the one that the connection leads to now: save the automation \
             with it again"
                .to_owned(),
        );
    }
    Ok(entered.secret)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tplkit::json::Value as Json;
    use uuid::Uuid;

    use super::{MASK, masked, open, store};
    use crate::automation::connections::OpenConnection;
    use crate::ids::WorkflowKey;
    use crate::secret_key::SecretKey;

    const OF: WorkflowKey = WorkflowKey {
        organization: Uuid::from_u128(1),
        workflow: Uuid::from_u128(2),
    };
    const HERE: Uuid = Uuid::from_u128(3);

    fn graph_to(connection: &str, secret: &str) -> Json {
        let text = format!(
            r#"{{"steps":[{{"key":"http.request","id":"stp_aaaaaaaaaaaa","config":{{"connectionName":"{connection}","bearerToken":"{secret}"}}}}]}}"#
        );
        Json::parse(&text).expect("JSON")
    }

    fn graph(secret: &str) -> Json {
        graph_to("c", secret)
    }

    fn targets() -> HashMap<String, Uuid> {
        HashMap::from([("c".to_owned(), HERE)])
    }

    fn connection(target: Uuid) -> OpenConnection {
        OpenConnection {
            url: String::new(),
            secret: None,
            target: Some(target),
        }
    }

    fn stored(graph: &Json) -> String {
        let steps = graph.get("steps").and_then(Json::as_list).expect("steps");
        let config = steps[0].get("config").expect("a config");
        let token = config.get("bearerToken").and_then(Json::as_str);
        token.expect("a text").to_owned()
    }

    #[test]
    fn a_secret_is_kept_and_opened_and_never_shown() {
        let key = SecretKey::parse(&"0a".repeat(32)).expect("a key");
        let here = connection(HERE);
        for (key, head) in [(Some(&key), "sealed:"), (None, "plain:")] {
            // Whatever a secret looks like, it is that text.
            for secret in ["s3cret", "sealed:x", "plain:", "{{vars.x}}", "[]"] {
                let mut kept = graph(secret);
                store(key, OF, &mut kept, None, &targets()).expect("is kept");
                let text = stored(&kept);
                assert!(text.starts_with(head), "{text}");
                assert!(key.is_none() || !text.contains("s3cret"), "{text}");
                let opened = open(key, OF, &text, "c", &here);
                assert_eq!(opened.as_deref(), Ok(secret));
                let shown = masked(&kept.write()).expect("holds a secret");
                assert_eq!(shown, graph(MASK).write());
                let mut again = Json::parse(&shown).expect("JSON");
                store(key, OF, &mut again, Some(&kept.write()), &targets()).expect("is kept");
                assert_eq!(stored(&again), text);
            }
        }
        let opened = open(None, OF, "as it was", "c", &here);
        assert_eq!(opened.as_deref(), Ok("as it was"));
        assert_eq!(masked(&graph("").write()), None);
        let refused = store(None, OF, &mut graph(MASK), None, &targets());
        let refused = refused.expect_err("nothing is kept");
        assert_eq!(refused.code.as_str(), "secret_required");
        assert_eq!(
            refused.errors()[0].path,
            "graph_config.steps[0].config.bearerToken"
        );
    }

    #[test]
    fn what_stands_below_an_unknown_key_is_kept_and_never_shown() {
        let graph = |secret: &str| {
            let text = graph(secret).write();
            let inner = text
                .strip_prefix(r#"{"steps":"#)
                .and_then(|text| text.strip_suffix('}'));
            let inner = inner.expect("steps");
            let text = format!(
                r#"{{"steps":[{{"key":"switch","id":"stp_bbbbbbbbbbbb","config":{{"else":{inner}}}}}]}}"#
            );
            Json::parse(&text).expect("JSON")
        };
        let mut kept = graph("s3cret");
        store(None, OF, &mut kept, None, &targets()).expect("is kept");
        let kept = kept.write();
        assert!(kept.contains("plain:"), "{kept}");
        let shown = masked(&kept).expect("holds a secret");
        assert_eq!(shown, graph(MASK).write());
        let mut again = Json::parse(&shown).expect("JSON");
        store(None, OF, &mut again, Some(&kept), &targets()).expect("is kept");
        assert_eq!(again.write(), kept);
    }

    #[test]
    fn it_opens_for_its_automation_only() {
        let key = |byte: &str| SecretKey::parse(&byte.repeat(32)).expect("a key");
        let mut kept = graph("s3cret");
        store(Some(&key("0a")), OF, &mut kept, None, &targets()).expect("is kept");
        let text = stored(&kept);
        let another = WorkflowKey {
            workflow: Uuid::from_u128(1),
            ..OF
        };
        for (key, of) in [
            (Some(key("0b")), OF),
            (Some(key("0a")), another),
            (None, OF),
        ] {
            assert!(open(key.as_ref(), of, &text, "c", &connection(HERE)).is_err());
        }
    }

    #[test]
    fn it_belongs_to_its_connection_and_to_the_server_behind_it() {
        let elsewhere = connection(Uuid::from_u128(4));
        let mut kept = graph("s3cret");
        store(None, OF, &mut kept, None, &targets()).expect("is kept");
        let text = stored(&kept);
        for (name, connection) in [("d", connection(HERE)), ("c", elsewhere.clone())] {
            assert!(open(None, OF, &text, name, &connection).is_err(), "{name}");
        }
        let refused = store(
            None,
            OF,
            &mut graph_to("d", MASK),
            Some(&kept.write()),
            &targets(),
        );
        let refused = refused.expect_err("belongs elsewhere");
        assert_eq!(refused.code.as_str(), "secret_required");
        assert!(refused.detail().contains("another connection"));
        // One that was entered before there was such a connection is bound to its name.
        let mut early = graph_to("later", "s3cret");
        store(None, OF, &mut early, None, &targets()).expect("is kept");
        let text = stored(&early);
        let opened = open(None, OF, &text, "later", &elsewhere);
        assert_eq!(opened.as_deref(), Ok("s3cret"));
        assert!(open(None, OF, &text, "c", &elsewhere).is_err());
    }
}
