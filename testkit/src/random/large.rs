//! A workspace as large as real ones, for measuring.

use tplkit::json::{Object, Value};
use tplkit::workspace::memory::State;
use tplkit::workspace::{Column, Feature, Id, RowData, StoredRow, View};

use super::config::{id, integer, object, texts};
use super::dice::Dice;
use super::values::{date, digits};

const OPTIONS: [&str; 5] = ["new", "open", "waiting", "closed", "archived"];
const SYLLABLES: [&str; 12] = [
    "al", "ber", "to", "ma", "ria", "são", "jo", "sé", "in", "dús", "tri", "as",
];

/// That many tables of that many rows: text, numbers, money, dates, choices, and links to the
/// table before by automatic id, by code, as a list, and to the table itself.
pub fn large(seed: u64, tables: usize, rows: usize) -> State {
    let mut dice = Dice::new(seed);
    let mut state = State::empty(dice.id(), dice.id(), "large", "Large");
    let mut before: Vec<LinkedIds> = Vec::new();
    for table in 0..tables {
        let name = format!("table_{table:03}");
        let feature_id = dice.id();
        let linked = state.structure.features.last().map(|feature| feature.id);
        let feature = Feature {
            id: feature_id,
            label: format!("Table {table}"),
            name,
            config: object([("titleColumn", "name".into())]),
            is_shared: false,
            columns: columns(&mut dice, feature_id, linked),
            views: vec![View {
                id: dice.id(),
                name: "all".to_owned(),
                label: "All".to_owned(),
                view_type: "table".to_owned(),
                order: 1,
                config: object([("visibleColumns", texts(&["code", "name", "status"]))]),
            }],
        };
        let stored = stored(&mut dice, table, rows, &mut before, linked.is_some());
        state.rows.insert(feature_id, stored);
        state.structure.features.push(feature);
    }
    state.rows.retain(|_, rows| !rows.is_empty());
    state
}

/// What links to a row hold.
struct LinkedIds {
    id: Value,
    code: Value,
}

fn columns(dice: &mut Dice, own: Id, linked: Option<Id>) -> Vec<Column> {
    let link = |feature: Id, value: &str, several: bool| {
        let mut config = object([
            ("linkedFeatureId", id(feature)),
            ("linkedValueColumn", value.into()),
        ]);
        if several {
            config.insert("isMultiSelect".to_owned(), true.into());
        }
        config
    };
    let empty = Object::new;
    let code = object([("required", true.into()), ("unique", true.into())]);
    let money = object([("decimals", integer(2)), ("currency", "EUR".into())]);
    let mut planned = vec![
        ("id", "text", "id", empty()),
        ("code", "text", "textfield", code),
        ("name", "text", "textfield", empty()),
        ("notes", "long_text", "textarea", empty()),
        ("quantity", "number", "numberfield", empty()),
        ("amount", "currency", "currencyfield", money),
        ("day", "date", "datepicker", empty()),
        (
            "status",
            "select",
            "selectfield",
            object([("options", texts(&OPTIONS))]),
        ),
        ("done", "boolean", "checkbox", empty()),
        (
            "parent",
            "linked_select",
            "linkfield",
            link(own, "id", false),
        ),
    ];
    if let Some(linked) = linked {
        planned.push((
            "owner",
            "linked_select",
            "linkfield",
            link(linked, "id", false),
        ));
        planned.push((
            "account",
            "auto_match",
            "linkfield",
            link(linked, "code", false),
        ));
        planned.push((
            "related",
            "linked_select",
            "linkfield",
            link(linked, "id", true),
        ));
    }
    let planned = planned.into_iter().zip(1..);
    planned
        .map(|((name, kind, shown, config), order)| Column {
            id: dice.id(),
            name: name.to_owned(),
            label: name.to_owned(),
            column_type: kind.to_owned(),
            default_component: shown.to_owned(),
            order,
            config,
        })
        .collect()
}

fn stored(
    dice: &mut Dice,
    table: usize,
    count: usize,
    before: &mut Vec<LinkedIds>,
    linked: bool,
) -> Vec<StoredRow> {
    let targets: Vec<LinkedIds> = (0..count)
        .map(|row| LinkedIds {
            id: Value::from(dice.uuid().to_string()),
            code: Value::from(format!("T{table:03}-{row:06}")),
        })
        .collect();
    let mut rows = Vec::with_capacity(count);
    for target in &targets {
        let mut cells = object([
            ("id", target.id.clone()),
            ("code", target.code.clone()),
            ("name", phrase(dice, 3).into()),
            ("quantity", integer(dice.below(10_000))),
            ("amount", amount(dice)),
            ("day", date(dice).into()),
            ("status", dice.word_of(&OPTIONS).into()),
            ("done", dice.chance(30).into()),
        ]);
        let mut add = |key: &str, value: Value| {
            cells.insert(key.to_owned(), value);
        };
        if dice.chance(60) {
            let words = dice.between(5, 40);
            add("notes", phrase(dice, words).into());
        }
        if let Some(parent) = dice.pick(&targets).filter(|_| dice.chance(50)) {
            add("parent", parent.id.clone());
        }
        if linked && !before.is_empty() {
            let mut one = || {
                dice.pick(before)
                    .map(|row| (row.id.clone(), row.code.clone()))
            };
            if let (Some((id, _)), Some((_, code))) = (one(), one()) {
                add("owner", id);
                add("account", code);
            }
            let several = (0..3).filter_map(|_| one()).map(|(id, _)| id).collect();
            add("related", Value::List(several));
        }
        let data = RowData::of(&cells);
        rows.push(StoredRow {
            id: dice.id(),
            data,
        });
    }
    *before = targets;
    rows
}

fn amount(dice: &mut Dice) -> Value {
    let (whole, cents) = (dice.below(100_000), dice.below(100));
    let text = format!("{whole}.{cents:02}");
    digits(text.trim_end_matches('0').trim_end_matches('.'))
}

fn phrase(dice: &mut Dice, words: usize) -> String {
    let mut text = String::new();
    for word in 0..words {
        if word > 0 {
            text.push(' ');
        }
        for _ in 0..dice.between(1, 4) {
            text.push_str(dice.word_of(&SYLLABLES));
        }
    }
    text
}
