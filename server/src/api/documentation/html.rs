//! `/docs`: the guide and the reference as one page.
//!
//! In: the steps and the reference. Out: HTML that needs a sheet and a script of this server (`page.css`, `page.js`)
//! and nothing else; without the script everything but the search is there.

use maud::{DOCTYPE, Markup, html};

use super::guide::{Step, VARIABLES};
use super::html_reference::{self as shown, code_in};
use super::reference::Reference;
use crate::app::Demonstration;

/// The page.
pub(super) fn page(
    reference: &Reference<'_>,
    steps: &[Step],
    demonstration: Option<&Demonstration>,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (reference.title) }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/docs/page.css";
                script src="/docs/page.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the guide" }
                header {
                    p.brand { a href="/docs" { "tplkit-server" } " " small { (reference.version) } }
                    nav aria-label="Pages" {
                        a href="/console" { "Console" }
                        a href="/docs.md" { "Markdown" }
                        a href="/v1/openapi.json" { "OpenAPI" }
                    }
                }
                div.columns {
                    (contents(reference, steps))
                    main #main {
                        h1 { (reference.title) }
                        p.lead { (code_in(reference.about)) }
                        h2 #guide { "Guide" }
                        (introduction(demonstration))
                        @for step in steps { (guide_step(step)) }
                        (shown::reference(reference))
                    }
                }
            }
        }
    };
    page.into_string()
}

/// Where the commands of the steps are at home.
fn introduction(demonstration: Option<&Demonstration>) -> Markup {
    html! {
        p {
            "Eleven requests, from signing in to a finished job, and one that brings a picture. They run from top to bottom in one shell, with "
            code { "curl" } " and " code { "jq" } ". The names of columns are those of a demonstration ("
            code { "tplkit-server serve --demo" } ")."
        }
        @if let Some(demonstration) = demonstration {
            section.values {
                h3 #values { "This demonstration" }
                dl {
                    dt { "Address" } dd { code { (demonstration.url) } }
                    dt { "Sign-in" } dd { code { (demonstration.email) } " " code { (demonstration.password) } }
                    dt { "API key" } dd { code { (demonstration.key) } }
                    dt { "Workspace" } dd { code { (demonstration.workspace) } }
                    dt { "Table of orders" } dd { code { (demonstration.table) } }
                    dt { "Template" } dd { code { (demonstration.template) } }
                }
            }
        } @else {
            section.step #variables {
                h3 #variables-title { "Set the variables" }
                p { "The commands ask for the address of the server, who you are, and what to work on." }
                pre.command { code { (VARIABLES) } }
            }
        }
    }
}

fn guide_step(step: &Step) -> Markup {
    let id = step_id(step);
    let title = format!("{id}-title");
    let named = Some(&step.name);
    html! {
        section.step id=(id) data-step=[named.filter(|_| !step.further)] data-further=[named.filter(|_| step.further)] {
            h3 id=(title) { a href={ "#" (id) } { (step.title) } }
            p { (code_in(&step.about)) }
            pre.command { (step.command) }
            p.status { "Response " b { (step.status) } }
            pre.response data-status=(step.status) { (step.response) }
        }
    }
}

fn step_id(step: &Step) -> String {
    format!("step-{}", step.name.replace(' ', "-"))
}

/// What is on the page, and the search in it.
fn contents(reference: &Reference<'_>, steps: &[Step]) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            div.search hidden {
                label for="search" { "Search" }
                input #search type="search" autocomplete="off" spellcheck="false";
                p #found role="status" {}
                ol #hits {}
            }
            details open {
                summary { "Contents" }
                ul {
                    li {
                        a href="#guide" { "Guide" }
                        ul { @for step in steps { li { a href={ "#" (step_id(step)) } { (step.title) } } } }
                    }
                    li {
                        a href="#reference" { "Reference" }
                        ul { @for tag in &reference.tags { li { a href={ "#tag-" (tag.name) } { (tag.name) } } } }
                    }
                    li { a href="#schemas" { "Schemas" } }
                }
            }
        }
    }
}
