//! `POST /v1/templates/{template_id}/apply`, `/apply/templates/{template_id}` and
//! `/v1/templates/{template_id}/plan`.

use std::sync::Arc;

use axum::response::Response;
use tplkit::apply::Request;
use uuid::Uuid;

use super::aside;
use crate::http::body;
use crate::http::call::{Asked, Call};
use crate::http::lane::transfer;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::jobs;
use crate::model::find;
use crate::model::kind::WORKSPACE;
use crate::store::Tx;
use crate::templates::apply::{self, Body, Place, Places, Question, Resume, Start, Whole};
use crate::templates::{self, Package};

/// What is asked for, once it is known that the caller may.
struct Wanted {
    place: Place,
    job: Option<Uuid>,
    request: Request,
}

/// Reads template, workspace, job, role and body, in the order in which it is told what is wrong.
async fn wanted(call: &mut Call) -> Result<Wanted, Problem> {
    let template = call.path_id(0).await?;
    call.look(template, |tx, asked| Box::pin(seen(tx, asked)))
        .await?;
    let text = body::text(call.bytes().await?)?;
    let query = call.query.finish();
    let places = Places::read(&text)?;
    let place = call.look((template, places), |tx, asked| Box::pin(entered(tx, asked)));
    let place = place.await?;
    query?;
    Ok(Wanted {
        place,
        job: places.job,
        request: Body::read(&text)?,
    })
}

async fn seen(tx: &mut Tx, asked: &Asked<Uuid>) -> Result<(), Problem> {
    templates::find(tx, asked.input).await.map(drop)
}

async fn entered(tx: &mut Tx, asked: &Asked<(Uuid, Places)>) -> Result<Place, Problem> {
    let (template, places) = asked.input;
    let workspace = find::get(tx, &WORKSPACE, places.workspace).await?;
    let workspace = workspace.ok_or_else(Problem::not_found)?;
    let organization = workspace.within.first().copied().unwrap_or_default();
    let place = Place {
        organization,
        workspace: workspace.id,
        template,
    };
    if let Some(job) = places.job {
        Resume { place, job }.find(tx, asked.now).await?;
    }
    asked.enter(organization)?;
    Ok(place)
}

async fn package(tx: &mut Tx, asked: &Asked<Uuid>) -> Result<Package, Problem> {
    let template = templates::find(tx, asked.input).await?;
    templates::read_package(tx, &template).await
}

/// The package as the store has it now, and whether it is fit.
async fn whole(call: &mut Call, template: Uuid) -> Result<(Whole, Result<(), Problem>), Problem> {
    let package = call.survey(template, |tx, asked| Box::pin(package(tx, asked)));
    let package = package.await?;
    aside(move || Whole::of(package)).await
}

/// Makes a job of it, or lets one go on.
///
/// # Errors
/// 404, 403, 422 with everything that is against it, 409 while a job is active or for a stale plan. Until
/// the answer is 202 there is no job.
pub async fn apply(mut call: Call) -> Result<Response, Problem> {
    let wanted = wanted(&mut call).await?;
    let bell = call.app.bell.clone();
    let lane = call.app.lanes.transfers.clone();
    let answer = transfer(&lane, wanted.place.organization, async move {
        match wanted.job {
            Some(job) => go_on(call, wanted, job).await,
            None => begin(call, wanted).await,
        }
    });
    let answer = answer.await?;
    bell.ring();
    Ok(answer)
}

async fn begin(mut call: Call, wanted: Wanted) -> Result<Response, Problem> {
    let (whole, fit) = whole(&mut call, wanted.place.template).await?;
    fit?;
    let question = Arc::new(Question {
        place: wanted.place,
        whole,
        request: wanted.request,
        job: None,
    });
    let asked = question.clone();
    call.survey(asked, |tx, asked| Box::pin(apply::decide(tx, asked)))
        .await?;
    let (caller, context) = (call.caller()?.id, call.app.context.clone());
    let start = aside(move || {
        let of = (&question.whole, &question.request);
        Start::of(wanted.place, of, (caller, &context))
    });
    let start = start.await?;
    call.write(start, |tx, asked| Box::pin(apply::start(tx, asked)))
        .await
}

async fn go_on(mut call: Call, wanted: Wanted, job: Uuid) -> Result<Response, Problem> {
    let place = wanted.place;
    if wanted.request.plan.is_some() {
        let question = again(&mut call, place, job, wanted.request.plan).await?;
        call.survey(Arc::new(question), |tx, asked| {
            Box::pin(apply::decide(tx, asked))
        })
        .await?;
    }
    call.write(Resume { place, job }, |tx, asked| {
        Box::pin(apply::resume(tx, asked))
    })
    .await
}

/// The question that a job answered when it began, as it stands now.
async fn again(
    call: &mut Call,
    place: Place,
    job: Uuid,
    plan: Option<String>,
) -> Result<Question, Problem> {
    let kept = call.survey((place, job), |tx, asked| Box::pin(kept(tx, asked)));
    let (order, text) = kept.await?;
    Ok(Question {
        place,
        whole: Whole::known(text),
        request: Request {
            plan,
            // To which jobs a copy is bound is told by their ledgers.
            copy: false,
            ..order.request
        },
        job: Some(job),
    })
}

async fn kept(tx: &mut Tx, asked: &Asked<(Place, Uuid)>) -> Result<(jobs::Order, String), Problem> {
    let (place, job) = asked.input;
    let kept = jobs::read_package(tx, place.organization, job).await?;
    kept.ok_or_else(Problem::not_found)
}

/// Answers with what an apply would do, and writes nothing.
///
/// # Errors
/// 404, 422 for a body that is wrong.
pub async fn plan(mut call: Call) -> Result<Response, Problem> {
    let wanted = wanted(&mut call).await?;
    let lane = call.app.lanes.transfers.clone();
    transfer(&lane, wanted.place.organization, planned(call, wanted)).await
}

async fn planned(mut call: Call, wanted: Wanted) -> Result<Response, Problem> {
    let question = if let Some(job) = wanted.job {
        again(&mut call, wanted.place, job, wanted.request.plan).await?
    } else {
        let (whole, fit) = whole(&mut call, wanted.place.template).await?;
        if let Err(problem) = fit {
            return Ok(apply::unfit(&whole, &problem)?.response());
        }
        Question {
            place: wanted.place,
            whole,
            request: wanted.request,
            job: None,
        }
    };
    let plan = call.survey(Arc::new(question), |tx, asked| {
        Box::pin(apply::plan(tx, asked))
    });
    plan.await.map(Reply::response)
}
