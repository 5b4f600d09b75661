//! What a job has made of a workspace of the store, compared with what is expected.

use std::collections::HashSet;

use tplkit::apply::{BasePackage, DriftInput, JobHistory, Report};
use tplkit::check::Checked;
use tplkit::definitions::Definitions;
use tplkit::upgrade::Drift;
use tplkit::workspace::ledger::{Entry, RowDigest};
use tplkit::workspace::memory::{Memory, State};
use tplkit::workspace::{Id, Lookup as _, Source as _, StoredRow, Structure, Target as _, ready};
use tplkit_server::jobs;
use tplkit_server::rows::Tables;
use tplkit_server::store::{Scope, Store, StoreError};
use tplkit_server::workspace::{ReadError, Snapshot};
use uuid::Uuid;

use super::packages::Package;

/// Everything of a workspace.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) structure: Structure,
    rows: Vec<(Id, Vec<StoredRow>)>,
    /// Where the sequence of each column stands.
    sequences: Vec<(Id, u64)>,
}

impl Outcome {
    pub(super) async fn of(store: &Store, workspace: Uuid) -> Outcome {
        let read = store.snapshot(&Scope::Operator, workspace, |tx, workspace| {
            Box::pin(async move {
                let source = Snapshot::new(tx, *workspace, &Tables::default());
                let structure = source.structure().await?;
                let (mut rows, mut sequences) = (Vec::new(), Vec::new());
                for feature in &structure.features {
                    let mut all: Vec<StoredRow> = Vec::new();
                    loop {
                        let after = all.last().map(|row| row.id);
                        let page = source.rows(feature.id, after, 500).await?;
                        if page.is_empty() {
                            break;
                        }
                        all.extend(page);
                    }
                    rows.push((feature.id, all));
                    for column in &feature.columns {
                        let stands = source.sequence(feature.id, column.id).await?;
                        sequences.extend(stands.map(|stands| (column.id, stands)));
                    }
                }
                Ok::<_, ReadError>(Outcome {
                    structure,
                    rows,
                    sequences,
                })
            })
        });
        read.await.expect("reads")
    }

    /// The workspace as it was before anything was written, for the library's own.
    pub(super) fn state(&self) -> State {
        let here = &self.structure.workspace;
        let organization = self.structure.organization.id;
        let mut state = State::empty(organization, here.id, &here.name, &here.label);
        state.structure.organization = self.structure.organization.clone();
        state
    }

    /// Asserts that it is what the library makes of the package in memory, to the last cell.
    #[track_caller]
    pub(super) fn is(&self, expected: &Memory) {
        let mut state = expected.state();
        state.structure.features.sort_by_key(|feature| feature.id);
        state.structure.automations.sort_by_key(|one| one.id);
        assert_eq!(self.structure, state.structure);
        for (feature, rows) in &self.rows {
            let expected = state.rows.get(feature).map_or(&[][..], Vec::as_slice);
            let digests = |rows: &[StoredRow]| -> Vec<(Id, RowDigest)> {
                let digests = rows.iter().map(|row| (row.id, RowDigest::of(&row.data)));
                digests.collect()
            };
            if digests(rows) != digests(expected) {
                let differs = rows.iter().zip(expected).find(|(one, other)| {
                    (one.id, RowDigest::of(&one.data)) != (other.id, RowDigest::of(&other.data))
                });
                panic!(
                    "{} rows, expected {}; {differs:#?}",
                    rows.len(),
                    expected.len()
                );
            }
        }
        for (column, stands) in &self.sequences {
            assert_eq!(*stands, state.sequence(*column), "{column}");
        }
    }
}

/// The ledger of a job.
pub(super) async fn ledger(store: &Store, organization: Uuid, job: Uuid) -> Vec<Entry> {
    let read = store.read(&Scope::Operator, (organization, job), |tx, of| {
        Box::pin(jobs::own(tx, of.0, of.1))
    });
    let read: Result<Vec<Entry>, StoreError> = read.await;
    read.expect("reads")
}

/// How often automations went live, by ref.
pub(super) fn published(ledger: &[Entry]) -> Vec<&str> {
    let mut published: Vec<&str> = ledger
        .iter()
        .filter_map(|entry| match entry {
            Entry::Published { reference, .. } => Some(reference.as_str()),
            _ => None,
        })
        .collect();
    published.sort_unstable();
    published
}

/// A report without what depends on where a job was interrupted, and on the words of a refusal.
pub(super) fn plain(mut report: Report) -> Report {
    for table in report.rows.values_mut() {
        table.inserted += std::mem::take(&mut table.skipped);
    }
    for error in &mut report.errors {
        error.message.clear();
    }
    report
}

/// What the library's own ledger of the same job says, for comparison.
pub(super) fn expected_ledger(expected: &Memory) -> Vec<Entry> {
    ready(expected.ledger()).expect("reads")
}

/// What drifted from a package that was applied to a workspace.
pub(super) async fn drift(
    store: &Store,
    workspace: Uuid,
    package: &Package,
    entries: Vec<Entry>,
) -> Drift {
    let input = (
        package.text.clone(),
        package.request.clone(),
        entries,
        workspace,
    );
    let found = store.snapshot(&Scope::Operator, input, |tx, input| {
        Box::pin(async move {
            let (text, request, entries, workspace) = input;
            let package = Checked::trusted(text).expect("reads");
            let source = Snapshot::new(tx, *workspace, &Tables::default());
            let structure = source.structure().await?;
            let input = DriftInput {
                template: Uuid::nil(),
                past: JobHistory {
                    entries,
                    base: Some(BasePackage {
                        job: None,
                        package: &package,
                        resolutions: &request.resolutions,
                        legacy_jobs: &[],
                        rows: &[],
                    }),
                },
                request,
                unseen: &HashSet::new(),
                cells: true,
                definitions: Definitions::embedded(),
            };
            let drift = Box::pin(tplkit::apply::drift(&source, &structure, input)).await;
            Ok::<_, ReadError>(drift.expect("is worked out"))
        })
    });
    found.await.expect("reads")
}
