//! Decides whether and when to retry a request; it neither waits nor sends.

use std::time::Duration;

use super::error::{Cause, Error};
use super::request::Request;
use super::response::{ApiResponse, instant};
use super::{Host, Options};
use crate::problem::Code;

/// The wait before the second try; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const MAX_WAIT: Duration = Duration::from_secs(8);

/// A further try.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Retry {
    pub(super) after: Duration,
    pub(super) why: String,
}

/// Whether to try again after `tries` tries.
pub(super) fn retry(
    outcome: Result<&ApiResponse, &Error>,
    request: &Request,
    tries: u32,
    options: &Options,
    host: &dyn Host,
) -> Option<Retry> {
    if tries > options.retries || !request.is_repeatable() {
        return None;
    }
    let why = match outcome {
        Ok(result) if [429, 502, 503, 504].contains(&result.status) => {
            format!("{request} returned {}", result.status)
        }
        // An earlier try of ours is still at work.
        Ok(result) if tries > 1 && is_in_progress(result, request) => {
            format!("{request} is still running")
        }
        // Who was silent for as long as anybody waits is not waited for once more.
        Err(Error::Unreachable { cause, why, .. }) if *cause == Cause::Connection => why.clone(),
        _ => return None,
    };
    let retry_after = outcome.ok().and_then(|result| retry_after(result, host));
    let own = backoff(tries, &host.uuid());
    let after = retry_after.map_or(own, |retry_after| retry_after.max(own));
    (after <= options.patience).then_some(Retry { after, why })
}

fn is_in_progress(result: &ApiResponse, request: &Request) -> bool {
    let problem = result.problem(request);
    problem.is_some_and(|problem| problem.is(Code::IdempotencyInProgress))
}

/// What the server asked for: seconds, or an instant.
fn retry_after(result: &ApiResponse, host: &dyn Host) -> Option<Duration> {
    let text = result.header("retry-after")?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let left = instant(text)?.duration_since(host.now());
    // An instant that has passed asks for nothing.
    Some(Duration::try_from(left).unwrap_or_default())
}

/// Between half and the whole of a wait that doubles, so that many clients do not come at once.
fn backoff(tries: u32, uuid: &str) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(1 << tries.saturating_sub(1).min(16));
    let whole = doubled.min(MAX_WAIT);
    let digits = uuid.get(..8).unwrap_or_default();
    let dice = u32::from_str_radix(digits, 16).unwrap_or(u32::MAX);
    whole.mul_f64(0.5 + 0.5 * f64::from(dice) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::{Retry, backoff, retry};
    use crate::client::{ApiResponse, Cause, Error, Host, Options, Request};

    struct FixedClock;

    impl Host for FixedClock {
        fn now(&self) -> Timestamp {
            "2026-01-02T12:00:00Z".parse().expect("an instant")
        }
        fn uuid(&self) -> String {
            "ffffffff-0000-4000-8000-000000000000".to_owned()
        }
        fn wait(&self, _: Duration) {}
    }

    fn response(status: u16, retry_after: Option<&str>) -> ApiResponse {
        let header = retry_after.map(|value| ("retry-after".to_owned(), value.to_owned()));
        ApiResponse {
            status,
            headers: header.into_iter().collect(),
            body: Vec::new(),
        }
    }

    fn after_response(result: ApiResponse, tries: u32) -> Option<Duration> {
        after(&Ok(result), tries)
    }

    fn after(outcome: &Result<ApiResponse, Error>, tries: u32) -> Option<Duration> {
        let request = Request::get("/v1/me");
        let again = retry(
            outcome.as_ref(),
            &request,
            tries,
            &Options::default(),
            &FixedClock,
        );
        again.map(|Retry { after, .. }| after)
    }

    const MS: fn(u64) -> Option<Duration> = |ms| Some(Duration::from_millis(ms));

    #[test]
    fn the_server_is_heard_up_to_a_bound() {
        assert_eq!(after_response(response(429, Some("3")), 1), MS(3000));
        assert_eq!(after_response(response(503, Some("0")), 1), MS(200));
        assert_eq!(after_response(response(503, Some("31")), 1), None);
        assert_eq!(
            after_response(response(503, Some("99999999999999999999")), 1),
            MS(200)
        );
        let date = |text| after_response(response(429, Some(text)), 1);
        assert_eq!(date("Fri, 02 Jan 2026 12:00:05 GMT"), MS(5000));
        assert_eq!(date("Fri, 02 Jan 2026 11:00:00 GMT"), MS(200));
        assert_eq!(date("Fri, 02 Jan 2026 13:00:00 GMT"), None);
        assert_eq!(date("soon"), MS(200));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for status in [429, 502, 503, 504] {
            assert_eq!(
                after_response(response(status, None), 1),
                MS(200),
                "{status}"
            );
        }
        for status in [200, 401, 403, 404, 409, 422, 500, 501] {
            assert_eq!(after_response(response(status, None), 1), None, "{status}");
        }
        let broken = |cause| {
            Err(Error::Unreachable {
                address: String::new(),
                cause,
                why: String::new(),
                tries: 0,
            })
        };
        assert_eq!(after(&broken(Cause::Connection), 1), MS(200));
        assert_eq!(after(&broken(Cause::Timeout), 1), None);
        assert_eq!(after(&broken(Cause::Tls), 1), None);
        assert_eq!(after_response(response(503, None), 4), MS(1600));
        assert_eq!(after_response(response(503, None), 5), None);
    }

    #[test]
    fn waits_double_and_spread() {
        assert_eq!(backoff(1, "00000000"), Duration::from_millis(100));
        assert_eq!(backoff(3, "ffffffff"), Duration::from_millis(800));
        assert_eq!(backoff(99, "ffffffff"), Duration::from_secs(8));
        assert_eq!(backoff(1, "no uuid"), Duration::from_millis(200));
    }
}
