//! Processor time, which other work on the machine changes less than wall-clock time.

use std::fs;

/// Seconds of this process, and of the database's processes that serve the database of that name; nothing
/// where the system does not report it.
#[allow(dead_code, reason = "other benches watch another process")]
pub(super) fn seconds(database: &str) -> (f64, f64) {
    seconds_of("self", database)
}

/// The same of another process.
pub(super) fn seconds_of(process: &str, database: &str) -> (f64, f64) {
    let own = of(process).unwrap_or_default();
    let mut theirs = 0.0;
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes {
        let Ok(pid) = process.file_name().into_string() else {
            continue;
        };
        let title = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if title.starts_with("postgres: ") && title.contains(&format!(" {database} ")) {
            theirs += of(&pid).unwrap_or_default();
        }
    }
    (own, theirs)
}

/// User and system time of a process, in the hundredths of a second that Linux counts.
pub(super) fn of(pid: &str) -> Option<f64> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = line.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11);
    let user: f64 = times.next()?.parse().ok()?;
    let system: f64 = times.next()?.parse().ok()?;
    Some((user + system) / 100.0)
}
