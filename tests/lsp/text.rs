//! The text of the server is that of the editor, whatever is typed.

use serde_json::{Value, json};

use crate::client::Client;
use crate::packages::valid;

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(below).expect("fits"))
            .expect("fits")
    }
}

/// An editor's buffer: characters, and places counted one character after the other.
struct Buffer {
    characters: Vec<char>,
    utf8: bool,
}

impl Buffer {
    fn text(&self) -> String {
        self.characters.iter().collect()
    }

    /// The place of a character, as an editor counts it.
    fn place(&self, index: usize) -> Value {
        let (mut line, mut column) = (0, 0);
        for (at, character) in self.characters[..index].iter().enumerate() {
            let next = self.characters.get(at + 1);
            match character {
                '\r' if next == Some(&'\n') => {}
                '\r' | '\n' => (line, column) = (line + 1, 0),
                other if self.utf8 => column += other.len_utf8(),
                other => column += other.len_utf16(),
            }
        }
        json!({"line": line, "character": column})
    }

    /// A place at which a cursor can stand: not inside of a CRLF.
    fn cursor(&self, dice: &mut Dice) -> usize {
        let at = dice.roll(self.characters.len() + 1);
        let inside =
            at > 0 && self.characters[at - 1] == '\r' && self.characters.get(at) == Some(&'\n');
        if inside { at - 1 } else { at }
    }

    fn edit(&mut self, dice: &mut Dice) -> Value {
        const PARTS: [&str; 14] = [
            "x",
            "é",
            "😀",
            "\n",
            "\r\n",
            "\r",
            "\"",
            "{",
            "}",
            ",",
            "templateVersion",
            "日本",
            "\u{1F468}\u{200D}\u{1F469}",
            "",
        ];
        let (a, b) = (self.cursor(dice), self.cursor(dice));
        let start = a.min(b);
        // Mostly a few characters, now and then a large part.
        let end = if dice.roll(8) == 0 { a.max(b) } else { start };
        let text: String = (0..dice.roll(4))
            .map(|_| PARTS[dice.roll(PARTS.len())])
            .collect();
        let range = json!({"start": self.place(start), "end": self.place(end)});
        self.characters.splice(start..end, text.chars());
        json!({"range": range, "text": text})
    }
}

#[test]
fn random_edits_leave_the_editors_text() {
    for encoding in ["utf-8", "utf-16"] {
        let mut client = Client::with(&json!({"general": {"positionEncodings": [encoding]}}));
        for seed in 0..12 {
            let mut dice = Dice(seed);
            let text = match seed % 3 {
                0 => valid("base-tiny"),
                1 => valid("bare-v1-crlf"),
                _ => "a😀é\r\nb\r\rc\n".to_owned(),
            };
            let mut buffer = Buffer {
                characters: text.chars().collect(),
                utf8: encoding == "utf-8",
            };
            let uri = format!("untitled:{encoding}-{seed}");
            client.open(&uri, &text);
            for version in 2..60 {
                let changes: Vec<Value> =
                    (0..=dice.roll(3)).map(|_| buffer.edit(&mut dice)).collect();
                client.change(&uri, version, &changes.into());
            }
            // Each version has its own findings, and the text is the same.
            client.diagnostics(&uri, 59);
            let has = client.request("tplkit/text", &json!({"textDocument": {"uri": uri}}));
            assert_eq!(has["text"], buffer.text(), "{encoding}, seed {seed}");
            assert_eq!(has["version"], 59);
        }
        client.end();
    }
}

#[test]
fn a_place_past_the_end_is_the_end() {
    let mut client = Client::start();
    client.open("untitled:a", "ab");
    let far = json!({"line": 9, "character": 9});
    client.change(
        "untitled:a",
        2,
        &json!([{"range": {"start": far, "end": far}, "text": "c"}]),
    );
    let has = client.request(
        "tplkit/text",
        &json!({"textDocument": {"uri": "untitled:a"}}),
    );
    assert_eq!(has["text"], "abc");
}
