//! Pages of large rows: they end early, and the next one begins where they ended.

use uuid::Uuid;

use super::stock::{Column, New, Stock, cursor, ids};
use crate::api::client::Client;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    a_page_of_large_rows_ends_early_and_the_next_begins_there,
    a_row_that_is_larger_than_a_page_is_a_page,
    keys_that_are_returned_alone_count_alone,
    a_page_knows_its_last_row,
);

/// What the rows of a page may have together.
const MOST: usize = 8 << 20;
/// What stands around them in a page.
const AROUND: usize = 70_000;

const COLUMNS: [Column; 4] = [
    Column::new("a", "text").slot(1),
    Column::new("n", "number").slot(2),
    Column::new("t", "text"),
    Column::new("u", "number"),
];

const SORTS: [&str; 9] = [
    "id",
    "-id",
    "-created_at",
    "updated_at",
    "a",
    "-a",
    "-n",
    "t",
    "-u",
];

/// A row whose text has so many bytes, with a few small cells to sort by.
fn row(world: &World, at: usize, bytes: usize) -> New {
    let small = at * 7 % 5;
    let cells = match small {
        0 => String::new(),
        _ => format!(r#""a":"x{small}","n":{small},"u":{small},"#),
    };
    // Of some rows the large cell is what they are sorted by.
    let key = if at.is_multiple_of(2) { "t" } else { "z" };
    let text = char::from(b'a' + u8::try_from(at % 3).expect("few"));
    let text = text.to_string().repeat(bytes);
    New {
        created_at: i64::try_from(at % 4).expect("few"),
        updated_at: i64::try_from(at % 3).expect("few"),
        ..New::of(world, &format!(r#"{{{cells}"{key}":"{text}"}}"#))
    }
}

/// All pages of a list, each bounded: the ids of each.
fn walk(client: &Client, stock: &Stock, parameters: &[(&str, &str)]) -> Vec<Vec<Uuid>> {
    let mut pages = Vec::new();
    let mut next: Option<String> = None;
    loop {
        let mut query = parameters.to_vec();
        query.extend(next.as_deref().map(|next| ("cursor", next)));
        let page = stock.list(client, &query);
        let found = ids(&page);
        let small = page.body.len() <= MOST + AROUND;
        assert!(small || found.len() == 1, "{} bytes", page.body.len());
        pages.push(found);
        next = cursor(&page);
        if next.is_none() {
            return pages;
        }
    }
}

async fn a_page_of_large_rows_ends_early_and_the_next_begins_there(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let sizes = [1_500_000, 10, 3_900_000];
    let rows = (0..9).map(|at| row(&world, at, sizes[at % sizes.len()]));
    let rows: Vec<New> = rows.collect();
    for rows in rows.chunks(4) {
        stock.put(&world, rows, None).await;
    }
    for sort in SORTS {
        // Without the large cells all of them are one page.
        let all = walk(
            &client,
            &stock,
            &[("sort", sort), ("fields", "n"), ("limit", "200")],
        );
        assert_eq!(all.len(), 1, "{sort}");
        assert_eq!(all[0].len(), rows.len(), "{sort}");
        for limit in ["200", "3"] {
            let pages = walk(&client, &stock, &[("sort", sort), ("limit", limit)]);
            assert!(pages.len() > 1, "{sort}, {limit}");
            assert_eq!(pages.concat(), all[0], "{sort}, {limit}");
        }
    }
    // What no index finds is bounded as well.
    let filtered = [("filter", "z:is:null"), ("sort", "-a"), ("limit", "200")];
    let pages = walk(&client, &stock, &filtered);
    assert_eq!(pages.concat().len(), 5);
    assert!(pages.len() > 1);
}

async fn a_row_that_is_larger_than_a_page_is_a_page(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    for at in 0..3 {
        stock.put(&world, &[row(&world, at, MOST + 1)], None).await;
    }
    stock.put(&world, &[row(&world, 3, 10)], None).await;
    for sort in ["id", "-t"] {
        for _ in 0..2 {
            let pages = walk(&client, &stock, &[("sort", sort)]);
            let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
            assert_eq!(sizes, [1, 1, 1, 1], "{sort}");
        }
    }
    let pages = walk(&client, &stock, &[("limit", "1")]);
    assert_eq!(pages.len(), 4);
}

async fn keys_that_are_returned_alone_count_alone(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let rows: Vec<New> = (0..10).map(|at| row(&world, at, 2_000_000)).collect();
    for rows in rows.chunks(4) {
        stock.put(&world, rows, None).await;
    }
    // Twice: the second time it is known that the rows are large.
    for _ in 0..2 {
        let small = walk(&client, &stock, &[("fields", "a,n")]);
        assert_eq!(small.iter().map(Vec::len).collect::<Vec<_>>(), [10]);
        let part = walk(&client, &stock, &[("fields", "z")]);
        assert!(part.len() > 1, "{}", part.len());
        assert_eq!(part.concat(), small.concat());
    }
}

async fn a_page_knows_its_last_row(place: Place) {
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let stock = Stock::new(&world, &COLUMNS).await;
    let rows: Vec<New> = (0..4).map(|at| row(&world, at, 2_000_000)).collect();
    stock.put(&world, &rows, None).await;
    // Four of them fit, and nothing follows; so it does not where fewer are asked for.
    for limit in ["200", "4"] {
        for _ in 0..2 {
            let page = stock.list(&client, &[("limit", limit)]);
            assert_eq!((ids(&page).len(), cursor(&page)), (4, None), "{limit}");
        }
    }
    // And a table whose rows are small again is read as one.
    let first = rows[0].id;
    super::super::seed::ask(
        &world,
        "DELETE FROM main.rows WHERE feature_id = $1 AND id > $2",
        vec![stock.feature.into(), first.into()],
    )
    .await;
    stock.fill(&world, &[r#"{"a":"x"}"#; 150]).await;
    for _ in 0..2 {
        let page = stock.list(&client, &[("limit", "200")]);
        assert_eq!((ids(&page).len(), cursor(&page)), (151, None));
    }
}
