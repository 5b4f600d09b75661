//! Query parameters: each known, given once, and not empty.

use percent_encoding::percent_decode;
use uuid::Uuid;

use crate::refusal::{Fault, Refusal};

/// The parameters of a request. What is taken is known; [`finish`](Query::finish) refuses the rest.
#[derive(Debug, Default)]
pub struct Query {
    parameters: Vec<(String, String)>,
    /// The names that somebody asked for.
    known: Vec<String>,
    faults: Vec<Fault>,
}

impl Query {
    /// Reads what is behind the question mark.
    pub fn parse(text: Option<&str>) -> Query {
        let mut query = Query::default();
        for pair in text
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty())
        {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (decode(name), decode(value)) {
                (Some(name), Some(value)) => query.parameters.push((name, value)),
                _ => query.faults.push(Fault::new("query", "is not UTF-8")),
            }
        }
        query
    }

    /// A parameter that may be given once.
    pub fn text(&mut self, name: &str) -> Option<String> {
        self.note(name);
        let mut values = Vec::new();
        self.parameters.retain(|(known, value)| {
            let taken = known == name;
            if taken {
                values.push(value.clone());
            }
            !taken
        });
        if values.len() > 1 {
            self.refuse(name, "is given more than once");
        }
        let value = values.pop()?;
        if value.is_empty() {
            self.refuse(name, "is empty");
            return None;
        }
        Some(value)
    }

    /// A parameter that may be given again and again, in order.
    pub fn texts(&mut self, name: &str) -> Vec<String> {
        self.note(name);
        let taken = self.parameters.extract_if(.., |(known, _)| known == name);
        taken.map(|(_, value)| value).collect()
    }

    /// An integer between two bounds.
    pub fn integer(&mut self, name: &str, least: i64, most: i64) -> Option<i64> {
        let text = self.text(name)?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text
            .parse()
            .ok()
            .filter(|n| digits && (least..=most).contains(n));
        if number.is_none() {
            self.refuse(name, format!("is not an integer from {least} to {most}"));
        }
        number
    }

    /// One of a few words.
    pub fn word(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(name)?;
        let word = words.iter().find(|word| **word == text).copied();
        if word.is_none() {
            self.refuse(name, format!("must be one of {}", words.join(", ")));
        }
        word
    }

    /// A required id.
    pub fn id(&mut self, name: &str) -> Option<Uuid> {
        if !self.parameters.iter().any(|(known, _)| known == name) {
            self.refuse(name, "is required");
        }
        self.optional_id(name)
    }

    /// An id that may be missing.
    pub fn optional_id(&mut self, name: &str) -> Option<Uuid> {
        let text = self.text(name)?;
        let id = uuid(&text);
        if id.is_none() {
            self.refuse(name, "is not a UUID");
        }
        id
    }

    /// `true` or `false`; nothing is `false`.
    pub fn flag(&mut self, name: &str) -> bool {
        match self.text(name).as_deref() {
            Some("true") => true,
            Some("false") | None => false,
            Some(_) => {
                self.refuse(name, "is neither true nor false");
                false
            }
        }
    }

    /// Refuses what is wrong, and every parameter that nobody took.
    pub fn finish(&mut self) -> Result<(), Refusal> {
        let takes = match &*self.known {
            [] => "which takes none".to_owned(),
            known => format!("which takes {}", known.join(", ")),
        };
        for (name, _) in std::mem::take(&mut self.parameters) {
            self.refuse(&name, format!("is not a parameter of this route, {takes}"));
        }
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(Refusal::invalid(std::mem::take(&mut self.faults)))
        }
    }

    fn note(&mut self, name: &str) {
        if !self.known.iter().any(|known| known == name) {
            self.known.push(name.to_owned());
        }
    }

    /// Notes what is wrong with a parameter.
    pub fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.faults
            .push(Fault::new(format!("query.{name}"), message));
    }
}

/// An id in its one written form, in either case.
pub fn uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok())?
}

fn decode(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    let decoded = percent_decode(text.as_bytes()).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn what_is_repeated_empty_or_unknown_is_refused() {
        for (text, fine) in [
            ("limit=5", true),
            ("", true),
            ("limit=5&limit=5", false),
            ("limit=", false),
            ("limit=0", false),
            ("limit=201", false),
            ("limit=+5", false),
            ("limit=5.0", false),
            ("Limit=5", false),
            ("limit=5&x=1", false),
            ("x=%FF", false),
        ] {
            let mut query = Query::parse(Some(text));
            query.integer("limit", 1, 200);
            assert_eq!(query.finish().is_ok(), fine, "{text}");
        }
    }

    #[test]
    fn what_is_unknown_is_refused_with_what_there_is() {
        let mut query = Query::parse(Some("sortt=name"));
        query.integer("limit", 1, 200);
        query.text("sort");
        query.text("sort");
        let refusal = query.finish().expect_err("refuses");
        let shown = format!("{refusal:?}");
        assert!(shown.contains("query.sortt"), "{shown}");
        assert!(shown.contains("which takes limit, sort\""), "{shown}");
        let mut query = Query::parse(Some("sort=name"));
        let refusal = query.finish().expect_err("refuses");
        assert!(format!("{refusal:?}").contains("which takes none"));
    }
}
