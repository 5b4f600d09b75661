//! The environment variables for the server and the credential. An empty variable counts as not
//! set.

use tplkit::client::Secret;

use crate::cli::error::CliError;

/// What the environment says.
pub(crate) struct Environment {
    /// `TPLKIT_URL`
    pub(crate) url: Option<String>,
    /// `TPLKIT_TOKEN`
    pub(crate) token: Option<Secret>,
    /// `TPLKIT_PROFILE`
    pub(crate) profile: Option<String>,
    /// `TPLKIT_WORKSPACE`
    pub(crate) workspace: Option<String>,
}

impl Environment {
    /// Reads it.
    pub(crate) fn read() -> Result<Environment, CliError> {
        let token = variable("TPLKIT_TOKEN")?;
        let token = token.map(|token| Secret::new(token.trim()));
        if token.as_ref().is_some_and(|token| !token.fits_header()) {
            return Err(CliError::Usage {
                message: "TPLKIT_TOKEN holds no token: only visible ASCII stands in one".to_owned(),
                help: "set it to an API key or an access token, or unset it".to_owned(),
            });
        }
        Ok(Environment {
            url: variable("TPLKIT_URL")?,
            token,
            profile: variable("TPLKIT_PROFILE")?,
            workspace: variable("TPLKIT_WORKSPACE")?,
        })
    }
}

fn variable(name: &str) -> Result<Option<String>, CliError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "commands read the environment, here and nowhere else"
    )]
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value
        .map(|value| {
            value.into_string().map_err(|_| CliError::Usage {
                message: format!("{name} is not UTF-8"),
                help: "set it again, or unset it".to_owned(),
            })
        })
        .transpose()
}
