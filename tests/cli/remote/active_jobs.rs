//! `tplkit apply` while another job of the template is unfinished.

use serde_json::{Value, json};

use super::TestEnv;
use super::files::{empty, taking, writes};
use super::routes::{
    JOB, PUSHED, TEMPLATE, WORKSPACE, apply_route, job_document, page, plan, plan_route, record,
};
use crate::scripted::{Response, Scripted};
use crate::support::tiny;

const OTHER: &str = "0198c0de-0000-7000-8000-0000000000cd";
const ENDED: &str = "0198c0de-0000-7000-8000-0000000000ce";

/// A plan that says so of these jobs, as a server words it, after the job has written something.
fn refused(detail: &str) -> Response {
    let refusal = json!({"code": "job_active", "ref": null, "detail": detail});
    Response::json(&plan(&json!({"digest": "d2", "refusals": [refusal]})))
}

/// A server where the job is at work: its template holds the small package.
fn busy(plans: Vec<Response>) -> Scripted {
    let body = json!({"status": 409, "code": "job_active", "detail": "busy", "job_id": JOB});
    let ended = job_document("completed", &json!({"id": ENDED}));
    let other = job_document("rows", &json!({"id": OTHER, "template_id": PUSHED}));
    let job = job_document("rows", &json!({}));
    taking(empty(), &json!({}))
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "vendas")])])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}/package"),
            [Response::text(200, &tiny())],
        )
        .on(&plan_route(TEMPLATE), plans)
        .on(
            &apply_route(TEMPLATE),
            [Response::text(409, &body.to_string())],
        )
        .on("GET /v1/template-jobs", [page(&[ended, other, job])])
        .serve()
}

fn env(server: &Scripted) -> TestEnv {
    let env = TestEnv::with_key(&server.url);
    env.place.write("same.json", &tiny());
    env.place
        .write("other.json", &tiny().replace("Vendas", "Outras"));
    env
}

/// Whether a package was pushed.
fn pushed(server: &Scripted) -> bool {
    let written = writes(server);
    written
        .iter()
        .any(|line| line.starts_with("PUT ") || line.contains("/import"))
}

#[test]
fn every_spelling_of_an_apply_names_the_job_that_is_in_the_way() {
    let details = [
        format!("The job {JOB} of this template is unfinished, and no worker has it yet."),
        "busy".to_owned(),
    ];
    for detail in details {
        let server = busy(vec![refused(&detail)]);
        let env = env(&server);
        let mut documents: Vec<Value> = Vec::new();
        for subject in ["vendas", "same.json", "other.json"] {
            for more in [&[][..], &["--upgrade"]] {
                let words = ["apply", subject, "--workspace", WORKSPACE, "--yes"];
                let words = [&words[..], more].concat();
                let ran = env.run(&words).exits(69);
                assert_eq!(ran.out, format!("{JOB}\n"), "{words:?}");
                let back = format!("tplkit job watch {JOB}");
                assert!(ran.err.contains(&back), "{words:?}: {}", ran.err);
                let words = [&words[..], &["--format", "json"]].concat();
                documents.push(env.run(&words).exits(69).json());
            }
        }
        let first = &documents[0];
        assert_eq!(first["job_id"], JOB);
        assert_eq!(first["errors"][0]["code"], "job_active");
        assert!(documents.iter().all(|one| one == first), "{documents:#?}");
        assert!(!pushed(&server));
        // A plan is a plan.
        let words = ["plan", "other.json", "--workspace", WORKSPACE];
        let ran = env.run(&words).exits(1);
        assert!(ran.out.contains("job_active"), "{}", ran.out);
    }
}

#[test]
fn a_saved_plan_of_a_file_waits_for_the_job_too() {
    let server = busy(vec![
        Response::json(&plan(&json!({}))),
        refused(&format!("A worker runs the job {JOB}.")),
    ]);
    let env = env(&server);
    let words = ["plan", "other.json", "--workspace", WORKSPACE];
    env.run(&[&words[..], &["-o", "x.plan"]].concat()).exits(0);
    let ran = env.run(&["apply", "x.plan"]).exits(69);
    assert_eq!(ran.out, format!("{JOB}\n"));
    assert!(!pushed(&server));
}

#[test]
fn a_list_of_jobs_that_breaks_off_still_tells_which_job_it_is() {
    let first = json!({"items": [job_document("rows", &json!({}))], "next_cursor": "more"});
    let broken = Response::problem(403, "forbidden");
    let server = taking(empty(), &json!({}))
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "vendas")])])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}/package"),
            [Response::text(200, &tiny())],
        )
        .on(&plan_route(TEMPLATE), [refused("busy")])
        .on("GET /v1/template-jobs", [Response::json(&first), broken])
        .serve();
    let env = env(&server);
    let words = ["apply", "other.json", "--workspace", WORKSPACE, "--yes"];
    let ran = env.run(&words).exits(69);
    assert_eq!(ran.out, format!("{JOB}\n"));
}

#[test]
fn a_template_that_was_pushed_for_an_apply_that_a_job_keeps_from_beginning_does_not_stay() {
    let body = json!({"status": 409, "code": "job_active", "detail": "busy", "job_id": JOB});
    let active = Response::text(409, &body.to_string());
    let delete = format!("DELETE /v1/templates/{PUSHED}");
    for form in ["text", "json"] {
        let server = taking(empty(), &json!({}))
            .on(&apply_route(PUSHED), [active.clone()])
            .serve();
        let env = env(&server);
        let words = ["apply", "same.json", "--workspace", WORKSPACE, "--yes"];
        let ran = env
            .run(&[&words[..], &["--format", form]].concat())
            .exits(69);
        assert!(ran.err.contains("out of the catalog again"), "{}", ran.err);
        assert_eq!(ran.err.matches("error: ").count(), 1, "{}", ran.err);
        assert_eq!(writes(&server).last(), Some(&delete));
        if form == "text" {
            assert_eq!(ran.out, format!("{JOB}\n"));
        } else {
            assert_eq!(ran.json()["job_id"], JOB);
        }
    }
    // What was there before is put back.
    let replace = format!("PUT /v1/templates/{TEMPLATE}/package");
    let server = taking(empty(), &json!({}))
        .on("GET /v1/templates", [page(&[record(TEMPLATE, "vendas")])])
        .on(
            &format!("GET /v1/templates/{TEMPLATE}/package"),
            [Response::text(200, &tiny())],
        )
        .on(&replace, [Response::json(&record(TEMPLATE, "vendas"))])
        .on(&plan_route(TEMPLATE), [Response::json(&plan(&json!({})))])
        .on(&apply_route(TEMPLATE), [active])
        .serve();
    let env = env(&server);
    let words = ["apply", "other.json", "--workspace", WORKSPACE, "--yes"];
    let ran = env.run(&words).exits(69);
    assert!(ran.err.contains("has the package again"), "{}", ran.err);
    let apply = apply_route(TEMPLATE);
    let expected = [&replace, &apply, &replace].map(String::as_str);
    let written = writes(&server);
    let written: Vec<&str> = written.iter().map(String::as_str).collect();
    assert!(written.ends_with(&expected), "{written:?}");
}
