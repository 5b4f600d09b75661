//! Rows that are too large to be held together: they are looked up, changed and removed a few at a time.

use tplkit::json::Object;
use tplkit::problem::Code;
use tplkit::workspace::ledger::RowDigest;
use tplkit::workspace::{
    Change, Column, CommitError, Feature, Id, Lookup as _, New, Progress, Removal, RowData,
    RowWrite, Source, StoredRow, Target as _, Unit, fetch_each, match_each,
};
use tplkit_server::jobs::Destination;
use tplkit_server::rows::Tables;
use tplkit_server::store::{Dialect, StoreError};
use tplkit_server::workspace::{ReadError, Snapshot};

use super::fixtures;
use crate::api::world::World;
use crate::stores::{Place, on_both_stores};

on_both_stores!(
    large_rows_are_looked_up_a_few_at_a_time,
    rows_that_are_read_ahead_are_those_that_are_fetched,
    a_read_ahead_that_fails_says_why,
    a_value_that_many_large_rows_hold_finds_the_first,
    large_rows_are_changed_and_removed_a_few_at_a_time,
);

const ROWS: usize = 40;
const CELL: usize = 300_000;
/// What is looked up together.
const MOST: usize = 2 << 20;

/// A table of large rows in the workspace of a job.
struct Stage {
    target: Destination,
    feature: Id,
    rows: Vec<StoredRow>,
}

impl Stage {
    async fn new(world: &World, key: impl Fn(usize) -> usize) -> Stage {
        let World { store, context, .. } = world;
        let organization = world.organization("O", None).await;
        let workspace = fixtures::workspace(store, context, organization).await;
        let new = fixtures::new(context, organization, workspace);
        let id = new.id;
        assert!(fixtures::create(store, new).await);
        let lease = fixtures::taken(store, context, id, 60).await;
        let target = fixtures::destination(store, context, lease).await;
        let feature = context.id();
        let column = |name: &str, order| Column {
            id: context.id(),
            name: name.to_owned(),
            label: name.to_owned(),
            column_type: "long_text".to_owned(),
            default_component: "textarea".to_owned(),
            order,
            config: Object::new(),
        };
        let table = Feature {
            id: feature,
            name: "t".to_owned(),
            label: "T".to_owned(),
            config: Object::new(),
            is_shared: false,
            columns: Vec::new(),
            views: Vec::new(),
        };
        let columns = [column("k", 1), column("note", 2)];
        let columns = columns.map(|column| Change::Create(New::Column { feature, column }));
        let table = Change::Create(New::Feature(table));
        let row = |at| StoredRow {
            id: context.id(),
            data: data(key(at), at, 'x'),
        };
        let mut rows: Vec<StoredRow> = (0..ROWS).map(row).collect();
        rows.sort_by_key(|row| row.id);
        let mut stage = Stage {
            target,
            feature,
            rows,
        };
        stage.write(std::iter::once(table).chain(columns)).await;
        for rows in stage.rows.clone().chunks(5) {
            let rows = rows.to_vec();
            stage.write([Change::InsertRows { feature, rows }]).await;
        }
        stage
    }

    async fn commit(
        &mut self,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<(), CommitError<<Destination as Source>::Error>> {
        let unit = Unit {
            changes: changes.into_iter().collect(),
            entry: None,
            progress: Progress::default(),
            report: None,
        };
        self.target.commit(unit).await
    }

    async fn write(&mut self, changes: impl IntoIterator<Item = Change>) {
        self.commit(changes).await.expect("is written");
    }

    /// What the table holds.
    async fn stored_rows(&self) -> Vec<StoredRow> {
        let mut held: Vec<StoredRow> = Vec::new();
        loop {
            let after = held.last().map(|row| row.id);
            let rows = self.target.rows(self.feature, after, ROWS).await;
            let rows = rows.expect("is read");
            if rows.is_empty() {
                return held;
            }
            held.extend(rows);
        }
    }
}

fn data(key: usize, at: usize, fill: char) -> RowData {
    let note = fill.to_string().repeat(CELL);
    RowData::trusted(&format!("{{\"k\":\"{key}\",\"note\":\"{at} {note}\"}}"))
}

/// That so many are held together and no more.
fn bounded(found: &[Option<StoredRow>]) {
    let bytes = found.iter().flatten().map(|row| row.data.as_str().len());
    let bytes: usize = bytes.sum();
    assert!(!found.is_empty() && bytes <= MOST, "{bytes} bytes");
}

async fn large_rows_are_looked_up_a_few_at_a_time(place: Place) {
    let world = World::new(place).await;
    let stage = Stage::new(&world, |at| at).await;
    let (target, feature) = (&stage.target, stage.feature);
    // In an order that is not theirs, with ids and values that no row has, and some twice.
    let mut places: Vec<usize> = (0..ROWS).rev().collect();
    places.extend([3, 3, 4]);
    let mut ids: Vec<Id> = places.iter().map(|at| stage.rows[*at].id).collect();
    ids.insert(2, world.context.id());
    let expected = |at: usize| stage.rows.get(at).cloned();
    let mut expected: Vec<Option<StoredRow>> = places.iter().map(|at| expected(*at)).collect();
    expected.insert(2, None);
    for _ in 0..2 {
        let found = target.fetch(feature, &ids).await.expect("is read");
        bounded(&found);
        assert_eq!(found, expected[..found.len()]);
    }
    let all = fetch_each(target, feature, &ids, |row| row).await;
    assert!(all.expect("is read") == expected);

    let key = |row: &Option<StoredRow>| {
        let key = row.as_ref().and_then(|row| row.data.cell("k"));
        key.unwrap_or("\"none\"").to_owned()
    };
    let values: Vec<String> = expected.iter().map(key).collect();
    let found = target.matching(feature, "k", &values).await;
    let found = found.expect("is read");
    bounded(&found);
    assert_eq!(found, expected[..found.len()]);
    let all = match_each(target, feature, "k", &values, |row| row).await;
    assert!(all.expect("is read") == expected);
}

async fn rows_that_are_read_ahead_are_those_that_are_fetched(place: Place) {
    let world = World::new(place).await;
    let stage = Stage::new(&world, |at| at).await;
    let lease = stage.target.lease();
    let input = (lease.workspace, stage.feature, stage.rows);
    let scope = lease.scope();
    let reading = world.store.snapshot(&scope, input, |tx, input| {
        Box::pin(async move {
            let (workspace, feature, rows) = (input.0, input.1, &input.2);
            let snapshot = Snapshot::new(tx, workspace, &Tables::default());
            let some = |places: [usize; 3]| places.map(|at| rows[at].id);
            let expected = |places: [usize; 3]| places.map(|at| Some(rows[at].clone()));
            // Of too many at once the first come. How large they are is known from the second time on.
            let all: Vec<Id> = rows.iter().map(|row| row.id).collect();
            for _ in 0..2 {
                snapshot.fetch_ahead(feature, &all).await?;
                let found = snapshot.fetch(feature, &all).await?;
                bounded(&found);
                let firsts = rows.iter().take(found.len()).cloned().map(Some);
                assert!(found == firsts.collect::<Vec<_>>());
            }
            snapshot.fetch_ahead(feature, &some([5, 4, 3])).await?;
            // In between others are asked for, and the structure.
            let found = snapshot.fetch(feature, &some([9, 8, 7])).await?;
            assert!(found == expected([9, 8, 7]));
            snapshot.fetch_ahead(feature, &some([2, 1, 0])).await?;
            assert_eq!(snapshot.structure().await?.features.len(), 1);
            let found = snapshot.fetch(feature, &some([9, 2, 5])).await?;
            assert!(found == expected([9, 2, 5]));
            for _ in 0..2 {
                let found = snapshot.fetch(feature, &some([2, 1, 0])).await?;
                assert!(found == expected([2, 1, 0]));
            }
            // Nobody asks for the last ones.
            snapshot.fetch_ahead(feature, &some([5, 4, 3])).await?;
            let unknown = snapshot.fetch_ahead(workspace, &all).await;
            assert!(matches!(unknown, Err(ReadError::NoTable(_))), "{unknown:?}");
            snapshot.fetch_ahead(feature, &some([5, 4, 3])).await
        })
    });
    reading.await.expect("is read");
}

/// On PostgreSQL what is read ahead is read by then: its error is the one that comes, whatever is asked next.
async fn a_read_ahead_that_fails_says_why(place: Place) {
    let postgres = place.url.starts_with("postgres");
    let world = World::new(place).await;
    let stage = Stage::new(&world, |at| at).await;
    let lease = stage.target.lease();
    for asks_for_rows in [true, false] {
        let input = (
            lease.workspace,
            stage.feature,
            stage.rows.clone(),
            asks_for_rows,
        );
        let scope = lease.scope();
        let reading = world.store.snapshot(&scope, input, |tx, input| {
            Box::pin(async move {
                let (workspace, feature, rows, asks_for_rows) =
                    (input.0, input.1, &input.2, input.3);
                if tx.dialect()? == Dialect::Postgres {
                    let sql = "SELECT set_config('statement_timeout', '1', true) FROM features \
                         WHERE {tenant organization_id} LIMIT 1 {across test}";
                    tx.execute(sql, &[]).await?;
                }
                let snapshot = Snapshot::new(tx, workspace, &Tables::default());
                let all: Vec<Id> = rows.iter().map(|row| row.id).collect();
                snapshot.fetch_ahead(feature, &all).await?;
                if asks_for_rows {
                    snapshot.fetch(feature, &all).await.map(drop)
                } else {
                    snapshot.structure().await.map(drop)
                }
            })
        });
        let read: Result<(), ReadError> = reading.await;
        match read {
            Ok(()) => assert!(!postgres),
            Err(ReadError::Store(StoreError::TooLong)) => assert!(postgres),
            Err(other) => panic!("{other:?}"),
        }
    }
}

async fn a_value_that_many_large_rows_hold_finds_the_first(place: Place) {
    let world = World::new(place).await;
    // The last one alone has a key of its own.
    let stage = Stage::new(&world, |at| at / (ROWS - 1)).await;
    let values = ["\"0\"", "\"1\"", "null", "\"2\""].map(str::to_owned);
    let found = match_each(&stage.target, stage.feature, "k", &values, |row| {
        row.map(|row| row.id)
    });
    let found = found.await;
    let first = |key: &str| {
        let mut rows = stage.rows.iter();
        let row = rows.find(|row| row.data.cell("k") == Some(key));
        row.map(|row| row.id)
    };
    let expected = values.iter().map(|value| first(value));
    assert_eq!(found.expect("is read"), expected.collect::<Vec<_>>());
}

async fn large_rows_are_changed_and_removed_a_few_at_a_time(place: Place) {
    let world = World::new(place).await;
    let mut stage = Stage::new(&world, |at| at).await;
    let feature = stage.feature;
    let write = |(at, row): (usize, &StoredRow)| RowWrite {
        id: row.id,
        cells: data(at, at, 'y'),
        replace: true,
        digest: Some(RowDigest::of(&row.data)),
    };
    // In an order that is not that of their ids.
    let mut writes: Vec<RowWrite> = stage.rows.iter().enumerate().map(write).collect();
    writes.reverse();
    let mut wrong = writes.clone();
    wrong[1].digest = Some(RowDigest::default());
    let rows = wrong;
    let refused = stage.commit([Change::UpdateRows { feature, rows }]).await;
    let Err(CommitError::Refused(refused)) = refused else {
        panic!("a row has changed");
    };
    assert_eq!((refused.code, refused.row), (Code::NotEmpty, Some(1)));
    assert!(
        stage.stored_rows().await == stage.rows,
        "something was written"
    );
    let rows = writes.clone();
    stage.write([Change::UpdateRows { feature, rows }]).await;
    let after = |write: &RowWrite| StoredRow {
        id: write.id,
        data: write.cells.clone(),
    };
    let after: Vec<StoredRow> = writes.iter().rev().map(after).collect();
    assert!(
        stage.stored_rows().await == after,
        "not all rows were changed"
    );

    let removal = |row: &StoredRow| Removal {
        id: row.id,
        digest: Some(RowDigest::of(&row.data)),
    };
    let mut removals: Vec<Removal> = after.iter().map(removal).collect();
    removals.reverse();
    removals[2].digest = Some(RowDigest::default());
    let rows = removals.clone();
    let refused = stage.commit([Change::RemoveRows { feature, rows }]).await;
    let Err(CommitError::Refused(refused)) = refused else {
        panic!("a row has changed");
    };
    assert_eq!((refused.code, refused.row), (Code::NotEmpty, Some(2)));
    assert!(stage.stored_rows().await == after, "something was removed");
    removals[2].digest = None;
    let rows = removals;
    stage.write([Change::RemoveRows { feature, rows }]).await;
    assert!(stage.stored_rows().await.is_empty());
}
