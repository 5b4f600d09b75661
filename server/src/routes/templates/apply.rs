//! `POST /v1/templates/{template_id}/apply`, `/apply/templates/{template_id}` and
//! `/v1/templates/{template_id}/plan`.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use tplkit::apply::{Request, UpgradeTerms};
use uuid::Uuid;

use super::offload;
use crate::call::lane::transfer;
use crate::call::{Call, OperationContext, json};
use crate::cpu_threads::MAX_INLINE_BYTES;
use crate::http::kept_refusal;
use crate::http::response::ApiResponse;
use crate::jobs;
use crate::json_body;
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::refusal::{Code, Refusal};
use crate::spool::SpooledText;
use crate::store::Tx;
use crate::templates;
use crate::templates::apply::{
    self, ApplyTarget, BodyParts, DecideInput, Decided, JobPackages, LoadedPackage, Places, Resume,
    Start,
};

/// What is asked for, once it is known that the caller may.
struct ApplyCall {
    place: ApplyTarget,
    job: Option<Uuid>,
    request: Request,
    /// The package that the workspace was set up by.
    base: Option<String>,
}

/// What was read of a body. What is wrong with it is said after what the caller does not see.
struct ReadBody {
    parts: BodyParts,
    places: Result<Places, Refusal>,
    request: Result<Request, Refusal>,
}

/// A template, and where its package is to be applied.
struct TargetRequest {
    /// The template.
    template: Uuid,
    /// What the body names.
    places: Places,
}

/// A job, with where it applies a template.
struct StoredJob {
    /// Where.
    place: ApplyTarget,
    /// The job.
    job: Uuid,
}

/// Reads template, workspace, job, role and body, in the order in which faults are reported.
async fn read_call(call: &mut Call) -> Result<ApplyCall, Refusal> {
    let (template, text) = received(call).await?;
    let body = read_body(text, BodyParts::of_apply).await?;
    read_call_for(call, template, body).await
}

/// The body for a template that the caller sees.
async fn received(call: &mut Call) -> Result<(Uuid, String), Refusal> {
    let template = call.path_id(0).await?;
    call.query(template, |tx, ctx| Box::pin(check_visible(tx, ctx)))
        .await?;
    if call.body_was_slow().await? {
        call.query(template, |tx, ctx| Box::pin(check_visible(tx, ctx)))
            .await?;
    }
    Ok((template, json_body::text(call.bytes().await?)?))
}

/// Takes a body apart, and reads it: a long one where no request waits for the thread.
async fn read_body(
    text: String,
    take_apart: fn(String) -> Result<BodyParts, Refusal>,
) -> Result<ReadBody, Refusal> {
    let is_long = text.len() > MAX_INLINE_BYTES;
    let read = move || {
        let parts = take_apart(text)?;
        Ok(ReadBody {
            places: Places::read(&parts.text),
            request: parts.request(),
            parts,
        })
    };
    if is_long { offload(read).await } else { read() }
}

async fn read_call_for(
    call: &mut Call,
    template: Uuid,
    body: ReadBody,
) -> Result<ApplyCall, Refusal> {
    let query = call.query_text.finish();
    let places = body.places?;
    let target = TargetRequest { template, places };
    let place = call.query(target, |tx, ctx| Box::pin(apply_target(tx, ctx)));
    let place = place.await?;
    query?;
    Ok(ApplyCall {
        place,
        job: places.job,
        request: body.request?,
        base: body.parts.base,
    })
}

async fn check_visible(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<(), Refusal> {
    templates::find(tx, ctx.input).await.map(drop)
}

async fn apply_target(
    tx: &mut Tx,
    ctx: &OperationContext<TargetRequest>,
) -> Result<ApplyTarget, Refusal> {
    let TargetRequest { template, places } = ctx.input;
    let workspace = find::get(tx, &WORKSPACE, places.workspace).await?;
    let workspace = workspace.ok_or_else(Refusal::not_found)?;
    let organization = workspace.within.first().copied().unwrap_or_default();
    let place = ApplyTarget {
        organization,
        workspace: workspace.id,
        template,
    };
    if let Some(job) = places.job {
        let wanted = Resume {
            place,
            job,
            upgrade: false,
        };
        wanted.find(tx, ctx.now).await?;
    }
    if let Some(job) = places.base_job {
        apply::check_base_job(tx, place, job, ctx.now).await?;
    }
    ctx.enter(organization)?;
    Ok(place)
}

async fn package(tx: &mut Tx, ctx: &OperationContext<Uuid>) -> Result<SpooledText, Refusal> {
    let template = templates::find(tx, ctx.input).await?;
    templates::read_spooled(tx, &template).await
}

/// The package as the store has it now, and whether it is fit.
async fn load_package(
    call: &mut Call,
    template: Uuid,
) -> Result<(LoadedPackage, Result<(), Refusal>), Refusal> {
    let package = call.snapshot(template, |tx, ctx| Box::pin(package(tx, ctx)));
    let package = package.await?;
    offload(move || Ok(LoadedPackage::of(package))).await
}

/// The package that a workspace was set up by, checked.
async fn load_base(base: Option<String>) -> Result<Option<Arc<LoadedPackage>>, Refusal> {
    let Some(text) = base else { return Ok(None) };
    let loaded = offload(move || LoadedPackage::sent(text, apply::BASE)).await?;
    Ok(Some(Arc::new(loaded)))
}

/// Makes a job of it, or lets one go on.
///
/// # Errors
/// 404, 403, 422 with everything that is against it, 409 while a job is active or for a stale plan. Until
/// the response is 202 there is no job.
pub async fn apply(mut call: Call) -> Result<Response, Refusal> {
    let wanted = read_call(&mut call).await?;
    let signal = call.app.signal.clone();
    let lane = call.app.lanes.transfers.clone();
    let result = transfer(&lane, wanted.place.organization, async move {
        match wanted.job {
            Some(job) => resume_job(call, wanted, job).await,
            None => Box::pin(create_job(call, wanted)).await,
        }
    });
    let result = result.await?;
    signal.notify();
    Ok(result)
}

async fn create_job(mut call: Call, wanted: ApplyCall) -> Result<Response, Refusal> {
    let (whole, fit) = load_package(&mut call, wanted.place.template).await?;
    fit?;
    let input = Arc::new(DecideInput {
        place: wanted.place,
        whole,
        request: wanted.request,
        chosen: wanted.base.is_some(),
        base: load_base(wanted.base).await?,
        job: None,
        upgrade: false,
    });
    let ctx = input.clone();
    let found = call.snapshot(ctx, |tx, ctx| Box::pin(decided(tx, ctx)));
    let found = found.await?;
    let (caller, context) = (call.caller()?.id, call.app.context.clone());
    let start = offload(move || {
        let request = input.request.clone();
        let packages = JobPackages {
            package: &input.whole,
            base: input.base.as_deref(),
        };
        Start::of(wanted.place, packages, request, found, caller, &context)
    });
    let start = start.await?;
    let written = call.write(start, |tx, ctx| Box::pin(started(tx, ctx)));
    Box::pin(written).await
}

async fn decided(
    tx: &mut Tx,
    ctx: &OperationContext<Arc<DecideInput>>,
) -> Result<Decided, Refusal> {
    Box::pin(apply::decide(tx, &ctx.input, &ctx.tables, ctx.now)).await
}

async fn started(tx: &mut Tx, ctx: &OperationContext<Start>) -> Result<ApiResponse, Refusal> {
    ctx.enter(ctx.input.place.organization)?;
    // Whoever removes an unused template looks for jobs.
    templates::hold(tx, ctx.input.place.template).await?;
    if let Some(kept) = ctx.claim(tx).await? {
        return kept_decision(tx, kept);
    }
    let accepted = apply::start(tx, &ctx.input, ctx.now).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::ACCEPTED, &accepted)?)
        .await
}

/// A response that was kept, unless it may show what is hidden by now: what was in conflict then is none any more.
fn kept_decision(tx: &Tx, kept: ApiResponse) -> Result<ApiResponse, Refusal> {
    if kept_refusal::may_show_hidden(tx, &kept) {
        let detail = "The upgrade had conflicts when this key was first used; use another key.";
        return Err(Refusal::new(Code::UpgradeConflicts, detail));
    }
    Ok(kept)
}

async fn resumed(tx: &mut Tx, ctx: &OperationContext<Resume>) -> Result<ApiResponse, Refusal> {
    let wanted = &ctx.input;
    ctx.enter(wanted.place.organization)?;
    let job = wanted.find(tx, ctx.now).await?;
    if let Some(kept) = ctx.claim(tx).await? {
        return kept_decision(tx, kept);
    }
    let accepted = apply::resume(tx, wanted, &job, ctx.caller.id, ctx.now).await?;
    ctx.keep(tx, ApiResponse::json(StatusCode::ACCEPTED, &accepted)?)
        .await
}

async fn resume_job(mut call: Call, wanted: ApplyCall, job: Uuid) -> Result<Response, Refusal> {
    let (place, upgrade) = (wanted.place, wanted.request.upgrade);
    if wanted.request.plan.is_some() {
        let input = stored_request(&mut call, place, job, wanted.request).await?;
        call.snapshot(Arc::new(input), |tx, ctx| Box::pin(decided(tx, ctx)))
            .await
            .map(drop)?;
    }
    let wanted = Resume {
        place,
        job,
        upgrade,
    };
    call.write(wanted, |tx, ctx| Box::pin(resumed(tx, ctx)))
        .await
}

/// What a job decided when it began, to be decided as things stand now.
async fn stored_request(
    call: &mut Call,
    place: ApplyTarget,
    job: Uuid,
    request: Request,
) -> Result<DecideInput, Refusal> {
    let stored = StoredJob { place, job };
    let kept = call.snapshot(stored, |tx, ctx| Box::pin(read_job_request(tx, ctx)));
    let (job_request, text, base) = kept.await?;
    Ok(DecideInput {
        place,
        whole: LoadedPackage::trusted(text),
        base: base.map(|base| Arc::new(LoadedPackage::trusted(base))),
        chosen: false,
        request: Request {
            plan: request.plan,
            // To which jobs a copy is bound is reported by their ledgers.
            copy: false,
            terms: UpgradeTerms {
                // It is planned anew.
                planned: None,
                ..job_request.request.terms
            },
            ..job_request.request
        },
        job: Some(job),
        upgrade: request.upgrade,
    })
}

async fn read_job_request(
    tx: &mut Tx,
    ctx: &OperationContext<StoredJob>,
) -> Result<(jobs::JobRequest, SpooledText, Option<SpooledText>), Refusal> {
    let StoredJob { place, job } = ctx.input;
    let kept = jobs::read_package(tx, place.organization, job, true).await?;
    let (job_request, text) = kept.ok_or_else(Refusal::not_found)?;
    let base = jobs::read_base(tx, place.organization, job).await?;
    Ok((job_request, text, base))
}

/// Responds with what an apply would do, and writes nothing.
///
/// # Errors
/// 404, 422 for a body that is wrong.
pub async fn plan(mut call: Call) -> Result<Response, Refusal> {
    let (template, text) = received(&mut call).await?;
    let mut body = read_body(text, BodyParts::of_plan).await?;
    let package = body.parts.package.take();
    let wanted = read_call_for(&mut call, template, body).await?;
    let lane = call.app.lanes.transfers.clone();
    let organization = wanted.place.organization;
    transfer(&lane, organization, planned(call, wanted, package)).await
}

async fn planned(
    mut call: Call,
    wanted: ApplyCall,
    package: Option<String>,
) -> Result<Response, Refusal> {
    let input = if let Some(job) = wanted.job {
        stored_request(&mut call, wanted.place, job, wanted.request).await?
    } else {
        let chosen = package.is_some() || wanted.base.is_some();
        let whole = if let Some(package) = package {
            offload(move || LoadedPackage::sent(package, apply::PACKAGE)).await?
        } else {
            let (whole, fit) = load_package(&mut call, wanted.place.template).await?;
            if let Err(refusal) = fit {
                return json(StatusCode::OK, &apply::unfit(&whole, &refusal));
            }
            whole
        };
        DecideInput {
            place: wanted.place,
            whole,
            request: wanted.request,
            base: load_base(wanted.base).await?,
            chosen,
            job: None,
            upgrade: false,
        }
    };
    let plan = call.snapshot(Arc::new(input), |tx, ctx| Box::pin(preview(tx, ctx)));
    plan.await.map(ApiResponse::response)
}

async fn preview(
    tx: &mut Tx,
    ctx: &OperationContext<Arc<DecideInput>>,
) -> Result<ApiResponse, Refusal> {
    let input = &ctx.input;
    // Who chooses what rows are compared with would find out what they hold.
    let seen_alone = input.chosen && !ctx.caller.may_apply(input.place.organization);
    let plan = apply::plan(tx, input, seen_alone, &ctx.tables, ctx.now);
    let plan = Box::pin(plan).await?;
    ApiResponse::json(StatusCode::OK, &plan)
}
