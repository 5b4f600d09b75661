//! Nothing that an editor sends ends the server.

use serde_json::{Value, json};

use crate::client::Client;
use crate::packages::{indented, valid};

const METHODS: [&str; 15] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/completion",
    "textDocument/codeAction",
    "textDocument/formatting",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/inlayHint",
    "textDocument/diagnostic",
    "workspace/executeCommand",
    "tplkit/text",
    "workspace/symbol",
];

/// Sends every request about a place of whatever text.
fn ask_everything(client: &mut Client, uri: &str, line: usize, character: usize) {
    let here = json!({"line": line, "character": character});
    let params = json!({
        "textDocument": {"uri": uri},
        "position": here,
        "range": {"start": here, "end": {"line": line + 5, "character": 0}},
        "context": {"diagnostics": [], "includeDeclaration": true},
        "newName": "f_x",
        "options": {"tabSize": 2, "insertSpaces": true},
        "command": "tplkit.explain",
        "arguments": ["J001"],
    });
    for method in METHODS {
        let response = client.exchange(method, &params);
        assert_ne!(
            response["error"]["code"], -32603,
            "{method} at {line}:{character}: {response}"
        );
    }
}

#[test]
fn broken_texts_get_responses() {
    let mut client = Client::start();
    let texts = [
        String::new(),
        "\u{feff}".to_owned(),
        "\u{feff}\u{feff}{\"templateVersion\": 1}".to_owned(),
        "{\"templateVersion\": 2, \"manifest\": 7}".to_owned(),
        "{\"manifest\": {\"templateVersion\": 2, \"plan\": {\"steps\": [{\"tool\": \"create_column\", \"args\": {\"config\": 1}, \"ref\": 5}, 7, null]}, \"items\": {}, \"dependencies\": [[]]}, \"payloads\": {\"rows\": []}}".to_owned(),
        format!("{{\"templateVersion\": 1, \"plan\": {}{}}}", "[".repeat(200), "]".repeat(200)),
        "\"templateVersion".to_owned(),
        "{\"templateVersion\": 2,\r\n\"😀\u{0}\": \"\\ud83d\"}".to_owned(),
        "templateVersion\\".to_owned(),
        "{\"templateVersion\": 1, \"a\": \"\\".to_owned(),
        valid("escapes"),
        valid("bare-v1-bom"),
        valid("reversed-keys"),
    ];
    for (index, text) in texts.iter().enumerate() {
        let uri = format!("untitled:{index}.tplkit.json");
        client.open(&uri, text);
        client.diagnostics(&uri, 1);
        let length = text.len().min(400);
        for character in (0..=length).step_by(7) {
            ask_everything(&mut client, &uri, 0, character);
        }
        ask_everything(&mut client, &uri, 4_294_967_295, 4_294_967_295);
    }
    assert_eq!(client.end(), 0);
}

/// A package cut anywhere gets responses at the cut, as it is while somebody types.
#[test]
fn a_package_that_grows_gets_responses() {
    let mut client = Client::start();
    let text = indented("base-tiny");
    let uri = "untitled:a.tplkit.json";
    client.open(uri, "");
    for (version, end) in (2..).zip((1..text.len()).step_by(211)) {
        let part = &text[..end];
        client.replace(uri, version, part);
        let line = part.matches('\n').count();
        let column = end - part.rfind('\n').map_or(0, |at| at + 1);
        ask_everything(&mut client, uri, line, column);
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn parameters_that_are_none_are_refused() {
    let mut client = Client::start();
    client.open("untitled:a", &indented("base-tiny"));
    let odd = [
        Value::Null,
        json!({}),
        json!([]),
        json!("x"),
        json!({"textDocument": {"uri": 5}}),
        json!({"textDocument": {"uri": "untitled:none"}, "position": {"line": 0, "character": 0}}),
        json!({"textDocument": {"uri": "untitled:a"}, "position": {"line": -1, "character": 0}}),
        json!({"textDocument": {"uri": "untitled:a"}, "position": {"line": 1.5, "character": "x"}}),
        json!({"textDocument": {"uri": "untitled:a"}, "range": {"start": null}}),
    ];
    for params in &odd {
        for method in METHODS {
            let response = client.exchange(method, params);
            assert_ne!(
                response["error"]["code"], -32603,
                "{method} {params}: {response}"
            );
        }
        for method in ["didOpen", "didChange", "didClose", "didSave"] {
            client.notify(&format!("textDocument/{method}"), params);
        }
    }
    // It has neither ended nor forgotten.
    client.open("untitled:a", "{\"templateVersion\": 3}");
    client.replace("untitled:a", 7, "{\"templateVersion\": 4}");
    assert!(!client.diagnostics("untitled:a", 7).is_empty());
    assert_eq!(client.end(), 0);
}

#[test]
fn bytes_that_are_no_messages_end_the_conversation_and_say_nothing_of_a_bug() {
    for bytes in [
        &b"nonsense\r\n\r\n"[..],
        b"Content-Length: 3\r\n\r\n{{{",
        b"Content-Length: 99\r\n\r\n{}",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1000000000000\r\n\r\n{}",
        b"Content-Length: 18446744073709551615\r\n\r\n{}",
    ] {
        let mut client = Client::start();
        client.send_raw(bytes);
        let (code, said) = client.last_words();
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.starts_with("error: what was sent is not a message") && said.lines().count() == 2,
            "{said}"
        );
    }
}

#[test]
fn json_that_is_no_message_gets_a_response_and_ends_nothing() {
    let mut client = Client::start();
    for (message, id) in [
        (json!({"foo": 1}), Value::Null),
        (json!([1]), Value::Null),
        (json!({"jsonrpc": "2.0", "id": 1}), Value::Null),
        (
            json!({"jsonrpc": "2.0", "id": "a", "method": 5}),
            json!("a"),
        ),
    ] {
        client.send(&message);
        let response = client.response();
        assert_eq!(response["error"]["code"], -32600, "{message}: {response}");
        assert_eq!(response.get("id"), Some(&id), "{message}: {response}");
    }
    client.open("untitled:a", "{\"templateVersion\": 3}");
    assert!(!client.diagnostics("untitled:a", 1).is_empty());
    assert_eq!(client.end(), 0);
}

/// JavaScript writes half a pair of surrogates as it has it.
#[test]
fn half_a_character_ends_nothing() {
    let mut client = Client::start();
    let send = |client: &mut Client, method: &str, params: Value, half: &[u8]| {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        let (before, behind) = message.split_once("HALF").expect("a place");
        let body = [before.as_bytes(), half, behind.as_bytes()].concat();
        client.send_raw(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        client.send_raw(&body);
    };
    let text = "{\"templateVersion\": 3, \"name\": \"HALF\"}";
    for (number, half) in [&b"\\ud83d"[..], b"\\uDE00", b"\xff"]
        .into_iter()
        .enumerate()
    {
        let uri = format!("untitled:{number}");
        let document = json!({"uri": uri, "languageId": "json", "version": 1, "text": text});
        let params = json!({"textDocument": document});
        send(&mut client, "textDocument/didOpen", params, half);
        assert!(!client.diagnostics(&uri, 1).is_empty());
        let params = json!({
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"text": text}],
        });
        send(&mut client, "textDocument/didChange", params, half);
        assert!(!client.diagnostics(&uri, 2).is_empty());
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn headers_may_be_written_in_many_ways() {
    let mut client = Client::start();
    let body = json!({"jsonrpc": "2.0", "id": "a", "method": "shutdown"}).to_string();
    let header = format!(
        "X-Other: a: b\r\ncontent-LENGTH:{}\r\nX-Empty:\r\n\r\n",
        body.len()
    );
    client.send_raw(format!("{header}{body}").as_bytes());
    client.notify("exit", &Value::Null);
    assert_eq!(client.exit_code(), 0);
}
