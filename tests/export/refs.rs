//! Refs and uids.

use serde_json::json;
use tplkit::export::Selection;

use crate::exported::{exported, try_export, with_rows};
use crate::space::Space;

#[test]
fn refs_are_slugs_of_names_and_counted_on_when_taken() {
    let mut space = Space::new();
    for name in ["Ordens de Serviço", "ordens_de_servico", "2024", "日本"] {
        let table = space.table(name);
        space.text(table, "Nome do Cliente");
    }
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.refs("create_feature"),
        [
            "f_ordens_de_servico",
            "f_ordens_de_servico_2",
            "f_n_2024",
            "f_feature"
        ]
    );
    let columns = package.refs("create_column");
    assert_eq!(columns[1], "c_ordens_de_servico_2_nome_do_cliente");
    assert_eq!(package.created(columns[0])["name"], "Nome do Cliente");
}

#[test]
fn a_module_and_a_channel_share_a_letter_and_no_ref() {
    let mut space = Space::new();
    space.module("support", &json!({}));
    let channel = space.channel(Some("support"));
    let config = json!({"scopeType": "channel", "scopeId": channel, "body": "x"});
    space.automation(
        "notify",
        &json!({"type": "manual"}),
        &json!([{"key": "notify", "config": config}]),
    );
    let package = exported(&space, &Selection::default());
    assert_eq!(package.refs("create_module"), ["m_support"]);
    assert_eq!(package.dependency("m_support_2")["kind"], "channel");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let mut space = Space::new();
    let table = space.table("a");
    space.text(table, "x");
    space.row(table, &json!({"x": "1"}));
    let once = try_export(&space, &with_rows()).unwrap();
    assert_eq!(once, try_export(&space, &with_rows()).unwrap());
}

#[test]
fn orders_that_repeat_are_counted_anew() {
    let mut space = Space::new();
    let table = space.table("a");
    for name in ["x", "y", "z"] {
        space.text(table, name);
    }
    space.table_mut(table).columns[1].order = 1;
    space.row(table, &json!({"z": "1", "x": "2", "y": "3"}));
    let package = exported(&space, &with_rows());
    let orders = ["c_a_x", "c_a_y", "c_a_z"].map(|one| package.created(one)["order"].clone());
    assert_eq!(orders, [1, 2, 3]);
}
