//! Drafts of automations: what is in force goes on until one is published.

use tplkit::json::Object;
use tplkit::problem::Code;
use tplkit::workspace::{AnyRecord, Automation, Change, Id, New, RecordKind, Target};

use super::subject::same;
use super::{Case, CaseResult, Subject, Workspaces};

pub(super) fn cases<W: Workspaces>() -> Vec<Case<W>> {
    vec![
        Case {
            name: "a draft waits until it is published, and fires where the version before did",
            run: |w| Box::pin(published(w)),
        },
        Case {
            name: "a draft is not published when another version is in force by then",
            run: |w| Box::pin(stale(w)),
        },
        Case {
            name: "an automation that is put in force again leaves a draft next to it alone",
            run: |w| Box::pin(put_in_force_again(w)),
        },
        Case {
            name: "of an automation that was never published the newest draft is in force",
            run: |w| Box::pin(never_published(w)),
        },
        Case {
            name: "a draft next to what was published is known, and keeps the automation from being taken away",
            run: |w| Box::pin(worked_on(w)),
        },
        Case {
            name: "a draft is taken away, and what was published since is changed instead",
            run: |w| Box::pin(removed(w)),
        },
    ]
}

impl<T: Target + Send + Sync> Subject<T> {
    /// An automation that was never published.
    async fn draft(&mut self) -> Result<Id, String> {
        self.automation(true).await
    }

    /// One that was published and does not fire.
    async fn paused(&mut self) -> Result<Id, String> {
        self.automation(false).await
    }

    async fn automation(&mut self, draft: bool) -> Result<Id, String> {
        let made = Automation {
            id: self.id(),
            name: "a".to_owned(),
            trigger_config: Object::new(),
            graph_config: Object::new(),
            active: false,
            draft,
            has_draft: false,
        };
        let create = Change::Create(New::Workflow(made.clone()));
        self.write(vec![create]).await?;
        Ok(made.id)
    }

    /// One that fires.
    async fn live(&mut self) -> Result<Id, String> {
        let workflow = self.draft().await?;
        self.write(vec![Change::Publish { workflow }]).await?;
        Ok(workflow)
    }

    async fn found(&self, workflow: Id) -> Result<(AnyRecord, bool, bool), String> {
        let structure = self.structure().await?;
        let thing = AnyRecord::find(&structure, RecordKind::Workflow, workflow);
        let thing = thing.ok_or("the automation is gone")?;
        let mut automations = structure.automations.iter();
        let found = automations.find(|found| found.id == workflow);
        let found = found.ok_or("the automation is gone")?;
        Ok((thing, found.active, found.draft))
    }

    /// Whether a draft waits next to what was published.
    async fn has_draft(&self, workflow: Id) -> Result<bool, String> {
        let structure = self.structure().await?;
        let mut automations = structure.automations.iter();
        let found = automations.find(|found| found.id == workflow);
        Ok(found.ok_or("the automation is gone")?.has_draft)
    }

    /// What is in force: its name, whether it fires, and whether it is a draft.
    async fn in_force(&self, workflow: Id) -> Result<(String, bool, bool), String> {
        let (thing, active, draft) = self.found(workflow).await?;
        Ok((thing.name, active, draft))
    }

    /// From what is in force to another name.
    async fn renamed(&self, workflow: Id, name: &str) -> Result<[Box<AnyRecord>; 2], String> {
        let (from, ..) = self.found(workflow).await?;
        let to = AnyRecord {
            name: name.to_owned(),
            ..from.clone()
        };
        Ok([from, to].map(Box::new))
    }

    /// A draft of that name.
    async fn begin(&mut self, workflow: Id, name: &str) -> Result<Id, String> {
        let version = self.id();
        let [from, to] = self.renamed(workflow, name).await?;
        let begin = Change::Draft { version, from, to };
        self.write(vec![begin]).await?;
        Ok(version)
    }

    /// A version of that name in force.
    async fn replace(&mut self, workflow: Id, name: &str) -> CaseResult {
        let [from, to] = self.renamed(workflow, name).await?;
        self.write(vec![Change::Update { from, to }]).await
    }
}

fn is(name: &str, active: bool, draft: bool) -> (String, bool, bool) {
    (name.to_owned(), active, draft)
}

async fn published<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let workflow = subject.live().await?;
    let version = subject.begin(workflow, "b").await?;
    let what = "what is in force";
    same(
        what,
        &subject.in_force(workflow).await?,
        &is("a", true, false),
    )?;
    // What is begun from has changed.
    let [from, to] = subject.renamed(workflow, "c").await?;
    let from = Box::new(AnyRecord {
        name: "other".to_owned(),
        ..*from
    });
    let other = subject.id();
    let begin = vec![Change::Draft {
        version: other,
        from,
        to,
    }];
    subject.refused(Code::Conflict, begin).await?;
    let publish = || vec![Change::PublishDraft { workflow, version }];
    subject.write(publish()).await?;
    same(
        what,
        &subject.in_force(workflow).await?,
        &is("b", true, false),
    )?;
    // Once is enough.
    subject.write(publish()).await?;
    let gone = Change::PublishDraft {
        workflow: subject.id(),
        version,
    };
    subject.refused(Code::NotFound, vec![gone]).await.map(drop)
}

async fn stale<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let workflow = subject.live().await?;
    let version = subject.begin(workflow, "b").await?;
    subject.replace(workflow, "people").await?;
    let publish = Change::PublishDraft { workflow, version };
    subject.refused(Code::DraftStale, vec![publish]).await?;
    let now = subject.in_force(workflow).await?;
    same("what is in force", &now, &is("people", true, false))
}

async fn put_in_force_again<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let workflow = subject.live().await?;
    subject.begin(workflow, "b").await?;
    subject.write(vec![Change::Publish { workflow }]).await?;
    let now = subject.in_force(workflow).await?;
    same("what is in force", &now, &is("a", true, false))?;
    same("drafts", &subject.has_draft(workflow).await?, &true)
}

async fn never_published<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let workflow = subject.draft().await?;
    let version = subject.begin(workflow, "b").await?;
    let what = "what is in force";
    same(
        what,
        &subject.in_force(workflow).await?,
        &is("b", false, true),
    )?;
    let remove = Change::RemoveDraft {
        workflow,
        version,
        published: None,
    };
    subject.write(vec![remove]).await?;
    same(
        what,
        &subject.in_force(workflow).await?,
        &is("a", false, true),
    )
}

async fn worked_on<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    // Of one that was never published the newest draft is what it is.
    let fresh = subject.draft().await?;
    subject.begin(fresh, "b").await?;
    same("drafts", &subject.has_draft(fresh).await?, &false)?;
    let workflow = subject.paused().await?;
    same("drafts", &subject.has_draft(workflow).await?, &false)?;
    let stands = |thing: AnyRecord| {
        let stands = Box::new(thing);
        vec![Change::CheckRecord { stands }]
    };
    let (thing, ..) = subject.found(workflow).await?;
    subject.write(stands(thing.clone())).await?;
    let version = subject.begin(workflow, "b").await?;
    same("drafts", &subject.has_draft(workflow).await?, &true)?;
    subject
        .refused(Code::Conflict, stands(thing.clone()))
        .await?;
    let remove = Change::RemoveDraft {
        workflow,
        version,
        published: None,
    };
    subject.write(vec![remove]).await?;
    same("drafts", &subject.has_draft(workflow).await?, &false)?;
    subject.write(stands(thing)).await
}

async fn removed<W: Workspaces>(workspaces: &W) -> CaseResult {
    let mut subject = Subject::new(workspaces).await;
    let workflow = subject.live().await?;
    let [before, after] = subject.renamed(workflow, "b").await?;
    let back = |version| {
        vec![Change::RemoveDraft {
            workflow,
            version,
            published: Some(Box::new([(*after).clone(), (*before).clone()])),
        }]
    };
    let what = "what is in force";
    let version = subject.begin(workflow, "b").await?;
    subject.write(back(version)).await?;
    same(
        what,
        &subject.in_force(workflow).await?,
        &is("a", true, false),
    )?;
    let version = subject.begin(workflow, "b").await?;
    let publish = Change::PublishDraft { workflow, version };
    subject.write(vec![publish]).await?;
    subject.write(back(version)).await?;
    same(
        what,
        &subject.in_force(workflow).await?,
        &is("a", true, false),
    )?;
    let nowhere = Change::RemoveDraft {
        workflow: subject.id(),
        version,
        published: None,
    };
    subject.write(vec![nowhere]).await
}
