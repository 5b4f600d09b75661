//! Values of cells: what a column of each type may hold, in the form in which it is stored.

use tplkit::json::{Number, Object, Value};
use tplkit::workspace::Column;

use super::dice::Dice;
use super::names::text;

/// A value that the column can store; links have theirs elsewhere.
pub(super) fn value(dice: &mut Dice, column: &Column) -> Value {
    match column.column_type.as_str() {
        "number" => number(dice),
        "currency" => {
            let decimals = column.config.get("decimals").and_then(|value| match value {
                Value::Number(digits) => digits.as_i64(),
                _ => None,
            });
            let decimals = usize::try_from(decimals.unwrap_or(2)).unwrap_or_default();
            currency(dice, decimals)
        }
        "boolean" => Value::Bool(dice.chance(50)),
        "date" => Value::from(date(dice)),
        "datetime" => Value::from(instant(dice)),
        "select" => {
            let offered = options(column);
            dice.pick(&offered).cloned().unwrap_or_default()
        }
        "multi_select" => {
            let mut chosen = dice.some(&options(column), 50);
            dice.shuffle(&mut chosen);
            Value::List(chosen)
        }
        "email" => Value::from(format!("Person.{}@exämple.org", dice.below(500))),
        "url" => Value::from(format!("https://example.org/?q={}&r=%20", dice.below(500))),
        "phone" => Value::from(format!("+351 {}", dice.digits(9))),
        "masked" => Value::from(masked(dice, column)),
        "json" => json(dice, 3),
        "file" => Value::from(format!("scan {}.pdf", dice.below(100))),
        "button" => Value::Null,
        _ => Value::from(text(dice)),
    }
}

fn options(column: &Column) -> Vec<Value> {
    let options = column.config.get("options").and_then(Value::as_list);
    options.unwrap_or_default().to_vec()
}

/// A number of those digits.
pub(super) fn digits(text: &str) -> Value {
    Number::parse(text).map_or(Value::Null, Value::Number)
}

/// In canonical plain form: no exponent, no zeros at the end of a fraction, no negative zero.
pub(super) fn number(dice: &mut Dice) -> Value {
    const NUMBERS: [&str; 12] = [
        "0",
        "1",
        "-1",
        "0.5",
        "-0.000001",
        "9007199254740993",
        "1234567890123456789012345678901234",
        "0.1234567890123456789012345678901234",
        "123456789012345.1234567890123456789",
        "10000000000000000000000000000000000000000000000000000000000000",
        "-99999999999999999999",
        "3.14",
    ];
    if dice.chance(40) {
        return digits(dice.word_of(&NUMBERS));
    }
    digits(&dice.below(1000).to_string())
}

fn currency(dice: &mut Dice, decimals: usize) -> Value {
    let count = dice.between(1, 9);
    let whole = dice.digits(count);
    let fraction = dice.digits(decimals);
    let fraction = fraction.trim_end_matches('0');
    let sign = if dice.chance(10) { "-" } else { "" };
    if fraction.is_empty() {
        return digits(&format!("{sign}{whole}"));
    }
    digits(&format!("{sign}{whole}.{fraction}"))
}

pub(super) fn date(dice: &mut Dice) -> String {
    if dice.chance(10) {
        return dice
            .word_of(&["2024-02-29", "1900-01-01", "9999-12-31"])
            .to_owned();
    }
    let (year, month, day) = (
        dice.between(1990, 2030),
        dice.between(1, 12),
        dice.between(1, 28),
    );
    format!("{year:04}-{month:02}-{day:02}")
}

fn instant(dice: &mut Dice) -> String {
    let zone = dice.word_of(&["Z", "+00:00", "-03:30", "+14:00"]);
    let fraction = dice.word_of(&["", ".5", ".123456"]);
    let (hour, minute, second) = (dice.below(24), dice.below(60), dice.below(60));
    let date = date(dice).replace("9999", "2999");
    format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
}

fn masked(dice: &mut Dice, column: &Column) -> String {
    match column.config.get("mask").and_then(Value::as_str) {
        Some("nif") => {
            let number = nif(&dice.digits(8));
            let (head, tail) = number.split_at(3);
            match dice.below(3) {
                0 => format!("{head} {tail}"),
                1 => format!("{head}.{tail}"),
                _ => number,
            }
        }
        Some("iban") => {
            let number = iban("PT", &dice.digits(21));
            match dice.below(3) {
                0 => number.to_lowercase(),
                1 => format!("{} {}", &number[..4], &number[4..]),
                _ => number,
            }
        }
        _ => luhn(&dice.digits(15)),
    }
}

/// Eight digits and their check digit.
fn nif(digits: &str) -> String {
    let sum: usize = (digits.bytes().zip((2..=9).rev()))
        .map(|(digit, weight)| usize::from(digit - b'0') * weight)
        .sum();
    let check = match 11 - sum % 11 {
        10 | 11 => 0,
        check => check,
    };
    format!("{digits}{check}")
}

/// A country and its account number, with the check digits between them.
fn iban(country: &str, account: &str) -> String {
    let letters: String = country
        .bytes()
        .map(|letter| (letter - b'A' + 10).to_string())
        .collect();
    let number = format!("{account}{letters}00");
    let rest = number.bytes().fold(0u32, |rest, digit| {
        (rest * 10 + u32::from(digit - b'0')) % 97
    });
    format!("{country}{:02}{account}", 98 - rest)
}

fn luhn(digits: &str) -> String {
    let mut sum = 0;
    for (at, digit) in digits.bytes().rev().enumerate() {
        let digit = u32::from(digit - b'0');
        let twice = if at % 2 == 0 { digit * 2 } else { digit };
        sum += if twice > 9 { twice - 9 } else { twice };
    }
    format!("{digits}{}", (10 - sum % 10) % 10)
}

fn json(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 4 } else { 6 }) {
        0 => Value::from(text(dice)),
        1 => number(dice),
        2 => Value::Bool(dice.chance(50)),
        3 => Value::Null,
        4 => {
            let count = dice.below(4);
            Value::List((0..count).map(|_| json(dice, depth - 1)).collect())
        }
        _ => {
            let count = dice.below(4);
            let mut members = Object::new();
            for _ in 0..count {
                let key = text(dice);
                members.insert(key, json(dice, depth - 1));
            }
            Value::Object(members)
        }
    }
}
