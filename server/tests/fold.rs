//! PostgreSQL folds texts exactly as the library does, whatever its version, provider or locale.
//!
//! It has no simple case mapping of its own: `lower` and `upper` ask the collation, which asks the
//! operating system or ICU. So it gets the table of the library, as a function that is written here.

use std::fmt::Write as _;

use tplkit::rows::fold_pairs;

use crate::cluster;

/// Code points that are translated together, by the first one behind them. `translate` tries all of
/// its pairs on every character, so what a text does not need must not be among them.
const BLOCKS: [u32; 8] = [
    0x100, 0x250, 0x400, 0x530, 0x1E00, 0x2C00, 0x1_0000, 0x11_0000,
];

/// The function, in ASCII alone: combining characters and look-alikes do not belong in a source file.
fn function(name: &str) -> String {
    let pairs: Vec<(u32, u32)> = fold_pairs()
        .filter(|(from, _)| !from.is_ascii())
        .map(|(from, to)| (u32::from(from), u32::from(to)))
        .collect();
    let all = class(&pairs);
    let mut sql = format!(
        "CREATE FUNCTION {name}(t text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    -- In the collation C this knows ASCII only, and leaves everything else alone.
    t := lower(t COLLATE \"C\");
    IF octet_length(t) = char_length(t) OR t COLLATE \"C\" !~ '{all}' THEN
        RETURN t;
    END IF;
"
    );
    let mut rest = &pairs[..];
    for end in BLOCKS {
        let (block, others) = rest.split_at(rest.partition_point(|(from, _)| *from < end));
        rest = others;
        let (from, to): (Vec<u32>, Vec<u32>) = block.iter().copied().unzip();
        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            "    IF t COLLATE \"C\" ~ '{}' THEN\n        t := translate(t, {}, {});\n    END IF;\n",
            class(block),
            literal(&from),
            literal(&to),
        );
    }
    sql.push_str("    RETURN t;\nEND\n$$;\n");
    sql
}

/// The regular expression of one character that is the first of one of the pairs.
fn class(pairs: &[(u32, u32)]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for (from, _) in pairs {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *from => *last = *from,
            _ => runs.push((*from, *from)),
        }
    }
    let mut class = "[".to_owned();
    for (first, last) in runs {
        class.push_str(&escaped(first));
        if first != last {
            class.push('-');
            class.push_str(&escaped(last));
        }
    }
    class.push(']');
    class
}

fn escaped(code: u32) -> String {
    if code < 0x1_0000 {
        format!("\\u{code:04x}")
    } else {
        format!("\\U{code:08x}")
    }
}

fn literal(codes: &[u32]) -> String {
    let mut literal = "U&'".to_owned();
    for code in codes {
        let _ = if *code < 0x1_0000 {
            write!(literal, "\\{code:04x}")
        } else {
            write!(literal, "\\+{code:06x}")
        };
    }
    literal.push('\'');
    literal
}

/// Where the function is created. Stores have run it: another folding takes another migration.
const MIGRATION: &str = "migrations/postgres/0002_ground.sql";
/// What stands before it; behind it stands nothing.
const HEAD: &str =
    "\n-- The simple case folding of the library; a test compares this text with it.\n";

#[test]
fn the_migration_creates_what_the_library_says() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(MIGRATION);
    let text = std::fs::read_to_string(&path).expect("a migration");
    let before = text.split(HEAD).next().unwrap_or_default();
    let whole = format!("{before}{HEAD}{}", function("fold"));
    assert!(
        text == whole,
        "the library folds otherwise than {MIGRATION}: create the function anew in a new migration"
    );
}

#[test]
fn every_code_point_is_folded_as_by_the_library() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let pairs: Vec<String> = fold_pairs()
        .map(|(from, to)| format!("({},{})", u32::from(from), u32::from(to)))
        .collect();
    let sql = format!(
        "{}
         CREATE TEMP TABLE pairs (a int PRIMARY KEY, b int);
         INSERT INTO pairs VALUES {};
         SELECT count(*), count(*) FILTER (WHERE pg_temp.fold(chr(c)) <> chr(coalesce(b, c)) COLLATE \"C\")
         FROM generate_series(1, 1114111) AS c LEFT JOIN pairs ON a = c
         WHERE c NOT BETWEEN 55296 AND 57343",
        function("pg_temp.fold"),
        pairs.join(","),
    );
    assert_eq!(cluster.psql(&sql).expect("a result"), "1112063|0");
}

#[test]
fn texts_are_folded_character_by_character() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    for text in [
        "",
        "ABC xyz 019",
        "S\u{e3}o PAULO, A\u{c7}\u{c3}O",
        "\u{39f}\u{394}\u{39f}\u{3a3} \u{3c2} Stra\u{df}e \u{1e9e} \u{130}I\u{131}i \u{212a}\u{212b}\u{2126}",
        "\u{416}\u{1c5}\u{b5}\u{345}\u{1f88}\u{13a0}\u{10400}E\u{301}",
    ] {
        let sql = format!("{} SELECT pg_temp.fold('{text}')", function("pg_temp.fold"));
        let folded = cluster.psql(&sql).expect("a result");
        assert_eq!(folded, tplkit::rows::fold(text), "{text}");
    }
}
