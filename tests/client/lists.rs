//! Pages, one after the other.

use serde_json::json;
use tplkit::client::{Error, RowQuery};

use crate::host::client;
use crate::scripted::{Response, Scripted};

/// Rows numbered from 0 to 449, in pages as asked for.
fn rows() -> Scripted {
    Scripted::new(|request| {
        let parameter = |name: &str| {
            let (_, query) = request.target.split_once('?')?;
            let pair = query.split('&').find_map(|pair| pair.strip_prefix(name))?;
            pair.strip_prefix('=')?.parse::<usize>().ok()
        };
        let from = parameter("cursor").unwrap_or(0);
        let to = (from + parameter("limit").unwrap_or(25)).min(450);
        let items: Vec<_> = (from..to).map(|number| json!({"id": number})).collect();
        let next = (to < 450).then(|| to.to_string());
        Response::json(&json!({"items": items, "next_cursor": next}))
    })
}

#[test]
fn all_pages_are_walked_or_as_many_as_are_wanted() {
    for (most, wanted, limits) in [
        (None, 450, &["200", "200", "200"][..]),
        (Some(450), 450, &["200", "200", "50"]),
        (Some(210), 210, &["200", "10"]),
        (Some(200), 200, &["200"]),
        (Some(3), 3, &["3"]),
        (Some(0), 0, &[]),
    ] {
        let server = rows();
        let (client, _) = client(&server.url);
        let mut ids = Vec::new();
        for page in client.rows("f", &RowQuery::default(), most) {
            let page = page.expect("a page");
            ids.extend(page.items.iter().map(|row| row.get().to_owned()));
        }
        let expected: Vec<String> = (0..wanted).map(|n| format!("{{\"id\":{n}}}")).collect();
        assert_eq!(ids, expected, "{most:?}");
        let sent: Vec<String> = server
            .lines()
            .iter()
            .filter_map(|line| line.split("limit=").nth(1))
            .map(|rest| rest.split('&').next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(sent, limits, "{most:?}");
    }
}

#[test]
fn more_than_was_asked_for_is_left_out() {
    let server = Scripted::new(|_| Response::json(&json!({"items": [{"id": "a"}, {"id": "b"}]})));
    let (client, _) = client(&server.url);
    let rows = client.rows("f", &RowQuery::default(), Some(1));
    let counts: Vec<usize> = rows.map(|page| page.expect("a page").items.len()).collect();
    assert_eq!(counts, [1]);
}

#[test]
fn a_walk_ends_with_the_first_error_and_never_in_a_circle() {
    let server = Scripted::in_order(vec![
        Response::json(&json!({"items": [], "next_cursor": "a"})),
        Response::json(&json!({"items": [], "next_cursor": "a"})),
    ]);
    let (caller, _) = client(&server.url);
    let pages: Vec<_> = caller.workspaces().collect();
    assert_eq!(pages.len(), 2);
    assert!(matches!(pages[1], Err(Error::Unreadable { .. })));
    assert_eq!(server.received().len(), 2);

    let server = Scripted::in_order(vec![
        Response::json(&json!({"items": [], "next_cursor": "a"})),
        Response::problem(422, "invalid_cursor"),
    ]);
    let (caller, _) = client(&server.url);
    let pages: Vec<_> = caller.features(Some("w")).collect();
    assert_eq!(pages.len(), 2);
    let last = pages[1].as_ref().map(drop).expect_err("refused");
    assert_eq!(last.status(), Some(422));
    assert_eq!(
        server.lines()[1],
        "GET /v1/features?workspace_id=w&limit=200&cursor=a"
    );
}

#[test]
fn channels_and_connections_are_listed_by_organization_and_kind() {
    let item = json!({"id": "i", "organization_id": "o", "name": "desk", "kind": "timer",
        "created_at": "2026-01-02T03:04:05Z"});
    let server =
        Scripted::new(move |_| Response::json(&json!({"items": [item], "next_cursor": null})));
    let (client, _) = client(&server.url);
    for page in client.channels("o") {
        assert_eq!(page.expect("a page").items[0].name, "desk");
    }
    for kind in [None, Some("timer")] {
        for page in client.connections("o", kind) {
            let page = page.expect("a page");
            assert_eq!(
                (page.items[0].id.as_str(), page.items[0].kind.as_str()),
                ("i", "timer")
            );
        }
    }
    assert_eq!(
        server.lines(),
        [
            "GET /v1/channels?organization_id=o&limit=200",
            "GET /v1/connections?organization_id=o&limit=200",
            "GET /v1/connections?organization_id=o&kind=timer&limit=200",
        ]
    );
}
