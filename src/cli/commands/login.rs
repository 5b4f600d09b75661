//! `tplkit login`: signs in to a server and keeps the sign-in in a profile.

use serde_json::json;
use tplkit::client::{Credential, Secret, Tokens};
use tplkit::printable;

use crate::cli::args::Form;
use crate::cli::document;
use crate::cli::error::CliError;
use crate::cli::examples::examples;
use crate::cli::exit::Exit;
use crate::cli::output::{folded, write_result};
use crate::cli::remote::profiles::{self, Profile};
use crate::cli::remote::{self, Choice, ServerArgs};
use crate::cli::session::Session;

/// Sign in to a server and store the sign-in in a profile.
///
/// On a terminal, the command prompts for what is missing. Elsewhere, give `--email` with
/// `--password-stdin`, or `--api-key-stdin`. The sign-in is stored after the server has accepted
/// it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = examples(&[
    ("Sign in with a password from a file", "tplkit login --url http://localhost:8080 --email demo@example.com --password-stdin < password.txt"),
    ("Store an API key in a profile for scripts", "tplkit login --url http://localhost:8080 --profile ci --api-key-stdin < key.txt"),
]))]
pub(crate) struct Args {
    /// E-mail address to sign in with.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "api_key_stdin")]
    email: Option<String>,
    /// Read the password from standard input.
    #[arg(long, requires = "email")]
    password_stdin: bool,
    /// Read an API key from standard input.
    #[arg(long)]
    api_key_stdin: bool,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: Form,
    #[command(flatten)]
    target: ServerArgs,
}

/// How to sign in.
enum SignInMethod {
    Key(Secret),
    Password(String, Secret),
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<Exit, CliError> {
    if let Some(path) = remote::close_profiles()? {
        session.note(format!(
            "note: others could read or change `{}`; now only you can. Sign in anew to whatever else is in it",
            printable::path(&path)
        ));
    }
    let choice = Choice::read(&args.target, true)?;
    check_name(&choice.profile)?;
    let base = match choice.base()? {
        Some(base) => base,
        None if remote::terminal() => remote::base(&remote::prompt_line("Server", false)?)?,
        None => {
            return Err(CliError::Usage {
                message: "no server is named".to_owned(),
                help: "give its address with `--url`".to_owned(),
            });
        }
    };
    remote::warn(&base, session);
    let way = sign_in_method(args)?;
    let open = |credential| remote::client(base.clone(), credential, session, remote::options());
    let mut profile = Profile {
        url: Some(base.to_string()),
        workspace: choice
            .entry
            .as_ref()
            .filter(|entry| entry.belongs_to(&base))
            .and_then(|entry| entry.workspace.clone()),
        ..Profile::default()
    };
    let token = match way {
        SignInMethod::Key(key) => {
            profile.api_key = Some(key.clone());
            key
        }
        SignInMethod::Password(email, password) => {
            let tokens: Tokens = open(Credential::None)?.token(&email, &password)?;
            let access = tokens.access.clone();
            profile.email = Some(email);
            profile.tokens = Some(tokens);
            access
        }
    };
    let me = remote::identify(&open(Credential::Token(token))?)?;
    let path = profiles::save(&choice.profile, &profile)?;
    if choice.has_token() {
        session.note("note: TPLKIT_TOKEN is set and goes before the profile until it is unset");
    }
    let name = &choice.profile;
    let text = match args.format {
        Form::Text => folded(&format!(
            "Signed in to {base} as {}; profile `{name}` in {}\n",
            remote::name_of(me.as_ref()),
            printable::path(&path)
        )),
        Form::Json => document::write(
            "clean",
            &json!({
                "url": base.to_string(),
                "profile": name,
                "path": path.to_string_lossy(),
                "me": me,
            }),
        ),
    };
    write_result(&text, None)?;
    Ok(Exit::Done)
}

fn sign_in_method(args: &Args) -> Result<SignInMethod, CliError> {
    if args.api_key_stdin {
        return key(remote::stdin_secret("API key")?);
    }
    if let (Some(email), true) = (&args.email, args.password_stdin) {
        let password = remote::stdin_secret("Password")?;
        return Ok(SignInMethod::Password(email.clone(), password));
    }
    if !remote::terminal() {
        return Err(CliError::Usage {
            message: "no sign-in method given and no terminal to prompt on".to_owned(),
            help: "give `--email` with `--password-stdin`, or `--api-key-stdin`".to_owned(),
        });
    }
    let email = match &args.email {
        Some(email) => email.clone(),
        None => remote::prompt_line("E-mail (empty for an API key)", true)?,
    };
    if email.is_empty() {
        return key(remote::secret("API key")?);
    }
    Ok(SignInMethod::Password(email, remote::secret("Password")?))
}

fn key(key: Secret) -> Result<SignInMethod, CliError> {
    if key.fits_header() {
        return Ok(SignInMethod::Key(key));
    }
    Err(CliError::Usage {
        message: "that is not an API key: only visible ASCII stands in one, on one line".to_owned(),
        help: "copy it again from where it was made".to_owned(),
    })
}

fn check_name(name: &str) -> Result<(), CliError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !name.is_empty() && name.len() <= 64 && name.chars().all(fits) {
        return Ok(());
    }
    Err(CliError::Usage {
        message: format!("`{}` cannot be the name of a profile", name.escape_debug()),
        help: "use up to 64 letters, digits, dots, hyphens and underscores".to_owned(),
    })
}
