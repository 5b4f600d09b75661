//! Expression tokens: the `{{...}}` that a run replaces by values.
//!
//! In: text. Out: pieces that cover it without a gap, each with its byte range in the (decoded)
//! text. Tokens are plain paths without operators: a token is one of the forms of [`Path`], or
//! [`Piece::Broken`]. The validator checks that the path exists, and the run reads its value.

use std::ops::Range;

use super::environment::OF_EVERY_ROW;

/// What a token names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path<'t> {
    /// `vars.x`: a variable of the envelope.
    Variable(&'t str),
    /// `vars.trigger.<column>`: a column of the row that fired.
    TriggerColumn(&'t str),
    /// `vars.steps.<id>.<output>`: an output of an earlier step.
    StepOutput {
        /// The step's id.
        id: &'t str,
        /// The output's name.
        output: &'t str,
    },
    /// `record.<column>`: a column of the first current record.
    RecordColumn(&'t str),
    /// `records.<index>.<column>`: a column of the record at that index.
    RecordsColumn {
        /// Counted from 0.
        index: usize,
        /// The column's technical name.
        column: &'t str,
    },
    /// `sys.now`: date and time of the run.
    Now,
    /// `sys.today`: the date of the run.
    Today,
}

/// Why a token cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// `{{` without `}}`.
    #[error("its braces are never closed")]
    Unclosed,
    /// Nothing between the braces.
    #[error("there is nothing between its braces")]
    Empty,
    /// The first word is none that tokens begin with.
    #[error("a token begins with `vars`, `record`, `records` or `sys`")]
    UnknownRoot,
    /// Words are missing.
    #[error("the path ends too early")]
    Incomplete,
    /// There are words after the last one that means something.
    #[error("the path goes deeper than one column or output")]
    TooDeep,
    /// `records.` is not followed by a number.
    #[error("`records.` is followed by the number of the record, counted from 0")]
    BadIndex,
    /// A character that no technical name holds.
    #[error("a technical name holds none of : , . {{ }} \" and no control character")]
    BadName,
    /// `sys.` with another word than `now` or `today`.
    #[error("the clock has `sys.now` and `sys.today` only")]
    UnknownClock,
}

/// A part of an expression text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Text that stays as it is.
    Text(Range<usize>),
    /// A token.
    Token(Token<'t>),
    /// Something that opens like a token and cannot be read.
    Broken(Range<usize>, TokenError),
}

/// A readable token with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'t> {
    /// Bytes in the decoded text, braces included.
    pub span: Range<usize>,
    /// What it names.
    pub path: Path<'t>,
}

impl Piece<'_> {
    /// Bytes in the decoded text.
    pub fn span(&self) -> Range<usize> {
        match self {
            Piece::Text(span) | Piece::Broken(span, _) => span.clone(),
            Piece::Token(token) => token.span.clone(),
        }
    }
}

/// Takes an expression text apart.
///
/// ```
/// use tplkit::automation::{Path, Piece, pieces};
/// let parts: Vec<_> = pieces("Dear {{ record.first name }}").collect();
/// assert!(matches!(&parts[1], Piece::Token(token) if token.path == Path::RecordColumn("first name")));
/// ```
pub fn pieces(text: &str) -> Pieces<'_> {
    Pieces { text, pos: 0 }
}

/// The token that a text consists of, without anything around it: such a token keeps the type of
/// its value, every other one is written into the text.
pub fn lone_token(text: &str) -> Option<Path<'_>> {
    let inner = text.strip_prefix("{{")?.strip_suffix("}}")?;
    // Another pair of braces inside means that there are two tokens, or a broken one.
    if inner.contains("{{") || inner.contains("}}") {
        None
    } else {
        Path::parse(inner.trim()).ok()
    }
}

/// Iterator of [`pieces`].
#[derive(Debug, Clone)]
pub struct Pieces<'t> {
    text: &'t str,
    pos: usize,
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let start = self.pos;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let Some(inner) = rest.strip_prefix("{{") else {
            self.pos = rest.find("{{").map_or(self.text.len(), |at| start + at);
            return Some(Piece::Text(start..self.pos));
        };
        // A second opening before the closing belongs to the next token.
        let end = inner.find("}}").unwrap_or(inner.len());
        let opening = inner[..end].find("{{").unwrap_or(end);
        if end == inner.len() || opening < end {
            self.pos = start + 2 + opening;
            return Some(Piece::Broken(start..self.pos, TokenError::Unclosed));
        }
        self.pos = start + 2 + end + 2;
        let span = start..self.pos;
        Some(match Path::parse(inner[..end].trim()) {
            Ok(path) => Piece::Token(Token { span, path }),
            Err(error) => Piece::Broken(span, error),
        })
    }
}

impl<'t> Path<'t> {
    /// The column of the current records that it names; what every row has is none.
    pub(crate) fn record_column(self) -> Option<&'t str> {
        match self {
            Path::RecordColumn(column) | Path::RecordsColumn { column, .. } => {
                (!OF_EVERY_ROW.contains(&column)).then_some(column)
            }
            Path::Variable(_)
            | Path::TriggerColumn(_)
            | Path::StepOutput { .. }
            | Path::Now
            | Path::Today => None,
        }
    }

    /// Reads what is between the braces, without the spaces around it.
    pub fn parse(text: &'t str) -> Result<Path<'t>, TokenError> {
        if text.is_empty() {
            return Err(TokenError::Empty);
        }
        let (root, rest) = text
            .split_once('.')
            .map_or((text, None), |(root, rest)| (root, Some(rest)));
        if !ROOTS.contains(&root) {
            return Err(TokenError::UnknownRoot);
        }
        let rest = rest.ok_or(TokenError::Incomplete)?;
        match root {
            "vars" => Path::below_vars(rest),
            "record" => Ok(Path::RecordColumn(column(rest)?)),
            "records" => {
                let (index, rest) = rest.split_once('.').ok_or(TokenError::Incomplete)?;
                Ok(Path::RecordsColumn {
                    index: record_index(index)?,
                    column: column(rest)?,
                })
            }
            _ => match rest {
                "now" => Ok(Path::Now),
                "today" => Ok(Path::Today),
                "" => Err(TokenError::Incomplete),
                _ if rest.contains('.') => Err(TokenError::TooDeep),
                _ => Err(TokenError::UnknownClock),
            },
        }
    }

    /// Reads a path whose `vars.` is understood, as the `var` of a condition is written.
    pub fn below_vars(text: &'t str) -> Result<Path<'t>, TokenError> {
        let (first, rest) = text
            .split_once('.')
            .map_or((text, None), |(first, rest)| (first, Some(rest)));
        match (first, rest) {
            ("", _) | ("trigger" | "steps", None) => Err(TokenError::Incomplete),
            ("trigger", Some(rest)) => Ok(Path::TriggerColumn(column(rest)?)),
            ("steps", Some(rest)) => {
                let (id, output) = rest.split_once('.').ok_or(TokenError::Incomplete)?;
                match (id, output) {
                    ("", _) | (_, "") => Err(TokenError::Incomplete),
                    _ if output.contains('.') => Err(TokenError::TooDeep),
                    _ => Ok(Path::StepOutput { id, output }),
                }
            }
            (_, Some(_)) => Err(TokenError::TooDeep),
            (name, None) => Ok(Path::Variable(name)),
        }
    }
}

/// The words that a token can begin with.
pub(crate) const ROOTS: [&str; 4] = ["vars", "record", "records", "sys"];

fn record_index(text: &str) -> Result<usize, TokenError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .then(|| text.parse().ok())
        .flatten()
        .ok_or(TokenError::BadIndex)
}

fn column(text: &str) -> Result<&str, TokenError> {
    if text.is_empty() {
        return Err(TokenError::Incomplete);
    }
    if text.contains('.') {
        return Err(TokenError::TooDeep);
    }
    let foreign = |character: char| {
        matches!(character, ':' | ',' | '{' | '}' | '"') || character.is_control()
    };
    if text.contains(foreign) {
        Err(TokenError::BadName)
    } else {
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Path, Piece, TokenError, lone_token, pieces};

    fn only(text: &str) -> Result<Path<'_>, TokenError> {
        let mut all = pieces(text);
        match (all.next(), all.next()) {
            (Some(Piece::Token(token)), None) => Ok(token.path),
            (Some(Piece::Broken(_, error)), None) => Err(error),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn every_form_reads() {
        let forms = [
            ("{{vars.x}}", Path::Variable("x")),
            ("{{ vars.x }}", Path::Variable("x")),
            ("{{\tvars.olá mundo\n}}", Path::Variable("olá mundo")),
            (
                "{{vars.trigger.Nome Próprio}}",
                Path::TriggerColumn("Nome Próprio"),
            ),
            (
                "{{vars.steps.stp_a.count}}",
                Path::StepOutput {
                    id: "stp_a",
                    output: "count",
                },
            ),
            ("{{record.first name}}", Path::RecordColumn("first name")),
            ("{{record.a+b(c)|d-$}}", Path::RecordColumn("a+b(c)|d-$")),
            (
                "{{records.12.名前}}",
                Path::RecordsColumn {
                    index: 12,
                    column: "名前",
                },
            ),
            ("{{sys.now}}", Path::Now),
            ("{{ sys.today}}", Path::Today),
        ];
        for (text, path) in forms {
            assert_eq!(only(text), Ok(path), "{text}");
            assert_eq!(lone_token(text), Some(path), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let broken = [
            ("{{vars.x", TokenError::Unclosed),
            ("{{record.name}", TokenError::Unclosed),
            ("{{", TokenError::Unclosed),
            ("{{}}", TokenError::Empty),
            ("{{  }}", TokenError::Empty),
            ("{{name}}", TokenError::UnknownRoot),
            ("{{Vars.x}}", TokenError::UnknownRoot),
            ("{{record .name}}", TokenError::UnknownRoot),
            ("{{.x}}", TokenError::UnknownRoot),
            ("{{vars}}", TokenError::Incomplete),
            ("{{vars.}}", TokenError::Incomplete),
            ("{{vars.trigger}}", TokenError::Incomplete),
            ("{{vars.trigger.}}", TokenError::Incomplete),
            ("{{vars.steps}}", TokenError::Incomplete),
            ("{{vars.steps.stp_a}}", TokenError::Incomplete),
            ("{{vars.steps.stp_a.}}", TokenError::Incomplete),
            ("{{vars.steps..count}}", TokenError::Incomplete),
            ("{{record}}", TokenError::Incomplete),
            ("{{records.0}}", TokenError::Incomplete),
            ("{{sys.}}", TokenError::Incomplete),
            ("{{vars.x.y}}", TokenError::TooDeep),
            ("{{vars.trigger.a.b}}", TokenError::TooDeep),
            ("{{vars.steps.stp_a.body.x}}", TokenError::TooDeep),
            ("{{record.a.b}}", TokenError::TooDeep),
            ("{{records.0.a.b}}", TokenError::TooDeep),
            ("{{sys.now.year}}", TokenError::TooDeep),
            ("{{records.first.a}}", TokenError::BadIndex),
            ("{{records.-1.a}}", TokenError::BadIndex),
            ("{{records.99999999999999999999.a}}", TokenError::BadIndex),
            ("{{record.a:b}}", TokenError::BadName),
            ("{{sys.time}}", TokenError::UnknownClock),
        ];
        for (text, error) in broken {
            assert_eq!(only(text), Err(error), "{text}");
            assert_eq!(lone_token(text), None, "{text}");
        }
    }

    #[test]
    fn braces_around_and_between() {
        let shown = |text: &str| -> Vec<String> {
            pieces(text)
                .map(|piece| {
                    let sign = match &piece {
                        Piece::Text(_) => '=',
                        Piece::Token(_) => '+',
                        Piece::Broken(..) => '!',
                    };
                    format!("{sign}{}", &text[piece.span()])
                })
                .collect()
        };
        assert_eq!(
            shown("{\"a\":{{vars.x}}}"),
            ["={\"a\":", "+{{vars.x}}", "=}"]
        );
        assert_eq!(
            shown("a {{vars.x {{sys.now}} b"),
            ["=a ", "!{{vars.x ", "+{{sys.now}}", "= b"]
        );
        assert_eq!(shown("}} { {a} }}"), ["=}} { {a} }}"]);
        assert_eq!(shown("{{{record.x}}}"), ["!{{{record.x}}", "=}"]);
        assert_eq!(shown("{{{{"), ["!{{", "!{{"]);
        assert!(lone_token("{{sys.now}}{{sys.now}}").is_none());
        assert!(lone_token("a {{sys.now}}").is_none());
        assert!(lone_token("{{sys.now}} ").is_none());
        assert!(lone_token("\n{{sys.now}}").is_none());
        assert_eq!(lone_token("{{ sys.now\n}}"), Some(Path::Now));
    }

    proptest! {
        #[test]
        fn pieces_cover_any_text(text in "(\\{|\\}|\\.|vars|record|records|steps|sys|now|trigger| |[a-zé0-9\"]|\\PC){0,40}") {
            let mut end = 0;
            for piece in pieces(&text) {
                let span = piece.span();
                prop_assert_eq!(span.start, end);
                prop_assert!(span.end > span.start);
                prop_assert!(text.get(span.clone()).is_some());
                if let Piece::Token(token) = &piece {
                    let written = &text[span];
                    prop_assert!(written.starts_with("{{") && written.ends_with("}}"));
                    prop_assert_eq!(lone_token(written), Some(token.path));
                }
                end = piece.span().end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
