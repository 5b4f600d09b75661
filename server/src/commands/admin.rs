//! `admin` as it is typed: creates organizations and users, and manages what no route does.

use clap::Subcommand;
use tplkit_server::auth::Role;
use tplkit_server::automation::connections::ConnectionKind;
use tplkit_server::identity::organizations::Limit;
use tplkit_server::json_body::LABEL;
use uuid::Uuid;

use super::examples::examples;
use super::files::StorageArguments;

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
