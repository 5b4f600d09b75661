//! Chains run against sample rows, and what expressions yield.

use jiff::Timestamp;

use super::{Act, Envelope, Failure, Record, RunState, StepReport, Stub, Wait};
use crate::definitions::Definitions;
use crate::json::Value;

const TABLE: &str = "10000000-0000-4000-8000-00000000000a";

fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn now() -> Timestamp {
    "2026-11-22T13:00:00Z".parse().expect("an instant")
}

fn executed(steps: &str, trigger: Option<&str>) -> Vec<StepReport> {
    let rows = [
        r#"{"id":"10000000-0000-4000-8000-000000000001","data":{"name":"Ana","age":9,"city":""}}"#,
        r#"{"id":"10000000-0000-4000-8000-000000000002","data":{"name":"<b>Bo</b>","age":10}}"#,
        r#"{"id":"10000000-0000-4000-8000-000000000003","data":{"name":"Ceu","age":100,"city":"Faro"}}"#,
    ];
    let rows = rows.iter().map(|row| Record::of(&json(row))).collect();
    let stub = Stub {
        tables: [(TABLE.parse().expect("an id"), rows)].into(),
    };
    let graph = json(&format!(r#"{{"steps":{steps}}}"#).replace("TABLE", TABLE));
    let trigger = trigger.map(|row| Record::of(&json(row)));
    stub.run(Definitions::embedded(), &graph, trigger, now())
}

fn reported(executed: &[StepReport]) -> Vec<String> {
    let reports = executed.iter().map(|step| {
        let outcome = match &step.outcome {
            Ok(output) => Value::Object(output.clone()).write(),
            Err(error) => error.clone(),
        };
        format!("{} {outcome}", step.path)
    });
    reports.collect()
}

fn names(step: &StepReport) -> Vec<String> {
    let output = step.outcome.as_ref().expect("an output");
    let records = output
        .get("records")
        .and_then(Value::as_list)
        .expect("records");
    let names = records
        .iter()
        .map(|row| row.get("data").and_then(|data| data.get("name")));
    names
        .map(|name| name.and_then(Value::as_str).expect("a name").to_owned())
        .collect()
}

#[test]
fn a_lone_token_keeps_its_type_and_nothing_is_resolved_twice() {
    let row = r#"{"id":"r","data":{"n":1.5,"list":[1,{"a":2}],"none":null,"evil":"{{sys.now}}"}}"#;
    let envelope = Envelope::new(Some(Record::of(&json(row))));
    for (expression, yields) in [
        (r#""{{record.n}}""#, "1.5"),
        (r#""{{ vars.trigger.n }}""#, "1.5"),
        (r#""{{record.n}} ""#, r#""1.5 ""#),
        (r#""\n{{record.n}}""#, r#""\n1.5""#),
        (r#"" {{record.none}} ""#, r#""  ""#),
        (r#""n={{record.n}}""#, r#""n=1.5""#),
        (r#""{{record.list}}""#, r#"[1,{"a":2}]"#),
        (r#""l={{record.list}}""#, r#""l=[1,{\"a\":2}]""#),
        (r#""{{record.none}}""#, "null"),
        (r#""{{record.absent}}""#, "null"),
        (r#""[{{record.none}}{{record.absent}}]""#, r#""[]""#),
        (r#""{{record.evil}}""#, r#""{{sys.now}}""#),
        (r#""x{{record.evil}}""#, r#""x{{sys.now}}""#),
        (r#""{{record.id}}""#, r#""r""#),
        (r#""{{records.0.n}}{{records.1.n}}""#, r#""1.5""#),
        (r#""{{sys.today}}""#, r#""2026-11-22""#),
        (r#""{{sys.now}}""#, r#""2026-11-22T13:00:00.000000Z""#),
        (r#"{"a":["{{record.n}}",true]}"#, r#"{"a":[1.5,true]}"#),
        (r#""{{ broken""#, r#""{{ broken""#),
    ] {
        assert_eq!(
            envelope
                .resolve(&json(expression), now())
                .expect("small")
                .write(),
            yields,
            "{expression}"
        );
    }
}

#[test]
fn branches_are_taken_and_only_they() {
    let steps = r#"[
        {"key":"var.set","id":"stp_000000000001","config":{"name":"x","value":"{{record.age}}"}},
        {"key":"ifElse","id":"stp_000000000002","config":{"condition":{"subject":"var","var":"x","op":"gt","value":9},
            "then":[{"key":"switch","id":"stp_000000000003","config":{"subject":"{{record.name}}",
                "routes":[{"value":"default","steps":[]},{"value":"Bo","steps":[{"key":"delay","id":"stp_000000000004","config":{"seconds":1}}]}],
                "default":[{"key":"delay","id":"stp_000000000005","config":{"seconds":2}}]}}],
            "else":[{"key":"delay","id":"stp_000000000006","config":{"seconds":3}}]}},
        {"key":"delay","id":"stp_000000000007"}]"#;
    let way = |name: &str, age: &str| {
        let row = format!(r#"{{"data":{{"name":"{name}","age":{age}}}}}"#);
        let executed = executed(steps, Some(&row));
        executed
            .iter()
            .map(|step| step.path.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        way("Bo", "10"),
        ["0", "1", "1.then.0", "1.then.0.routes.1.steps.0", "2"]
    );
    assert_eq!(
        way("Zo", "\"10\""),
        ["0", "1", "1.then.0", "1.then.0.default.0", "2"]
    );
    assert_eq!(way("Bo", "9"), ["0", "1", "1.else.0", "2"]);
    assert_eq!(way("Bo", "null"), ["0", "1", "1.else.0", "2"]);
    assert_eq!(way("default", "10"), ["0", "1", "1.then.0", "2"]);
}

#[test]
fn reads_filter_sort_append_and_limit() {
    let read = |config: &str| {
        let steps = format!(
            r#"[{{"key":"feature.read","id":"stp_000000000001","config":{{"featureId":"TABLE"{config}}}}}]"#
        );
        names(&executed(&steps, Some(r#"{"data":{"low":"10"}}"#))[0])
    };
    let rules = |rules: &str| format!(r#","filterGroup":{{"combinator":"and","rules":[{rules}]}}"#);
    assert_eq!(read(""), ["Ana", "<b>Bo</b>", "Ceu"]);
    assert_eq!(
        read(r#","orderBy":{"column":"age","desc":true},"limit":2"#),
        ["Ceu", "<b>Bo</b>"]
    );
    for (rule, found) in [
        (
            r#"{"columnName":"age","operator":"greaterThan","value":9}"#,
            &["<b>Bo</b>", "Ceu"][..],
        ),
        (
            r#"{"columnName":"age","operator":"greaterOrEqual","value":"{{record.low}}"}"#,
            &["<b>Bo</b>", "Ceu"],
        ),
        (
            r#"{"columnName":"age","operator":"between","value":[9,"{{record.low}}"]}"#,
            &["Ana", "<b>Bo</b>"],
        ),
        (
            r#"{"columnName":"age","operator":"equals","value":"10"}"#,
            &["<b>Bo</b>"],
        ),
        (
            r#"{"columnName":"age","operator":"notEquals","value":10}"#,
            &["Ana", "Ceu"],
        ),
        (
            r#"{"columnName":"name","operator":"contains","value":"A"}"#,
            &["Ana"],
        ),
        (
            r#"{"columnName":"city","operator":"isEmpty"}"#,
            &["Ana", "<b>Bo</b>"],
        ),
        (r#"{"columnName":"city","operator":"isNotEmpty"}"#, &["Ceu"]),
        (
            r#"{"columnName":"city","operator":"isEmpty"},{"columnName":"age","operator":"lessThan","value":10}"#,
            &["Ana"],
        ),
        // The rows were created at the beginning of 1970.
        (
            r#"{"columnName":"created_at","operator":"equals","value":"1970-01-01T00:00:00.0000001Z"}"#,
            &[],
        ),
        (
            r#"{"columnName":"created_at","operator":"notEquals","value":"1970-01-01T00:00:00.0000001Z"}"#,
            &["Ana", "<b>Bo</b>", "Ceu"],
        ),
        (
            r#"{"columnName":"created_at","operator":"lessThan","value":"1970-01-01T00:00:00.0000001Z"}"#,
            &["Ana", "<b>Bo</b>", "Ceu"],
        ),
    ] {
        assert_eq!(read(&rules(rule)), found, "{rule}");
    }
    let steps = r#"[
        {"key":"feature.read","id":"stp_000000000001","config":{"featureId":"TABLE","limit":1,"mergeMode":"append"}},
        {"key":"notify","id":"stp_000000000002","config":{"scopeType":"organization","title":"{{record.low}}{{records.1.name}}"}}]"#;
    let steps = executed(steps, Some(r#"{"data":{"low":"10"}}"#));
    assert_eq!(steps[1].input.get("title"), Some(&json(r#""10Ana""#)));
}

#[test]
fn a_mail_holds_values_as_text_and_its_head_no_line_break() {
    let mail = |to: &str, subject: &str| {
        let steps = format!(
            r#"[{{"key":"email.send","id":"stp_000000000001","config":{{"to":"{to}","subject":"{subject}","body":"<p>{{{{record.name}}}}</p>"}}}},
               {{"key":"email.send","id":"stp_000000000002","config":{{"to":"a@b.c","subject":"s","body":"{{{{record.name}}}}"}}}}]"#
        );
        let row = r#"{"data":{"name":"<b>&\"'","crlf":"a\r\nBcc: x@y.z"}}"#;
        executed(&steps, Some(row))
    };
    let sent = mail("a@b.c, d@e.f", "Hi {{record.name}}");
    let body = "&lt;b&gt;&amp;&quot;&#39;";
    assert_eq!(
        sent[0].input["body"].as_str(),
        Some(format!("<p>{body}</p>").as_str())
    );
    assert_eq!(sent[1].input["body"].as_str(), Some(body));
    assert_eq!(sent[0].input["subject"].as_str(), Some("Hi <b>&\"'"));
    for (to, subject) in [
        ("a@b.c", "{{record.crlf}}"),
        ("{{record.crlf}}", "s"),
        ("a@b.c", "x {{record.crlf}}"),
    ] {
        let refused = reported(&mail(to, subject));
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(
            refused[0].contains("{{record.crlf}}") && refused[0].contains("Bcc"),
            "{refused:?}"
        );
    }
    let long = |characters: usize| reported(&mail("a@b.c", &"é".repeat(characters)));
    assert_eq!(long(900).len(), 2);
    let refused = long(901);
    assert!(
        refused.len() == 1
            && refused[0].contains("`subject`")
            && refused[0].contains("at most 900"),
        "{refused:?}"
    );
    let nobody = reported(&mail("{{record.absent}}", "s"));
    assert_eq!(
        nobody,
        ["0 `to` is \"{{record.absent}}\", which yields \"null\": there is nobody to send it to"]
    );
}

#[test]
fn bindings_are_literal_or_resolved_and_find_their_row() {
    let write = |config: &str| {
        let steps = format!(
            r#"[{{"key":"feature.write","id":"stp_000000000001","config":{{"targetFeatureId":"TABLE",{config}}}}}]"#
        );
        executed(
            &steps,
            Some(r#"{"id":"10000000-0000-4000-8000-000000000009","data":{"n":7}}"#),
        )
        .remove(0)
    };
    let step = write(
        r#""mode":"updateTrigger","bindings":[{"targetColumn":"a","value":"{{record.n}}"},{"targetColumn":"b","value":"{{record.n}}","type":"literal"}]"#,
    );
    let bindings = step.input["bindings"].write();
    assert!(
        bindings.contains(r#""value":7"#) && bindings.contains(r#""value":"{{record.n}}""#),
        "{bindings}"
    );
    assert_eq!(
        reported(&[step]),
        [r#"0 {"rowId":"10000000-0000-4000-8000-000000000009","count":1}"#]
    );
    let step =
        write(r#""mode":"update","matchColumn":"k","bindings":[{"targetColumn":"a","value":1}]"#);
    assert_eq!(
        reported(&[step]),
        ["0 `matchColumn` is \"k\": no binding gives `k` a value to look for"]
    );
    let step = write(
        r#""mode":"upsert","matchColumn":"k","bindings":[{"targetColumn":"k","value":"{{record.none}}"}]"#,
    );
    assert_eq!(
        reported(&[step]),
        [
            "0 `bindings.k` is \"{{record.none}}\", which yields \"null\": no binding gives `k` a value to look for"
        ]
    );
}

/// What a step leaves to those behind it is reported with it, and what the run remembers for itself is not.
#[test]
fn each_step_leaves_an_envelope() {
    let steps = r#"[{"key":"switch","id":"stp_000000000001","config":{"subject":"{{record.n}}",
            "routes":[{"value":7,"steps":[{"key":"var.set","id":"stp_000000000002","config":{"name":"x","value":"{{record.n}}"}}]}]}},
        {"key":"feature.read","id":"stp_000000000003","config":{"featureId":"TABLE","limit":1,"mergeMode":"append"}}]"#;
    let left = |step: &StepReport| Value::Object(step.envelope.clone()).write();
    let executed = executed(steps, Some(r#"{"n":7}"#));
    let ana =
        r#"{"id":"10000000-0000-4000-8000-000000000001","data":{"name":"Ana","age":9,"city":""}}"#;
    assert_eq!(
        executed.iter().map(left).collect::<Vec<_>>(),
        [
            r#"{"vars":{},"records":[{"data":{"n":7}}]}"#.to_owned(),
            r#"{"vars":{"x":7},"records":[{"data":{"n":7}}]}"#.to_owned(),
            format!(r#"{{"vars":{{"x":7}},"records":[{{"data":{{"n":7}}}},{ana}]}}"#),
        ]
    );
    assert_eq!(reported(&executed)[0], r#"0 {"route":7}"#);
}

/// Who does a step knows the value that would not do; the run knows from which expression it came.
#[test]
fn a_failure_is_reported_with_its_expression() {
    let graph = json(
        r#"{"steps":[{"key":"http.request","id":"stp_000000000001","config":
            {"connectionName":"erp","path":"/{{record.n}}","bearerToken":"t0ken","body":{"a":1}}}]}"#,
    );
    let row = Record::of(&json(r#"{"data":{"n":".."}}"#));
    let mut state = RunState::new(Definitions::embedded(), &graph, Envelope::new(Some(row)));
    assert!(state.next_step().is_some());
    let kinds = |field: &str| state.failed(Failure::at(field, "no")).to_string();
    assert_eq!(kinds("path"), r#"`path` is "/{{record.n}}": no"#);
    assert_eq!(kinds("connectionName"), r#"`connectionName` is "erp": no"#);
    for plain in ["bearerToken", "body", "nothing", "path.0"] {
        assert_eq!(kinds(plain), format!("`{plain}`: no"));
    }
    let value = Failure::at("path", "no").yields(None, &"/..".into());
    assert_eq!(
        state.failed(value).to_string(),
        r#"`path` is "/{{record.n}}", which yields "/..": no"#
    );
}

#[test]
fn secrets_and_branches_stay_out_of_inputs() {
    let steps = r#"[{"key":"http.request","id":"stp_000000000001","config":{"connectionName":"api","bearerToken":"t0ken","path":"/{{record.n}}"}},
        {"key":"agent.route","id":"stp_000000000002","config":{"prompt":"p","apiKey":"t0ken","routes":[{"name":"a","steps":[{"key":"delay","id":"stp_000000000003","config":{"seconds":0}}]}]}}]"#;
    let steps = executed(steps, Some(r#"{"data":{"n":7}}"#));
    assert_eq!(steps.len(), 3);
    for step in &steps {
        assert!(!Value::Object(step.input.clone()).write().contains("t0ken"));
    }
    assert_eq!(steps[0].input["path"].as_str(), Some("/7"));
    assert_eq!(steps[2].path, "1.routes.0.steps.0");
}

/// The timer instead of the seconds, where a step names both.
#[test]
fn a_named_timer_is_waited_for() {
    for (config, expected) in [
        (r#"{"seconds":5}"#, Wait::Seconds(5)),
        (r#"{"timerProfile":"t"}"#, Wait::Timer("t".to_owned())),
        (
            r#"{"seconds":5,"timerProfile":"t"}"#,
            Wait::Timer("t".to_owned()),
        ),
        (r#"{"seconds":5,"timerProfile":""}"#, Wait::Seconds(5)),
        ("{}", Wait::Seconds(0)),
    ] {
        let graph = json(&format!(
            r#"{{"steps":[{{"key":"delay","id":"d","config":{config}}}]}}"#
        ));
        let mut state = RunState::new(Definitions::embedded(), &graph, Envelope::default());
        assert!(state.next_step().is_some());
        let act = state.due(now(), usize::MAX).act.expect("can be done");
        assert!(
            matches!(&act, Act::Wait(wait) if *wait == expected),
            "{config}: {act:?}"
        );
    }
}

/// A run goes on after a crash with the outputs of the finished steps.
#[test]
fn executed_again_with_the_same_outputs_it_takes_the_same_way() {
    let graph = json(
        r#"{"steps":[{"key":"feature.read","id":"stp_000000000001","config":{"featureId":"TABLE"}},
        {"key":"ifElse","id":"stp_000000000002","config":{"condition":{"subject":"record","column":"age","op":"eq","value":1},
            "then":[{"key":"var.set","id":"stp_000000000003","config":{"name":"x","value":"{{vars.steps.stp_000000000001.count}}"}}]}},
        {"key":"notify","id":"stp_000000000004","config":{"scopeType":"organization","title":"{{vars.x}}{{record.age}}"}}]}"#,
    );
    let outputs = [
        r#"{"count":1,"records":[{"id":"r","data":{"age":1}}]}"#,
        r#"{"branch":"then"}"#,
        r#"{"value":1}"#,
    ];
    for known in 0..=outputs.len() {
        let mut state = RunState::new(Definitions::embedded(), &graph, Envelope::default());
        for (at, output) in outputs.iter().enumerate() {
            assert!(state.next_step().is_some());
            // Resolved or not, what counts is what came of it.
            if at >= known {
                let _ = state.due(now(), usize::MAX);
            }
            state.done(json(output).as_object().cloned().expect("an object"));
        }
        assert_eq!(
            state.next_step().map(|next| next.path).as_deref(),
            Some("2")
        );
        assert_eq!(
            state.due(now(), usize::MAX).input["title"].as_str(),
            Some("11")
        );
    }
}

/// A rule that cannot be asked fails the step: left out, it would widen the read.
#[test]
fn a_read_is_never_widened() {
    for (group, field) in [
        (
            r#"{"combinator":"or","rules":[]}"#,
            "filterGroup.combinator",
        ),
        (
            r#"{"rules":[],"groups":[{"rules":[]}]}"#,
            "filterGroup.groups",
        ),
        (r#"{"rules":[{"rules":[]}]}"#, "filterGroup.rules.0.value"),
        (
            r#"{"rules":[{"columnName":"age","operator":"like","value":1}]}"#,
            "filterGroup.rules.0.value",
        ),
        (
            r#"{"rules":[{"columnName":"age","operator":"between","value":1}]}"#,
            "filterGroup.rules.0.value",
        ),
        (
            r#"{"rules":[{"columnName":"id","operator":"contains","value":"a"}]}"#,
            "filterGroup.rules.0.value",
        ),
        (
            r#"{"rules":[{"columnName":"created_at","operator":"greaterThan","value":5}]}"#,
            "filterGroup.rules.0.value",
        ),
    ] {
        let steps = format!(
            r#"[{{"key":"feature.read","id":"stp_000000000001","config":{{"featureId":"TABLE","filterGroup":{group}}}}}]"#
        );
        let kinds = reported(&executed(&steps, None));
        assert!(
            kinds[0].starts_with(&format!("0 `{field}`")),
            "{group} {kinds:?}"
        );
    }
}

/// The same bounds hold here as on a server.
#[test]
fn a_chain_that_grows_ends_at_its_bound() {
    let set = |value: &str| {
        format!(r#"{{"key":"var.set","id":"s","config":{{"name":"x","value":"{value}"}}}}"#)
    };
    let mut steps = vec![set("0123456789")];
    steps.extend((0..26).map(|_| set("{{vars.x}}{{vars.x}}")));
    let steps = executed(&format!("[{}]", steps.join(",")), None);
    let last = steps.last().expect("a step");
    assert_eq!(steps.len(), 18);
    let error = last.outcome.as_ref().expect_err("too large");
    assert!(
        error.contains("`value`") && error.contains("1 MiB"),
        "{error}"
    );
    // What a step leaves is shown by its beginning where it is large.
    assert!(steps[3].envelope.contains_key("vars"));
    assert_eq!(steps[16].envelope.get("cut"), Some(&Value::Bool(true)));
    let one = set("x");
    let many = vec![one.as_str(); 10_001].join(",");
    let steps = executed(&format!("[{many}]"), None);
    assert_eq!(steps.len(), 10_001);
    assert!(steps[9_999].outcome.is_ok());
    let error = steps[10_000].outcome.as_ref().expect_err("too many");
    assert!(error.contains("10000 steps"), "{error}");
}

/// A value that every step puts into another one ends at its bound, long before the stack does.
#[test]
fn values_do_not_nest_for_ever() {
    let wrapped = |levels: usize| {
        format!(
            r#"{}"{{{{vars.x}}}}"{}"#,
            r#"{"a":["#.repeat(levels / 2),
            "]}".repeat(levels / 2)
        )
    };
    let set = |value: &str| {
        format!(r#"{{"key":"var.set","id":"s","config":{{"name":"x","value":{value}}}}}"#)
    };
    let mut steps = vec![set("1"), set(&wrapped(100)), set(&wrapped(22))];
    let run = |steps: &[String]| executed(&format!("[{}]", steps.join(",")), None);
    assert!(run(&steps).iter().all(|step| step.outcome.is_ok()));
    steps.extend((0..180).map(|_| set(&wrapped(100))));
    let failed = run(&steps);
    assert_eq!(failed.len(), 4);
    let error = failed[3].outcome.as_ref().expect_err("too deep");
    assert!(
        error.contains("`value`") && error.contains("122 lists and objects"),
        "{error}"
    );
    let mut envelope = Envelope::default();
    let value = json(&wrapped(100));
    envelope.variables.insert("x".to_owned(), value);
    let resolved = |levels| envelope.resolve(&json(&wrapped(levels)), now());
    assert!(resolved(22).is_ok());
    let failure = resolved(24).expect_err("too deep");
    assert_eq!(failure.code.as_str(), "run_too_large");
}

/// A table of many small rows brings many at a time, one of large rows no more than there is room for.
#[test]
fn records_have_room_until_the_envelope_is_full() {
    let large = format!(r#"{{"data":{{"note":"{}"}}}}"#, "x".repeat(900_000));
    let stub = Stub {
        tables: [(
            TABLE.parse().expect("an id"),
            vec![Record::of(&json(&large)); 10],
        )]
        .into(),
    };
    let read = |limit: usize, mode: &str| {
        format!(
            r#"{{"key":"feature.read","id":"s","config":{{"featureId":"{TABLE}","limit":{limit},"mergeMode":"{mode}"}}}}"#
        )
    };
    for (steps, fits) in [
        (read(9, "replace"), true),
        (read(10, "replace"), false),
        (
            format!("{},{}", read(5, "replace"), read(5, "append")),
            false,
        ),
    ] {
        let graph = json(&format!(r#"{{"steps":[{steps}]}}"#));
        let steps = stub.run(Definitions::embedded(), &graph, None, now());
        let last = steps.last().expect("a step");
        assert_eq!(
            last.outcome.is_ok(),
            fits,
            "{:?}",
            last.outcome.as_ref().err()
        );
    }
}

/// Whether a step is the last is known before it is done, and is what going on finds.
#[test]
fn the_last_step_is_known_as_such() {
    let branch = |then: &str| {
        format!(
            r#"{{"key":"ifElse","id":"b","config":{{"condition":{{"subject":"expression","expression":"x","op":"isNotEmpty"}},"then":[{then}],"else":[]}}}}"#
        )
    };
    let wait = r#"{"key":"delay","id":"d"}"#;
    for steps in [
        wait.to_owned(),
        format!("{wait},{wait}"),
        branch(""),
        branch(wait),
        format!("{},{wait}", branch(wait)),
        branch(&branch("")),
        branch(&format!("{},{}", branch(""), branch(wait))),
        format!("{wait},{}", branch(&branch(wait))),
    ] {
        let graph = json(&format!(r#"{{"steps":[{steps}]}}"#));
        let mut state = RunState::new(Definitions::embedded(), &graph, Envelope::default());
        while let Some(next) = state.next_step() {
            let act = state.due(now(), usize::MAX).act.expect("can be done");
            let output = Stub::default().output(&act, state.envelope());
            let output = output.expect("an output");
            let ends = state.ends_with(&output);
            state.done(output);
            assert_eq!(
                ends,
                state.next_step().is_none(),
                "{} of {steps}",
                next.path
            );
        }
    }
}
