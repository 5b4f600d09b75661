//! Reads a statement as far as the rules need: its queries, their tables, and which columns equal what.
//!
//! In: the text of a statement in PostgreSQL's words, as `translate` puts them. Out: [`Query`]s, the outermost first. It
//! knows the SQL of this program, whose keywords are in capitals, and is no general parser.

/// A piece of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name or a keyword.
    Word(&'a str),
    /// A parameter.
    Parameter,
    /// A number or a text.
    Literal,
    /// An operator or punctuation.
    Sign(&'a str),
}

/// One `SELECT`, or the statement that writes.
#[derive(Debug, Default)]
pub(super) struct Query<'a> {
    /// The query around it.
    pub(super) parent: Option<usize>,
    /// The tables that it reads, changes or deletes from.
    pub(super) tables: Vec<Table<'a>>,
    /// What holds of all rows that it is about.
    pub(super) equalities: Vec<[Operand<'a>; 2]>,
    /// Whether it locks what it reads.
    pub(super) locks: bool,
    /// Whether it is joined with the query around it, and neither a value that is worked out for each of its rows nor one
    /// condition among several.
    pub(super) joins: bool,
}

/// A table of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Table<'a> {
    pub(super) name: &'a str,
    pub(super) alias: &'a str,
}

/// One side of an equality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand<'a> {
    /// A column, of the table of that alias.
    Column(Option<&'a str>, &'a str),
    /// One value.
    One,
    /// One of a list of values.
    OneOf,
}

/// What is between parentheses, or the whole; or a `CASE`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact about what is read, and none excludes another"
)]
struct Frame<'a> {
    query: usize,
    /// Whether it is the body of a query, whose clauses begin with keywords.
    body: bool,
    /// Whether what is in it holds where the whole does.
    holds: bool,
    /// Whether one of several conditions suffices.
    any: bool,
    pending: Vec<[Operand<'a>; 2]>,
    /// The queries in it that are joined where what is in it holds.
    joined: Vec<usize>,
    clause: &'a str,
    expects_table: bool,
}

/// The words that begin a clause of a query, behind which another condition begins.
const CLAUSES: [&str; 14] = [
    "SELECT",
    "FROM",
    "JOIN",
    "ON",
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "SET",
    "VALUES",
    "RETURNING",
    "UNION",
    "FOR",
];

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            '\'' => {
                let end = rest[1..].find('\'').map_or(rest.len(), |end| end + 2);
                tokens.push(Token::Literal);
                end
            }
            '$' => {
                tokens.push(Token::Parameter);
                let end = rest[1..].find(|c: char| !c.is_ascii_digit());
                end.map_or(rest.len(), |end| end + 1)
            }
            first if is_part(first) => {
                let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
                tokens.push(if first.is_ascii_digit() {
                    Token::Literal
                } else {
                    Token::Word(&rest[..end])
                });
                end
            }
            first => {
                let twins = ["<=", ">=", "<>", "!=", "::", "||", "->"];
                let length = if twins.iter().any(|twin| rest.starts_with(twin)) {
                    2
                } else {
                    first.len_utf8()
                };
                tokens.push(Token::Sign(&rest[..length]));
                length
            }
        };
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The queries of a statement, the outermost first. The table that an `INSERT` writes is not among its tables.
pub(super) fn queries<'a>(tokens: &[Token<'a>]) -> Vec<Query<'a>> {
    let mut reader = Reader {
        tokens,
        queries: vec![Query::default()],
        frames: vec![Frame::body(0)],
    };
    let mut at = 0;
    while at < tokens.len() {
        at = reader.step(at);
    }
    while reader.frames.len() > 1 {
        reader.close();
    }
    reader.flush();
    reader.queries
}

struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    queries: Vec<Query<'a>>,
    /// Never empty.
    frames: Vec<Frame<'a>>,
}

impl<'a> Frame<'a> {
    fn body(query: usize) -> Frame<'a> {
        Frame {
            query,
            body: true,
            holds: true,
            any: false,
            pending: Vec::new(),
            joined: Vec::new(),
            clause: "",
            expects_table: false,
        }
    }
}

impl<'a> Reader<'_, 'a> {
    fn top(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("the statement itself stays")
    }

    fn word(&self, at: usize) -> Option<&'a str> {
        match self.tokens.get(at).copied() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn is_sign(&self, at: usize, sign: &str) -> bool {
        self.tokens.get(at) == Some(&Token::Sign(sign))
    }

    /// Reads what begins there, and gives where the next begins.
    fn step(&mut self, at: usize) -> usize {
        let before = at.checked_sub(1).and_then(|before| self.word(before));
        let (token, in_body) = (self.tokens[at], self.top().body);
        match token {
            Token::Sign("(") => self.open(at, before),
            Token::Sign(")") | Token::Word("END") => self.close(),
            Token::Sign(",") => {
                let top = self.top();
                top.expects_table = top.body && top.clause == "FROM";
            }
            Token::Sign("=") => self.equality(at),
            Token::Word("CASE") => {
                let query = self.top().query;
                self.frames.push(Frame {
                    body: false,
                    holds: false,
                    ..Frame::body(query)
                });
            }
            Token::Word("OR") => self.top().any = true,
            Token::Word(word) if in_body => return self.clause(at, word, before),
            _ => {}
        }
        at + 1
    }

    /// A word in the body of a query: it may begin a clause, or name a table.
    fn clause(&mut self, at: usize, word: &'a str, before: Option<&str>) -> usize {
        if self.top().expects_table && word != "LATERAL" && !CLAUSES.contains(&word) {
            self.top().expects_table = false;
            return self.table(at);
        }
        match (before, word) {
            (Some("FOR"), "UPDATE" | "SHARE") => {
                let query = self.top().query;
                self.queries[query].locks = true;
            }
            // Behind `DO` an insert changes a row that is there.
            (None, "UPDATE") => self.top().expects_table = true,
            (Some("DISTINCT"), "FROM") => {}
            (_, "UNION") => {
                self.flush();
                let query = self.top().query;
                let parent = self.queries[query].parent;
                self.queries.push(Query {
                    parent,
                    ..Query::default()
                });
                self.top().query = self.queries.len() - 1;
            }
            (_, word) if CLAUSES.contains(&word) => {
                self.flush();
                let top = self.top();
                top.clause = if word == "JOIN" { "FROM" } else { word };
                top.expects_table = ["FROM", "JOIN"].contains(&word);
            }
            _ => {}
        }
        at + 1
    }

    /// A name of a table, its alias, and where the next begins.
    fn table(&mut self, at: usize) -> usize {
        let qualified = self.is_sign(at + 1, ".");
        let (name, mut next) = match self.word(at + 2).filter(|_| qualified) {
            Some(name) => (name, at + 3),
            None => (self.word(at).unwrap_or_default(), at + 1),
        };
        // A function.
        if self.is_sign(next, "(") {
            return next;
        }
        let mut alias = name;
        if self.word(next) == Some("AS") {
            next += 1;
        }
        let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
        if let Some(word) = self.word(next).filter(is_name) {
            (alias, next) = (word, next + 1);
        }
        let query = self.top().query;
        self.queries[query].tables.push(Table { name, alias });
        next
    }

    fn open(&mut self, at: usize, before: Option<&str>) {
        let query = self.top().query;
        self.top().expects_table = false;
        if matches!(self.word(at + 1), Some("SELECT" | "WITH")) {
            let joins = matches!(before, Some("EXISTS" | "LATERAL"));
            if joins {
                let inner = self.queries.len();
                self.top().joined.push(inner);
            }
            self.queries.push(Query {
                parent: Some(query),
                joins,
                ..Query::default()
            });
            self.frames.push(Frame::body(self.queries.len() - 1));
            return;
        }
        // Behind anything else it is a list, or the argument of a function, or turned around.
        let holds = match before {
            Some(word) => ["AND", "OR", "WHERE", "ON"].contains(&word),
            None => at
                .checked_sub(1)
                .is_some_and(|before| self.is_sign(before, "(")),
        };
        self.frames.push(Frame {
            body: false,
            holds,
            ..Frame::body(query)
        });
    }

    fn close(&mut self) {
        if self.frames.len() == 1 {
            return;
        }
        if self.top().body {
            self.flush();
        }
        let Some(closed) = self.frames.pop() else {
            return;
        };
        if closed.holds && !closed.any {
            let top = self.top();
            top.pending.extend(closed.pending);
            top.joined.extend(closed.joined);
        } else {
            self.are_no_joins(closed.joined);
        }
    }

    /// Of one condition among several, or one that is turned around, no query is a join.
    fn are_no_joins(&mut self, queries: Vec<usize>) {
        for query in queries {
            self.queries[query].joins = false;
        }
    }

    /// What a clause says holds of the query.
    fn flush(&mut self) {
        let top = self.top();
        let pending = std::mem::take(&mut top.pending);
        let joined = std::mem::take(&mut top.joined);
        let all = !std::mem::take(&mut top.any);
        let (query, clause) = (top.query, top.clause);
        if all && ["ON", "WHERE"].contains(&clause) {
            self.queries[query].equalities.extend(pending);
        }
        if !all || !["FROM", "ON", "WHERE"].contains(&clause) {
            self.are_no_joins(joined);
        }
    }

    fn equality(&mut self, at: usize) {
        let left = at.checked_sub(1).and_then(|last| match self.tokens[last] {
            Token::Parameter => Some(Operand::One),
            Token::Word(column) => {
                let qualified = last >= 2 && self.is_sign(last - 1, ".");
                let alias = qualified.then(|| self.word(last - 2)).flatten();
                Some(Operand::Column(alias, column))
            }
            _ => None,
        });
        let right = match self.tokens.get(at + 1).copied() {
            Some(Token::Parameter) => Some(Operand::One),
            Some(Token::Word("ANY")) => Some(Operand::OneOf),
            Some(Token::Word(word)) if self.is_sign(at + 2, ".") => self
                .word(at + 3)
                .map(|column| Operand::Column(Some(word), column)),
            Some(Token::Word(column)) if !self.is_sign(at + 2, "(") => {
                Some(Operand::Column(None, column))
            }
            _ => None,
        };
        if let (Some(left), Some(right)) = (left, right) {
            self.top().pending.push([left, right]);
        }
    }
}
