//! Steps with external effects: recorded before, carried out under the lease of the run, and
//! recorded after.

use std::time::Duration;

use tplkit::automation::run::{Act, Failure, Mail, NextStep, Request, Stub};
use tplkit::json::Object;

use super::{RunExecution, StepResult, release};
use crate::automation::connections::{self, ConnectionKind, OpenConnection};
use crate::automation::executor::RunExecutor;
use crate::automation::integrations::{self, Stamp};
use crate::automation::mail_attachments::{self, Attachment, AttachmentRequest};
use crate::automation::run_steps::StepRow;
use crate::automation::runs::Run;
use crate::automation::stop::Stop;
use crate::automation::{call_limit, run_lease, secrets};
use crate::ids::WorkflowKey;
use crate::store::{Scope, StoreError};

/// After which time a permit among the calls of an organization is asked for again.
const PERMIT_RETRY: Duration = Duration::from_millis(50);

/// Waits for something that takes time, and holds a run meanwhile.
pub(super) async fn hold_while<T>(
    executor: &RunExecutor,
    run: &Run,
    work: impl Future<Output = Result<T, Stop>>,
) -> Result<Result<T, Failure>, Stop> {
    let mut work = std::pin::pin!(work);
    let pause = (executor.settings.lease / 3).max(Duration::from_millis(100));
    loop {
        tokio::select! {
            done = &mut work => return match done {
                Ok(done) => Ok(Ok(done)),
                Err(Stop::Failed(failure)) => Ok(Err(failure)),
                Err(other) => Err(other),
            },
            () = tokio::time::sleep(pause) => {
                let input = (run.clone(), executor.lease());
                let renewal = executor.store.write(&Scope::Operator, input, |tx, (run, lease)| {
                    Box::pin(run_lease::hold(tx, run, *lease))
                });
                // A store that is away for a moment takes nothing from us.
                if let Ok(false) = renewal.await {
                    return Err(Stop::Fenced);
                }
            }
        }
    }
}

impl RunExecution<'_> {
    /// Does a step that asks something of others. The run holds no worker while it waits for them, and as
    /// many wait at once as its organization may have in flight.
    pub(super) async fn call(
        &mut self,
        row: StepRow,
        act: &Act,
        next: &NextStep,
    ) -> Result<StepResult, Stop> {
        let permit = self.permit;
        permit.release_worker();
        let waiting = async {
            let turn = match act {
                Act::Mail(_) => Some(permit.mail().await),
                _ => None,
            };
            let call = permit.call().await;
            self.acquire_permit().await?;
            Ok((turn, call))
        };
        let permits = tokio::select! {
            biased;
            () = self.stopped() => {
                // Somebody else goes on from here.
                release(self.executor, self.run, None).await?;
                return Ok(StepResult::Waits);
            }
            permits = self.under_lease(waiting) => permits?,
        };
        let (turn, call) = permits.map_err(Stop::Failed)?;
        let now = self.executor.context.now();
        // Noted before it is done: whoever looks sees what may have happened.
        self.note(row.clone()).await?;
        let done = self
            // What talks to others is large: every run would be, wherever it is moved.
            .under_lease(Box::pin(self.external_effect(act, next, now)))
            .await?;
        self.leave().await;
        drop(call);
        let kept = match done {
            Ok(output) => self.keep(row, output).await,
            Err(failure) => Err(Stop::Failed(failure)),
        };
        drop(turn);
        permit.work().await;
        kept
    }

    /// Waits for a permit among the calls that all processes together make for the organization.
    async fn acquire_permit(&self) -> Result<(), Stop> {
        let _next = self.permit.next().await;
        loop {
            let reading =
                self.executor
                    .store
                    .write(&Scope::Operator, self.run.clone(), |tx, run| {
                        Box::pin(call_limit::take(tx, run))
                    });
            match reading.await {
                Ok(call_limit::PermitOutcome::Taken) => return Ok(()),
                Ok(call_limit::PermitOutcome::Fenced) => return Err(Stop::Fenced),
                // Another process took the same one.
                Err(StoreError::Unique { .. }) => {}
                Ok(call_limit::PermitOutcome::Full) => tokio::time::sleep(PERMIT_RETRY).await,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Gives that permit back.
    async fn leave(&self) {
        let left = self
            .executor
            .store
            .write(&Scope::Operator, self.run.clone(), |tx, run| {
                Box::pin(call_limit::leave(tx, run))
            });
        if let Err(error) = left.await {
            let error: StoreError = error;
            tracing::warn!(%error, "a call was not noted as over; its place is free with the lease of the run");
        }
    }

    /// Until the process is to stop.
    async fn stopped(&self) {
        if self.stop.clone().wait_for(|stop| *stop).await.is_err() {
            // Nobody is left who could say so.
            std::future::pending::<()>().await;
        }
    }

    /// Waits for something that takes time, and holds the run meanwhile.
    pub(super) async fn under_lease<T>(
        &self,
        work: impl Future<Output = Result<T, Stop>>,
    ) -> Result<Result<T, Failure>, Stop> {
        hold_while(self.executor, self.run, work).await
    }

    /// Does what the step asks of others.
    pub(super) async fn external_effect(
        &self,
        act: &Act,
        next: &NextStep,
        now: i64,
    ) -> Result<Object, Stop> {
        if let Some(outbox) = &self.executor.outbox {
            if let Act::Mail(mail) = act {
                outbox.put(mail);
            }
            let output = Stub::default().output(act, self.state.envelope());
            return output.map_err(Stop::Failed);
        }
        // Steps that a template brought may have no id.
        let step = if next.id.is_empty() {
            &next.path
        } else {
            &next.id
        };
        let stamp = Stamp {
            run: self.run.id,
            step: step.clone(),
        };
        let client = || {
            let client = self.executor.client.as_ref();
            client.map_err(|error| Stop::Failed(Failure::new(error.clone())))
        };
        match act {
            Act::Mail(mail) => {
                let server = match &mail.connection {
                    Some(name) => self.connection(name, ConnectionKind::Smtp).await?,
                    None => self.executor.transport().ok_or_else(|| {
                        let reason =
                            "there is no mail server: name a connection, or set TPLKIT_SMTP_URL";
                        Stop::Failed(Failure::at("connectionName", reason))
                    })?,
                };
                // The mail server of all is the choice of whoever operates this one.
                let private = self.executor.settings.allow_private || mail.connection.is_none();
                let files = self.attachments(mail).await?;
                let sent = integrations::send(&server, mail, files, &stamp, now, private).await;
                sent.map_err(Stop::Failed)
            }
            Act::Request(request) => {
                let connection = self
                    .connection(&request.connection, ConnectionKind::Http)
                    .await?;
                let (name, bearer) = (&request.connection, request.bearer.as_deref());
                let bearer = self.secret("bearerToken", bearer, name, &connection)?;
                let request = Request {
                    bearer,
                    ..request.clone()
                };
                let sent = integrations::request(client()?, &connection, &request, &stamp).await;
                sent.map_err(Stop::Failed)
            }
            Act::Ask {
                prompt,
                routes,
                connection,
                api_key,
            } => {
                let Some(name) = connection else {
                    let reason = "names no connection to a model: set one of kind llm and name it";
                    return Err(Stop::Failed(Failure::at("connectionName", reason)));
                };
                let connection = self.connection(name, ConnectionKind::Llm).await?;
                let key = self.secret("apiKey", api_key.as_deref(), name, &connection)?;
                let key = key.as_deref();
                let response =
                    integrations::request_completion(client()?, &connection, prompt, routes, key)
                        .await;
                response.map_err(Stop::Failed)
            }
            _ => Err(Stop::Failed(Failure::new(
                "nothing is done outside for this step",
            ))),
        }
    }

    /// The files that go along with a mail, as the run sees them at this moment.
    async fn attachments(&self, mail: &Mail) -> Result<Vec<Attachment>, Stop> {
        if !mail.attaches() {
            return Ok(Vec::new());
        }
        let request = AttachmentRequest::of(self.run, mail, self.state.envelope());
        let store = &self.executor.store;
        let found = store.read(&self.principal.scope, request.clone(), |tx, request| {
            Box::pin(mail_attachments::find(tx, request))
        });
        let read = mail_attachments::read(&self.executor.files, &request, found.await?).await;
        read.map_err(Stop::Failed)
    }

    /// A secret that is in the step itself.
    fn secret(
        &self,
        field: &str,
        stored: Option<&str>,
        name: &str,
        connection: &OpenConnection,
    ) -> Result<Option<String>, Stop> {
        let key = self.executor.settings.secret_key.as_ref();
        let of = WorkflowKey {
            organization: self.run.organization,
            workflow: self.run.workflow,
        };
        let opened = stored.map(|stored| secrets::open(key, of, stored, name, connection));
        let opened = opened.transpose();
        opened.map_err(|reason| Stop::Failed(Failure::at(field, reason)))
    }

    async fn connection(&self, name: &str, kind: ConnectionKind) -> Result<OpenConnection, Stop> {
        let key = self.executor.settings.secret_key.as_ref();
        let (store, organization) = (&self.executor.store, self.run.organization);
        let opened = connections::open(store, key, organization, name, kind).await?;
        opened.map_err(|reason| {
            let failure = Failure::at("connectionName", reason);
            Stop::Failed(failure.yields(None, &name.into()))
        })
    }
}
