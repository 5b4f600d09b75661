//! Graphs of whole packages, and what hostile labels become in each format.

use super::{Canvas, EdgeKind, Graph, GraphKind, NodeKind, dot, json, mermaid, svg};
use crate::check::facts::Facts;
use crate::contents::halves;
use crate::definitions::Definitions;
use crate::json::Doc;

fn graph(text: &str, kind: GraphKind) -> Graph {
    let doc = Doc::parse_package(text).expect("JSON");
    let (manifest, _) = halves(doc.root());
    Graph::read(&Facts::new(&doc, manifest, Definitions::embedded()), kind)
}

/// A package with a link, a view, an automation with branches, and a ref that nothing declares.
fn sample(label: &str) -> String {
    let label = crate::json::write_string(label);
    format!(
        r#"{{"templateVersion": 1, "label": {label}, "plan": {{"steps": [
        {{"tool": "create_feature", "ref": "f_a", "args": {{"workspaceId": "$workspace", "name": "a", "label": {label}}}}},
        {{"tool": "create_feature", "ref": "f_b", "args": {{"workspaceId": "$workspace", "name": "b", "label": "B"}}}},
        {{"tool": "create_column", "ref": "c_b_name", "args": {{"featureId": "$f_b", "name": "name", "label": "Name", "type": "text", "defaultComponent": "textfield", "order": 1}}}},
        {{"tool": "create_column", "ref": "c_a_b", "args": {{"featureId": "$f_a", "name": "b", "label": {label}, "type": "linked_select", "defaultComponent": "linkfield", "order": 1, "config": {{"linkedFeatureId": "$f_b", "linkedValueColumn": "$c_b_name"}}}}}},
        {{"tool": "create_column", "ref": "c_a_up", "args": {{"featureId": "$f_a", "name": "up", "label": "Up", "type": "linked_select", "defaultComponent": "linkfield", "order": 2, "config": {{"linkedFeatureId": "$f_a", "linkedValueColumn": "$c_a_b"}}}}}},
        {{"tool": "create_view", "ref": "v_a", "args": {{"featureId": "$f_a", "name": "v", "label": "V", "type": "table", "config": [{{"visibleColumns": ["$c_a_b"]}}]}}}},
        {{"tool": "create_workflow_v2", "ref": "w_x", "args": {{"workspaceId": "$workspace", "name": "x", "label": {label}, "isDraft": true,
            "triggerConfig": {{"type": "record.event", "config": {{"modes": ["created"], "featureId": "$f_a"}}}},
            "graphConfig": {{"steps": [
                {{"key": "ifElse", "config": {{"condition": {{"subject": "var", "var": "x", "op": "eq", "value": 1}},
                    "then": [{{"key": "automation.run", "config": {{"workflowId": "$w_gone"}}}}], "else": []}}}},
                {{"key": "delay", "name": {label}, "config": {{"seconds": 1}}}}]}}}}}},
        {{"tool": "create_module", "ref": "m_m", "args": {{"workspaceId": "$workspace", "name": "m", "label": "M", "config": {{"defaultRailId": "$r_r"}}}}}},
        {{"tool": "create_rail", "ref": "r_r", "args": {{"moduleId": "$m_m", "name": "r", "label": "R", "config": [{{"views": ["$v_a"]}}]}}}}
        ]}}}}"#
    )
}

/// Edges as words.
fn reported(graph: &Graph) -> Vec<String> {
    let id = |at: usize| &graph.nodes[at].id;
    let edges = graph.edges.iter().map(|edge| {
        let (from, to) = (id(edge.from), id(edge.to));
        format!(
            "{from} {} {to} [{}]",
            edge.kind.as_str(),
            edge.labels.join(", ")
        )
    });
    edges.collect()
}

#[test]
fn references_are_edges_of_the_things_that_hold_them() {
    let graph = graph(&sample("A"), GraphKind::Refs);
    assert_eq!(
        reported(&graph),
        [
            "f_a links f_b [b]",
            "f_a links f_a [up]",
            "v_a shows f_a []",
            "w_x uses f_a [record.event]",
            "w_x uses w_gone [automation.run]",
            "m_m uses r_r [defaultRailId]",
            "m_m holds r_r []",
            "r_r uses v_a [views]",
        ]
    );
    let missing = graph.nodes.iter().find(|node| node.id == "w_gone");
    assert_eq!(missing.map(|node| node.kind), Some(NodeKind::Missing));
}

#[test]
fn a_plan_runs_from_declaration_to_use() {
    let graph = graph(&sample("A"), GraphKind::Plan);
    let edges = reported(&graph);
    assert!(
        edges.contains(&"step-0 declares step-3 [$f_a]".to_owned()),
        "{edges:?}"
    );
    assert!(
        edges.contains(&"step-8 late step-7 [$r_r]".to_owned()),
        "{edges:?}"
    );
    let groups: Vec<&str> = graph.groups.iter().map(|group| group.id.as_str()).collect();
    assert_eq!(
        groups,
        [
            "create_feature",
            "create_column",
            "create_view",
            "create_workflow_v2",
            "create_module",
            "create_rail"
        ]
    );
}

#[test]
fn branches_part_and_meet_again() {
    let graph = graph(&sample("A"), GraphKind::Automations);
    assert_eq!(
        reported(&graph),
        [
            "w_x/trigger next w_x/0 []",
            "w_x/0 next w_x/0.then.0 [then]",
            "w_x/0.then.0 next w_x/1 []",
            "w_x/0 next w_x/1 [else]",
            "w_x/1 next w_x/end []",
        ]
    );
}

#[test]
fn dependencies_are_shown_with_their_users_alone() {
    let text = include_str!("../../tests/fixtures/cases/valid/base-auto.json");
    let graph = graph(text, GraphKind::Deps);
    assert!(!graph.edges.is_empty());
    for edge in &graph.edges {
        assert_eq!(graph.nodes[edge.to].kind, NodeKind::Dependency);
        assert_eq!(edge.kind, EdgeKind::Uses);
    }
    // By name and by ref alike.
    let used = |id: &str| graph.edges.iter().any(|edge| graph.nodes[edge.to].id == id);
    for node in graph
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Dependency)
    {
        assert!(used(&node.id), "{}", node.id);
    }
}

#[test]
fn labels_stay_labels() {
    let hostile =
        "\"]; x->y\\N</title><script>alert('1')</script>&`#quot;|end\u{1b}\u{202e}\n%%{init}%%";
    for kind in GraphKind::ALL {
        let graph = graph(&sample(hostile), kind);
        let picture = svg(&graph, Canvas::File);
        assert!(!picture.contains("<script"), "{picture}");
        assert!(!picture.contains(['\u{1b}', '\u{202e}']), "{picture}");
        let text = dot(&graph);
        // What would end the string and what would begin an escape are both escaped.
        assert!(text.contains("label=\"\\\"]; x->y\\\\N<"), "{text}");
        assert!(
            !text.contains(['\u{1b}', '\u{202e}']) && !text.contains("&`"),
            "{text}"
        );
        let text = mermaid(&graph);
        for mark in ["script>", "`", "%%", "'", "\u{1b}", "#quot;|"] {
            assert!(!text.contains(mark), "{mark}: {text}");
        }
        assert!(
            kind == GraphKind::Deps || json(&graph).to_string().contains("alert"),
            "JSON keeps what is written"
        );
    }
}

#[test]
fn secrets_stay_out_of_pictures() {
    let text = r#"{"templateVersion": 1, "plan": {"steps": [{"tool": "create_workflow_v2", "ref": "w_a", "args": {"name": "a",
        "triggerConfig": {"type": "manual"}, "graphConfig": {"steps": [
        {"key": "http.request", "config": {"bearerToken": "hunter2", "connectionName": "erp"}},
        {"key": "unheard", "config": {"token": "hunter2"}}]}}}]}}"#;
    let picture = svg(&graph(text, GraphKind::Automations), Canvas::File);
    assert!(picture.contains("erp") && !picture.contains("hunter2"));
}

#[test]
fn empty_and_malformed_plans_render() {
    for text in [
        r#"{"templateVersion": 2}"#,
        r#"{"templateVersion": 1, "plan": {"steps": [5, {}, {"tool": "create_feature"}, {"tool": "create_workflow_v2", "ref": "w_a", "args": {}}, {"tool": "nope", "args": {"a": "$f_a"}}]}}"#,
    ] {
        for kind in GraphKind::ALL {
            let graph = graph(text, kind);
            for output in [svg(&graph, Canvas::File), dot(&graph), mermaid(&graph)] {
                assert!(output.ends_with('\n'));
            }
        }
    }
}
