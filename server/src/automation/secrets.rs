//! Secrets inside graphs: kept encrypted where there is a key to do it with, and answered as a mask.
//!
//! A secret that was sent is stored as `sealed:` and what was encrypted, or as `plain:` and the text
//! where the process has no key. The mask sent back stands for the secret that is kept for that step.
//! Which fields are secrets say the definitions.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tplkit::automation::{SecretPlace, each_secret};
use tplkit::definitions::Definitions;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::sealed;
use crate::http::problem::Problem;
use crate::secret_key::SecretKey;

/// What is answered instead of a secret.
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
/// 422 for a mask where no secret is kept.
pub fn keep(
    key: Option<&SecretKey>,
    (organization, workflow): (Uuid, Uuid),
    graph: &mut Json,
    kept: Option<&str>,
) -> Result<(), Problem> {
    let known = known(kept);
    let mut fault = None;
    each_secret(Definitions::embedded(), graph, &mut |at, secret| {
        if secret == MASK {
            match known.get(&whose(at)) {
                Some(stored) => secret.clone_from(stored),
                None => fault = fault.take().or_else(|| Some(at.place.clone())),
            }
            return;
        }
        *secret = match key {
            Some(key) => {
                let bytes = sealed::seal(key, (organization, &bound(workflow)), secret);
                format!("{SEALED}{}", STANDARD_NO_PAD.encode(bytes))
            }
            None => format!("{PLAIN}{secret}"),
        };
    });
    let Some(place) = fault else {
        return Ok(());
    };
    let told =
        "is the mask of a secret, and none is kept for the step of this id: send the secret itself";
    Err(Problem::fault(format!("graph_config.{place}"), told))
}

/// By what a secret is found again.
fn whose(at: &SecretPlace) -> (String, String, String) {
    (at.step.clone(), at.key.clone(), at.field.clone())
}

/// The secrets of a graph, as they are kept.
fn known(graph: Option<&str>) -> HashMap<(String, String, String), String> {
    let mut known = HashMap::new();
    let graph = graph.and_then(|graph| Json::parse(graph).ok());
    each_secret(
        Definitions::embedded(),
        &mut graph.unwrap_or_default(),
        &mut |at, secret| {
            known.insert(whose(at), secret.clone());
        },
    );
    known
}

/// A graph as it is answered; nothing when it holds no secret.
pub(super) fn masked(graph: &str) -> Option<String> {
    let mut graph = Json::parse(graph).ok()?;
    let mut any = false;
    each_secret(Definitions::embedded(), &mut graph, &mut |_, secret| {
        MASK.clone_into(secret);
        any = true;
    });
    any.then(|| graph.write())
}

/// A secret as a step uses it; or why it cannot be used.
///
/// # Errors
/// In words for the run.
pub(super) fn open(
    key: Option<&SecretKey>,
    (organization, workflow): (Uuid, Uuid),
    stored: &str,
) -> Result<String, String> {
    let Some(text) = stored.strip_prefix(SEALED) else {
        return Ok(stored.strip_prefix(PLAIN).unwrap_or(stored).to_owned());
    };
    let key = key.ok_or("is encrypted, and this process has no TPLKIT_SECRET_KEY")?;
    let bytes = STANDARD_NO_PAD.decode(text).unwrap_or_default();
    let opened = sealed::open(key, (organization, &bound(workflow)), &bytes);
    opened.ok_or_else(|| {
        "was encrypted with another TPLKIT_SECRET_KEY: save the automation with it again".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use tplkit::json::Value as Json;
    use uuid::Uuid;

    use super::{MASK, keep, masked, open};
    use crate::secret_key::SecretKey;

    fn graph(secret: &str) -> Json {
        let text = format!(
            r#"{{"steps":[{{"key":"http.request","id":"stp_aaaaaaaaaaaa","config":{{"connectionName":"c","bearerToken":"{secret}"}}}}]}}"#
        );
        Json::parse(&text).expect("JSON")
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
        let of = (Uuid::from_u128(1), Uuid::from_u128(2));
        for (key, head) in [(Some(&key), "sealed:"), (None, "plain:")] {
            // Whatever a secret looks like, it is that text.
            for secret in ["s3cret", "sealed:x", "plain:", "{{vars.x}}"] {
                let mut kept = graph(secret);
                keep(key, of, &mut kept, None).expect("is kept");
                let text = stored(&kept);
                assert!(text.starts_with(head), "{text}");
                assert!(key.is_none() || !text.contains("s3cret"), "{text}");
                assert_eq!(open(key, of, &text).as_deref(), Ok(secret));
                let shown = masked(&kept.write()).expect("holds a secret");
                assert_eq!(shown, graph(MASK).write());
                let mut again = Json::parse(&shown).expect("JSON");
                keep(key, of, &mut again, Some(&kept.write())).expect("is kept");
                assert_eq!(stored(&again), text);
            }
        }
        assert_eq!(open(None, of, "as it was").as_deref(), Ok("as it was"));
        assert_eq!(masked(&graph("").write()), None);
        let refused = keep(None, of, &mut graph(MASK), None).expect_err("nothing is kept");
        assert_eq!(
            refused.errors()[0].path,
            "graph_config.steps[0].config.bearerToken"
        );
    }

    #[test]
    fn it_opens_for_its_automation_only() {
        let key = |byte: &str| SecretKey::parse(&byte.repeat(32)).expect("a key");
        let of = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut kept = graph("s3cret");
        keep(Some(&key("0a")), of, &mut kept, None).expect("is kept");
        let text = stored(&kept);
        for (key, of) in [
            (Some(key("0b")), of),
            (Some(key("0a")), (of.0, of.0)),
            (None, of),
        ] {
            assert!(open(key.as_ref(), of, &text).is_err());
        }
    }
}
