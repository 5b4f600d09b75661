//! Records other than rows: what is created reads back, configs are replaced and restored.

use tplkit::json::{Object, Value};
use tplkit::problem::Code;
use tplkit::workspace::{
    Automation, Change, Feature, Id, Module, New, Rail, RecordKind, Source as _,
};

use super::subject::{config, hold, same};
use super::{Case, CaseResult, Subject, Workspaces};

pub(super) fn cases<W: Workspaces>() -> Vec<Case<W>> {
    vec![
        Case {
            name: "a fresh workspace is empty",
            run: |w| Box::pin(fresh(w)),
        },
        Case {
            name: "what is created reads back in display order",
            run: |w| Box::pin(reads_back(w)),
        },
        Case {
            name: "a taken name is a conflict",
            run: |w| Box::pin(taken(w)),
        },
        Case {
            name: "what is not there is not found",
            run: |w| Box::pin(missing(w)),
        },
        Case {
            name: "configs are replaced whole, and restored when nobody else wrote them",
            run: |w| Box::pin(configs(w)),
        },
        Case {
            name: "an automation arrives as a draft and is put in force",
            run: |w| Box::pin(publish(w)),
        },
    ]
}

fn module(id: Id, name: &str, order: i64) -> Module {
    Module {
        id,
        name: name.to_owned(),
        label: "Módulo".to_owned(),
        icon: Some("🏠".to_owned()),
        order,
        config: Object::new(),
        rails: Vec::new(),
    }
}

fn rail(id: Id, name: &str, order: i64) -> Rail {
    Rail {
        id,
        name: name.to_owned(),
        label: String::new(),
        order,
        config: vec![Object::from_iter([(
            "views".to_owned(),
            Value::List(Vec::new()),
        )])],
    }
}

fn automation(id: Id) -> Automation {
    let trigger = Object::from_iter([("type".to_owned(), "manual".into())]);
    let graph = Object::from_iter([("steps".to_owned(), Value::List(Vec::new()))]);
    Automation {
        id,
        name: "Aviso diário".to_owned(),
        trigger_config: trigger,
        graph_config: graph,
        active: false,
        draft: true,
        has_draft: false,
    }
}

async fn fresh<W: Workspaces>(workspaces: &W) -> CaseResult {
    let subject = Subject::new(workspaces).await;
    let structure = subject.structure().await?;
    same("modules", &structure.modules, &Vec::new())?;
    same("tables", &structure.features, &Vec::new())?;
    same("automations", &structure.automations, &Vec::new())?;
    same("the ledger", &subject.ledger().await?, &Vec::new())
}

async fn reads_back<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let mut features = vec![subject.feature("clientes"), subject.feature("Notas 🧾")];
    features[0].config = Object::from_iter([("rowAccess".to_owned(), "own".into())]);
    let mut changes: Vec<Change> = features
        .iter()
        .map(|feature| Change::Create(New::Feature(feature.clone())))
        .collect();
    // Created neither in display order nor in the order of ids.
    let mut columns = vec![
        subject.column("c", 2),
        subject.column("b", 1),
        subject.column("a", 2),
    ];
    let mut views = vec![subject.view("second", 5), subject.view("first", -1)];
    columns.swap(0, 2);
    for column in &columns {
        changes.push(Change::Create(New::Column {
            feature: features[0].id,
            column: column.clone(),
        }));
    }
    for view in &views {
        changes.push(Change::Create(New::View {
            feature: features[0].id,
            view: view.clone(),
        }));
    }
    let mut modules = vec![
        module(subject.id(), "late", 9),
        module(subject.id(), "early", 1),
    ];
    let mut rails = vec![rail(subject.id(), "x", 1), rail(subject.id(), "y", 0)];
    for module in &modules {
        changes.push(Change::Create(New::Module(module.clone())));
    }
    for rail in &rails {
        changes.push(Change::Create(New::Rail {
            module: modules[0].id,
            rail: rail.clone(),
        }));
    }
    let automation = automation(subject.id());
    changes.push(Change::Create(New::Workflow(automation.clone())));
    changes.push(Change::Create(New::Workspace {
        id: subject.id(),
        name: "another".to_owned(),
        label: "Another".to_owned(),
    }));
    subject.write(changes).await?;

    columns.sort_by_key(|column| (column.order, column.id));
    views.sort_by_key(|view| (view.order, view.id));
    rails.sort_by_key(|rail| (rail.order, rail.id));
    features[0].columns = columns;
    features[0].views = views;
    modules[0].rails = rails;
    modules.sort_by_key(|module| (module.order, module.id));
    let mut read = subject.structure().await?;
    read.features.sort_by_key(|feature| feature.id);
    same("tables", &read.features, &features)?;
    same("modules", &read.modules, &modules)?;
    same("automations", &read.automations, &vec![automation])
}

async fn taken<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("clientes", &["nome"]).await?;
    let modules = [
        module(subject.id(), "m", 1),
        module(subject.id(), "m", 2),
        module(subject.id(), "M", 3),
    ];
    let parent = modules[0].id;
    let rails = [rail(subject.id(), "r", 1), rail(subject.id(), "r", 2)];
    let views = [subject.view("v", 1), subject.view("v", 2)];
    let create = |new: New| Change::Create(new);
    let [rail, rail_again] = rails.map(|rail| {
        create(New::Rail {
            module: parent,
            rail,
        })
    });
    let [view, view_again] = views.map(|view| {
        create(New::View {
            feature: feature.id,
            view,
        })
    });
    let [module, module_again, other_case] = modules.map(|module| create(New::Module(module)));
    // Names differ by case.
    subject.write(vec![module, other_case, rail, view]).await?;
    let before = subject.structure().await?;
    let again = create(New::Feature(subject.feature("clientes")));
    let column = create(New::Column {
        feature: feature.id,
        column: subject.column("nome", 7),
    });
    for change in [again, column, module_again, rail_again, view_again] {
        subject.refused(Code::Conflict, vec![change]).await?;
    }
    same("the structure", &subject.structure().await?, &before)
}

async fn missing<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a"]).await?;
    let gone = subject.id();
    let rows = subject.rows(&["{}"]);
    let kinds = [
        RecordKind::Workspace,
        RecordKind::Feature,
        RecordKind::Column,
        RecordKind::View,
        RecordKind::Module,
        RecordKind::Rail,
    ];
    let mut changes: Vec<Change> = kinds
        .into_iter()
        .map(|kind| Change::Configure {
            kind,
            id: gone,
            config: Value::Object(Object::new()),
        })
        .collect();
    changes.push(Change::Create(New::Column {
        feature: gone,
        column: subject.column("a", 1),
    }));
    changes.push(Change::Create(New::View {
        feature: gone,
        view: subject.view("a", 1),
    }));
    changes.push(Change::Create(New::Rail {
        module: gone,
        rail: rail(subject.id(), "r", 1),
    }));
    changes.push(Change::InsertRows {
        feature: gone,
        rows,
    });
    changes.push(Change::MoveSequence {
        feature: feature.id,
        column: gone,
        from: 1,
        to: 2,
    });
    changes.push(Change::Publish { workflow: gone });
    for change in changes {
        subject.refused(Code::NotFound, vec![change]).await?;
    }
    let read = subject.target.rows(gone, None, 10).await;
    hold(read.is_err(), || {
        "rows of a table that is not there can be read".to_owned()
    })
}

async fn configs<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let feature = subject.table("t", &["a"]).await?;
    let (view, parent) = (subject.view("v", 1), module(subject.id(), "m", 1));
    let entry = rail(subject.id(), "r", 1);
    let workspace = subject.structure().await?.workspace.id;
    let targets = [
        (RecordKind::Workspace, workspace, "theme"),
        (RecordKind::Feature, feature.id, "icon"),
        (RecordKind::Column, feature.columns[0].id, "required"),
        (RecordKind::View, view.id, "filters"),
        (RecordKind::Module, parent.id, "color"),
        (RecordKind::Rail, entry.id, "views"),
    ];
    let rail = New::Rail {
        module: parent.id,
        rail: entry,
    };
    let view = New::View {
        feature: feature.id,
        view,
    };
    let news = [New::Module(parent), view, rail];
    subject
        .write(news.into_iter().map(Change::Create).collect())
        .await?;
    let before = subject.structure().await?;
    for (kind, id, key) in targets {
        let list = |config: Value| match kind {
            RecordKind::Rail => Value::List(vec![config]),
            _ => config,
        };
        let other = |subject: Value| Change::Configure {
            kind,
            id,
            config: subject,
        };
        let restore = |current: Value, config: Value| Change::Restore {
            kind,
            id,
            current,
            config,
        };
        let old = config_of(&before, kind, id).ok_or("a config cannot be found")?;
        let (mine, theirs) = (list(config(key, "mine")), list(config("other", 1i64)));
        subject.write(vec![other(mine.clone())]).await?;
        let read = config_of(&subject.structure().await?, kind, id);
        same("the config", &read, &Some(mine.clone()))?;
        // Somebody else wrote it meanwhile: it stays.
        subject.write(vec![other(theirs.clone())]).await?;
        let back = restore(mine.clone(), old.clone());
        subject.write(vec![back]).await?;
        let read = config_of(&subject.structure().await?, kind, id);
        same("the config of somebody else", &read, &Some(theirs))?;
        subject.write(vec![other(mine.clone())]).await?;
        subject.write(vec![restore(mine.clone(), old)]).await?;
        // What is gone needs no restoring.
        let gone = Change::Restore {
            kind,
            id: subject.id(),
            current: mine.clone(),
            config: mine,
        };
        subject.write(vec![gone]).await?;
    }
    same("the structure", &subject.structure().await?, &before)
}

fn config_of(structure: &tplkit::workspace::Structure, kind: RecordKind, id: Id) -> Option<Value> {
    let feature: &Feature = structure.features.first()?;
    let module = structure.modules.first()?;
    let object = match kind {
        RecordKind::Workspace => Some(&structure.workspace.config),
        RecordKind::Feature => Some(&feature.config),
        RecordKind::Column => feature.column(id).map(|column| &column.config),
        RecordKind::View => feature.views.first().map(|view| &view.config),
        RecordKind::Module => Some(&module.config),
        _ => {
            let list = module.rails.first()?.config.iter().cloned();
            return Some(Value::List(list.map(Value::Object).collect()));
        }
    };
    object.cloned().map(Value::Object)
}

async fn publish<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let made = automation(subject.id());
    let create = Change::Create(New::Workflow(made.clone()));
    subject.write(vec![create]).await?;
    let active = |structure: tplkit::workspace::Structure| {
        let all = structure.automations.into_iter();
        all.map(|made| made.active).collect::<Vec<_>>()
    };
    same("active", &active(subject.structure().await?), &vec![false])?;
    for _ in 0..2 {
        // An executor that lost the response may ask again.
        let publish = Change::Publish { workflow: made.id };
        subject.write(vec![publish]).await?;
        same("active", &active(subject.structure().await?), &vec![true])?;
    }
    // One that was in force and comes back does not fire.
    let back = Automation {
        draft: false,
        ..automation(subject.id())
    };
    let create = Change::Create(New::Workflow(back.clone()));
    subject.write(vec![create]).await?;
    let structure = subject.structure().await?;
    let mut all = structure.automations.into_iter();
    same("it", &all.find(|one| one.id == back.id), &Some(back))?;
    Ok(())
}
