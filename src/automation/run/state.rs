//! The state of a run: advances from step to step.

use std::sync::Arc;

use jiff::Timestamp;

use super::act::Act;
use super::bounds::{VALUE, Weight, shortened};
use super::compare::{holds, same};
use super::envelope::{Envelope, Record, documents};
use super::failure::Failure;
use super::resolve::{Purpose, Resolver};
use super::value_text::text_of;
use crate::automation::Path;
use crate::definitions::Definitions;
use crate::json::{Object, Value};

/// Under what the output of a `switch` keeps which of its cases it was.
const CASE: &str = "case";

/// A run of a graph.
#[derive(Debug, Clone)]
pub struct RunState {
    definitions: &'static Definitions,
    envelope: Envelope,
    /// How large the envelope is.
    weight: Weight,
    frames: Vec<Frame>,
}

/// A list of steps that is being gone through.
#[derive(Debug, Clone)]
struct Frame {
    steps: Vec<Value>,
    at: usize,
    /// The path of the list, with a dot behind it; empty for the root.
    path: String,
}

/// The step whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// Dotted path in the graph.
    pub path: String,
    /// Its id.
    pub id: String,
    /// Its key.
    pub key: String,
}

/// A step with everything resolved that its tokens name.
#[derive(Debug, Clone)]
pub struct Due {
    /// Its config as shown in the run: without branches and secrets.
    pub input: Object,
    /// What is to be done, or why it cannot be.
    pub act: Result<Act, Failure>,
}

impl RunState {
    /// A run that has not begun. `graph` is a `graph_config` that was found free of errors.
    pub fn new(definitions: &'static Definitions, graph: &Value, envelope: Envelope) -> RunState {
        let steps = graph.get("steps").and_then(Value::as_list);
        let records = documents(&envelope.records);
        RunState {
            definitions,
            weight: Weight::of(&envelope.variables, &records),
            envelope,
            frames: vec![Frame {
                steps: steps.unwrap_or_default().to_vec(),
                at: 0,
                path: String::new(),
            }],
        }
    }

    /// What the steps so far have brought about.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    fn step(&self) -> Option<&Object> {
        let frame = self.frames.last()?;
        frame.steps.get(frame.at)?.as_object()
    }

    /// The step whose turn it is; none when the run is at its end.
    pub fn next_step(&mut self) -> Option<NextStep> {
        while let Some(frame) = self.frames.last() {
            if frame.at < frame.steps.len() {
                break;
            }
            self.frames.pop();
        }
        let frame = self.frames.last()?;
        let text = |key: &str| {
            let text = frame.steps[frame.at].get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        Some(NextStep {
            path: format!("{}{}", frame.path, frame.at),
            id: text("id"),
            key: text("key"),
        })
    }

    /// The step whose turn it is, resolved at that moment into `room` bytes at most.
    pub fn due(&self, now: Timestamp, room: usize) -> Due {
        let empty = Object::new();
        let step = self.step().unwrap_or(&empty);
        let key = step.get("key").and_then(Value::as_str).unwrap_or_default();
        let written = step.get("config").and_then(Value::as_object);
        let written = written.unwrap_or(&empty);
        let Some(declared) = self.definitions.steps.get(key) else {
            let reason = format!("`{key}` is not a step");
            return Due {
                input: Object::new(),
                act: Err(Failure::new(reason)),
            };
        };
        let resolver = Resolver {
            envelope: &self.envelope,
            now,
        };
        let mut input = match resolver.config(key, &declared.config, written, room) {
            Ok(input) => input,
            Err(failure) => {
                return Due {
                    input: Object::new(),
                    act: Err(failure.of_written(&declared.config, written)),
                };
            }
        };
        let act = match key {
            "ifElse" => condition(&resolver, &mut input),
            "switch" => Ok(case(&input, written)),
            _ => Act::of(key, &input, written),
        };
        let act = act.map_err(|failure| failure.of_written(&declared.config, written));
        Due { input, act }
    }

    /// Why the step whose turn it is could not be done, with what is in the field concerned.
    #[must_use]
    pub fn failed(&self, failure: Failure) -> Failure {
        let step = self.step();
        let text = step
            .and_then(|step| step.get("key"))
            .and_then(Value::as_str);
        let declared = text.and_then(|key| self.definitions.steps.get(key));
        let written = step.and_then(|step| step.get("config"));
        match (declared, written.and_then(Value::as_object)) {
            (Some(declared), Some(written)) => failure.of_written(&declared.config, written),
            _ => failure,
        }
    }

    /// An output without what the run remembers for itself.
    #[must_use]
    pub fn report_size(mut output: Object) -> Object {
        output.shift_remove(CASE);
        output
    }

    /// How many bytes of records the read whose turn it is may bring.
    pub fn room_for_records(&self) -> usize {
        self.weight.room_for_records(self.appends())
    }

    /// Whether the read whose turn it is keeps the records that are there.
    fn appends(&self) -> bool {
        let config = self.step().and_then(|step| step.get("config"));
        let mode = config.and_then(|config| config.get("mergeMode")?.as_str());
        mode == Some("append")
    }

    /// The size of the envelope behind the step whose turn it is, if this comes of it.
    fn weight_after(&self, output: &Object) -> Option<Weight> {
        let step = self.step()?;
        match step.get("key")?.as_str()? {
            "var.set" => {
                let name = step.get("config")?.get("name")?.as_str()?;
                let old = self.envelope.variables.get(name);
                let new = output.get("value").unwrap_or(&Value::Null);
                Some(self.weight.with_variable(name, old, new))
            }
            "feature.read" => {
                let records = output.get("records").and_then(Value::as_list);
                let records = records.unwrap_or_default();
                Some(self.weight.with_records(records, self.appends()))
            }
            _ => None,
        }
    }

    /// Whether the envelope has room for what came of the step whose turn it is.
    ///
    /// # Errors
    /// A failure when it has not.
    pub fn admit(&self, output: &Object) -> Result<(), Failure> {
        match self.weight_after(output) {
            Some(weight) => weight.check(),
            None => Ok(()),
        }
    }

    /// The envelope as it is stored and shown: whole, or its beginning as a text.
    pub fn shown_envelope(&self) -> Object {
        shortened(&self.envelope, &self.weight)
    }

    /// Whether no step follows the one whose turn it is, if this comes of it.
    pub fn ends_with(&self, output: &Object) -> bool {
        let Some(step) = self.step() else {
            return true;
        };
        let key = step.get("key").and_then(Value::as_str).unwrap_or_default();
        let config = step.get("config").unwrap_or(&Value::Null);
        let branch = branch_steps(key, config, output);
        let branches = branch.is_some_and(|(_, steps)| !steps.is_empty());
        let mut outer = self.frames.iter().rev();
        let here = outer.next();
        let follows = here.is_some_and(|frame| frame.at + 1 < frame.steps.len());
        !branches && !follows && outer.all(|frame| frame.at >= frame.steps.len())
    }

    /// Goes on behind the step whose turn it is: this came of it.
    pub fn done(&mut self, mut output: Object) {
        if let Some(weight) = self.weight_after(&output) {
            self.weight = weight;
        }
        let Some(frame) = self.frames.last() else {
            return;
        };
        let step = frame.steps.get(frame.at).cloned().unwrap_or_default();
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        let config = step.get("config").cloned().unwrap_or_default();
        let branch = self.branch(text("key"), &config, &output);
        match text("key") {
            "var.set" => {
                let name = config.get("name").and_then(Value::as_str);
                let value = output.get("value").cloned().unwrap_or_default();
                let name = name.unwrap_or_default().to_owned();
                self.envelope.variables.insert(name, value);
            }
            "feature.read" => {
                let read = match output.shift_remove("records") {
                    Some(Value::List(records)) => records,
                    _ => Vec::new(),
                };
                let read = read.into_iter().map(|row| Arc::new(Record::take(row)));
                let read: Vec<Arc<Record>> = read.collect();
                let appends = config.get("mergeMode").and_then(Value::as_str) == Some("append");
                if !appends {
                    self.envelope.records.clear();
                }
                self.envelope.records.extend(read.iter().cloned());
                self.envelope.reads.insert(text("id").to_owned(), read);
            }
            _ => {}
        }
        let output = RunState::report_size(output);
        self.envelope.outputs.insert(text("id").to_owned(), output);
        if let Some(frame) = self.frames.last_mut() {
            frame.at += 1;
        }
        self.frames.extend(branch);
    }

    /// The list of steps that the output leads into.
    fn branch(&self, key: &str, config: &Value, output: &Object) -> Option<Frame> {
        let (tail, steps) = branch_steps(key, config, output)?;
        let frame = self.frames.last()?;
        Some(Frame {
            steps: steps.to_vec(),
            at: 0,
            path: format!("{}{}.{tail}.", frame.path, frame.at),
        })
    }
}

/// The steps that an output leads into, and where they are in the config.
fn branch_steps<'c>(
    key: &str,
    config: &'c Value,
    output: &Object,
) -> Option<(String, &'c [Value])> {
    let routes = || config.get("routes").and_then(Value::as_list);
    let route = |at: usize| {
        let steps = routes()?.get(at)?.get("steps")?;
        Some((format!("routes.{at}.steps"), steps.as_list()?))
    };
    match key {
        "ifElse" => {
            let branch = output.get("branch").and_then(Value::as_str)?;
            Some((branch.to_owned(), config.get(branch)?.as_list()?))
        }
        "switch" => match output.get(CASE) {
            // The route alone would not tell a case of the value `default` from no case.
            Some(Value::Number(case)) => route(usize::try_from(case.as_i64()?).ok()?),
            _ => Some(("default".to_owned(), config.get("default")?.as_list()?)),
        },
        "agent.route" => {
            let chosen = output.get("route")?;
            let named = |case: &Value| case.get("name").map(text_of) == Some(text_of(chosen));
            route(routes()?.iter().position(named)?)
        }
        _ => None,
    }
}

/// Decides an `ifElse`, and notes what was compared.
fn condition(resolver: &Resolver<'_>, input: &mut Object) -> Result<Act, Failure> {
    let condition = input.get("condition").cloned().unwrap_or_default();
    let text = |key: &str| {
        condition
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let left = match text("subject") {
        "var" => {
            let path = Path::below_vars(text("var"))
                .map_err(|error| Failure::at("condition.var", error.to_string()))?;
            resolver.path("condition.var", &path)?
        }
        "record" => {
            let path = Path::RecordColumn(text("column"));
            resolver.path("condition.column", &path)?
        }
        "expression" => condition.get("expression").cloned().unwrap_or_default(),
        _ => return Err(Failure::at("condition.subject", "says nothing to compare")),
    };
    let right = condition.get("value").cloned().unwrap_or_default();
    let holds = holds(text("op"), &left, &right)
        .ok_or_else(|| Failure::at("condition.op", "is not a comparison"))?;
    input.insert("compared".to_owned(), left);
    let branch = if holds { "then" } else { "else" };
    Ok(Act::Output(Object::from_iter([(
        "branch".to_owned(),
        branch.into(),
    )])))
}

/// Decides a `switch`: the value of the case, or `default`.
fn case(input: &Object, written: &Object) -> Act {
    let subject = input.get("subject").cloned().unwrap_or_default();
    let routes = written.get("routes").and_then(Value::as_list);
    let values = routes.into_iter().flatten().map(|case| case.get("value"));
    // `1.10` and `1.1` are the same number, and two cases.
    let case = |is_it: &dyn Fn(&Value) -> bool| {
        let mut values = values.clone().enumerate();
        values.find(|(_, value)| value.is_some_and(is_it))
    };
    let found = case(&|value| *value == subject).or_else(|| case(&|value| same(value, &subject)));
    let mut output = Object::new();
    match found {
        Some((at, value)) => {
            output.insert("route".to_owned(), value.cloned().unwrap_or_default());
            let at = i64::try_from(at).unwrap_or(i64::MAX);
            output.insert(CASE.to_owned(), at.into());
        }
        None => {
            output.insert("route".to_owned(), "default".into());
        }
    }
    Act::Output(output)
}

impl Envelope {
    /// What an expression yields: a token alone keeps its type, inside a text it is put into it.
    ///
    /// # Errors
    /// A failure when it would be larger or nest deeper than a value may.
    pub fn resolve(&self, expression: &Value, now: Timestamp) -> Result<Value, Failure> {
        let resolver = Resolver {
            envelope: self,
            now,
        };
        let value = resolver.bounded(expression, Purpose::Plain, &mut VALUE.clone());
        value.map_err(|exceeded| Failure::too_large("", exceeded.reason(VALUE)))
    }
}
