//! Nobody learns of rows that are not for them.

use uuid::Uuid;

use super::super::seed::workspace;
use super::stock::{Column, Stock, ids};
use crate::api::client::Response;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_hidden_table_and_none_are_the_same_bytes,
    no_query_reaches_beyond_the_own_rows,
);

const COLUMNS: [Column; 2] = [Column::new("a", "text").slot(1), Column::new("u", "text")];

async fn a_hidden_table_and_none_are_the_same_bytes(place: Place) {
    let world = World::new(place).await;
    let closed = workspace(&world, world.acme, "members").await;
    let foreign = workspace(&world, world.other, "organization").await;
    let closed = Stock::within(&world, (world.acme, closed), false, &COLUMNS).await;
    let foreign = Stock::within(&world, (world.other, foreign), false, &COLUMNS).await;
    let mut none = foreign.clone();
    none.feature = world.context.id();
    for stock in [&closed, &foreign] {
        stock.fill(&world, &[r#"{"a":"x"}"#]).await;
        // Somebody has asked before: the shape of the table is in memory.
        let email = if stock.organization == world.acme {
            "admin@acme.test"
        } else {
            "stranger@other.test"
        };
        assert_eq!(ids(&stock.list(&world.as_user(email), &[])).len(), 1);
    }
    let editor = world.as_user("editor@acme.test");
    let mut bodies = Vec::new();
    for stock in [&closed, &foreign, &none] {
        let mut keep = |response: Response| {
            let body = response.refused(404, "not_found").body;
            bodies.push(
                body.replace(&stock.feature.to_string(), "F")
                    .replace(":aggregate", ""),
            );
        };
        for parameters in [
            &[][..],
            &[("sort", "-a")],
            &[("filter", "a:eq:x"), ("match", "any")],
            // Nor does a fault show that there is something to be wrong about.
            &[("filter", "a")],
            &[("limit", "0")],
            &[("cursor", "x")],
        ] {
            keep(stock.list(&editor, parameters));
        }
        for parameters in [
            &[("op", "count")][..],
            &[("op", "sum"), ("column", "a")],
            &[("op", "x")],
        ] {
            keep(stock.aggregate(&editor, parameters));
        }
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    let odd = editor.get("/v1/features/7/rows");
    odd.refused(422, "validation_failed");
}

async fn no_query_reaches_beyond_the_own_rows(place: Place) {
    let world = World::new(place).await;
    let editor = world.person("writer@acme.test").await;
    world
        .member(
            world.acme,
            "writer@acme.test",
            tplkit_server::auth::Role::Editor,
        )
        .await;
    let open = workspace(&world, world.acme, "organization").await;
    let guarded = Stock::within(&world, (world.acme, open), true, &COLUMNS).await;
    let unguarded = Stock::within(&world, (world.acme, open), false, &COLUMNS).await;
    let foreign = workspace(&world, world.other, "organization").await;
    let foreign = Stock::within(&world, (world.other, foreign), false, &COLUMNS).await;
    let data = [r#"{"a":"x","u":"x"}"#, r#"{"a":"y"}"#, "{}"];
    for stock in [&guarded, &unguarded, &foreign] {
        stock.fill(&world, &data).await;
    }
    let own: Vec<super::stock::New> = data
        .iter()
        .map(|data| super::stock::New::of(&world, data))
        .collect();
    guarded.put(&world, &own, Some(editor)).await;
    let mut own: Vec<Uuid> = own.iter().map(|row| row.id).collect();
    own.sort();
    let client = world.as_user("writer@acme.test");
    for filters in [
        &[][..],
        &["id:not.is:null", "a:eq:x"],
        &["a:is:null", "a:not.is:null"],
        &["u:is:null", "u:not.is:null", "created_at:not.is:true"],
    ] {
        for sort in ["id", "-a", "a", "u", "-u", "-created_at"] {
            let mut parameters = vec![("match", "any"), ("sort", sort)];
            parameters.extend(filters.iter().map(|filter| ("filter", *filter)));
            let mut found = ids(&guarded.list(&client, &parameters));
            found.sort();
            assert_eq!(found, own, "{parameters:?}");
            parameters.retain(|(name, _)| *name != "sort");
            parameters.push(("op", "count"));
            let response = guarded.aggregate(&client, &parameters).expect(200).json();
            assert_eq!(response["result"], 3, "{parameters:?}");
        }
    }
    let strangers = world.as_user("stranger@other.test");
    assert_eq!(
        ids(&foreign.list(
            &strangers,
            &[
                ("match", "any"),
                ("filter", "a:is:null"),
                ("filter", "a:not.is:null")
            ]
        ))
        .len(),
        3
    );
}
