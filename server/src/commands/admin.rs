//! `admin`: creates organizations and users, and manages what no route does. What begins a store makes its file; what
//! changes or shows records opens one that is there.

use std::io::Read as _;

use clap::Subcommand;
use serde::Serialize;
use tplkit_server::auth::{Role, fault_of_password, hash_password, normalize_email};
use tplkit_server::automation::channels::{NewChannel, create_channel};
use tplkit_server::automation::connections::{ConnectionKind, SetConnection, set_connection};
use tplkit_server::automation::{self, SwitchOutcome, Version};
use tplkit_server::context::Context;
use tplkit_server::files::FileStorage;
use tplkit_server::files::claim_storage::MarkError;
use tplkit_server::files::verify::verify;
use tplkit_server::identity::organizations::{Limit, NewLimits};
use tplkit_server::identity::{members, organizations, users};
use tplkit_server::json_body::LABEL;
use tplkit_server::refusal::{Code, Fault, Refusal};
use tplkit_server::store::{Scope, Store};
use uuid::Uuid;

use super::examples::examples;
use super::files::{ExistingStorage, StorageArguments};
use super::process::secret_key;
use super::{Failure, print, print_done};

#[derive(Debug, Subcommand)]
pub(super) enum AdminCommand {
    /// Creates an organization.
    #[command(after_long_help = examples("", &[
            ("Create an organization",
             "tplkit-server admin create-organization --label Acme"),
            ("Create one with limits",
             "tplkit-server admin create-organization --label Acme --seats 20 \\\n--row-quota 100000 --file-quota 10000000000"),
        ]))]
    CreateOrganization {
        /// What people call it, in 1 to 255 characters.
        #[arg(long, value_parser = label)]
        label: String,
        /// How many members it may have; any number when not given.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
        seats: Option<i64>,
        /// How many rows it may have; any number when not given.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
        row_quota: Option<i64>,
        /// How many bytes its files may have; any number when not given.
        #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(i64).range(0..))]
        file_quota: Option<i64>,
    },
    /// Sets how much an organization may have, next to a running server too. What is there already stays.
    #[command(after_long_help = examples("", &[
            ("Raise the quotas of rows and files",
             "tplkit-server admin set-quota --organization $ORGANIZATION \\\n--row-quota 200000 --file-quota 20000000000"),
            ("Let any number of people in",
             "tplkit-server admin set-quota --organization $ORGANIZATION --seats none"),
        ]), group(clap::ArgGroup::new("limits").args(["row_quota", "file_quota", "seats"]).required(true).multiple(true)))]
    SetQuota {
        /// Of the organization.
        #[arg(long, value_name = "ID")]
        organization: Uuid,
        /// How many rows it may have; `none` for any number.
        #[arg(long, value_name = "N|none", value_parser = limit)]
        row_quota: Option<Limit>,
        /// How many bytes its files may have; `none` for any number.
        #[arg(long, value_name = "BYTES|none", value_parser = limit)]
        file_quota: Option<Limit>,
        /// How many members it may have; `none` for any number.
        #[arg(long, value_name = "N|none", value_parser = limit)]
        seats: Option<Limit>,
    },
    /// Creates a user.
    #[command(after_long_help = examples("", &[
            ("Create a user",
             "tplkit-server admin create-user --email ada@example.com \\\n--password-stdin < password.txt"),
            ("Create someone who promotes templates to system",
             "tplkit-server admin create-user --email root@example.com \\\n--platform-admin --password-stdin < password.txt"),
        ]))]
    CreateUser {
        /// By which the user signs in.
        #[arg(long)]
        email: String,
        /// Reads the password from standard input, up to the end of the line: at least 10 characters, at
        /// most 1,024 bytes.
        #[arg(long, required = true)]
        password_stdin: bool,
        /// Sees every template and promotes to `system`, nothing more.
        #[arg(long)]
        platform_admin: bool,
    },
    /// Gives a user another password, and ends their sessions.
    #[command(after_long_help = examples("", &[
            ("Take it from a file",
             "tplkit-server admin reset-password --email ada@example.com \\\n--password-stdin < password.txt"),
            ("Take it from a variable",
             "printf %s $PASSWORD | tplkit-server admin reset-password --email ada@example.com \\\n--password-stdin"),
        ]))]
    ResetPassword {
        /// Of the user.
        #[arg(long)]
        email: String,
        /// Reads the password from standard input, up to the end of the line: at least 10 characters, at
        /// most 1,024 bytes.
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Lists users, and what they are members of.
    #[command(after_long_help = examples("", &[
            ("List all users",
             "tplkit-server admin list-users"),
            ("List the members of an organization",
             "tplkit-server admin list-users --organization $ORGANIZATION"),
        ]))]
    ListUsers {
        /// Only members of this one.
        #[arg(long, value_name = "ID")]
        organization: Option<Uuid>,
    },
    /// Takes a user out of an organization; the last owner stays.
    #[command(after_long_help = examples("", &[
            ("Take a user out",
             "tplkit-server admin remove-member --organization $ORGANIZATION --email alan@example.com"),
            ("Do it in another store (exit code 1: nobody is there)",
             "tplkit-server admin remove-member --organization $ORGANIZATION --email alan@example.com \\\n--database sqlite:other.db"),
        ]))]
    RemoveMember {
        /// Of the organization.
        #[arg(long, value_name = "ID")]
        organization: Uuid,
        /// Of the user.
        #[arg(long)]
        email: String,
    },
    /// Makes a user a member of an organization.
    #[command(after_long_help = examples("", &[
            ("Let a user edit",
             "tplkit-server admin add-member --organization $ORGANIZATION --email ada@example.com \\\n--role editor"),
            ("Let a user read",
             "tplkit-server admin add-member --organization $ORGANIZATION --email grace@example.com \\\n--role viewer"),
        ]))]
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
    /// Creates a channel for the notifications of automations.
    #[command(after_long_help = examples("", &[
            ("Create a channel",
             "tplkit-server admin create-channel --organization $ORGANIZATION --name alerts"),
            ("Create another one",
             "tplkit-server admin create-channel --organization $ORGANIZATION --name support"),
        ]))]
    CreateChannel {
        /// Whose it is.
        #[arg(long, value_name = "ID")]
        organization: Uuid,
        /// Technical name.
        #[arg(long)]
        name: String,
    },
    /// Creates a connection that automations may use, or replaces the one of that name.
    #[command(
        after_long_help = examples("smtp   smtp://user@host:587?from=desk@example.org, or smtps://…; the secret is the password\n\
                      http   https://host/base; the secret is sent as a bearer token\n\
                      llm    https://host/v1?model=NAME, compatible with OpenAI; the secret is the key\n\
                      timer  cron:0 8 * * 1-5 or delay:SECONDS\n\n\
                      Secrets are encrypted with TPLKIT_SECRET_KEY, 32 bytes in base64 or hex.\n\
                      A name that leads into a private network is used by processes with --allow-private-addresses alone.", &[
            ("Let automations call a partner", "tplkit-server admin set-connection --organization $ORGANIZATION --name partner \\\n--kind http --url https://partner.example/api --secret-stdin < secret.txt"),
            ("Let them send mail", "tplkit-server admin set-connection --organization $ORGANIZATION --name mail \\\n--kind smtp --url smtp://desk@mail.example:587?from=desk@example.com \\\n--secret-stdin < secret.txt"),
        ])
    )]
    SetConnection {
        /// Whose it is.
        #[arg(long, value_name = "ID")]
        organization: Uuid,
        /// By which automations name it.
        #[arg(long)]
        name: String,
        /// smtp, http, llm or timer.
        #[arg(long, value_parser = connection_kind)]
        kind: ConnectionKind,
        /// Where it leads.
        #[arg(long)]
        url: String,
        /// Reads the secret from standard input, up to the end of the line.
        #[arg(long)]
        secret_stdin: bool,
    },
    /// Compares the records of files with what is in their place: exit code 1 when bytes are missing or damaged.
    #[command(after_long_help = examples("", &[
            ("Verify the files of the store in tplkit.db",
             "tplkit-server admin verify-files"),
            ("Remove what is left over and older than an hour",
             "tplkit-server admin verify-files --repair"),
        ]))]
    VerifyFiles {
        #[command(flatten)]
        place: StorageArguments,
        /// Removes what is left over and older than an hour, next to a running server too.
        #[arg(long)]
        repair: bool,
    },
    /// Says which automations fire.
    #[command(subcommand)]
    #[command(after_long_help = examples("", &[
            ("Let an automation fire",
             "tplkit-server admin automation activate $WORKFLOW"),
            ("Stop it",
             "tplkit-server admin automation pause $WORKFLOW"),
        ]))]
    Automation(Automation),
}

#[derive(Debug, Subcommand)]
pub(super) enum Automation {
    /// Lets the newest published version fire.
    #[command(after_long_help = examples("", &[
            ("Let an automation fire",
             "tplkit-server admin automation activate $WORKFLOW"),
            ("Name the store",
             "tplkit-server admin automation activate $WORKFLOW --database sqlite:tplkit.db"),
        ]))]
    Activate {
        /// The automation.
        workflow_id: Uuid,
    },
    /// Lets no version fire any more.
    #[command(after_long_help = examples("", &[
            ("Stop an automation",
             "tplkit-server admin automation pause $WORKFLOW"),
            ("Name the store",
             "tplkit-server admin automation pause $WORKFLOW --database sqlite:tplkit.db"),
        ]))]
    Pause {
        /// The automation.
        workflow_id: Uuid,
    },
}

fn connection_kind(word: &str) -> Result<ConnectionKind, String> {
    ConnectionKind::parse(word).ok_or_else(|| "use smtp, http, llm or timer".to_owned())
}

fn label(text: &str) -> Result<String, String> {
    let fits = LABEL.contains(&text.chars().count());
    fits.then(|| text.to_owned())
        .ok_or_else(|| "a label has 1 to 255 characters".to_owned())
}

fn limit(word: &str) -> Result<Limit, String> {
    if word == "none" {
        return Ok(Limit::Unlimited);
    }
    match word.parse() {
        Ok(most @ 0..) => Ok(Limit::AtMost(most)),
        _ => Err("use a number from 0 on, or none".to_owned()),
    }
}

fn role(word: &str) -> Result<Role, String> {
    Role::parse(word).ok_or_else(|| "use owner, admin, editor or viewer".to_owned())
}

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
            print_done(&users::create(&store, new).await?)
        }
        AdminCommand::ResetPassword {
            email,
            password_stdin: _,
        } => {
            let hash = hash_password(password()?.as_bytes())?;
            let store = Store::open_existing(database).await?;
            let email = normalize_email(&email);
            print_done(&users::reset_password(&store, email, hash, context.now()).await?)
        }
        AdminCommand::ListUsers { organization } => {
            let store = Store::open_existing(database).await?;
            let items = users::list(&store, organization).await?;
            print(&Users { items })
        }
        AdminCommand::RemoveMember {
            organization,
            email,
        } => {
            let store = Store::open_existing(database).await?;
            let email = normalize_email(&email);
            members::remove_by_email(&store, organization, email.clone()).await?;
            print_done(&users::find(&store, email).await?)
        }
        AdminCommand::AddMember {
            organization,
            email,
            role,
        } => {
            let store = Store::open_existing(database).await?;
            let email = normalize_email(&email);
            let add = members::Add {
                organization,
                email,
                role,
                now: context.now(),
            };
            let member = members::add(&store, &Scope::Operator, add, Role::Owner).await?;
            print_done(&AddedMember {
                organization_id: organization,
                member,
            })
        }
        AdminCommand::CreateChannel { organization, name } => {
            let store = Store::open_existing(database).await?;
            let new = NewChannel {
                id: context.id(),
                organization,
                name,
                now: context.now(),
            };
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
            let secret = if secret_stdin {
                Some(first_line("secret")?)
            } else {
                None
            };
            let store = Store::open_existing(database).await?;
            let set = SetConnection {
                id: context.id(),
                organization,
                name,
                kind,
                url,
                secret,
                now: context.now(),
            };
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
