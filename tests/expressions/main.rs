//! Generated expressions, right ones and wrong ones. `TPLKIT_CASES` says how many (20,000).

mod verbatim;

/// What expressions are made of, and what looks like it.
const PARTS: [&str; 48] = [
    "{{",
    "{{",
    "{{",
    "}}",
    "}}",
    "}}",
    "{",
    "}",
    "{{{",
    "}}}",
    " ",
    " ",
    "\t",
    "\n",
    ".",
    ".",
    "..",
    "vars",
    "vars.",
    "vars.v",
    "vars.x",
    "vars.trigger.a",
    "vars.trigger",
    "vars.trigger.first name",
    "vars.steps.stp_aaaaaaaaaaaa.a",
    "vars.steps.",
    "vars.steps.stp_zzzzzzzzzzzz.count",
    "record.a",
    "record",
    "record.é",
    "record.nope",
    "records.0.b",
    "records.1.a",
    "records.2.a",
    "records.-1.a",
    "records.18446744073709551616.a",
    "records.00.a",
    "sys.now",
    "sys.today",
    "sys.tomorrow",
    "Dear ",
    "<b>",
    "&amp;",
    "\"",
    "\\",
    "\u{0}",
    "é",
    "\u{202e}",
];

/// Numbers that follow from one another: the same run for everybody.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        // splitmix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^= word >> 31;
        usize::try_from(word % sides as u64).unwrap_or(0)
    }

    fn expression(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(9) {
            match self.below(8) {
                // A token that can be read more often than parts would make one.
                0 | 1 => {
                    let path = PARTS[17 + self.below(23)];
                    text.extend(["{{", path, "}}"]);
                }
                2 => {
                    let code = u32::try_from(self.below(0x11_0000)).unwrap_or(0);
                    text.extend(char::from_u32(code));
                }
                _ => text.push_str(PARTS[self.below(PARTS.len())]),
            }
        }
        text
    }
}

fn cases() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever starts the tests says how long they may take"
    )]
    let cases = std::env::var("TPLKIT_CASES").ok();
    cases.map_or(20_000, |cases| cases.parse().expect("TPLKIT_CASES"))
}

#[test]
fn no_expression_panics_or_is_evaluated_twice() {
    let mut dice = Dice(1);
    let (mut tokens, cases) = (0_u64, cases());
    for _ in 0..cases {
        let text = dice.expression();
        tokens += u64::from(tplkit::automation::lone_token(&text).is_some());
        verbatim::check(&text);
    }
    assert!(
        tokens > cases / 100,
        "{tokens} of {cases} are a token alone"
    );
}
