//! Random triples: the package that was applied, the next one of its author, and people's changes.
//!
//! A triple is a seed and two lists of numbers, each of which is one change: those of the author,
//! and those of people. A list without some of its numbers is a smaller triple, so one that fails
//! is shrunk by leaving changes out.

use std::future::Future;

use tplkit::json::{SyntaxError, Value};

use super::Verdict;
use crate::packaged::{packaged, packaged_onto};
use crate::random::{self, Dice, EditStep, Hand, Shape};

/// A package, its next version, and what people do in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triple {
    /// The number of the workspace that the package is of.
    pub seed: u64,
    /// Changes of the author.
    pub author: Vec<EditStep>,
    /// Changes of people.
    pub people: Vec<EditStep>,
    /// Whether the workspace is untidy.
    pub wild: bool,
}

/// Two packages.
pub(super) struct Packages {
    pub(super) base: String,
    pub(super) new: String,
    /// What the author did.
    pub(super) done: Vec<String>,
}

/// Smaller than those of other laws: a law about upgrades applies several times.
fn shape(wild: bool) -> Shape {
    Shape {
        features: 3,
        columns: 4,
        links: 2,
        views: 2,
        modules: 2,
        rails: 2,
        automations: 2,
        steps: 2,
        rows: 8,
        closed: !wild,
    }
}

impl Triple {
    /// The triple of a seed.
    pub fn of(seed: u64) -> Triple {
        let mut dice = Dice::new(seed ^ 0x7121_97E5);
        let mut history = |most: usize| {
            let count = dice.below(most);
            let numbers = (0..count).map(|_| dice.word());
            let steps = numbers.zip(1..);
            let steps = steps.map(|(number, position)| EditStep { number, position });
            steps.collect()
        };
        Triple {
            seed,
            author: history(14),
            people: history(12),
            wild: seed % 4 == 3,
        }
    }

    pub(super) fn shape(&self) -> Shape {
        shape(self.wild)
    }

    /// Both packages.
    pub(super) fn packages(&self) -> Result<Packages, String> {
        let shape = self.shape();
        let source = random::workspace(self.seed, &shape);
        let mut later = source.clone();
        let author = self.author.iter();
        let done = author.filter_map(|of| random::edit(&mut later, &shape, *of, Hand::Author));
        let done: Vec<String> = done.collect();
        let base = packaged(source.clone())?;
        let new = packaged_onto(later, &base)?;
        let mut dice = Dice::new(self.seed ^ 0x00DE_12ED);
        Ok(Packages {
            base: without_some_orders(&base, &mut dice)?,
            new: without_some_orders(&new, &mut dice)?,
            done,
        })
    }

    /// The same without one of its changes, each of them in turn, the last first.
    fn smaller(&self) -> Vec<Triple> {
        let without = |all: &[EditStep], at: usize| {
            let mut all = all.to_vec();
            all.remove(at);
            all
        };
        let author = (0..self.author.len()).rev().map(|at| Triple {
            author: without(&self.author, at),
            ..self.clone()
        });
        let people = (0..self.people.len()).rev().map(|at| Triple {
            people: without(&self.people, at),
            ..self.clone()
        });
        let none = [
            Triple {
                author: Vec::new(),
                ..self.clone()
            },
            Triple {
                people: Vec::new(),
                ..self.clone()
            },
        ];
        let none = none.into_iter().filter(|triple| triple != self);
        none.chain(author).chain(people).collect()
    }
}

/// The package with some modules and navigation entries that are given no position, as by hand; an export gives all of
/// them one.
fn without_some_orders(package: &str, dice: &mut Dice) -> Result<String, String> {
    let failed = |error: SyntaxError| error.to_string();
    let mut package = Value::parse(package).map_err(failed)?;
    let steps = ["manifest", "plan", "steps"];
    let steps = steps
        .iter()
        .try_fold(&mut package, |value, key| match value {
            Value::Object(members) => members.get_mut(*key),
            _ => None,
        });
    let Some(Value::List(steps)) = steps else {
        return Err("the package has no steps".to_owned());
    };
    for step in steps {
        let Value::Object(step) = step else { continue };
        let tool = step.get("tool").and_then(Value::as_str);
        if !matches!(tool, Some("create_module" | "create_rail")) {
            continue;
        }
        if let Some(Value::Object(args)) = step.get_mut("args")
            && dice.chance(25)
        {
            args.shift_remove("order");
        }
    }
    Ok(package.write())
}

/// Shrinks a triple that a law does not hold for, and says what is wrong with the smallest one; nothing
/// when the law holds.
pub async fn failure<F: Future<Output = Verdict>>(
    triple: &Triple,
    law: impl Fn(Triple) -> F,
) -> Option<String> {
    let mut wrong = law(triple.clone()).await.err()?;
    let mut smallest = triple.clone();
    'shrinking: loop {
        for smaller in smallest.smaller() {
            if let Err(still) = law(smaller.clone()).await {
                (smallest, wrong) = (smaller, still);
                continue 'shrinking;
            }
        }
        break;
    }
    let done = smallest
        .packages()
        .map_or(Vec::new(), |packages| packages.done);
    Some(format!(
        "seed {}, the author's changes {:?}, people's {:?}\nthe author: {done:#?}\n{wrong}",
        smallest.seed, smallest.author, smallest.people
    ))
}
