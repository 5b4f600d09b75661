//! The steps of an automation. Only what is there when a step begins is read by it, and no step
//! fires the automation again.

use tplkit::json::{Object, Value};

use super::Generator;
use super::config::{id, integer, object, value};

/// What fires the automation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Fired {
    /// A clock: there is no row.
    #[default]
    Clock,
    /// A person, on any row.
    Person,
    /// A row of a table, which may be gone.
    Row {
        table: Option<usize>,
        created: bool,
        updated: bool,
        watched: Vec<String>,
    },
}

/// What a step can read.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub(super) own: usize,
    pub(super) fired: Fired,
    pub(super) records: bool,
    pub(super) variables: Vec<String>,
    pub(super) outputs: Vec<String>,
}

impl Generator<'_> {
    /// A list of steps; branches nest at most `depth` deep.
    pub(super) fn steps(&mut self, scope: &mut Scope, depth: usize) -> Vec<Value> {
        let count = self.dice.between(1, self.shape.steps.max(1));
        (0..count).map(|_| self.step(scope, depth)).collect()
    }

    fn step(&mut self, scope: &mut Scope, depth: usize) -> Value {
        let id = format!("stp_{:012x}", self.dice.word() & 0xFFFF_FFFF_FFFF);
        let branching = if depth == 0 { 0 } else { 3 };
        let (key, config, outputs): (_, _, &[&str]) = match self.dice.below(9 + branching) {
            0 => (
                "feature.read",
                self.feature_read(scope),
                &["count", "records"],
            ),
            1 | 2 => match self.feature_write(scope) {
                Some(config) => ("feature.write", config, &["rowId", "count"]),
                None => ("var.set", self.var_set(scope), &[]),
            },
            3 => ("email.send", self.email(scope), &["messageId", "accepted"]),
            4 => ("notify", self.notify(scope), &["notificationId"]),
            5 => ("var.set", self.var_set(scope), &[]),
            6 => ("http.request", self.request(scope), &["status", "body"]),
            7 => match self.run(scope) {
                Some(config) => ("automation.run", config, &["runId"]),
                None => ("delay", self.delay(), &[]),
            },
            8 => ("delay", self.delay(), &[]),
            9 => ("ifElse", self.if_else(scope, depth - 1), &["branch"]),
            10 => ("switch", self.switch(scope, depth - 1), &["route"]),
            _ => ("agent.route", self.route(scope, depth - 1), &["route"]),
        };
        let announced = outputs.iter().map(|output| format!("{id}.{output}"));
        scope.outputs.extend(announced);
        let mut step = object([("id", id.into()), ("key", key.into())]);
        if self.dice.chance(30) {
            let name = self.dice.word_of(&["Passo", "Step 1", ""]);
            step.insert("name".to_owned(), name.into());
        }
        step.insert("config".to_owned(), Value::Object(config));
        Value::Object(step)
    }

    /// Text with tokens that can be resolved, or a token alone.
    pub(super) fn expression(&mut self, scope: &Scope) -> String {
        let token = self.token(scope);
        match self.dice.below(4) {
            0 => format!("{{{{{token}}}}}"),
            1 => format!("Olá {{{{ {token} }}}}, <b>$100</b>\n{{{{sys.today}}}}"),
            2 => self
                .dice
                .word_of(&["", "$100", "é \"x\" \\", "1"])
                .to_owned(),
            _ => format!("é {{{{{token}}}}}"),
        }
    }

    fn token(&mut self, scope: &Scope) -> String {
        let mut tokens = vec!["sys.now".to_owned()];
        tokens.extend(self.paths(scope).iter().map(|path| format!("vars.{path}")));
        if scope.records {
            let column = self.record_column(scope);
            tokens.push(format!("record.{column}"));
            tokens.push(format!("records.{}.{column}", self.dice.below(4)));
        }
        self.dice.pick(&tokens).cloned().unwrap_or_default()
    }

    /// Paths below `vars.`.
    fn paths(&mut self, scope: &Scope) -> Vec<String> {
        let mut paths = scope.variables.clone();
        paths.extend(scope.outputs.iter().map(|output| format!("steps.{output}")));
        if scope.fired != Fired::Clock {
            paths.push(format!("trigger.{}", self.record_column(scope)));
        }
        paths
    }

    /// A column that the current row may have.
    fn record_column(&mut self, scope: &Scope) -> String {
        let table = match &scope.fired {
            Fired::Row {
                table: Some(table), ..
            } => *table,
            _ => self.dice.below(self.structure.features.len()),
        };
        let columns = &self.table(table).columns;
        let at = self.dice.below(columns.len());
        let column = self.table(table).columns.get(at);
        column.map(|column| column.name.clone()).unwrap_or_default()
    }

    fn feature_read(&mut self, scope: &mut Scope) -> Object {
        let table = self.some_table();
        let feature = if self.untidy(10) {
            self.gone()
        } else {
            self.table(table).id
        };
        let mut config = object([("featureId", id(feature))]);
        self.reading(table, scope, &mut config);
        scope.records = true;
        config
    }

    /// Nothing, when every write to the chosen table would fire the automation again.
    fn feature_write(&mut self, scope: &Scope) -> Option<Object> {
        let mut modes = vec!["insert", "update", "upsert"];
        let mut table = self.some_table();
        let mut spared: &[String] = &[];
        if scope.fired == Fired::Person {
            modes.push("updateTrigger");
        }
        if let Fired::Row {
            table: Some(watching),
            created,
            updated,
            watched,
        } = &scope.fired
        {
            if self.dice.chance(40) {
                table = *watching;
            }
            if table == *watching {
                modes.push("updateTrigger");
                if *created {
                    modes.retain(|mode| !matches!(*mode, "insert" | "upsert"));
                }
                if *updated && watched.is_empty() {
                    modes.retain(|mode| *mode == "insert");
                } else if *updated {
                    spared = watched;
                }
            }
        }
        let columns = self.table(table).columns.iter();
        let columns: Vec<String> = columns
            .filter(|column| column.column_type != "button" && !spared.contains(&column.name))
            .map(|column| column.name.clone())
            .collect();
        let mode = *self.dice.pick(&modes)?;
        let feature = self.table(table).id;
        let mut config = object([("mode", mode.into()), ("targetFeatureId", id(feature))]);
        let bound = self.dice.some(&columns, 30);
        let bindings = bound.iter().map(|column| self.binding(column, scope));
        config.insert("bindings".to_owned(), Value::List(bindings.collect()));
        if matches!(mode, "update" | "upsert") {
            let matched = self.column_of(table);
            config.insert("matchColumn".to_owned(), matched.into());
        }
        Some(config)
    }

    fn binding(&mut self, column: &str, scope: &Scope) -> Value {
        let mut binding = object([("targetColumn", column.into())]);
        let literal = self.dice.chance(30);
        let written = if literal {
            Value::from(self.dice.word_of(&["{{not.a.token", "$100", ""]))
        } else {
            Value::from(self.expression(scope))
        };
        binding.insert("value".to_owned(), written);
        if literal || self.dice.chance(30) {
            let kind = if literal { "literal" } else { "expression" };
            binding.insert("type".to_owned(), kind.into());
        }
        Value::Object(binding)
    }

    fn email(&mut self, scope: &Scope) -> Object {
        let mut config = object([
            ("to", "ana@example.org".into()),
            ("subject", self.expression(scope).into()),
            ("body", format!("<p>{}</p>", self.expression(scope)).into()),
        ]);
        if self.dice.chance(30) {
            config.insert("attachFiles".to_owned(), self.dice.chance(50).into());
        }
        if self.dice.chance(40) {
            config.insert("connectionName".to_owned(), self.connection("smtp"));
        }
        for key in ["attachmentFileId", "mailboxId"] {
            if self.untidy(25) {
                config.insert(key.to_owned(), id(self.dice.uuid()));
            }
        }
        config
    }

    fn notify(&mut self, scope: &Scope) -> Object {
        let mut config = self.recipient();
        if self.dice.chance(60) {
            config.insert("title".to_owned(), self.expression(scope).into());
        }
        if self.dice.chance(60) {
            config.insert("body".to_owned(), self.expression(scope).into());
        }
        config
    }

    fn var_set(&mut self, scope: &mut Scope) -> Object {
        let name = self.dice.word_of(&["total", "olá mundo", "x", "X"]);
        let read = self.expression(scope);
        let set = match self.dice.below(3) {
            0 => value([("inner", read.into())]),
            1 => Value::from(5),
            _ => read.into(),
        };
        scope.variables.push(name.to_owned());
        object([("name", name.into()), ("value", set)])
    }

    fn request(&mut self, scope: &Scope) -> Object {
        let mut config = object([("connectionName", self.connection("http"))]);
        if self.dice.chance(50) {
            let method = self.dice.word_of(&["GET", "PUT", "DELETE"]);
            config.insert("method".to_owned(), method.into());
        }
        if self.dice.chance(50) {
            config.insert("path".to_owned(), self.expression(scope).into());
        }
        if self.dice.chance(50) {
            let inner = Value::List(vec![self.expression(scope).into(), Value::Null]);
            config.insert("body".to_owned(), value([("a", inner)]));
        }
        if self.untidy(20) {
            config.insert("bearerToken".to_owned(), "a token".into());
        }
        config
    }

    /// Tidy automations run only those before them: a circle loses one of its ends on the way.
    fn run(&mut self, scope: &Scope) -> Option<Object> {
        let own = self.workflows.get(scope.own).copied();
        let known = if self.shape.closed {
            scope.own
        } else {
            self.workflows.len()
        };
        let known = self.workflows.get(..known).unwrap_or_default().to_vec();
        let mut run = self.dice.pick(&known).copied();
        if self.untidy(10) {
            run = Some(self.gone());
        }
        let run = run.filter(|run| Some(*run) != own)?;
        Some(object([("workflowId", id(run))]))
    }

    fn delay(&mut self) -> Object {
        let mut config = Object::new();
        if self.dice.chance(60) {
            config.insert("seconds".to_owned(), integer(self.dice.below(5000)));
        } else {
            let timer = self.timer();
            config.insert("timerProfile".to_owned(), timer);
        }
        config
    }

    fn if_else(&mut self, scope: &mut Scope, depth: usize) -> Object {
        let paths = self.paths(scope);
        let mut condition = match self.dice.pick(&paths) {
            Some(path) if self.dice.chance(40) => {
                object([("subject", "var".into()), ("var", path.as_str().into())])
            }
            _ if scope.records && self.dice.chance(50) => {
                let column = self.record_column(scope);
                object([("subject", "record".into()), ("column", column.into())])
            }
            _ => {
                // An empty one would compare nothing.
                let read = format!("{{{{{}}}}}", self.token(scope));
                object([
                    ("subject", "expression".into()),
                    ("expression", read.into()),
                ])
            }
        };
        let op = self.dice.word_of(&["eq", "lt", "contains", "isEmpty"]);
        condition.insert("op".to_owned(), op.into());
        if self.dice.chance(70) {
            condition.insert("value".to_owned(), self.expression(scope).into());
        }
        let mut config = object([("condition", Value::Object(condition))]);
        let then = self.branch(scope, depth);
        config.insert("then".to_owned(), then);
        if self.dice.chance(60) {
            let otherwise = self.branch(scope, depth);
            config.insert("else".to_owned(), otherwise);
        }
        config
    }

    fn switch(&mut self, scope: &mut Scope, depth: usize) -> Object {
        let subject = self.expression(scope);
        let mut config = object([("subject", subject.into())]);
        let count = self.dice.between(1, 3);
        let routes = (0..count).map(|at| {
            let case = if at == 0 { "$100".into() } else { integer(at) };
            value([("value", case), ("steps", self.branch(scope, depth))])
        });
        let routes = Value::List(routes.collect());
        config.insert("routes".to_owned(), routes);
        if self.dice.chance(50) {
            let default = self.branch(scope, depth);
            config.insert("default".to_owned(), default);
        }
        config
    }

    fn route(&mut self, scope: &mut Scope, depth: usize) -> Object {
        let prompt = format!("Decide: {}", self.expression(scope));
        let mut config = object([("prompt", prompt.into())]);
        let count = self.dice.between(1, 2);
        let routes = (0..count).map(|at| {
            let mut route = object([("name", format!("route {at}").into())]);
            if self.dice.chance(50) {
                route.insert("description".to_owned(), "When?".into());
            }
            route.insert("steps".to_owned(), self.branch(scope, depth));
            Value::Object(route)
        });
        let routes = Value::List(routes.collect());
        config.insert("routes".to_owned(), routes);
        if self.dice.chance(40) {
            config.insert("connectionName".to_owned(), self.connection("llm"));
        }
        if self.untidy(20) {
            config.insert("apiKey".to_owned(), "a key".into());
        }
        config
    }

    /// What a branch brings stays in it.
    fn branch(&mut self, scope: &Scope, depth: usize) -> Value {
        if self.dice.chance(15) {
            return Value::List(Vec::new());
        }
        Value::List(self.steps(&mut scope.clone(), depth))
    }
}
