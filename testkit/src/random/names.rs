//! Technical names and labels: valid, unique in their parent, and as awkward as that allows.

use std::collections::BTreeSet;

use tplkit::package::name::fault;

use super::dice::Dice;

/// Many of them have the same slug; none reads as a reference.
const WORDS: [&str; 44] = [
    "Clientes",
    "clientes",
    "CLIENTES",
    "Cliéntes",
    "clientes_2",
    "Clientes 2",
    "clientes-2",
    "Preço total",
    "preco_total",
    "Preco-Total",
    "PREÇO  TOTAL",
    "order",
    "Order date",
    "order_date",
    "名前",
    "имя",
    "Straße",
    "strasse",
    "a/b (c)",
    "a\\b",
    "x+y=z",
    "$100 net",
    "🧾",
    "recibo 🧾",
    "code",
    "Código",
    "codigo",
    "email",
    "EMAIL",
    "ref",
    "sku",
    "slug",
    "2024",
    "_",
    "-",
    "ﬁrst",
    "İstanbul",
    "e\u{301}tude",
    "étude",
    "null",
    "[0]",
    "rows[]",
    "it's",
    "<b>&amp;",
];

const LABELS: [&str; 12] = [
    "Clients",
    "Preço total (€)",
    "A \"quoted\" label",
    "back\\slash",
    "line\nbreak",
    "日本語のラベル",
    "  spaces  ",
    "🧾 receipts",
    "{{not a token",
    "$100",
    "</script>",
    "x",
];

/// Names that the platform keeps for itself, `id` among them: it needs its component.
const RESERVED: [&str; 3] = ["id", "created_at", "updated_at"];

/// A name that is not taken, and is from now on.
pub(super) fn technical(dice: &mut Dice, taken: &mut BTreeSet<String>) -> String {
    loop {
        let mut name = dice.word_of(&WORDS).to_owned();
        match dice.below(12) {
            0 => name = format!("{name} {}", dice.below(4)),
            1 => name = format!("{name}_{}", dice.below(4)),
            2 => name = cut(&format!("{name}{}", "x".repeat(63))),
            3 => name = cut(&name.repeat(63)),
            4 => name = name.to_uppercase(),
            _ => {}
        }
        // Once the words are used up.
        if taken.len() > WORDS.len() || dice.chance(5) {
            name = cut(&format!("n{} {name}", dice.below(10_000)));
        }
        let fits = fault(&name).is_none() && !RESERVED.contains(&name.as_str());
        if fits && taken.insert(name.clone()) {
            return name;
        }
    }
}

fn cut(name: &str) -> String {
    let cut: String = name.chars().take(63).collect();
    cut.trim_end().to_owned()
}

/// A label; sometimes there is none.
pub(super) fn label(dice: &mut Dice) -> String {
    if dice.chance(3) {
        return String::new();
    }
    dice.word_of(&LABELS).to_owned()
}

/// Text that a cell or a config may hold.
pub(super) fn text(dice: &mut Dice) -> String {
    const TEXTS: [&str; 30] = [
        "",
        "Ana",
        "ana",
        "ANA",
        "Ana ",
        " Ana",
        "$f_x",
        "$c_nome",
        "$100",
        "$workspace",
        "null",
        "true",
        "1",
        "1.0",
        "\"quoted\"",
        "back\\slash",
        "tab\tline\nreturn\r",
        "\u{1}\u{1f}\u{7f}",
        "\u{2028}\u{2029}",
        "é",
        "e\u{301}",
        "日本語",
        "👩‍👩‍👧 family",
        "{{record.x}}",
        "</script>",
        "a,b;c|d",
        "\u{feff}mark",
        "ß",
        "[]",
        "{}",
    ];
    match dice.below(10) {
        0..=5 => dice.word_of(&TEXTS).to_owned(),
        6 => "long text, ".repeat(dice.between(20, 60)),
        7 => format!("{} {}", dice.word_of(&TEXTS), dice.below(1000)),
        _ => format!("text {}", dice.below(100_000)),
    }
}
