//! Random sequences of what can be done with versions, against the few lines that say what has to come
//! of it. `TPLKIT_SEQUENCES` says how many; 300 in every run.

use serde_json::json;

use super::{PATH, body, path, workflow};
use crate::api::client::Client;
use crate::api::model::{Model, id};
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(sequences_end_as_they_have_to);

const LONG: usize = 8;

#[derive(Debug, Clone, PartialEq)]
struct Version {
    id: String,
    draft: bool,
    active: bool,
    base: Option<usize>,
}

/// What has to be: versions by their numbers, from 1.
#[derive(Debug, Default)]
struct Expected(Vec<Version>);

impl Expected {
    fn published(&self) -> Option<usize> {
        let published = |at: &usize| !self.0[*at].draft;
        let all = 0..self.0.len();
        let active = all.clone().find(|at| self.0[*at].active);
        active
            .or_else(|| all.rev().find(published))
            .map(|at| at + 1)
    }

    fn in_force(&self) -> usize {
        self.published().unwrap_or(self.0.len())
    }

    fn active(&self) -> Option<usize> {
        self.0
            .iter()
            .position(|version| version.active)
            .map(|at| at + 1)
    }

    fn newest_draft(&self) -> Option<usize> {
        self.0
            .iter()
            .rposition(|version| version.draft)
            .map(|at| at + 1)
    }

    /// The status of publishing that version, which is done.
    fn apply(&mut self, number: Option<usize>) -> u16 {
        let Some(number) = number.or_else(|| self.newest_draft()) else {
            return 409;
        };
        let published = self.published();
        let draft = &self.0[number - 1];
        if !draft.draft || draft.base != published {
            return 409;
        }
        let fires = published.is_some_and(|at| self.0[at - 1].active);
        if let Some(at) = published {
            self.0[at - 1].active = false;
        }
        self.0[number - 1].draft = false;
        self.0[number - 1].active = fires;
        200
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("small") % sides
    }
}

async fn sequences_end_as_they_have_to(place: Place) {
    let world = World::new(place).await;
    let editor = world.as_user("editor@acme.test");
    let model = Model::new(&editor, world.acme);
    let count =
        crate::process::variable("TPLKIT_SEQUENCES").map(|text| text.parse().expect("a number"));
    for seed in 0..count.unwrap_or(300) {
        let mut dice = Dice(seed);
        let draft = dice.roll(2) == 0;
        let made = editor.create(PATH, &body(&model.workspace, draft));
        let it = workflow(&made);
        let mut expected = Expected(vec![Version {
            id: id(&made),
            draft,
            active: false,
            base: None,
        }]);
        for _ in 0..LONG {
            one(&world, &editor, &it, &mut expected, &mut dice).await;
        }
        let seen = stored_versions(&editor, &it);
        assert_eq!(seen, expected.0, "{seed}");
        let in_force = editor.get(&path(&it, "")).expect(200).json();
        assert_eq!(in_force["version"], expected.in_force(), "{seed}");
        let status = if expected.active().is_some() {
            409
        } else {
            204
        };
        editor.delete(&path(&it, "")).expect(status);
        if status == 409 {
            editor.delete(&path(&it, "?force=true")).expect(204);
        }
    }
}

async fn one(world: &World, editor: &Client, it: &str, expected: &mut Expected, dice: &mut Dice) {
    match dice.roll(6) {
        0 | 1 => {
            let status = if expected.active().is_some() {
                201
            } else {
                409
            };
            let response = editor.post_to(it, "/versions", &json!({})).expect(status);
            if status == 201 {
                let (id, base) = (id(&response.json()), expected.active());
                expected.0.push(Version {
                    id,
                    draft: true,
                    active: false,
                    base,
                });
            }
        }
        2 => {
            let status = expected.apply(None);
            editor.post_to(it, "/apply", &json!({})).expect(status);
        }
        3 => {
            let number = dice.roll(expected.0.len()) + 1;
            let named = json!({"version_id": expected.0[number - 1].id});
            let status = expected.apply(Some(number));
            editor.post_to(it, "/apply", &named).expect(status);
        }
        4 => {
            let newest = expected.0.iter().rposition(|version| !version.draft);
            assert_eq!(world.switch(it, true).await, newest.is_some());
            for version in &mut expected.0 {
                version.active = false;
            }
            if let Some(at) = newest {
                expected.0[at].active = true;
            }
        }
        _ => {
            assert_eq!(
                world.switch(it, false).await,
                expected.published().is_some()
            );
            for version in &mut expected.0 {
                version.active = false;
            }
        }
    }
}

/// The versions of an automation that the server has.
fn stored_versions(editor: &Client, it: &str) -> Vec<Version> {
    let versions = editor.items(&format!("{PATH}?limit=200"));
    let own = versions.iter().filter(|version| workflow(version) == it);
    own.map(|version| Version {
        id: id(version),
        draft: version["is_draft"] == true,
        active: version["is_active"] == true,
        base: version["base_version"]
            .as_u64()
            .map(|base| usize::try_from(base).expect("small")),
    })
    .collect()
}
