//! Does what the commands of `admin` say. What begins a store makes its file; what changes or shows records opens one that
//! is there.

use std::io::Read as _;

use serde::Serialize;
use tplkit_server::auth::{Role, fault_of_password, hash_password, normalize_email};
use tplkit_server::automation::channels::{NewChannel, create_channel};
use tplkit_server::automation::connections::{SetConnection, set_connection};
use tplkit_server::automation::{self, SwitchOutcome, Version};
use tplkit_server::context::Context;
use tplkit_server::files::FileStorage;
use tplkit_server::files::claim_storage::MarkError;
use tplkit_server::files::verify::verify;
use tplkit_server::identity::organizations::NewLimits;
use tplkit_server::identity::{members, organizations, users};
use tplkit_server::refusal::{Code, Fault, Refusal};
use tplkit_server::store::{Scope, Store};
use uuid::Uuid;

use super::admin::{AdminCommand, Automation};
use super::files::{ExistingStorage, StorageArguments};
use super::process::secret_key;
use super::{Failure, print, print_done};

#[derive(Serialize)]
struct AddedMember {
    organization_id: Uuid,
    #[serde(flatten)]
    member: members::Member,
}

#[derive(Serialize)]
struct Users {
    items: Vec<users::UserView>,
}

/// Does what a command says.
pub(super) async fn run(
    database: &str,
    context: &Context,
    command: AdminCommand,
) -> Result<(), Failure> {
    match command {
        AdminCommand::CreateOrganization {
            label,
            seats,
            row_quota,
            file_quota,
        } => {
            let new = organizations::New {
                id: context.id(),
                label,
                seats,
                row_quota,
                file_quota,
                now: context.now(),
            };
            let store = Store::open(database).await?;
            print_done(&organizations::create(&store, new).await?)
        }
        AdminCommand::SetQuota {
            organization,
            row_quota,
            file_quota,
            seats,
        } => {
            let limits = NewLimits {
                organization,
                seats,
                rows: row_quota,
                file_bytes: file_quota,
                now: context.now(),
            };
            let store = Store::open_existing(database).await?;
            print_done(&organizations::set_limits(&store, limits).await?)
        }
        AdminCommand::CreateUser {
            email,
            password_stdin: _,
            platform_admin,
        } => create_user(database, context, &email, platform_admin).await,
        AdminCommand::ResetPassword {
            email,
            password_stdin: _,
        } => reset_password(database, context, &email).await,
        AdminCommand::ListUsers { organization } => {
            let store = Store::open_existing(database).await?;
            let items = users::list(&store, organization).await?;
            print(&Users { items })
        }
        AdminCommand::RemoveMember {
            organization,
            email,
        } => remove_member(database, organization, &email).await,
        AdminCommand::AddMember {
            organization,
            email,
            role,
        } => {
            let add = members::Add {
                organization,
                email: normalize_email(&email),
                role,
                now: context.now(),
            };
            add_member(database, add).await
        }
        AdminCommand::CreateChannel { organization, name } => {
            let new = NewChannel {
                id: context.id(),
                organization,
                name,
                now: context.now(),
            };
            let store = Store::open_existing(database).await?;
            let created = create_channel(&store, new).await;
            print_done(&created.map_err(by_options)?)
        }
        AdminCommand::SetConnection {
            organization,
            name,
            kind,
            url,
            secret_stdin,
        } => {
            let key = secret_key()?;
            let secret = secret_stdin.then(|| first_line("secret")).transpose()?;
            let set = SetConnection {
                id: context.id(),
                organization,
                name,
                kind,
                url,
                secret,
                now: context.now(),
            };
            let store = Store::open_existing(database).await?;
            let set = set_connection(&store, key.as_ref(), set).await;
            print_done(&set.map_err(by_options)?)
        }
        AdminCommand::VerifyFiles { place, repair } => {
            verify_files(database, context, &place, repair).await
        }
        AdminCommand::Automation(switch) => {
            let store = Store::open_existing(database).await?;
            print_done(&switched(&store, switch, context.now()).await?)
        }
    }
}

async fn create_user(
    database: &str,
    context: &Context,
    email: &str,
    platform_admin: bool,
) -> Result<(), Failure> {
    let email = normalize_email(email);
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
    print_done(&users::create(&store, new).await?)
}

async fn reset_password(database: &str, context: &Context, email: &str) -> Result<(), Failure> {
    let hash = hash_password(password()?.as_bytes())?;
    let store = Store::open_existing(database).await?;
    let email = normalize_email(email);
    print_done(&users::reset_password(&store, email, hash, context.now()).await?)
}

async fn remove_member(database: &str, organization: Uuid, email: &str) -> Result<(), Failure> {
    let store = Store::open_existing(database).await?;
    let email = normalize_email(email);
    members::remove_by_email(&store, organization, email.clone()).await?;
    print_done(&users::find(&store, email).await?)
}

async fn add_member(database: &str, add: members::Add) -> Result<(), Failure> {
    let store = Store::open_existing(database).await?;
    let organization_id = add.organization;
    let member = members::add(&store, &Scope::Operator, add, Role::Owner).await?;
    print_done(&AddedMember {
        organization_id,
        member,
    })
}

async fn verify_files(
    database: &str,
    context: &Context,
    place: &StorageArguments,
    repair: bool,
) -> Result<(), Failure> {
    let place = place.open_existing(database)?.ok_or_else(|| {
        Failure::Usage("--files: say where the files of this store are".to_owned())
    })?;
    let (place, absent) = match place {
        // Whatever were found here would be of this process.
        ExistingStorage::There(place) if place.is_memory() => {
            return Err(Failure::Usage(
                "--files: bytes of `memory:` are in the process that serves them; there is nothing to verify"
                    .to_owned(),
            ));
        }
        ExistingStorage::There(place) => (place, None),
        // As good as an empty one, where no files are on record.
        ExistingStorage::Absent(folder) => (FileStorage::memory(), Some(folder)),
    };
    let store = Store::open_existing(database).await?;
    let verified = verify(&store, &place, repair, context.now()).await;
    let verdict = verified.map_err(|error| match (error, absent) {
        (MarkError::Foreign { .. }, Some(folder)) => Failure::Found(format!(
            "there is no folder {}, and this store has files on record: bring it back, or name the place of the files \
             with --files",
            folder.display()
        )),
        (error, _) => error.into(),
    })?;
    print(&verdict)?;
    if verdict.is_whole() {
        return Ok(());
    }
    let broken = [&verdict.missing, &verdict.damaged, &verdict.unreadable];
    let [missing, damaged, unreadable] = broken.map(Vec::len);
    let unread = match unreadable {
        0 => String::new(),
        count => format!(
            " Files whose bytes could not be read to their end: {count}; verify them again when the bucket lets them \
             be read."
        ),
    };
    Err(Failure::Found(format!(
        "files whose bytes are missing: {missing}, damaged: {damaged}. Bring them back from a backup of the place, \
         or delete the files.{unread}"
    )))
}

async fn switched(store: &Store, switch: Automation, now: i64) -> Result<Version, Failure> {
    let (workflow, on) = match switch {
        Automation::Activate { workflow_id } => (workflow_id, true),
        Automation::Pause { workflow_id } => (workflow_id, false),
    };
    let switched: Result<_, Refusal> = store
        .write(&Scope::Operator, (workflow, on, now), |tx, input| {
            let (workflow, on, now) = *input;
            Box::pin(async move {
                if on {
                    automation::activate(tx, workflow, now).await
                } else {
                    automation::pause(tx, workflow, now).await
                }
            })
        })
        .await;
    let switched = switched.map_err(|refusal| match refusal.code {
        Code::NotFound => Refusal::new(
            Code::NotFound,
            format!("There is no automation {workflow} in this store."),
        ),
        _ => refusal,
    });
    match switched? {
        SwitchOutcome::Done(version) => Ok(version),
        SwitchOutcome::Unchanged => Err(Failure::Refused(Refusal::new(
            Code::NoActiveVersion,
            format!("The automation {workflow} has no published version: publish a draft first."),
        ))),
    }
}

/// A refusal that names what is wrong by the options of the command.
fn by_options(refusal: Refusal) -> Refusal {
    if refusal.errors().is_empty() {
        return refusal;
    }
    let faults = refusal.errors().iter().map(|fault| Fault {
        path: format!("--{}", fault.path),
        ..fault.clone()
    });
    Refusal::invalid_with(refusal.code, faults.collect())
}

/// The first line of standard input.
fn first_line(what: &str) -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        let message = format!("there is no {what} on standard input");
        return Err(Failure::Usage(message));
    }
    Ok(line.to_owned())
}

fn password() -> Result<String, Failure> {
    let password = first_line("password")?;
    match fault_of_password(&password) {
        None => Ok(password),
        Some(why) => Err(Failure::Usage(format!("the password {why}"))),
    }
}
