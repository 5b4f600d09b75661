//! The schemas of channels and connections.

use serde_json::{Value, json};

use super::schemas::{closed_object, id, instant, record, text};

/// All of them.
pub(super) fn all() -> Vec<(&'static str, Value)> {
    let name = json!({"type": "string", "minLength": 1, "maxLength": 255});
    let kind = json!({"type": "string", "enum": ["smtp", "http", "llm", "timer"]});
    let url = json!({
        "type": "string",
        "description": "Where it leads, in no response: `smtp://user@host:587?from=address`, `https://host/path`, \
            `https://host/v1?model=name`; of a timer `cron:0 8 * * 1-5` or `delay:3600`.",
    });
    let secret = json!({
        "type": "string",
        "description": "The password, token or key that goes with it, in no response. Empty is none.",
    });
    let owner = json!({
        "type": "string", "format": "uuid",
        "description": "Whose; required here, unless the query names it.",
    });
    vec![
        (
            "Channel",
            closed_object(json!({
                "id": id(), "organization_id": id(), "name": text(), "created_at": instant(),
            })),
        ),
        (
            "ChannelCreate",
            record(&["name"], json!({"organization_id": owner, "name": name})),
        ),
        ("ChannelPatch", record(&[], json!({"name": name}))),
        (
            "Connection",
            closed_object(json!({
                "id": id(), "organization_id": id(), "name": text(), "kind": kind,
                "created_at": instant(),
            })),
        ),
        (
            "ConnectionCreate",
            record(
                &["name", "kind", "url"],
                json!({
                    "organization_id": owner, "name": name, "kind": kind, "url": url,
                    "secret": secret,
                }),
            ),
        ),
        (
            "ConnectionPatch",
            record(&[], json!({"name": name, "url": url, "secret": secret})),
        ),
    ]
}
