//! What people call the templates and workspaces that jobs name by id.
//!
//! In: a server and jobs. Out: labels with names; the id where the server shows no more. It is for people only:
//! documents keep ids.

use std::collections::{HashMap, HashSet};

use tplkit::client::{Client, Job, Template, Workspace};
use tplkit::printable;

use super::remote::workspace::called;
use super::session::Session;

/// Titles by id.
#[derive(Debug, Default)]
pub(crate) struct Names {
    titles: HashMap<String, String>,
}

impl Names {
    /// Of the template and the workspace of one job.
    pub(crate) fn of_job(client: &Client, job: &Job, session: &Session) -> Names {
        let mut names = Names::default();
        let template = job.template_id.as_deref();
        if let Some(template) = template.and_then(|id| client.template(id).ok()) {
            names.template_is(&template.record, session);
        }
        let workspace = job.workspace_id.as_deref();
        if let Some(workspace) = workspace.and_then(|id| client.workspace(id).ok()) {
            names.workspace_is(&workspace, session);
        }
        names
    }

    /// Of everything that many jobs name: both lists, up to where all are known.
    pub(crate) fn of_jobs<'j>(
        client: &Client,
        jobs: impl IntoIterator<Item = &'j Job>,
        session: &Session,
    ) -> Names {
        let mut names = Names::default();
        let (mut templates, mut workspaces) = (HashSet::new(), HashSet::new());
        for job in jobs {
            templates.extend(job.template_id.clone());
            workspaces.extend(job.workspace_id.clone());
        }
        let mut pages = client.templates(None, None);
        while !templates.is_empty()
            && let Some(Ok(page)) = pages.next()
        {
            for one in page.items {
                if templates.remove(&one.record.id) {
                    names.template_is(&one.record, session);
                }
            }
        }
        let mut pages = client.workspaces();
        while !workspaces.is_empty()
            && let Some(Ok(page)) = pages.next()
        {
            for one in page.items {
                if workspaces.remove(&one.id) {
                    names.workspace_is(&one, session);
                }
            }
        }
        names
    }

    /// What people call the thing of that id.
    pub(crate) fn title(&self, id: Option<&str>) -> String {
        let Some(id) = id else {
            return "-".to_owned();
        };
        let known = self.titles.get(id).cloned();
        known.unwrap_or_else(|| printable::line(id))
    }

    fn template_is(&mut self, record: &Template, session: &Session) {
        let title = template_title(record, session);
        self.titles.insert(record.id.clone(), title);
    }

    fn workspace_is(&mut self, record: &Workspace, session: &Session) {
        let title = super::remote::workspace::titled(record, session);
        self.titles.insert(record.id.clone(), title);
    }
}

/// A template in words: `"Sales CRM" (sales-crm)`, with the id only for those who want to know more.
pub(crate) fn template_title(record: &Template, session: &Session) -> String {
    let more = session.is_verbose().then_some(record.id.as_str());
    called(
        record.label.as_deref(),
        record.name.as_deref(),
        &record.id,
        more,
    )
}
