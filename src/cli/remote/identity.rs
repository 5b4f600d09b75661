//! Identifies the owner of a credential, also on servers without a route for it.

use tplkit::client::{Client, Error, Me};
use tplkit::printable;

use crate::cli::error::CliError;

/// Asks who is signed in. Nothing, when the credential is accepted by a server that has only the
/// routes of the specification, where nobody can ask.
pub(crate) fn identify(client: &Client) -> Result<Option<Me>, CliError> {
    match client.me() {
        Ok(me) => Ok(Some(me)),
        Err(Error::Refused(problem)) if problem.status == 404 => {
            // A list that needs a credential and nothing else.
            client.organizations().next().transpose()?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The name of the signed-in user or key.
pub(crate) fn name_of(me: Option<&Me>) -> String {
    let name = match me {
        None => return "an unknown user".to_owned(),
        Some(me) => match &me.email {
            Some(email) => email.clone(),
            None if me.kind == "api_key" => format!("API key {}", me.id),
            None => format!("{} {}", me.kind, me.id),
        },
    };
    printable::line(&name)
}
