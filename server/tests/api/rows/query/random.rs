//! Random queries about random rows, held against the library's own result.
//!
//! `TPLKIT_QUERIES` says how many; a failure reports the seed, and `TPLKIT_SEED` asks the same again.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tplkit::json::write_string;
use tplkit::rows::query::{Filter, Match, Operation, Order, Row, Sort, matches};
use tplkit::rows::{members, text_form};
use tplkit_server::context::{random, rfc3339};
use tplkit_server::rows::{RowHead, write_row};
use uuid::Uuid;

use super::stock::{Column, New, Stock};
use crate::api::client::{Client, Response};
use crate::api::world::World;
use crate::cluster::variable;
use crate::stores::{Place, on_both_stores};

on_both_stores!(random_queries_find_what_the_library_says);

const QUERIES: u64 = 1_000;
const ROWS: usize = 160;
/// How many bytes of what a cell has a filter looks for at most: filters have an end, and so have paths.
const LONGEST_WANTED: usize = 1_200;
/// A table serves for so many queries.
const OF_ONE_TABLE: u64 = 250;

const UNREADY: Column = Column {
    ready: false,
    ..Column::new("w", "text").slot(7)
};
const LONG: Column = Column {
    long: true,
    ..Column::new("l", "text").slot(9)
};

const UNFILLED: Column = Column {
    ready: false,
    ..Column::new("q", "text").searched()
};

/// Some of its cells are long enough to be searched in another way.
const HUGE: Column = Column::new("g", "long_text");

const COLUMNS: [Column; 17] = [
    Column::new("t", "text").slot(1),
    Column::new("u", "text"),
    Column::new("n", "number").slot(2),
    Column::new("m", "number"),
    Column::new("c", "currency").slot(16),
    Column::new("x", "json").slot(3),
    Column::new("y", "json"),
    Column::new("b", "boolean").slot(4),
    Column::new("id_", "select").slot(5),
    UNREADY,
    LONG,
    Column::new("s", "text").searched(),
    Column::new("v", "long_text").slot(8).searched(),
    Column::new("j", "email").searched(),
    UNFILLED,
    Column::new("d", "date"),
    HUGE,
];

/// Keys that no column declares, and all that stands in the way of a careless statement.
const OTHERS: [&str; 7] = ["z", "a.b", "é", "k\"q'", "%", "created_at", "$1"];

const TEXTS: [&str; 70] = [
    "",
    "a",
    "A",
    "b",
    "B",
    "ab",
    "AB",
    "abc",
    "aBc",
    "É",
    "é",
    "e\u{301}",
    "ß",
    "\u{1e9e}",
    "ss",
    "SS",
    "σ",
    "ς",
    "Σ",
    "ΟΔΟΣ",
    "οδος",
    "İ",
    "i",
    "I",
    "ı",
    "\u{212a}",
    "s",
    "ſ",
    "KISS",
    "k",
    "\u{212b}",
    "å",
    "Ǆ",
    "ǅ",
    "ǆ",
    "😀",
    "a😀",
    "𐐀",
    "𐐨",
    "%",
    "_",
    "\\",
    "a%b",
    "a_b",
    "a*b",
    "*",
    "10",
    "10.0",
    "9",
    "1e1",
    "-1",
    "true",
    "false",
    "null",
    "[1]",
    "{\"a\":1}",
    "t",
    "t10",
    "~",
    "0",
    "\u{7f}",
    "\u{ffff}",
    "\u{10ffff}",
    "a|b",
    "a\nb",
    "\n",
    "a.b",
    "^a$",
    "(a|b)+?",
    "[a]{2}",
];

const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "10",
    "9",
    "9.5",
    "0.1",
    "-0.5",
    "-10",
    "2",
    "100",
    "0.01",
    "1234567890123456789012345678901234",
    "-1234567890123456789012345678901234",
    "0.1234567890123456789012345678901234",
    "1000000000000000000000000000000000000000000000000000000000000000",
    "-9000000000000000000000000000000000000000000000000000000000000000",
    "0.000000000000000000000000000000000000000000000000000000000000001",
    "-0.000000000000000000000000000000000000000000000000000000000000001",
    "9007199254740993",
    "9007199254740992",
    "123456789012345678901234567890.1",
];

/// A small generator whose numbers follow from its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("small");
        usize::try_from(self.roll() % bound).expect("small")
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A text of which every part is there several times.
fn huge(dice: &mut Dice) -> String {
    let part: String = (0..40).map(|_| dice.pick(&TEXTS)).collect();
    let times = 8_192 / part.len().max(1) + 1;
    format!("{}{}", part.repeat(times), dice.pick(&TEXTS))
}

fn text(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 => format!("{}{}", dice.pick(&TEXTS), dice.pick(&TEXTS)),
        1 => (0..dice.below(4)).map(|_| dice.pick(&TEXTS)).collect(),
        _ => dice.pick(&TEXTS).to_owned(),
    }
}

/// A cell as JSON.
fn cell(dice: &mut Dice, depth: usize) -> String {
    match dice.below(if depth > 0 { 12 } else { 9 }) {
        0..4 => write_string(&text(dice)),
        4..7 => dice.pick(&NUMBERS).to_owned(),
        7 => dice.pick(&["true", "false"]).to_owned(),
        8 => "null".to_owned(),
        9 | 10 => {
            let elements: Vec<String> = (0..dice.below(3)).map(|_| cell(dice, depth - 1)).collect();
            format!("[{}]", elements.join(","))
        }
        _ => {
            let members: Vec<String> = (0..dice.below(3))
                .map(|_| format!("{}:{}", write_string(&text(dice)), cell(dice, depth - 1)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

fn data(dice: &mut Dice) -> String {
    let mut members = Vec::new();
    let mut put = |key: &str, value: String| members.push(format!("{}:{value}", write_string(key)));
    for column in COLUMNS {
        if dice.one_in(5) {
            continue;
        }
        let value = match column.kind {
            // Mostly what belongs there, for what is stored need not be.
            "number" | "currency" if !dice.one_in(4) => dice.pick(&NUMBERS).to_owned(),
            "boolean" if !dice.one_in(3) => dice.pick(&["true", "false"]).to_owned(),
            _ if column.name == HUGE.name && dice.one_in(12) => write_string(&huge(dice)),
            "select" => write_string(dice.pick(&["red", "green", "Blue"])),
            "text" | "long_text" | "email" if !dice.one_in(4) => {
                let mut text = text(dice);
                if column.long && dice.one_in(2) {
                    text = format!("{}{text}", "lång ".repeat(110));
                }
                write_string(&text)
            }
            _ => cell(dice, 2),
        };
        put(column.name, value);
    }
    for key in OTHERS {
        if dice.one_in(2) {
            put(key, cell(dice, 1));
        }
    }
    format!("{{{}}}", members.join(","))
}

fn rows(world: &World, dice: &mut Dice) -> Vec<New> {
    let rows = (0..ROWS).map(|_| {
        let data = data(dice);
        let mut row = New::of(world, &data);
        row.created_at = instant(dice);
        row.updated_at = instant(dice);
        row
    });
    rows.collect()
}

fn instant(dice: &mut Dice) -> i64 {
    1_700_000_000_000_000 + i64::try_from(dice.below(12)).expect("small") * 250_001
}

fn column(dice: &mut Dice) -> &'static str {
    match dice.below(10) {
        0 => dice.pick(&["id", "created_at", "updated_at"]),
        1 => dice.pick(&OTHERS),
        2 => "nowhere",
        _ => dice.pick(&COLUMNS).name,
    }
}

/// A text that has something to do with the rows.
fn wanted(dice: &mut Dice, column: &str, rows: &[New]) -> String {
    if dice.one_in(3) {
        return text(dice);
    }
    let row = &rows[dice.below(rows.len())];
    let whole = text_of(row, column);
    if !dice.one_in(3) && whole.len() <= LONGEST_WANTED {
        return whole;
    }
    part(dice, &whole)
}

/// The text form of a cell.
fn text_of(row: &New, column: &str) -> String {
    let raw = members(&row.data).find_map(|(name, raw)| name.is(column).then_some(raw));
    raw.and_then(text_form).unwrap_or_default().into_owned()
}

/// A part of a text, which a filter has room for.
fn part(dice: &mut Dice, whole: &str) -> String {
    let characters: Vec<char> = whole.chars().collect();
    let from = dice.below(characters.len() + 1);
    let most = (characters.len() - from).min(LONGEST_WANTED / 4);
    let to = from + dice.below(most + 1);
    characters[from..to].iter().collect()
}

/// A search for much, in a column that has long cells: for what one of them has, or nearly.
fn long_search(dice: &mut Dice, rows: &[New]) -> String {
    const SEARCH: [&str; 5] = ["like", "ilike", "contains", "ncontains", "endswith"];
    let texts = rows.iter().map(|row| text_of(row, HUGE.name));
    let long: Vec<String> = texts.filter(|text| text.len() > LONGEST_WANTED).collect();
    let mut wanted = if long.is_empty() {
        text(dice)
    } else {
        let whole = &long[dice.below(long.len())];
        if dice.one_in(3) {
            // Its end.
            let from = whole.len() - dice.below(LONGEST_WANTED);
            let from = (from..whole.len()).find(|at| whole.is_char_boundary(*at));
            whole[from.unwrap_or(whole.len())..].to_owned()
        } else {
            part(dice, whole)
        }
    };
    if dice.one_in(3) {
        wanted.push_str(dice.pick(&TEXTS));
    }
    if dice.one_in(2) {
        wanted = format!("*{}*{wanted}", part(dice, &wanted));
    }
    if dice.one_in(2) {
        wanted.push('*');
    }
    let not = if dice.one_in(4) { "not." } else { "" };
    format!("{}:{not}{}:{wanted}", HUGE.name, dice.pick(&SEARCH))
}

fn filter(dice: &mut Dice, rows: &[New]) -> String {
    const TEXT: [&str; 6] = ["eq", "neq", "gt", "gte", "lt", "lte"];
    const SEARCH: [&str; 6] = [
        "like",
        "ilike",
        "contains",
        "ncontains",
        "startswith",
        "endswith",
    ];
    const NUMBER: [&str; 6] = ["eqn", "neqn", "gtn", "gten", "ltn", "lten"];
    if dice.one_in(10) {
        return long_search(dice, rows);
    }
    let column = column(dice);
    let not = if dice.one_in(4) { "not." } else { "" };
    let own = match column {
        "id" => Some(rows[dice.below(rows.len())].id.to_string()),
        "created_at" | "updated_at" => Some(rfc3339(instant(dice))),
        _ => None,
    };
    if let Some(value) = own {
        return match dice.below(8) {
            0 => format!("{column}:{not}is:{}", dice.pick(&["null", "true", "false"])),
            1 | 2 => {
                let other = if column == "id" {
                    rows[dice.below(rows.len())].id.to_string()
                } else {
                    rfc3339(instant(dice))
                };
                format!("{column}:{not}in:{value}|{other}")
            }
            _ => format!("{column}:{not}{}:{value}", dice.pick(&TEXT)),
        };
    }
    match dice.below(10) {
        0 => format!("{column}:{not}is:{}", dice.pick(&["null", "true", "false"])),
        1 | 2 => format!(
            "{column}:{not}{}:{}",
            dice.pick(&NUMBER),
            dice.pick(&NUMBERS)
        ),
        3 => {
            let values: Vec<String> = (0..=dice.below(4))
                .map(|_| wanted(dice, column, rows))
                .collect();
            format!("{column}:{not}in:{}", values.join("|"))
        }
        4..7 => {
            let mut value = wanted(dice, column, rows);
            if dice.one_in(2) {
                value.push('*');
            }
            if dice.one_in(4) {
                value.insert(0, '*');
            }
            format!("{column}:{not}{}:{value}", dice.pick(&SEARCH))
        }
        _ => format!(
            "{column}:{not}{}:{}",
            dice.pick(&TEXT),
            wanted(dice, column, rows)
        ),
    }
}

/// What is asked, and what is right.
struct Query<'r> {
    parameters: Vec<(&'static str, String)>,
    sort: Sort,
    found: Vec<&'r New>,
    unknown: Vec<String>,
}

fn row(new: &New) -> Row<'_> {
    Row {
        id: new.id,
        created_at: new.created_at,
        updated_at: new.updated_at,
        data: &new.data,
    }
}

impl<'r> Query<'r> {
    fn new(dice: &mut Dice, rows: &'r [New]) -> Query<'r> {
        let mut parameters = Vec::new();
        let count = dice.pick(&[0, 1, 1, 1, 2, 2, 3, 5]);
        let texts: Vec<String> = (0..count).map(|_| filter(dice, rows)).collect();
        let filters: Vec<Filter> = texts
            .iter()
            .map(|text| Filter::parse(text).unwrap_or_else(|why| panic!("{text:?}: {why}")))
            .collect();
        parameters.extend(texts.into_iter().map(|text| ("filter", text)));
        let mut together = Match::All;
        if dice.one_in(2) {
            let word = dice.pick(&["all", "any"]);
            together = Match::parse(word).expect("a word");
            parameters.push(("match", word.to_owned()));
        }
        let mut sort = Sort::default();
        if !dice.one_in(4) {
            let text = format!("{}{}", dice.pick(&["", "-"]), column(dice));
            sort = Sort::parse(&text).expect("a sort");
            parameters.push(("sort", text));
        }
        let mut found: Vec<&New> = rows
            .iter()
            .filter(|new| matches(&filters, together, &row(new)))
            .collect();
        let number = sort.column.key().is_some_and(|key| {
            COLUMNS
                .iter()
                .any(|column| column.name == key && column.is_number())
        });
        let order = if number { Order::Number } else { Order::Text };
        found.sort_by(|one, other| sort.compare(order, &row(one), &row(other)));
        let named = filters
            .iter()
            .map(Filter::column)
            .chain([sort.column.clone()]);
        let unknown = named
            .filter_map(|column| column.key().map(str::to_owned))
            .collect();
        Query {
            parameters,
            sort,
            found,
            unknown,
        }
    }

    fn with<'q>(&'q self, more: &'q [(&'q str, String)]) -> Vec<(&'q str, &'q str)> {
        let all = self.parameters.iter().chain(more);
        all.map(|(name, value)| (*name, value.as_str())).collect()
    }

    /// Walks all pages.
    fn walk(&self, dice: &mut Dice, stock: &Stock, client: &Client) {
        let mut left = self.found.as_slice();
        let mut cursor: Option<String> = None;
        let mut fields: Option<Vec<&str>> = None;
        if dice.one_in(6) {
            fields = Some((0..=dice.below(3)).map(|_| column(dice)).collect());
        }
        loop {
            // A limit may change on the way.
            let limit = match dice.below(3) {
                0 => 1 + dice.below(8),
                1 => 1 + dice.below(60),
                _ => 200,
            };
            let mut more = vec![("limit", limit.to_string())];
            more.extend(cursor.take().map(|cursor| ("cursor", cursor)));
            more.extend(fields.iter().map(|fields| ("fields", fields.join(","))));
            let response = stock.list(client, &self.with(&more)).expect(200);
            let (page, rest) = left.split_at(limit.min(left.len()));
            let body = body(page, stock.feature, fields.as_deref());
            let (items, next) = response
                .body
                .split_once(r#"],"next_cursor":"#)
                .expect("a page");
            assert_eq!(items, body, "{:?} {more:?}", self.sort);
            assert_unknown(&response, &self.unknown, fields.iter().flatten().copied());
            left = rest;
            if next == "null}" {
                assert!(left.is_empty(), "ends early: {} left", left.len());
                return;
            }
            assert!(!left.is_empty(), "does not end");
            cursor = Some(
                next.trim_end_matches("\"}")
                    .trim_start_matches('"')
                    .to_owned(),
            );
        }
    }

    fn aggregate(&self, dice: &mut Dice, stock: &Stock, client: &Client) {
        let word = dice.pick(&["count", "sum", "avg"]);
        let operation = Operation::parse(word).expect("a word");
        let column = dice.pick(&COLUMNS).name;
        let mut more = vec![("op", word.to_owned())];
        if operation.needs_column() {
            more.push(("column", column.to_owned()));
        }
        let mut parameters = self.with(&more);
        parameters.retain(|(name, _)| *name != "sort");
        let response = stock.aggregate(client, &parameters).expect(200);
        let mut found = self.found.clone();
        found.sort_by_key(|new| new.id);
        let right = operation.of(column, found.into_iter().map(row));
        let column = operation.needs_column().then(|| format!("\"{column}\""));
        let body = format!(
            r#"{{"op":"{word}","column":{},"result":{},"rows_considered":{}}}"#,
            column.as_deref().unwrap_or("null"),
            right.result.as_deref().unwrap_or("null"),
            right.rows_considered,
        );
        assert_eq!(response.body, body, "{parameters:?}");
    }
}

fn body(page: &[&New], feature: Uuid, fields: Option<&[&str]>) -> String {
    let mut body = r#"{"items":["#.to_owned();
    for (position, row) in page.iter().enumerate() {
        if position > 0 {
            body.push(',');
        }
        let left: Vec<String> = members(&row.data)
            .filter(|(name, _)| {
                fields.is_none_or(|fields| fields.iter().any(|field| name.is(field)))
            })
            .map(|(name, value)| format!("\"{}\":{value}", name.inner))
            .collect();
        let data = format!("{{{}}}", left.join(","));
        write_row(
            &mut body,
            RowHead {
                id: row.id,
                feature,
                created_at: row.created_at,
                updated_at: row.updated_at,
            },
            &data,
        );
    }
    body
}

fn assert_unknown<'a>(
    response: &Response,
    named: &'a [String],
    fields: impl Iterator<Item = &'a str>,
) {
    const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    let declared = |name: &str| {
        ["id", "created_at", "updated_at"].contains(&name)
            || COLUMNS.iter().any(|column| column.name == name)
    };
    let all = named.iter().map(String::as_str).chain(fields);
    let mut right: Vec<String> = all
        .filter(|name| !declared(name))
        .map(|name| utf8_percent_encode(name, PLAIN).to_string())
        .collect();
    right.sort();
    right.dedup();
    let mut reported: Vec<&str> = response
        .header("x-unknown-columns")
        .map_or(Vec::new(), |reported| reported.split(',').collect());
    reported.sort_unstable();
    assert_eq!(reported, right);
}

/// Says how to ask again, when a query finds the wrong rows.
struct HowToRepeat {
    seed: u64,
    query: String,
}

impl Drop for HowToRepeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            use std::io::Write as _;
            let _ = writeln!(
                std::io::stderr(),
                "TPLKIT_SEED={} {}",
                self.seed,
                self.query
            );
        }
    }
}

fn setting(name: &str) -> Option<u64> {
    variable(name)?.to_str()?.parse().ok()
}

async fn random_queries_find_what_the_library_says(place: Place) {
    let seed = setting("TPLKIT_SEED").unwrap_or_else(|| u64::from_le_bytes(random()));
    let count = setting("TPLKIT_QUERIES").unwrap_or(QUERIES);
    let world = World::new(place).await;
    let client = world.as_user("viewer@acme.test");
    let mut repeat = HowToRepeat {
        seed,
        query: String::new(),
    };
    let mut dice = Dice(seed);
    let mut asked = 0;
    while asked < count {
        let stock = Stock::new(&world, &COLUMNS).await;
        // A table next to it, whose rows must not turn up.
        let other = Stock::new(&world, &COLUMNS).await;
        other.put(&world, &rows(&world, &mut dice), None).await;
        other.fill_search(&world).await;
        let rows = rows(&world, &mut dice);
        stock.put(&world, &rows, None).await;
        stock.fill_search(&world).await;
        for _ in 0..OF_ONE_TABLE.min(count - asked) {
            let query = Query::new(&mut dice, &rows);
            repeat.query = format!("{:?}", query.parameters);
            if dice.one_in(3) {
                query.aggregate(&mut dice, &stock, &client);
            } else {
                query.walk(&mut dice, &stock, &client);
            }
            asked += 1;
        }
    }
}
