//! Checking never panics, whatever the bytes are, and every place is inside the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tplkit::check::{CheckOptions, check, promote};

fuzz_target!(|bytes: &[u8]| {
    let options = CheckOptions { promotion: true, ..CheckOptions::default() };
    for report in [check(bytes, &options), promote(bytes, &options)] {
        for finding in &report.findings {
            let span = &finding.place.span;
            assert!(span.start <= span.end && span.end <= bytes.len(), "{finding:?}");
            assert!(!finding.message.is_empty());
        }
    }
});
