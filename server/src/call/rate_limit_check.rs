//! Checks rate limits: the buckets of a request, and the headers that report them.

use axum::http::HeaderMap;

use super::Call;
use super::operation::{Limit, Operation};
use crate::app::App;
use crate::auth::Caller;
use crate::http::client::neighbourhood;
use crate::http::rate_limit::{Rate, RateLimitState};
use crate::refusal::{Code, Refusal};

/// How often somebody may try a password.
const SIGN_IN: Rate = Rate::per_minute(10);

/// Counts a request: for the user of a session, else for the address, and for the key if there is
/// one. Reports the bucket that has less left.
pub(crate) fn count(
    app: &App,
    operation: &Operation,
    caller: Option<&Caller>,
    client: &str,
) -> Option<RateLimitState> {
    let usual = app.config.rate?;
    let rate = match operation.limit {
        Limit::None => return None,
        Limit::Usual => usual,
        Limit::SignIn => SIGN_IN,
    };
    let now = app.context.now();
    let take = |kind: &str, who: &str| {
        let key = (operation.method, operation.path, kind, who);
        app.buckets.take(&key, rate, now)
    };
    let Some(caller) = caller else {
        return Some(take("address", &neighbourhood(client)));
    };
    let own = take("caller", &caller.id.to_string());
    if !caller.is_key() || !own.allowed {
        return Some(own);
    }
    let shared = take("address", &neighbourhood(client));
    let less = !shared.allowed || shared.remaining < own.remaining;
    Some(if less { shared } else { own })
}

/// The refusal of one request too many.
pub(crate) fn too_many(left: RateLimitState) -> Refusal {
    let mut refusal = Refusal::new(Code::RateLimited, "Too many requests; try again later.");
    refusal.retry_after = Some(u32::try_from(left.retry_after).unwrap_or(u32::MAX));
    refusal
}

/// Reports what is left, in the headers of the response.
pub(crate) fn write_headers(headers: &mut HeaderMap, left: RateLimitState) {
    headers.insert("ratelimit-limit", left.limit.into());
    headers.insert("ratelimit-remaining", left.remaining.into());
    headers.insert("ratelimit-reset", left.reset.into());
}

impl Call {
    /// Counts one more sign-in against an address. A refusal reports the bucket of that address.
    ///
    /// # Errors
    /// 429.
    pub fn count_sign_in(&self, email: &str) -> Result<(), Refusal> {
        if self.app.config.rate.is_none() {
            return Ok(());
        }
        let left = self
            .app
            .buckets
            .take(&of_email(email), SIGN_IN, self.app.context.now());
        if left.allowed {
            Ok(())
        } else {
            let _ = self.refused_by.set(left);
            Err(too_many(left))
        }
    }

    /// Takes back that a sign-in was counted against an address: it was none.
    pub fn uncount_sign_in(&self, email: &str) {
        if self.app.config.rate.is_some() {
            self.app.buckets.give_back(&of_email(email), SIGN_IN);
        }
    }
}

/// The bucket of an address, whichever operation asks for its password.
fn of_email(email: &str) -> (&'static str, &str) {
    ("email", email)
}
