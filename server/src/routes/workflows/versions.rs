//! `POST /v1/workflows-v2/{workflow_id}/versions`

use axum::http::StatusCode;
use axum::response::Response;
use tplkit::json::Value as Json;
use uuid::Uuid;

use super::halves::Halves;
use crate::automation::{Definition, Place, Standing, add_version, find, judge, keep_secrets};
use crate::http::body::Fields;
use crate::http::call::{Asked, Call};
use crate::http::problem::{Code, Problem};
use crate::http::reply::Reply;
use crate::secret_key::SecretKey;
use crate::store::Tx;

struct New {
    workflow: Uuid,
    version: Uuid,
    secret_key: Option<SecretKey>,
    body: Result<Body, Problem>,
}

struct Body {
    name: Option<String>,
    halves: Halves,
}

/// `POST /v1/workflows-v2/{workflow_id}/versions`: a draft based on the active version, from which it
/// has what the body leaves out.
///
/// # Errors
/// 404, 403, 422 with the codes of the issues, 409 where no version is active.
pub async fn versions(mut call: Call) -> Result<Response, Problem> {
    let workflow = call.path_id(0).await?;
    let fields = call.fields().await;
    let new = New {
        workflow,
        version: call.app.context.id(),
        secret_key: call.app.config.secret_key.clone(),
        body: fields.and_then(Body::read),
    };
    call.write(new, |tx, asked| Box::pin(insert(tx, asked)))
        .await
}

impl Body {
    fn read(mut fields: Fields) -> Result<Body, Problem> {
        let name = fields.label("name");
        let halves = Halves::take(&mut fields);
        fields.finish()?;
        Ok(Body { name, halves })
    }
}

async fn insert(tx: &mut Tx, asked: &Asked<New>) -> Result<Reply, Problem> {
    let new = &asked.input;
    let line = find::lock(tx, new.workflow).await?;
    asked.enter(line.organization)?;
    if let Some(answered) = asked.claim(tx).await? {
        return Ok(answered);
    }
    let body = new.body.as_ref().map_err(Clone::clone)?;
    let base = find::in_force(tx, line.id).await?;
    let base = base.ok_or_else(Problem::not_found)?;
    let half = |given: &Option<Json>, kept: &str| match given {
        Some(given) => given.clone(),
        None => Json::parse(kept).unwrap_or_default(),
    };
    let trigger = half(&body.halves.trigger, &base.trigger_config);
    let mut graph = half(&body.halves.graph, &base.graph_config);
    // What is wrong with the body is told before what is wrong with the moment.
    let place = Place {
        organization: line.organization,
        workspace: line.workspace,
        workflow: Some(line.id),
    };
    let given = body.halves.trigger.is_some() || body.halves.graph.is_some();
    if given {
        let judged = judge(tx, place, &trigger.write(), &graph.write()).await?;
        judged.accept()?;
    }
    if !base.is_active {
        return Err(Problem::new(
            Code::NoActiveVersion,
            "A new version is based on the active one, and none is active: publish and activate one first.",
        ));
    }
    if body.halves.graph.is_some() {
        let (key, of) = (new.secret_key.as_ref(), (line.organization, line.id));
        keep_secrets(tx, key, of, &mut graph, Some(&base.graph_config)).await?;
    }
    let name = body.name.clone().unwrap_or(base.name);
    let definition = Definition::new(name, &trigger, &graph, &asked.context);
    let stamp = (new.version, asked.now);
    let based = (Standing::Draft, Some(base.version));
    let version = add_version(tx, &line, &definition, based, stamp).await?;
    asked
        .keep(tx, Reply::json(StatusCode::CREATED, &version)?)
        .await
}
