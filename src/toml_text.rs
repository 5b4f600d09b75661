//! Values of JSON as text of TOML, and back.
//!
//! Numbers keep their digits both ways. What JSON does not have becomes text (dates, times) or is refused (numbers that
//! are none); what TOML does not have is not written (null).

use std::fmt::Write as _;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::json::{Object, Value};
use crate::{json, printable};

/// A value that JSON does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotJson {
    /// Where it stands, in bytes.
    pub offset: usize,
    message: &'static str,
}

/// A value of TOML.
///
/// # Errors
/// For numbers that JSON does not have.
pub fn value(toml: &Spanned<DeValue<'_>>) -> Result<Value, NotJson> {
    let wrong = |message| NotJson {
        offset: toml.span().start,
        message,
    };
    Ok(match toml.get_ref() {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(truth) => (*truth).into(),
        DeValue::Datetime(instant) => instant.to_string().into(),
        DeValue::Integer(number) if number.radix() != 10 => {
            let read = u64::from_str_radix(number.as_str(), number.radix());
            let read = read.map_err(|_| wrong("the number is too large"))?;
            digits(&read.to_string()).ok_or_else(|| wrong(NO_NUMBER))?
        }
        DeValue::Integer(number) => digits(number.as_str()).ok_or_else(|| wrong(NO_NUMBER))?,
        DeValue::Float(number) => digits(number.as_str()).ok_or_else(|| wrong(NO_NUMBER))?,
        DeValue::Array(elements) => {
            Value::List(elements.iter().map(value).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Object(object(table)?),
    })
}

const NO_NUMBER: &str = "this is not a number of JSON";

fn digits(text: &str) -> Option<Value> {
    Value::parse(text.trim_start_matches('+')).ok()
}

/// A table of TOML.
///
/// # Errors
/// For numbers that JSON does not have.
pub fn object(toml: &DeTable<'_>) -> Result<Object, NotJson> {
    let members = toml.iter();
    members
        .map(|(key, member)| Ok((key.get_ref().to_string(), value(member)?)))
        .collect()
}

/// A text as a string of TOML in one line, without control or misleading characters.
pub fn string(text: &str) -> String {
    let mut out = String::new();
    for character in json::write_string(text).chars() {
        if printable::visible(character) == character {
            out.push(character);
        } else {
            // Unlike JSON, TOML has no surrogates. Writing to a String cannot fail.
            let _ = write!(out, "\\U{:08x}", u32::from(character));
        }
    }
    out
}

/// A value in one line of TOML; nothing where it holds a null.
pub fn line(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) => string(text),
        Value::List(list) => {
            let list: Option<Vec<String>> = list.iter().map(line).collect();
            format!("[{}]", list?.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members =
                members.map(|(key, one)| Some(format!("{} = {}", string(key), line(one)?)));
            format!("{{ {} }}", members.collect::<Option<Vec<_>>>()?.join(", "))
        }
        other => other.write(),
    })
}

#[cfg(test)]
mod tests {
    use toml::de::DeTable;

    use super::{line, object, string};
    use crate::json::Value;

    #[test]
    fn strings_are_those_of_toml() {
        let odd = "a\"b\\c\n\t\u{1}\u{7f}\u{9b}\u{202e}\u{e0041}é";
        let table: toml::Table = format!("x = {}", string(odd)).parse().expect("TOML");
        assert_eq!(table["x"].as_str(), Some(odd));
        assert_eq!(string(odd), crate::printable::line(&string(odd)));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "0.1234567890123456789012",
            "12345678901234567890.12",
            "-9223372036854775809",
            "98765432109876543210",
            "1e-7",
            "1.5E+10",
            r#"{"a b":[1.10,"\u202ex",{"c":true}],"d":{}}"#,
        ] {
            let value = Value::parse(text).expect("JSON");
            let toml = format!("x = {}", line(&value).expect("no null"));
            let table = DeTable::parse(&toml).expect("TOML");
            let read = object(table.get_ref()).expect("JSON");
            assert_eq!(
                read.get("x").map(Value::write),
                Some(value.write()),
                "{toml}"
            );
        }
        assert_eq!(line(&Value::parse("[{\"a\":null}]").expect("JSON")), None);
    }

    #[test]
    fn numbers_that_json_does_not_have_are_refused() {
        for (text, wrong) in [
            ("x = inf", true),
            ("x = [1, nan]", true),
            ("x = 0xffff_ffff_ffff_ffff_f", true),
            ("x = 0xff", false),
            ("x = +1_000", false),
            ("x = +1_0.5", false),
            ("x = 2026-01-31", false),
        ] {
            let table = DeTable::parse(text).expect("TOML");
            assert_eq!(object(table.get_ref()).is_err(), wrong, "{text}");
        }
    }
}
