//! Merges the reads of a shared transaction into few statements.
//!
//! In: the reads. Equal ones are sent once. Those that differ only in parameters become one
//! statement with a list parameter, whose rows carry the number of their read. Out: the statements
//! to send, and the rows of each read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{Kind, Type};

use super::transaction::{Given, Pipelined};
use crate::store::Value;
use crate::store::statement::Statement;

/// How many forms of a statement are kept, by what differs. Every connection prepares each of them.
const FORMS: usize = 4;

/// How much larger than one bounded answer those together may be.
const TOGETHER: usize = 4;

/// A statement in the forms that take lists, by the positions of their lists; nothing where it has no
/// such form.
#[derive(Debug, Default)]
pub(in crate::store) struct Forms(Mutex<Known>);

type Known = BTreeMap<Vec<usize>, Option<Arc<Statement>>>;

/// What is sent, and whose the answers are.
pub(super) struct CoalescedStatement {
    statements: Vec<MergedPart>,
    /// For each read the statement that answers it, and which of those who share that it is.
    places: Vec<(usize, usize)>,
}

/// A statement for one list of parameters or for many.
struct MergedPart {
    statement: Arc<Statement>,
    parameters: Vec<Value>,
    /// How many it answers, if its rows are numbered.
    many: Option<usize>,
}

impl CoalescedStatement {
    /// Finds what is asked alike, and what can be asked by one statement.
    pub(super) async fn new<'a>(
        transaction: &Pipelined,
        reads: impl Iterator<Item = (&'a Arc<Statement>, &'a [Value])>,
    ) -> CoalescedStatement {
        // Statements, with the different lists of parameters for which they are asked.
        let mut bundles: Vec<(&Arc<Statement>, Vec<&[Value]>)> = Vec::new();
        let mut found = Vec::new();
        for (statement, parameters) in reads {
            let known = bundles
                .iter()
                .position(|(own, _)| Arc::ptr_eq(own, statement));
            let bundle = known.unwrap_or_else(|| {
                bundles.push((statement, Vec::new()));
                bundles.len() - 1
            });
            let lists = &mut bundles[bundle].1;
            let known = lists.iter().position(|list| *list == parameters);
            let list = known.unwrap_or_else(|| {
                lists.push(parameters);
                lists.len() - 1
            });
            found.push((bundle, list));
        }
        let mut asked = Vec::new();
        let mut ways = Vec::new();
        for (statement, lists) in bundles {
            let first = asked.len();
            let differing = differing(&lists);
            let form = match lists.len() {
                1 => None,
                _ => form(transaction, statement, &differing).await,
            };
            ways.push((first, form.is_some()));
            match form {
                Some(statement) => asked.push(MergedPart {
                    statement,
                    parameters: merged(&lists, &differing),
                    many: Some(lists.len()),
                }),
                None => asked.extend(lists.into_iter().map(|list| MergedPart {
                    statement: statement.clone(),
                    parameters: list.to_vec(),
                    many: None,
                })),
            }
        }
        let place = |(bundle, list): (usize, usize)| match ways[bundle] {
            (first, true) => (first, list),
            (first, false) => (first + list, 0),
        };
        CoalescedStatement {
            statements: asked,
            places: found.into_iter().map(place).collect(),
        }
    }

    /// What has to be sent.
    pub(super) fn statements(&self) -> Vec<Given<'_>> {
        let asked = self.statements.iter();
        asked
            .map(|asked| (&*asked.statement, &asked.parameters[..]))
            .collect()
    }

    /// The response of each read, from those of what was sent. Who gets none asks alone: after a statement
    /// that fails, the database refuses those behind it, and what fails has to fail for its own reasons.
    pub(super) fn results(
        &self,
        answers: Vec<Result<Vec<Row>, tokio_postgres::Error>>,
    ) -> Vec<Option<Vec<Row>>> {
        let lists = |(asked, response): (&MergedPart, Result<Vec<Row>, tokio_postgres::Error>)| {
            let rows = response.ok()?;
            match asked.many {
                None => Some(vec![rows]),
                Some(count) => numbered(rows, count),
            }
        };
        let found: Vec<_> = self.statements.iter().zip(answers).map(lists).collect();
        let own = |(asked, list): &(usize, usize)| found.get(*asked)?.as_ref()?.get(*list).cloned();
        self.places.iter().map(own).collect()
    }
}

/// Puts rows to those to whom they belong: their last column counts from one.
fn numbered(rows: Vec<Row>, count: usize) -> Option<Vec<Vec<Row>>> {
    let mut lists = vec![Vec::new(); count];
    for row in rows {
        let number: i64 = row.try_get(row.len().checked_sub(1)?).ok()?;
        let list = usize::try_from(number - 1).ok()?;
        lists.get_mut(list)?.push(row);
    }
    Some(lists)
}

/// The positions at which the lists are not all alike.
fn differing(lists: &[&[Value]]) -> Vec<usize> {
    let (first, others) = match lists.split_first() {
        Some((first, others)) => (*first, others),
        None => return Vec::new(),
    };
    let differs = |at: &usize| others.iter().any(|other| other[*at] != first[*at]);
    (0..first.len()).filter(differs).collect()
}

/// One list of parameters, in which those that differ are lists themselves.
fn merged(lists: &[&[Value]], differing: &[usize]) -> Vec<Value> {
    let mut merged = lists.first().map_or_else(Vec::new, |list| list.to_vec());
    for at in differing {
        let all = lists.iter().map(|list| list[*at].clone());
        merged[*at] = Value::List(all.collect());
    }
    merged
}

/// The form of a statement that takes lists at those positions, if it has one.
async fn form(
    transaction: &Pipelined,
    statement: &Arc<Statement>,
    differing: &[usize],
) -> Option<Arc<Statement>> {
    {
        let forms = statement.forms.lock();
        if let Some(known) = forms.get(differing) {
            return known.clone();
        }
        if forms.len() >= FORMS {
            return None;
        }
    }
    // What is not answered now may be another time.
    let types = transaction.types(&statement.text).await.ok()?;
    let form = match text(&statement.text, &types, differing) {
        // Whether the database takes it, only the database knows.
        Some(text) => match transaction.types(&text).await {
            Ok(_) => {
                let mut form = Statement::of(text);
                form.most = statement.most.map(|most| most * TOGETHER);
                Some(Arc::new(form))
            }
            Err(error) if is_for_good(&error) => None,
            Err(_) => return None,
        },
        None => None,
    };
    let mut forms = statement.forms.lock();
    if forms.len() < FORMS {
        forms.insert(differing.to_vec(), form.clone());
    }
    form
}

/// Whether the database will never take a statement: its words are wrong, or it has no such thing.
fn is_for_good(error: &tokio_postgres::Error) -> bool {
    let code = error.code().map(SqlState::code).unwrap_or_default();
    code.starts_with("42") || code.starts_with("0A")
}

impl Forms {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The words that ask a statement for each element of the lists at those positions. `OFFSET 0` has the
/// database plan it as if it stood alone, for any parameters.
fn text(one: &str, types: &[Type], differing: &[usize]) -> Option<String> {
    let mut lists = String::new();
    let mut names = String::new();
    for at in differing {
        let of = types.get(*at)?;
        // A list of lists would be taken apart to its elements.
        if !matches!(of.kind(), Kind::Simple) || of.schema() != "pg_catalog" {
            return None;
        }
        let number = at + 1;
        let _ = write!(lists, "${number}::{}[], ", of.name());
        let _ = write!(names, "p{number}, ");
    }
    let lists = lists.strip_suffix(", ")?;
    let mut inner = String::with_capacity(one.len() + 16);
    let mut rest = 0;
    for (place, number) in parameters(one) {
        inner.push_str(&one[rest..place.start]);
        rest = place.end;
        if differing.iter().any(|at| at + 1 == number) {
            let _ = write!(inner, "asked.p{number}");
        } else {
            inner.push_str(&one[place]);
        }
    }
    inner.push_str(&one[rest..]);
    Some(format!(
        "SELECT answer.*, asked.number FROM unnest({lists}) WITH ORDINALITY AS asked({names}number), \
         LATERAL ({inner} OFFSET 0) AS answer"
    ))
}

/// Where the parameters of a text stand, and which they are.
fn parameters(text: &str) -> impl Iterator<Item = (Range<usize>, usize)> {
    text.match_indices('$').filter_map(|(at, _)| {
        let digits = text[at + 1..].bytes().take_while(u8::is_ascii_digit);
        let end = at + 1 + digits.count();
        Some((at..end, text[at + 1..end].parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use tokio_postgres::types::Type;

    use super::{differing, merged, text};
    use crate::store::Value;

    #[test]
    fn what_differs_becomes_a_list() {
        let lists = [(1, 5), (2, 5), (3, 5)].map(|(a, b)| [Value::Int(a), Value::Int(b)]);
        let lists: Vec<&[Value]> = lists.iter().map(|list| &list[..]).collect();
        let differing = differing(&lists);
        assert_eq!(differing, [0]);
        let numbers = [1, 2, 3].map(Value::Int).to_vec();
        assert_eq!(
            merged(&lists, &differing),
            [Value::List(numbers), Value::Int(5)]
        );
    }

    #[test]
    fn a_statement_is_asked_for_each_element() {
        let one = "SELECT $11, a FROM t WHERE b = $1 AND c = $2 AND d = '$x' LIMIT 3";
        let types = [Type::UUID, Type::TEXT];
        assert_eq!(
            text(one, &types, &[0]).as_deref(),
            Some(
                "SELECT answer.*, asked.number \
                 FROM unnest($1::uuid[]) WITH ORDINALITY AS asked(p1, number), \
                 LATERAL (SELECT $11, a FROM t WHERE b = asked.p1 AND c = $2 AND d = '$x' LIMIT 3 OFFSET 0) \
                 AS answer"
            )
        );
    }

    #[test]
    fn lists_of_lists_are_not_taken_apart() {
        let one = "SELECT a FROM t WHERE b = ANY ($1)";
        assert_eq!(text(one, &[Type::UUID_ARRAY], &[0]), None);
        assert_eq!(text(one, &[], &[0]), None);
    }
}
