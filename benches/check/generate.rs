//! Large packages without a single finding, the same for the same seed.
//!
//! Cells are made to look like those of a business: texts of every length with accents and
//! escapes, amounts, dates, choices, JSON, links by a business column. Nothing is regular enough
//! for a reader to guess.

use std::fmt::Write as _;

/// A small generator of numbers (splitmix64): good enough for shapes, the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }

    fn pick<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap_or_default()]
    }
}

const WORDS: [&str; 32] = [
    "encomenda",
    "cliente",
    "morada",
    "São Paulo",
    "entrega",
    "factura",
    "prazo",
    "armazém",
    "order",
    "delivered",
    "pending",
    "approved",
    "quarterly",
    "budget",
    "review",
    "João",
    "Lisboa",
    "Conceição",
    "warehouse",
    "pallet",
    "invoice",
    "customer",
    "contact",
    "€",
    "renewal",
    "contract",
    "team",
    "north",
    "ação",
    "meeting",
    "follow-up",
    "Größe",
];

/// Escaped on purpose: tools that write ASCII only are common.
const ESCAPED: [&str; 4] = ["\\n", "\\\"as agreed\\\"", "caf\\u00e9", "A\\/B"];

fn uid(random: &mut Random) -> String {
    let (high, low) = (random.next(), random.next());
    format!(
        "u_{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFF,
        0x8000 | (low >> 48) & 0x3FFF,
        low & 0xFFFF_FFFF_FFFF,
    )
}

fn text(random: &mut Random, out: &mut String, words: u64) {
    out.push('"');
    for position in 0..=random.below(words) {
        if position > 0 {
            out.push(' ');
        }
        let word = if random.one_in(40) {
            random.pick(&ESCAPED)
        } else {
            random.pick(&WORDS)
        };
        out.push_str(word);
    }
    out.push('"');
}

/// Name, type, component and config of each column, in table order. `{link}` and `{many}` stand
/// for the tables linked to.
const COLUMNS: [(&str, &str, &str, &str); 17] = [
    (
        "code",
        "text",
        "textfield",
        r#"{"required":true,"unique":true}"#,
    ),
    ("name", "text", "textfield", r#"{"required":true}"#),
    ("address", "text", "textfield", ""),
    ("phone", "phone", "phonefield", ""),
    ("notes", "long_text", "textarea", ""),
    ("quantity", "number", "numberfield", ""),
    ("total", "currency", "currencyfield", r#"{"decimals":2}"#),
    ("due", "date", "datepicker", ""),
    ("at", "datetime", "datetimepicker", ""),
    ("done", "boolean", "checkbox", ""),
    (
        "state",
        "select",
        "selectfield",
        r#"{"options":["open","paid","late","cancelled"]}"#,
    ),
    (
        "flags",
        "multi_select",
        "selectfield",
        r#"{"options":["a","b","c","d"]}"#,
    ),
    ("email", "email", "emailfield", ""),
    ("meta", "json", "jsoneditor", ""),
    ("serial", "number", "id", r#"{"idType":"sequence"}"#),
    (
        "parent",
        "linked_select",
        "linkfield",
        r#"{"linkedFeatureId":"$f_t{link}","linkedValueColumn":"$c_t{link}_code"}"#,
    ),
    (
        "related",
        "linked_select",
        "linkfield",
        r#"{"linkedFeatureId":"$f_t{many}","linkedValueColumn":"$c_t{many}_code","isMultiSelect":true}"#,
    ),
];

/// Tables that the links of a table lead to: an earlier one, or itself for the first.
fn linked(table: usize) -> (usize, usize) {
    (table.saturating_sub(1), table / 3)
}

/// A package of that many tables, with that many rows, views and automations each.
pub(crate) fn package(seed: u64, tables: usize, rows: usize, structure: usize) -> String {
    let random = &mut Random::new(seed);
    let uids: Vec<Vec<String>> = (0..tables)
        .map(|_| (0..rows).map(|_| uid(random)).collect())
        .collect();
    let features: Vec<String> = (0..tables).map(|_| uid(random)).collect();
    let items: Vec<String> = (0..tables).map(|_| uid(random)).collect();
    let mut out = String::with_capacity(tables * rows * 700);
    manifest(random, &mut out, &features, &items, rows, structure);
    out.push_str(",\"payloads\":[");
    for (table, item) in items.iter().enumerate() {
        if table > 0 {
            out.push(',');
        }
        let names: Vec<String> = COLUMNS
            .iter()
            .map(|column| format!("\"{}\"", column.0))
            .collect();
        let _ = write!(
            out,
            r#"{{"featureRef":"f_t{table}","itemUid":"{item}","count":{rows},"keyColumn":"code","keyUnique":true,"columns":[{}],"rows":["#,
            names.join(","),
        );
        for row in 0..rows {
            if row > 0 {
                out.push(',');
            }
            one_row(random, &mut out, &uids, table, row);
        }
        out.push_str("]}");
    }
    out.push_str("]}");
    out
}

fn manifest(
    random: &mut Random,
    out: &mut String,
    features: &[String],
    items: &[String],
    rows: usize,
    structure: usize,
) {
    let _ = write!(
        out,
        r#"{{"manifest":{{"name":"bench","label":"Bench","templateVersion":2,"source":{{"workspaceName":"Bench","generatedAt":"2026-01-01T00:00:00Z","definitionsVersion":"1"}},"items":["#
    );
    let last = features.len() - 1;
    for (table, feature) in features.iter().enumerate() {
        let _ = write!(
            out,
            r#"{{"uid":"{feature}","kind":"feature","ref":"f_t{table}","label":"Table {table}"}},"#
        );
        for (name, ..) in COLUMNS {
            let item = uid(random);
            let _ = write!(
                out,
                r#"{{"uid":"{item}","kind":"column","ref":"c_t{table}_{name}","label":"{name}","parent":"{feature}"}},"#
            );
        }
        for number in 0..structure {
            let (view, automation) = (uid(random), uid(random));
            let ids = (0..GRAPH_STEPS).map(|step| format!("\"{}\"", step_id(table, number, step)));
            let ids: Vec<String> = ids.collect();
            let _ = write!(
                out,
                r#"{{"uid":"{view}","kind":"view","ref":"v_t{table}_{number}","label":"View {number}","parent":"{feature}"}},{{"uid":"{automation}","kind":"workflow","ref":"w_t{table}_{number}","label":"Automation {number}","stepIds":[{}]}},"#,
                ids.join(",")
            );
        }
        // The last table is linked to by none but, in a package of one, itself.
        let class = if table == last {
            "transactional"
        } else {
            "reference"
        };
        let _ = write!(
            out,
            r#"{{"uid":"{}","kind":"rows","label":"Table {table}","parent":"{feature}","count":{rows},"dataClass":"{class}"}}"#,
            items[table]
        );
        out.push_str(if table == last { "]" } else { "," });
    }
    out.push_str(
        r#","dependencies":[],"unresolved":[],"redacted":[],"plan":{"planVersion":1,"id":""#,
    );
    out.push_str(&uid(random));
    out.push_str(r#"","summary":"Tables and rows.","target":{"workspaceId":"$workspace"},"metadata":{"source":"export","generatedAt":"2026-01-01T00:00:00Z"},"externalRefs":[],"steps":["#);
    let mut steps: Vec<String> = Vec::new();
    for table in 0..features.len() {
        let step = uid(random);
        steps.push(format!(
            r#"{{"uid":"{step}","tool":"create_feature","ref":"f_t{table}","args":{{"workspaceId":"$workspace","name":"t{table}","label":"Table {table}"}}}}"#
        ));
    }
    for table in 0..features.len() {
        let (link, many) = linked(table);
        for (position, (name, kind, component, config)) in COLUMNS.iter().enumerate() {
            let step = uid(random);
            let config = config
                .replace("{link}", &link.to_string())
                .replace("{many}", &many.to_string());
            let config = if config.is_empty() {
                config
            } else {
                format!(r#","config":{config}"#)
            };
            steps.push(format!(
                r#"{{"uid":"{step}","tool":"create_column","ref":"c_t{table}_{name}","args":{{"featureId":"$f_t{table}","name":"{name}","label":"{name}","type":"{kind}","defaultComponent":"{component}","order":{}{config}}}}}"#,
                position + 1,
            ));
        }
    }
    for table in 0..features.len() {
        steps.extend((0..structure).map(|number| view(random, table, number)));
    }
    for table in 0..features.len() {
        steps.extend((0..structure).map(|number| automation(random, table, number)));
    }
    out.push_str(&steps.join(","));
    out.push_str("]}}");
}

fn view(random: &mut Random, table: usize, number: usize) -> String {
    let columns = COLUMNS.iter().skip(number % 3).step_by(2);
    let columns: Vec<String> = columns
        .map(|column| format!("\"$c_t{table}_{}\"", column.0))
        .collect();
    format!(
        r#"{{"uid":"{}","tool":"create_view","ref":"v_t{table}_{number}","args":{{"featureId":"$f_t{table}","name":"view_{number}","label":"View {number}","type":"table","config":[{{"visibleColumns":[{}],"sort":{{"column":"$c_t{table}_code","desc":true}}}}]}}}}"#,
        uid(random),
        columns.join(","),
    )
}

/// Steps of an automation.
const GRAPH_STEPS: usize = 6;

fn step_id(table: usize, automation: usize, step: usize) -> String {
    format!("stp_{table:06}{automation:03}{step:03}")
}

fn automation(random: &mut Random, table: usize, number: usize) -> String {
    let id = |step| step_id(table, number, step);
    let mut body = String::new();
    text(random, &mut body, 40);
    format!(
        r#"{{"uid":"{}","tool":"create_workflow_v2","ref":"w_t{table}_{number}","args":{{"workspaceId":"$workspace","name":"w_t{table}_{number}","label":"Automation {number}","triggerConfig":{{"type":"record.event","config":{{"modes":["updated"],"featureId":"$f_t{table}","watchedColumns":["$c_t{table}_total"]}}}},"graphConfig":{{"steps":[{{"key":"var.set","id":"{}","config":{{"name":"greeting","value":"Olá {{{{vars.trigger.name}}}}"}}}},{{"key":"ifElse","id":"{}","config":{{"condition":{{"subject":"var","var":"greeting","op":"eq","value":"x"}},"then":[{{"key":"email.send","id":"{}","config":{{"to":"a@example.org","subject":"{{{{vars.greeting}}}} {{{{sys.today}}}}","body":{body},"attachFiles":false}}}}],"else":[{{"key":"delay","id":"{}","config":{{"seconds":60}}}}]}}}},{{"key":"feature.read","id":"{}","config":{{"featureId":"$f_t{table}","limit":10,"mergeMode":"append","orderBy":{{"column":"$c_t{table}_name","desc":false}},"filterGroup":{{"combinator":"and","rules":[{{"id":"r1","columnName":"$c_t{table}_state","operator":"equals","value":"{{{{vars.greeting}}}}"}}]}}}}}},{{"key":"feature.write","id":"{}","config":{{"mode":"updateTrigger","targetFeatureId":"$f_t{table}","bindings":[{{"targetColumn":"$c_t{table}_notes","value":"{{{{vars.steps.{}.count}}}}","type":"expression"}}]}}}}]}},"isDraft":true,"published":true}}}}"#,
        uid(random),
        id(0),
        id(1),
        id(2),
        id(3),
        id(4),
        id(5),
        id(4),
    )
}

fn code(table: usize, row: usize) -> String {
    format!("T{table}-{row:06}")
}

/// One row: most cells filled, some absent or null, as people leave them.
fn one_row(random: &mut Random, out: &mut String, uids: &[Vec<String>], table: usize, row: usize) {
    let _ = write!(
        out,
        r#"{{"uid":"{}","data":{{"code":"{}","name":"#,
        uids[table][row],
        code(table, row)
    );
    text(random, out, 4);
    out.push_str(",\"address\":");
    text(random, out, 8);
    let _ = write!(out, ",\"phone\":\"+351 9{:08}\"", random.below(100_000_000));
    if row == 0 || !random.one_in(3) {
        out.push_str(",\"notes\":");
        text(random, out, 24);
    }
    let _ = write!(out, ",\"quantity\":{}", random.below(100_000));
    let _ = write!(
        out,
        ",\"total\":{}.{:02}",
        random.below(1_000_000),
        random.below(100)
    );
    let (month, day) = (1 + random.below(12), 1 + random.below(28));
    let _ = write!(
        out,
        ",\"due\":\"20{:02}-{month:02}-{day:02}\"",
        random.below(40)
    );
    if random.one_in(8) {
        out.push_str(",\"at\":null");
    } else {
        let (hour, minute) = (random.below(24), random.below(60));
        let _ = write!(
            out,
            ",\"at\":\"2025-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z\""
        );
    }
    let _ = write!(out, ",\"done\":{}", random.one_in(2));
    let _ = write!(
        out,
        ",\"state\":\"{}\"",
        random.pick(&["open", "paid", "late", "cancelled"])
    );
    let flags = random.pick(&[
        "",
        ",\"flags\":[\"b\",\"a\"]",
        ",\"flags\":[\"c\"]",
        ",\"flags\":[]",
    ]);
    // The first row has every column, so that none is listed in vain.
    out.push_str(if row == 0 {
        ",\"flags\":[\"a\"]"
    } else {
        flags
    });
    let _ = write!(
        out,
        ",\"email\":\"{}{row}@example.pt\"",
        random.pick(&["ana", "rui.costa", "info"])
    );
    if row == 0 || random.one_in(2) {
        let _ = write!(
            out,
            ",\"meta\":{{\"origin\":\"{}\",\"score\":{}.{},\"tags\":[{},true,null]}}",
            random.pick(&["web", "shop", "phone"]),
            random.below(100),
            random.below(1000),
            random.below(9),
        );
    }
    let _ = write!(out, ",\"serial\":{}", row + 1);
    links(random, out, uids, table, row == 0);
    out.push('}');
}

/// The two link cells, the end of `data`, and `refs`.
fn links(random: &mut Random, out: &mut String, uids: &[Vec<String>], table: usize, all: bool) {
    let (link, many) = linked(table);
    let some_row = |random: &mut Random, table: usize| {
        usize::try_from(random.below(uids[table].len() as u64)).unwrap_or_default()
    };
    let triple = |table: usize, row: usize| {
        format!(
            r#"{{"rowUid":"{}","featureRef":"f_t{table}","valueColumn":"code"}}"#,
            uids[table][row]
        )
    };
    let mut refs: Vec<String> = Vec::new();
    if all || !random.one_in(10) {
        let row = some_row(random, link);
        let _ = write!(out, ",\"parent\":\"{}\"", code(link, row));
        refs.push(format!("\"parent\":{}", triple(link, row)));
    } else if random.one_in(2) {
        out.push_str(",\"parent\":\"nobody\"");
    }
    if all || random.one_in(5) {
        let rows: Vec<usize> = (0..=random.below(3))
            .map(|_| some_row(random, many))
            .collect();
        let mut values: Vec<String> = rows
            .iter()
            .map(|row| format!("\"{}\"", code(many, *row)))
            .collect();
        if random.one_in(10) {
            values.push("\"gone\"".to_owned());
        }
        let _ = write!(out, ",\"related\":[{}]", values.join(","));
        let triples: Vec<String> = rows.iter().map(|row| triple(many, *row)).collect();
        refs.push(format!("\"related\":{{\"rows\":[{}]}}", triples.join(",")));
    }
    out.push('}');
    if !refs.is_empty() {
        let _ = write!(out, ",\"refs\":{{{}}}", refs.join(","));
    }
}
