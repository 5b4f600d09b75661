//! What cannot be carried over.

use serde_json::json;
use tplkit::export::Selection;

use crate::exported::exported;
use crate::space::{Space, object};

fn manual() -> serde_json::Value {
    json!({"type": "manual"})
}

#[test]
fn targets_that_are_gone() {
    let mut space = Space::new();
    let gone = space.id();
    let a = space.table("a");
    space.text(a, "x");
    space.link(a, "lost", gone, "code");
    space.link(a, "half", a, "deleted");
    space.column(a, "go", "button", &json!({"workflowV2Id": gone}));
    space.table_mut(a).config = object(&json!({"titleColumn": "deleted"}));
    space.view(
        a,
        "list",
        "table",
        &json!({"visibleColumns": ["x", "deleted"]}),
    );
    let module = space.module("m", &json!({"defaultRailId": gone}));
    space.rail(module, "r", &json!({"views": [gone]}));
    space.state.structure.workspace.config = object(&json!({"defaultModuleId": gone}));
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        [
            "config.titleColumn column name inexistente chave esvaziada",
            "config.linkedFeatureId feature uuid inexistente chave esvaziada",
            "config.linkedValueColumn column name inexistente chave esvaziada",
            "config.linkedValueColumn column name inexistente chave esvaziada",
            "config.workflowV2Id workflowV2 uuid inexistente chave esvaziada",
            "config.0.visibleColumns.1 column name inexistente chave esvaziada",
            "config.defaultRailId rail uuid inexistente chave omitida",
            "config.0.views.0 view uuid inexistente chave esvaziada",
            "config.defaultModuleId module uuid inexistente chave omitida",
        ]
    );
    assert_eq!(
        package.created("v_a_list")["config"],
        json!([{"visibleColumns": ["$c_a_x", ""]}])
    );
    assert!(package.created("m_m").get("config").is_none());
}

#[test]
fn navigation_defaults_that_stay_behind_are_left_out() {
    let mut space = Space::new();
    let (m, n) = (space.module("m", &json!({})), space.module("n", &json!({})));
    let rail = space.rail(n, "r", &json!({}));
    space.module_mut(m).config = object(&json!({"color": "red", "defaultRailId": rail}));
    space.state.structure.workspace.config =
        object(&json!({"defaultModuleId": n, "theme": "dark"}));
    let selection = Selection {
        modules: Some(vec![m]),
        ..Selection::default()
    };
    let package = exported(&space, &selection);
    assert_eq!(
        package.unresolved(),
        [
            "config.defaultRailId rail uuid fora_da_selecao chave omitida",
            "config.defaultModuleId module uuid fora_da_selecao chave omitida",
        ]
    );
    assert_eq!(package.created("m_m")["config"], json!({"color": "red"}));
    let entry = &package.list("unresolved")[1];
    assert_eq!(entry["uid"], package.0["manifest"]["plan"]["id"]);
    assert_eq!(entry["sourceLabel"], "n label");
    assert_eq!(package.updated("workspace"), None);
}

#[test]
fn files_mailboxes_people_and_nameless_channels_cannot_travel() {
    let mut space = Space::new();
    let (file, mailbox, user) = (space.id(), space.id(), space.id());
    let direct = space.channel(None);
    let steps = json!([
        {"key": "email.send", "config": {"to": "a@b.c", "subject": "s", "body": "b", "attachmentFileId": file, "mailboxId": mailbox}},
        {"key": "notify", "config": {"scopeType": "user", "scopeId": user, "body": "x"}},
        {"key": "notify", "config": {"scopeType": "channel", "scopeId": direct, "body": "x"}},
    ]);
    space.automation("send", &manual(), &steps);
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        [
            "graphConfig.steps.0.config.attachmentFileId file uuid nao_exportavel chave esvaziada",
            "graphConfig.steps.0.config.mailboxId mailbox uuid nao_exportavel chave esvaziada",
            "graphConfig.steps.1.config.scopeId user uuid nao_exportavel chave esvaziada",
            "graphConfig.steps.2.config.scopeId channel uuid nao_exportavel chave esvaziada",
        ]
    );
    assert_eq!(
        package.list("unresolved")[3]["sourceLabel"],
        "Somewhere to talk"
    );
    assert!(package.list("dependencies").is_empty());
}

#[test]
fn what_a_choice_needs_and_is_not_there_is_reported_as_gone() {
    let mut space = Space::new();
    let table = space.table("a");
    space.text(table, "x");
    let bindings = json!([{"targetColumn": "x", "value": "1"}]);
    let write = json!({"mode": "update", "targetFeatureId": table, "bindings": bindings});
    let condition = json!({"subject": "record", "op": "isEmpty"});
    let steps = json!([
        {"key": "feature.read", "config": {"featureId": table}},
        {"key": "feature.write", "config": write},
        {"key": "notify", "config": {"scopeType": "user", "body": "x"}},
        {"key": "ifElse", "config": {"condition": condition, "then": [
            {"key": "notify", "config": {"scopeType": "channel", "body": "x"}}]}},
    ]);
    let trigger = json!({"type": "cron", "config": {"mode": "profile"}});
    space.automation("send", &trigger, &steps);
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        [
            "triggerConfig.config.timerProfile timerProfile uuidOrName inexistente chave omitida",
            "graphConfig.steps.1.config.matchColumn column name inexistente chave omitida",
            "graphConfig.steps.2.config.scopeId user uuid inexistente chave omitida",
            "graphConfig.steps.3.config.condition.column column name inexistente chave omitida",
            "graphConfig.steps.3.config.then.0.config.scopeId channel uuid inexistente chave omitida",
        ]
    );
}

#[test]
fn what_an_automation_was_applied_without_is_reported_as_gone() {
    let mut space = Space::new();
    let tell = |scope: &str| json!({"key": "notify", "config": {"scopeType": scope, "scopeId": "", "body": "x"}});
    let rule = json!({"id": "1", "columnName": "", "operator": "isEmpty"});
    let steps = json!([
        {"key": "feature.read", "config": {"featureId": "", "filterGroup": {"combinator": "and", "rules": [rule]}}},
        {"key": "feature.write", "config": {"mode": "update", "targetFeatureId": "", "matchColumn": "",
            "bindings": [{"targetColumn": "", "value": "x"}]}},
        {"key": "http.request", "config": {"connectionName": "", "method": "GET", "path": "/"}},
        // Without one it takes the organization's.
        {"key": "email.send", "config": {"to": "a@b.c", "subject": "s", "body": "b", "connectionName": ""}},
        tell("channel"),
        tell("organization"),
    ]);
    let created =
        json!({"type": "record.event", "config": {"modes": ["created"], "featureId": ""}});
    space.automation("all", &created, &steps);
    let profile = json!({"type": "cron", "config": {"mode": "profile", "timerProfile": ""}});
    space.automation("late", &profile, &json!([tell("organization")]));
    let hourly = json!({"type": "cron", "config": {"mode": "hourly", "timerProfile": ""}});
    space.automation("often", &hourly, &json!([tell("organization")]));
    let package = exported(&space, &Selection::default());
    let step = |at: usize, field: &str| {
        format!("graphConfig.steps.{at}.config.{field} inexistente chave esvaziada")
    };
    let mut lost = package.unresolved();
    lost.sort();
    assert_eq!(
        lost,
        [
            step(0, "featureId feature uuid"),
            step(0, "filterGroup.rules.0.columnName column name"),
            step(1, "bindings.0.targetColumn column name"),
            step(1, "matchColumn column name"),
            step(1, "targetFeatureId feature uuid"),
            step(2, "connectionName connection name"),
            step(4, "scopeId channel uuid"),
            "triggerConfig.config.featureId feature uuid inexistente chave esvaziada".to_owned(),
            "triggerConfig.config.timerProfile timerProfile uuidOrName inexistente chave esvaziada"
                .to_owned(),
        ]
    );
    assert!(package.list("dependencies").is_empty());
}

#[test]
fn without_the_list_a_channel_has_no_ref() {
    let mut space = Space::new();
    let channel = space.id();
    space.state.structure.organization.channels = None;
    space.automation("notify", &manual(), &json!([{"key": "notify", "config": {"scopeType": "channel", "scopeId": channel, "body": "x"}}]));
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        ["graphConfig.steps.0.config.scopeId channel uuid sem_ref_cunhado chave esvaziada"]
    );
}

#[test]
fn the_effective_form_of_a_timer_profile_decides() {
    let mut space = Space::new();
    let profile = space.timer_profile("shift");
    let gone = space.id();
    let delay = |by: &str| json!({"key": "delay", "config": {"timerProfile": by}});
    let steps = json!([
        delay(&profile.to_string()), delay("shift"), delay("unheard"), delay(&gone.to_string()),
        {"key": "notify", "config": {"scopeType": "organization", "body": "x"}},
    ]);
    space.automation("wait", &manual(), &steps);
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        [
            "graphConfig.steps.0.config.timerProfile timerProfile uuidOrName nao_exportavel chave esvaziada",
            "graphConfig.steps.2.config.timerProfile timerProfile uuidOrName inexistente valor mantido",
            "graphConfig.steps.3.config.timerProfile timerProfile uuidOrName inexistente chave esvaziada",
        ]
    );
    assert_eq!(package.list("unresolved")[0]["sourceLabel"], "shift label");
    assert_eq!(package.dependency("timerprofile_shift")["form"], "name");
    let steps = &package.created("w_wait")["graphConfig"]["steps"];
    assert_eq!(steps[2]["config"]["timerProfile"], "unheard");
}

#[test]
fn a_connection_that_is_gone_keeps_its_name_and_is_no_dependency() {
    let mut space = Space::new();
    space.automation(
        "sync",
        &manual(),
        &json!([{"key": "http.request", "config": {"connectionName": "erp"}}]),
    );
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        ["graphConfig.steps.0.config.connectionName connection name inexistente valor mantido"]
    );
    assert!(package.list("dependencies").is_empty());
}

#[test]
fn columns_of_the_envelope_keep_their_names() {
    let mut space = Space::new();
    let condition = json!({"subject": "record", "column": "city", "op": "isEmpty"});
    let notify = json!({"key": "notify", "config": {"scopeType": "organization", "body": "{{record.city}}"}});
    space.automation(
        "look",
        &manual(),
        &json!([{"key": "ifElse", "config": {"condition": condition, "then": [notify]}}]),
    );
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        [
            "graphConfig.steps.0.config.condition.column column name envelope_indeterminado valor mantido",
            "graphConfig.steps.0.config.then.0.config.body column name envelope_indeterminado valor mantido",
        ]
    );
    let config = &package.created("w_look")["graphConfig"]["steps"][0]["config"];
    assert_eq!(config["condition"]["column"], "city");
    assert_eq!(config["then"][0]["config"]["body"], "{{record.city}}");
}

#[test]
fn texts_that_name_columns_of_unknown_records_are_reported_once_each() {
    let mut space = Space::new();
    let (a, b, gone) = (space.table("a"), space.table("b"), space.id());
    space.text(a, "name");
    space.text(b, "name");
    let mail = json!({"key": "email.send", "config": {"to": "{{record.email}}", "subject": "{{vars.v}}", "body": "{{records.0.name}} {{ record.name }}"}});
    let set = |value| json!({"key": "var.set", "config": {"name": "v", "value": value}});
    let binding = |value, kind| json!({"targetColumn": "name", "value": value, "type": kind});
    let write = json!({"key": "feature.write", "config": {"mode": "insert", "targetFeatureId": b, "bindings": [
        binding("{{record.name}}", "literal"), binding("{{record.name}}", "expression"),
    ]}});
    let condition =
        json!({"subject": "expression", "expression": "{{record.name}}", "op": "isEmpty"});
    let steps = json!([
        {"key": "feature.read", "config": {"featureId": a}},
        // No columns, no token, and a key, in which nothing is resolved.
        set(json!(["{{record.id}} {{records.1.created_at}} {{record.updated_at}}", "{record.x}", {"{{record.x}}": 1}])),
        set(json!({"a": ["x", "{{record.name}}"], "b": "{{sys.now}} {{records.2.name}}"})),
        mail,
        write,
        {"key": "ifElse", "config": {"condition": condition, "then": [{"key": "notify", "config": {"scopeType": "organization", "title": "{{record.name}}"}}]}},
    ]);
    let cron = json!({"type": "cron", "config": {"mode": "hourly", "timezone": "UTC"}});
    space.automation("nightly", &cron, &steps);
    let package = exported(&space, &Selection::default());
    let step = |path: &str| {
        format!("graphConfig.steps.{path} column name envelope_indeterminado valor mantido")
    };
    let expected = [
        "2.config.value.a.1",
        "2.config.value.b",
        "3.config.body",
        "3.config.to",
        "4.config.bindings.1.value",
        "5.config.condition.expression",
        "5.config.then.0.config.title",
    ]
    .map(step);
    assert_eq!(package.unresolved(), expected);
    let kept = &package.created("w_nightly")["graphConfig"]["steps"][3]["config"];
    assert_eq!(kept["body"], "{{records.0.name}} {{ record.name }}");

    // The trigger says whose columns they are, as long as its table is there.
    let event = |table| json!({"type": "record.event", "config": {"featureId": table, "modes": ["created"]}});
    for (table, reported) in [(a, 0), (gone, expected.len())] {
        space.state.structure.automations[0].trigger_config = object(&event(table));
        let package = exported(&space, &Selection::default());
        let entries = package.unresolved();
        let unknown = entries
            .iter()
            .filter(|one| one.contains("envelope_indeterminado"));
        assert_eq!(unknown.count(), reported, "{entries:#?}");
    }
}

#[test]
fn a_text_out_of_which_an_id_is_cut_has_one_entry() {
    let mut space = Space::new();
    let id = space.id();
    let body = format!("/{id}/{{{{record.name}}}}");
    let notify = json!({"key": "notify", "config": {"scopeType": "organization", "body": body}});
    space.automation("look", &manual(), &json!([notify]));
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.unresolved(),
        ["graphConfig.steps.0.config.body file uuidOrName nao_exportavel chave esvaziada"]
    );
}

#[test]
fn automations_that_run_each_other_leave_one_reference_empty() {
    let mut space = Space::new();
    let (a, b) = (space.id(), space.id());
    let run = |other| json!([{"key": "automation.run", "config": {"workflowId": other}}]);
    for (name, other) in [("A", b), ("B", a)] {
        space.automation(name, &manual(), &run(other));
    }
    space.automation("First", &manual(), &run(a));
    for (automation, id) in space.state.structure.automations.iter_mut().zip([a, b]) {
        automation.id = id;
    }
    let package = exported(&space, &Selection::default());
    assert_eq!(
        package.refs("create_workflow_v2"),
        ["w_b", "w_a", "w_first"]
    );
    assert_eq!(
        package.unresolved(),
        ["graphConfig.steps.0.config.workflowId workflowV2 uuid ref_adiante chave esvaziada"]
    );
    assert_eq!(
        package.list("unresolved")[0]["uid"],
        package.item("w_b")["uid"]
    );
    assert_eq!(package.list("unresolved")[0]["sourceLabel"], "A");
    assert_eq!(
        package.created("w_a")["graphConfig"]["steps"][0]["config"]["workflowId"],
        "$w_b"
    );
}
