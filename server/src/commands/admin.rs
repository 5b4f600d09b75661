//! `admin`: what has to exist before anybody can sign in.

use std::io::Read as _;

use clap::Subcommand;
use serde::Serialize;
use tplkit_server::auth::{LONGEST_PASSWORD, Role, hash_password, normalize_email};
use tplkit_server::context::Context;
use tplkit_server::routes::{members, organizations, users};
use tplkit_server::store::{Scope, Store};
use uuid::Uuid;

use super::{Failure, print};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Creates an organization.
    CreateOrganization {
        /// What people call it.
        #[arg(long)]
        label: String,
        /// How many members it may have; any number when not given.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
        seats: Option<i64>,
        /// How many rows it may have; any number when not given.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
        row_quota: Option<i64>,
    },
    /// Creates a user.
    CreateUser {
        /// By which the user signs in.
        #[arg(long)]
        email: String,
        /// Reads the password from standard input, up to the end of the line.
        #[arg(long, required = true)]
        password_stdin: bool,
        /// Sees every template and promotes to `system`, nothing more.
        #[arg(long)]
        platform_admin: bool,
    },
    /// Makes a user a member of an organization.
    AddMember {
        /// Of the organization.
        #[arg(long, value_name = "ID")]
        organization: Uuid,
        /// Of the user.
        #[arg(long)]
        email: String,
        /// owner, admin, editor or viewer.
        #[arg(long, value_parser = role)]
        role: Role,
    },
}

fn role(word: &str) -> Result<Role, String> {
    Role::parse(word).ok_or_else(|| "use owner, admin, editor or viewer".to_owned())
}

#[derive(Serialize)]
struct Added {
    organization_id: Uuid,
    #[serde(flatten)]
    member: members::Member,
}

pub(super) async fn run(
    database: &str,
    context: &Context,
    command: Command,
) -> Result<(), Failure> {
    match command {
        Command::CreateOrganization {
            label,
            seats,
            row_quota,
        } => {
            let new = organizations::New {
                id: context.id(),
                label,
                seats,
                row_quota,
                now: context.now(),
            };
            let store = Store::open(database).await?;
            print(&organizations::create(&store, new).await?)
        }
        Command::CreateUser {
            email,
            password_stdin: _,
            platform_admin,
        } => {
            let email = normalize_email(&email);
            if email.is_empty() {
                return Err(Failure::Usage("--email is empty".to_owned()));
            }
            let new = users::New {
                id: context.id(),
                email,
                password_hash: hash_password(password()?.as_bytes())?,
                platform_admin,
                now: context.now(),
            };
            let store = Store::open(database).await?;
            print(&users::create(&store, new).await?)
        }
        Command::AddMember {
            organization,
            email,
            role,
        } => {
            let store = Store::open(database).await?;
            let email = normalize_email(&email);
            let add = members::Add {
                organization,
                email,
                role,
                now: context.now(),
            };
            let member = members::add(&store, &Scope::Operator, add, Role::Owner).await?;
            print(&Added {
                organization_id: organization,
                member,
            })
        }
    }
}

fn password() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let password = text.lines().next().unwrap_or_default();
    if password.is_empty() {
        return Err(Failure::Usage(
            "there is no password on standard input".to_owned(),
        ));
    }
    if password.len() > LONGEST_PASSWORD {
        return Err(Failure::Usage(format!(
            "the password is longer than {LONGEST_PASSWORD} bytes"
        )));
    }
    Ok(password.to_owned())
}
