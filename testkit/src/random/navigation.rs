//! Modules, navigation entries, and what the workspace opens first.

use std::collections::BTreeSet;

use tplkit::json::{Object, Value};
use tplkit::workspace::{Id, Module, Rail};

use super::config::id;
use super::{Generator, names};

impl Generator<'_> {
    /// Modules with their rails and the workspace's config; ids of views are given out here,
    /// because rails list them.
    pub(super) fn navigation(&mut self) {
        for _ in 0..self.structure.features.len() {
            let count = self.dice.between(0, self.shape.views);
            let ids = (0..count).map(|_| self.dice.id()).collect();
            self.views.push(ids);
        }
        let count = self.dice.between(0, self.shape.modules);
        let ids: Vec<Id> = (0..count).map(|_| self.dice.id()).collect();
        let mut taken = BTreeSet::new();
        for (place, id) in ids.iter().enumerate() {
            let module = self.module(*id, place, &ids, &mut taken);
            self.structure.modules.push(module);
        }
        let modules = &mut self.structure.modules;
        modules.sort_by_key(|module| (module.order, module.id));
        self.workspace_config(&ids);
    }

    pub(super) fn workspace_config(&mut self, modules: &[Id]) {
        let mut config = Object::new();
        let opened = if self.untidy(10) {
            Some(self.gone())
        } else {
            self.dice.pick(modules).copied()
        };
        if let Some(opened) = opened.filter(|_| self.dice.chance(70)) {
            config.insert("defaultModuleId".to_owned(), id(opened));
        }
        if self.dice.chance(40) {
            config.insert("theme".to_owned(), "dark".into());
        }
        self.left_over(&mut config);
        self.structure.workspace.config = config;
    }

    pub(super) fn module(
        &mut self,
        id_: Id,
        place: usize,
        all: &[Id],
        taken: &mut BTreeSet<String>,
    ) -> Module {
        let count = self.dice.between(0, self.shape.rails);
        let mut names = BTreeSet::new();
        let mut rails: Vec<Rail> = (0..count)
            .map(|place| self.rail(place, all, &mut names))
            .collect();
        rails.sort_by_key(|rail| (rail.order, rail.id));
        let mut config = Object::new();
        let opened = self.dice.pick(&rails).map(|rail| rail.id);
        if let Some(opened) = opened.filter(|_| self.dice.chance(60)) {
            config.insert("defaultRailId".to_owned(), id(opened));
        }
        if self.dice.chance(30) {
            config.insert("color".to_owned(), "#ff8800".into());
        }
        self.left_over(&mut config);
        Module {
            id: id_,
            name: names::technical(&mut self.dice, taken),
            label: self.label(),
            icon: self.icon(place),
            order: self.place(place),
            config,
            rails,
        }
    }

    pub(super) fn rail(
        &mut self,
        place: usize,
        modules: &[Id],
        taken: &mut BTreeSet<String>,
    ) -> Rail {
        let count = match self.dice.below(10) {
            0 => 0,
            1 => 2,
            _ => 1,
        };
        Rail {
            id: self.dice.id(),
            name: names::technical(&mut self.dice, taken),
            label: self.label(),
            order: self.place(place),
            config: (0..count).map(|_| self.rail_config(modules)).collect(),
        }
    }

    pub(super) fn rail_config(&mut self, modules: &[Id]) -> Object {
        let mut config = Object::new();
        let count = self.dice.below(4);
        let views: Vec<Value> = (0..count)
            .filter_map(|_| self.some_view())
            .map(id)
            .collect();
        if !views.is_empty() || self.dice.chance(30) {
            config.insert("views".to_owned(), Value::List(views));
        }
        if let Some(view) = self.some_view().filter(|_| self.dice.chance(40)) {
            config.insert("defaultViewId".to_owned(), id(view));
        }
        let jump = if self.untidy(10) {
            Some(self.gone())
        } else {
            self.dice.pick(modules).copied()
        };
        if let Some(jump) = jump.filter(|_| self.dice.chance(30)) {
            config.insert("openModuleId".to_owned(), id(jump));
        }
        self.left_over(&mut config);
        config
    }

    /// None, one, or one that is empty: that is not the same as none.
    fn icon(&mut self, place: usize) -> Option<String> {
        let given = self.dice.chance(40);
        given.then(|| if place % 3 == 1 { "" } else { "🏠" }.to_owned())
    }

    /// Mostly one after the other, sometimes together.
    fn place(&mut self, place: usize) -> i64 {
        if self.dice.chance(20) {
            return 5;
        }
        i64::try_from(place * 2).unwrap_or_default()
    }
}
