//! From `initialize` to `exit`.

use serde_json::{Value, json};

use crate::client::Client;

#[test]
fn utf_8_is_chosen_where_it_is_offered_and_sync_is_incremental() {
    for (offered, chosen) in [
        (json!(["utf-32", "utf-8", "utf-16"]), "utf-8"),
        (json!(["utf-16"]), "utf-16"),
        (Value::Null, "utf-16"),
    ] {
        let client = Client::with(&json!({"general": {"positionEncodings": offered}}));
        let response = &client.initialized["capabilities"];
        assert_eq!(response["positionEncoding"], chosen);
        assert_eq!(response["textDocumentSync"]["change"], 2);
        assert_eq!(response["textDocumentSync"]["openClose"], true);
        assert_eq!(client.end(), 0);
    }
}

#[test]
fn pulling_is_offered_to_clients_that_can_and_show_nothing_twice() {
    let pulls = json!({"textDocument": {"diagnostic": {}}});
    let client = Client::with(&pulls);
    assert!(client.initialized["capabilities"]["diagnosticProvider"].is_object());
    let client = Client::start();
    assert!(client.initialized["capabilities"]["diagnosticProvider"].is_null());
    let mut client = Client::silent();
    let params = json!({"clientInfo": {"name": "Neovim"}, "capabilities": pulls});
    let response = client.request("initialize", &params);
    assert!(response["capabilities"]["diagnosticProvider"].is_null());
}

#[test]
fn the_order_of_a_conversation_is_kept() {
    let mut client = Client::silent();
    let (code, _) = client.refused("textDocument/hover", &json!({}));
    assert_eq!(code, -32002);
    client.request("initialize", &json!({"capabilities": {}}));
    let (code, message) = client.refused("workspace/nothing", &json!({}));
    assert_eq!(code, -32601);
    assert!(message.contains("workspace/nothing"), "{message}");
    assert_eq!(client.refused("initialize", &json!({})).0, -32600);
    client.notify("$/nothing", &json!({}));
    client.request("shutdown", &Value::Null);
    assert_eq!(client.refused("textDocument/hover", &json!({})).0, -32600);
    client.notify("exit", &Value::Null);
    assert_eq!(client.exit_code(), 0);
}

#[test]
fn an_exit_without_shutdown_is_a_failure() {
    let mut client = Client::start();
    client.notify("exit", &Value::Null);
    assert_eq!(client.exit_code(), 1);
    // Nobody has asked for anything yet.
    assert_eq!(Client::silent().exit_code(), 0);
    // The same where the editor is simply gone.
    assert_eq!(Client::start().exit_code(), 1);
}

#[test]
fn a_cancelled_request_gets_an_error() {
    let mut client = Client::start();
    client.notify("$/cancelRequest", &json!({"id": 2}));
    let response = client.exchange("textDocument/hover", &json!({}));
    assert_eq!(response["id"], 2);
    assert_eq!(response["error"]["code"], -32800);
}
