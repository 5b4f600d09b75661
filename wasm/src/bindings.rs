//! Hands the functions to JavaScript: bytes and a text with options in, text out, failures as errors with
//! the members `message` and `document`.

use jiff::Timestamp;
use tplkit::context::{Clock, Ids};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Failure;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;

    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn random_values(bytes: &mut [u8]);
}

/// The clock of the browser.
struct DateClock;

impl Clock for DateClock {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds are whole")]
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(date_now() as i64).unwrap_or_default()
    }
}

/// Ids from the random numbers of the browser.
struct RandomIds;

impl Ids for RandomIds {
    fn uuid(&mut self) -> String {
        let mut bytes = [0; 16];
        random_values(&mut bytes);
        tplkit::context::uuid_of(u128::from_be_bytes(bytes))
    }
}

/// What JavaScript throws as a `TplkitError`.
#[wasm_bindgen]
#[derive(Debug)]
pub struct ThrownFailure(Failure);

#[wasm_bindgen]
impl ThrownFailure {
    /// What is wrong.
    #[wasm_bindgen(getter)]
    pub fn message(&self) -> String {
        self.0.message.clone()
    }

    /// Where, when it is the package that is wrong.
    #[wasm_bindgen(getter)]
    pub fn document(&self) -> Option<String> {
        self.0.document.clone()
    }
}

type Thrown = Result<String, ThrownFailure>;

/// See [`crate::check`].
#[wasm_bindgen]
pub fn check(package: &[u8], options: &str) -> Thrown {
    crate::check(package, options).map_err(ThrownFailure)
}

/// See [`crate::promote`].
#[wasm_bindgen]
pub fn promote(package: &[u8], options: &str) -> Thrown {
    crate::promote(package, options).map_err(ThrownFailure)
}

/// See [`crate::fix`].
#[wasm_bindgen]
pub fn fix(package: &[u8], options: &str) -> Thrown {
    crate::fix(package, options).map_err(ThrownFailure)
}

/// See [`crate::fmt`].
#[wasm_bindgen]
pub fn fmt(package: &[u8], options: &str) -> Thrown {
    crate::fmt(package, options).map_err(ThrownFailure)
}

/// See [`crate::diff`].
#[wasm_bindgen]
pub fn diff(first: &[u8], second: &[u8], options: &str) -> Thrown {
    crate::diff(first, second, options).map_err(ThrownFailure)
}

/// See [`crate::graph`].
#[wasm_bindgen]
pub fn graph(package: &[u8], options: &str) -> Thrown {
    crate::graph(package, options).map_err(ThrownFailure)
}

/// See [`crate::report`].
#[wasm_bindgen]
pub fn report(package: &[u8], options: &str) -> Thrown {
    crate::report(package, options).map_err(ThrownFailure)
}

/// See [`crate::simulate`].
#[wasm_bindgen]
pub fn simulate(package: &[u8], options: &str) -> Thrown {
    crate::simulate(package, options, &DateClock, &mut RandomIds).map_err(ThrownFailure)
}
