//! Identities: organizations, the people and keys that belong to them, and the rules about them: seats, owners, who
//! lists whom in a workspace.
//!
//! In: what a request or a command wants changed, and the role of who wants it. Out: records, or a
//! [`Refusal`](crate::refusal::Refusal). It knows no route. Credentials and what follows from them are in
//! [`auth`](crate::auth).

pub mod api_keys;
pub mod members;
pub mod organizations;
pub mod users;
pub mod workspace_members;
