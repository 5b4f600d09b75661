//! Packages written in few words.

use serde_json::{Value as Json, json};

use crate::definitions::Definitions;

/// A package text: steps as `(tool, ref, args)`, with whatever else the manifest holds. Version 2
/// gets the items of its steps.
#[derive(Debug, Clone)]
pub(in crate::apply) struct Pack {
    pub(in crate::apply) version: u8,
    steps: Vec<Json>,
    pub(in crate::apply) items: Vec<Json>,
    pub(in crate::apply) dependencies: Vec<Json>,
    pub(in crate::apply) unresolved: Vec<Json>,
    pub(in crate::apply) redacted: Vec<Json>,
    pub(in crate::apply) external: Vec<&'static str>,
    pub(in crate::apply) payloads: Vec<Json>,
    pub(in crate::apply) source: &'static str,
}

pub(in crate::apply) fn uid(number: usize) -> String {
    format!("u_00000000-0000-4000-8000-{number:012}")
}

impl Pack {
    pub(in crate::apply) fn new() -> Pack {
        Pack {
            version: 2,
            steps: Vec::new(),
            items: Vec::new(),
            dependencies: Vec::new(),
            unresolved: Vec::new(),
            redacted: Vec::new(),
            external: Vec::new(),
            payloads: Vec::new(),
            source: "manual",
        }
    }

    /// Adds a create step and its item; the uid of the item is that of its ref's number.
    pub(in crate::apply) fn create(mut self, tool: &str, reference: &str, args: Json) -> Pack {
        let number = self.steps.len();
        let kind = match tool {
            "create_workflow_v2" => "workflow",
            "create_workspace" => "",
            tool => tool.trim_start_matches("create_"),
        };
        let parent = args.get("featureId").or(args.get("moduleId"));
        let parent = parent.and_then(Json::as_str).and_then(|used| {
            let items = self.items.iter();
            let mut found = items.filter(|item| item["ref"] == used.trim_start_matches('$'));
            found.next().map(|item| item["uid"].clone())
        });
        if !kind.is_empty() {
            let mut item = json!({"uid": uid(1000 + number), "kind": kind, "ref": reference, "label": args["label"]});
            if let Some(parent) = parent {
                item["parent"] = parent;
            }
            if kind == "workflow" {
                let text = args.to_string();
                let ids = text
                    .match_indices("\"stp_")
                    .map(|(at, _)| text[at + 1..at + 17].to_owned());
                item["stepIds"] = ids.collect::<Vec<_>>().into();
            }
            self.items.push(item);
        }
        self.steps
            .push(json!({"uid": uid(number), "tool": tool, "ref": reference, "args": args}));
        self
    }

    /// Adds a step that declares nothing.
    pub(in crate::apply) fn step(mut self, tool: &str, args: Json) -> Pack {
        let number = self.steps.len();
        self.steps
            .push(json!({"uid": uid(number), "tool": tool, "args": args}));
        self
    }

    pub(in crate::apply) fn table(self, name: &str) -> Pack {
        let args = json!({"workspaceId": "$workspace", "name": name, "label": name});
        self.create("create_feature", &format!("f_{name}"), args)
    }

    pub(in crate::apply) fn column(
        self,
        table: &str,
        name: &str,
        kind: &str,
        config: Json,
    ) -> Pack {
        let component = &Definitions::embedded().column_types[kind].default_component;
        let order = self.steps.len() + 1;
        let mut args = json!({"featureId": format!("$f_{table}"), "name": name, "label": name, "type": kind, "defaultComponent": component, "order": order});
        if config != Json::Null {
            args["config"] = config;
        }
        self.create("create_column", &format!("c_{table}_{name}"), args)
    }

    pub(in crate::apply) fn view(self, table: &str, config: Json) -> Pack {
        let args = json!({"featureId": format!("$f_{table}"), "name": table, "label": table, "type": "table", "config": [config]});
        self.create("create_view", &format!("v_{table}"), args)
    }

    /// A table of the source that does not travel.
    pub(in crate::apply) fn far_table(
        mut self,
        name: &str,
        columns: &[&str],
        blueprint: bool,
        uses: &[(usize, &str)],
    ) -> Pack {
        let reference = format!("f_{name}");
        let owner = uid(2000 + self.dependencies.len());
        let column = |column: &&str| {
            let component = if *column == "id" { "id" } else { "textfield" };
            json!({"uid": uid(3000 + column.len()), "ref": format!("c_{name}_{column}"), "name": column, "label": column, "type": "text", "defaultComponent": component})
        };
        let identity: Vec<Json> = columns.iter().map(column).collect();
        let mut dependency = json!({
            "uid": owner, "kind": "feature", "ref": reference, "form": "uuid", "required": true,
            "resolution": if blueprint { "import" } else { "map" },
            "detail": if blueprint { "blueprint" } else { "identity" },
            "description": "The table that the column links to.",
            "identity": {"name": name, "label": name, "columns": identity},
            "usedBy": uses.iter().map(|(item, path)| json!({"uid": uid(*item), "targets": owner, "path": path, "reason": "r"})).collect::<Vec<_>>(),
        });
        if blueprint {
            let mut steps = vec![
                json!({"uid": uid(4000), "tool": "create_feature", "ref": reference, "args": {"workspaceId": "$workspace", "name": name, "label": name}}),
            ];
            for (at, column) in identity.iter().enumerate() {
                steps.push(json!({"uid": uid(4001 + at), "tool": "create_column", "ref": column["ref"], "args": {
                    "featureId": format!("${reference}"), "name": column["name"], "label": column["label"], "type": "text",
                    "defaultComponent": column["defaultComponent"], "order": at + 1}}));
            }
            dependency["blueprint"] = json!({"steps": steps});
        }
        self.dependencies.push(dependency);
        self
    }

    /// Something else that does not travel.
    pub(in crate::apply) fn far(
        mut self,
        kind: &str,
        reference: &str,
        form: &str,
        name: &str,
        uses: &[(usize, &str)],
    ) -> Pack {
        let owner = uid(2000 + self.dependencies.len());
        self.dependencies.push(json!({
            "uid": owner, "kind": kind, "ref": reference, "form": form, "required": kind != "timerProfile",
            "resolution": "map", "detail": "identity", "description": "What it is for.",
            "identity": {"name": name, "label": name, "columns": []},
            "usedBy": uses.iter().map(|(item, path)| json!({"uid": uid(*item), "targets": owner, "path": path, "reason": "r"})).collect::<Vec<_>>(),
        }));
        self
    }

    /// Rows of a table: `data` of each, with `refs` where they have some.
    pub(in crate::apply) fn rows(
        mut self,
        table: &str,
        key: Option<&str>,
        rows: &[(Json, Json)],
    ) -> Pack {
        let number = self.payloads.len();
        let item = uid(5000 + number);
        let parent = self
            .items
            .iter()
            .find(|item| item["ref"] == format!("f_{table}"));
        let parent = parent.map(|item| item["uid"].clone());
        let links = self.steps.iter().any(|step| {
            let config = step["args"]["config"]["linkedFeatureId"].as_str();
            config == Some(&format!("$f_{table}"))
                && step["args"]["featureId"] != format!("$f_{table}")
        });
        if self.version == 2 {
            self.items.push(json!({"uid": item, "kind": "rows", "label": table, "parent": parent, "count": rows.len(),
                "dataClass": if links { "reference" } else { "transactional" }}));
        }
        let mut columns: Vec<&str> = Vec::new();
        for step in &self.steps {
            let name = step["args"]["name"].as_str().unwrap_or_default();
            let own = step["tool"] == "create_column"
                && step["args"]["featureId"] == format!("$f_{table}");
            if own && rows.iter().any(|(data, _)| data.get(name).is_some()) {
                columns.push(name);
            }
        }
        let rows: Vec<Json> = rows
            .iter()
            .enumerate()
            .map(|(at, (data, refs))| {
                let mut row = json!({"uid": uid(6000 + 100 * number + at), "data": data});
                if *refs != Json::Null {
                    row["refs"] = refs.clone();
                }
                row
            })
            .collect();
        self.payloads.push(
            json!({"featureRef": format!("f_{table}"), "itemUid": item, "count": rows.len(),
            "keyColumn": key, "keyUnique": key.is_some(), "columns": columns, "rows": rows}),
        );
        self
    }

    pub(in crate::apply) fn text(&self) -> String {
        let mut manifest = json!({
            "name": "small", "label": "Small", "templateVersion": self.version,
            "plan": {"planVersion": 1, "id": uid(9999), "summary": "Small.", "target": {"workspaceId": "$workspace"},
                "metadata": {"source": self.source, "generatedAt": "2025-03-01T09:30:00Z"},
                "externalRefs": self.external, "steps": self.steps},
        });
        if self.version == 2 {
            manifest["source"] = json!({"workspaceName": "Here", "generatedAt": "2025-03-01T09:30:00Z", "definitionsVersion": Definitions::embedded().version});
            manifest["items"] = self.items.clone().into();
            manifest["dependencies"] = self.dependencies.clone().into();
            manifest["unresolved"] = self.unresolved.clone().into();
            manifest["redacted"] = self.redacted.clone().into();
        }
        json!({"manifest": manifest, "payloads": self.payloads}).to_string()
    }
}
