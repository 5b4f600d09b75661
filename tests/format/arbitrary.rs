//! Arbitrary JSON values, and arbitrary spellings of one value.

use proptest::prelude::*;

/// A JSON value whose numbers are digits.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    Token(String),
    String(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Any value: deep ones, odd numbers, strings that need escapes. Keys of an object differ.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    let token = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
    ];
    let text = prop_oneof![
        any::<String>(),
        "[\\x00-\\x1f\"\\\\/$a\u{7f}é😀]{0,12}",
        "\\$[fc]_[a-z]{1,3}"
    ];
    let leaf = prop_oneof![
        token.prop_map(Json::Token),
        text.clone().prop_map(Json::String)
    ];
    leaf.prop_recursive(24, 64, 6, move |inner| {
        let members = prop::collection::btree_map(text.clone(), inner.clone(), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Json::List),
            members.prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

impl Json {
    /// The value as text. `spelling` decides white space, escapes and the order of members.
    pub(crate) fn text(&self, spelling: u64) -> String {
        let mut out = String::new();
        self.push(&mut out, &mut Dice(spelling));
        out
    }

    fn push(&self, out: &mut String, dice: &mut Dice) {
        dice.space(out);
        match self {
            Json::Token(token) => out.push_str(token),
            Json::String(text) => dice.string(out, text),
            Json::List(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    element.push(out, dice);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                let turn = dice.below(members.len().max(1));
                let order = members[turn..].iter().chain(&members[..turn]);
                for (index, (key, value)) in order.enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    dice.space(out);
                    dice.string(out, key);
                    dice.space(out);
                    out.push(':');
                    value.push(out, dice);
                }
                dice.space(out);
                out.push('}');
            }
        }
        dice.space(out);
    }
}

/// A small generator, so that one number describes one spelling.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        if self.0 == 0 {
            return 0;
        }
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 40).unwrap() % bound
    }

    fn space(&mut self, out: &mut String) {
        out.push_str([" ", "", "\n", "\t", "\r\n "][self.below(5)]);
    }

    fn string(&mut self, out: &mut String, text: &str) {
        if self.below(2) == 0 {
            out.push_str(&tplkit::json::write_string(text));
            return;
        }
        out.push('"');
        for unit in text.encode_utf16() {
            out.push_str(&format!("\\u{unit:04X}"));
        }
        out.push('"');
    }
}
