//! Authentication: passwords, sessions, API keys, and the caller's rights.

mod caller;
mod caller_statements;
mod credential_cache;
mod distributed_queries;
mod identify;
mod optimistic_session;
mod password;
mod secret;
mod session;
mod visibility;

pub use caller::{Actor, Caller, Identity, KeyScope, OrganizationRole, Role, Scopes};
pub(crate) use credential_cache::CredentialCache;
pub use identify::identify;
pub(crate) use optimistic_session::{OptimisticSession, Subject, TransactionScope};
pub use password::{Passwords, SHORTEST_PASSWORD, fault_of_password, hash_password};
pub use secret::{API_KEY_PREFIX, Secret, hash};
pub use session::{
    ACCESS_SECONDS, NewPassword, Tokens, refresh, set_password, sign_in, sign_out, user_by_email,
};
pub(crate) use visibility::{Account, Restrictions, restrictions, sees_workspace};

/// An e-mail address in the form in which addresses are compared.
pub fn normalize_email(email: &str) -> String {
    email.trim().to_lowercase()
}
