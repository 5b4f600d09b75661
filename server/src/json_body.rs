//! Request bodies: strict JSON, and access to its fields.

use std::ops::RangeInclusive;

use tplkit::json::{Anomaly, Doc, JsonKind, Node, Object, SyntaxKind, Value, write_string};
use tplkit::package::size::{MOST_DESCRIPTION, MOST_LABEL};
use tplkit::rows::{Decimal, canonical_to};

use crate::ids;
use crate::refusal::{Code, Fault, Refusal};

/// How many characters a label has.
pub const LABEL: RangeInclusive<usize> = 1..=MOST_LABEL;
/// How many characters a description has.
pub const DESCRIPTION: RangeInclusive<usize> = 0..=MOST_DESCRIPTION;
/// The greatest integer of a body: up to it, every reader of JSON reads integers alike.
pub const MOST_INTEGER: i64 = (1 << 53) - 1;
/// How many characters of a key a refusal shows.
const MAX_SHOWN_CHARS: usize = 100;

/// The text of a body.
pub fn text(bytes: Vec<u8>) -> Result<String, Refusal> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Refusal::new(Code::InvalidJson, format!("byte {at} is not UTF-8"))
    })
}

/// Reads a body as it stands. Repeated keys, NUL and deep nesting are refused, because the next reader
/// might understand something else.
pub fn read(text: &str) -> Result<Doc<'_>, Refusal> {
    let refuse = |why: String| Refusal::new(Code::InvalidJson, why);
    let doc = Doc::parse(text).map_err(|error| match error.kind {
        SyntaxKind::Empty => refuse("the body is empty: a JSON document is required".to_owned()),
        kind => refuse(format!("byte {}: {kind}", error.offset)),
    })?;
    match doc.anomalies().first().copied() {
        None => Ok(doc),
        Some(anomaly) => Err(refuse(describe(&doc, anomaly))),
    }
}

/// What another reader might understand otherwise, and where it begins.
fn describe(doc: &Doc<'_>, anomaly: Anomaly) -> String {
    let (at, what) = match anomaly {
        Anomaly::DuplicateKey(id) => {
            let member = doc.node(id);
            let key: String = member
                .key()
                .unwrap_or_default()
                .chars()
                .take(MAX_SHOWN_CHARS)
                .collect();
            let key = write_string(&key);
            let what = format!("the key {key} appears twice in its object");
            (member.key_span().start, what)
        }
        Anomaly::NulInKey(id) => {
            let at = doc.node(id).key_span().start;
            (at, "the key holds U+0000".to_owned())
        }
        Anomaly::NulInString(id) => {
            let at = doc.node(id).span().start;
            (at, "the text holds U+0000".to_owned())
        }
    };
    format!("byte {at}: {what}")
}

/// Reads a body into a value whose numbers can be kept.
pub fn parse(bytes: &[u8]) -> Result<Value, Refusal> {
    let refuse = |why: String| Refusal::new(Code::InvalidJson, why);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| refuse(format!("byte {} is not UTF-8", error.valid_up_to())))?;
    let doc = read(text)?;
    let unstorable = doc.all_nodes().filter(|node| {
        matches!(node.kind(), JsonKind::Number) && !Decimal::new(node.raw()).is_storable()
    });
    let faults: Vec<Fault> = unstorable
        .map(|node| Fault::new(member_path(node), "has more digits than are kept"))
        .collect();
    if !faults.is_empty() {
        return Err(Refusal::invalid(faults));
    }
    let mut canonical = String::with_capacity(text.len());
    canonical_to(&mut canonical, doc.root().raw());
    Value::parse(&canonical).map_err(|error| refuse(error.to_string()))
}

/// A place in the body as clients write it: `rows[3].data.amount`.
fn member_path(node: Node<'_>) -> String {
    let mut tokens = Vec::new();
    let mut current = node;
    while let Some(parent) = current.parent() {
        tokens.push(match current.key() {
            Some(key) => format!(".{key}"),
            None => format!("[{}]", current.index()),
        });
        current = parent;
    }
    tokens.reverse();
    tokens.concat().trim_start_matches('.').to_owned()
}

/// What is wrong with a body that is no object.
pub(crate) const NOT_AN_OBJECT: &str = "the body has to be an object";
/// What is wrong with a member that nothing reads.
pub(crate) const UNKNOWN_FIELD: &str = "is not a field of this body";

/// The refusal of a body that is no object.
pub(crate) fn not_an_object() -> Refusal {
    Refusal::fault("", NOT_AN_OBJECT)
}

/// The refusal to change what never changes.
pub(crate) fn frozen(name: &str) -> Refusal {
    Refusal::forbidden(format!("{name} cannot be changed."))
}

/// The fields of a body. What is taken is known; [`finish`](Fields::finish) refuses the rest.
#[derive(Debug)]
pub struct Fields {
    members: Object,
    faults: Vec<Fault>,
}

impl Fields {
    /// The members of a body, which has to be an object.
    pub fn of(body: Value) -> Result<Fields, Refusal> {
        match body {
            Value::Object(members) => Ok(Fields {
                members,
                faults: Vec::new(),
            }),
            _ => Err(not_an_object()),
        }
    }

    /// Refuses the change of what never changes.
    pub fn frozen(&self, names: &[&str]) -> Result<(), Refusal> {
        match names.iter().find(|name| self.members.contains_key(**name)) {
            Some(name) => Err(frozen(name)),
            None => Ok(()),
        }
    }

    /// A field, if it is there.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.members.shift_remove(name)
    }

    /// A text that may be missing.
    pub fn text(&mut self, name: &str) -> Option<String> {
        if let Value::String(text) = self.take(name)? {
            return Some(text);
        }
        self.refuse(name, "has to be a string");
        None
    }

    /// A text that has to be there.
    pub fn required_text(&mut self, name: &str) -> String {
        self.required(name);
        self.text(name).unwrap_or_default()
    }

    /// Notes it when a field is missing.
    pub fn required(&mut self, name: &str) {
        if !self.members.contains_key(name) {
            self.refuse(name, "is required");
        }
    }

    /// A label that may be missing.
    pub fn label(&mut self, name: &str) -> Option<String> {
        let label = self.text(name)?;
        self.bound(name, &label, LABEL);
        Some(label)
    }

    /// Notes it when a text has too few characters, or too many.
    pub fn bound(&mut self, name: &str, text: &str, characters: RangeInclusive<usize>) {
        // More bytes than so many characters can have need no counting.
        let fits = text.len() <= characters.end() * 4 && characters.contains(&text.chars().count());
        if !fits {
            let (least, most) = characters.into_inner();
            self.refuse(name, format!("has to have {least} to {most} characters"));
        }
    }

    /// A text or `null`, that may be missing.
    pub fn nullable_text(&mut self, name: &str) -> Option<Option<String>> {
        match self.take(name)? {
            Value::String(text) => Some(Some(text)),
            Value::Null => Some(None),
            _ => {
                self.refuse(name, "has to be a string or null");
                None
            }
        }
    }

    /// An integer that may be missing, and that every reader of JSON reads alike.
    pub fn integer(&mut self, name: &str) -> Option<i64> {
        const MAX: i64 = MOST_INTEGER;
        if let Value::Number(number) = self.take(name)?
            && let Some(number) = number.as_i64().filter(|n| (-MAX..=MAX).contains(n))
        {
            return Some(number);
        }
        self.refuse(name, format!("has to be an integer from -{MAX} to {MAX}"));
        None
    }

    /// `true` or `false`, that may be missing.
    pub fn flag(&mut self, name: &str) -> Option<bool> {
        if let Value::Bool(value) = self.take(name)? {
            return Some(value);
        }
        self.refuse(name, "has to be true or false");
        None
    }

    /// An id that may be missing.
    pub fn id(&mut self, name: &str) -> Option<uuid::Uuid> {
        let id = self.take(name)?.as_str().and_then(ids::uuid);
        if id.is_none() {
            self.refuse(name, "is not a UUID");
        }
        id
    }

    /// An id that has to be there.
    pub fn required_id(&mut self, name: &str) -> uuid::Uuid {
        let before = self.faults.len();
        let text = self.required_text(name);
        let id = ids::uuid(&text);
        if id.is_none() && self.faults.len() == before {
            self.refuse(name, "is not a UUID");
        }
        id.unwrap_or_default()
    }

    /// An object that may be missing, as the text that is stored.
    pub fn object(&mut self, name: &str) -> Option<String> {
        if let value @ Value::Object(_) = self.take(name)? {
            return Some(value.write());
        }
        self.refuse(name, "has to be an object");
        None
    }

    /// How many fields are wrong so far.
    pub fn count(&self) -> usize {
        self.faults.len()
    }

    /// Notes that a field is wrong.
    pub fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.faults.push(Fault::new(name, message));
    }

    /// Refuses what is wrong, and every field that nobody took.
    pub fn finish(mut self) -> Result<(), Refusal> {
        for name in std::mem::take(&mut self.members).into_keys() {
            self.refuse(&name, UNKNOWN_FIELD);
        }
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(Refusal::invalid(self.faults))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, parse};

    #[test]
    fn json_that_two_readers_may_take_differently_is_refused() {
        for bad in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":"\u0000"}"#,
            r#"{"a":"\ud800"}"#,
            "{\"a\":1",
            "",
            "{} {}",
        ] {
            let code = parse(bad.as_bytes()).expect_err(bad).code;
            assert_eq!(code.as_str(), "invalid_json", "{bad}");
        }
        assert!(parse(b"{\"a\":\"\xff\"}").is_err());
        for missing in [&b""[..], b" \n"] {
            let refused = parse(missing).expect_err("a body");
            assert_eq!(
                refused.detail(),
                "the body is empty: a JSON document is required"
            );
        }
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(deep(128).as_bytes()).is_ok());
        assert!(parse(deep(129).as_bytes()).is_err());
    }

    #[test]
    fn what_two_readers_may_take_differently_is_named_with_its_place() {
        for (body, detail) in [
            (
                r#"{"a":1,"b":{"\u0061":1,"a":2}}"#,
                r#"byte 23: the key "a" appears twice in its object"#,
            ),
            (
                r#"{"é\n":1,"é\n":2}"#,
                r#"byte 10: the key "é\n" appears twice in its object"#,
            ),
            (r#"{"é":["x","\u0000"]}"#, "byte 11: the text holds U+0000"),
            (r#"{"a":{"k\u0000":1}}"#, "byte 6: the key holds U+0000"),
            // The first that is wrong.
            (r#"{"n":"\u0000","n":1}"#, "byte 5: the text holds U+0000"),
        ] {
            let refused = parse(body.as_bytes()).expect_err(body);
            assert_eq!(refused.code.as_str(), "invalid_json", "{body}");
            assert_eq!(refused.detail(), detail, "{body}");
        }
        let key = "k".repeat(100_000);
        let long = format!("{{\"{key}\":1,\"{key}\":2}}");
        let refused = parse(long.as_bytes()).expect_err("a key that appears twice");
        assert!(refused.detail().len() < 200, "{}", refused.detail().len());
    }

    #[test]
    fn a_label_has_1_to_255_characters() {
        for (label, fine) in [
            (String::new(), false),
            ("é".to_owned(), true),
            ("😀".repeat(255), true),
            ("x".repeat(256), false),
            ("x".repeat(4_000_000), false),
        ] {
            let body = super::Value::parse(&format!("{{\"label\":\"{label}\"}}"));
            let mut fields = Fields::of(body.expect("JSON")).expect("an object");
            assert!(fields.label("label").is_some());
            assert_eq!(fields.finish().is_ok(), fine, "{}", label.len());
        }
    }

    #[test]
    fn numbers_are_exact_and_plain() {
        let config = |text: &str| {
            let mut fields = Fields::of(parse(text.as_bytes())?)?;
            Ok::<_, super::Refusal>(fields.object("config"))
        };
        let read = config(r#"{"config":{"n":[1.10,1e2,-0,12345678901234567890]}}"#);
        let read = read.expect("fine").expect("there");
        assert_eq!(read, r#"{"n":[1.1,100,0,12345678901234567890]}"#);
        let refusal = config(r#"{"config":{"n":[0,1e400]}}"#).expect_err("too large");
        assert_eq!(refusal.code.as_str(), "validation_failed");
        let shown = format!("{refusal:?}");
        assert!(shown.contains("config.n[1]"), "{shown}");
    }
}
