//! Tests of schedules over days, months and daylight saving.
use jiff::Timestamp;

use super::{Schedule, Timer};
use crate::json::Value;

fn schedule(config: &str) -> Schedule {
    let config = Value::parse(config).expect("JSON");
    Schedule::read(&config, Some(&Timer::Cron("30 6 * * *".to_owned()))).expect("a schedule")
}

fn due(config: &str, from: &str, until: &str) -> Vec<String> {
    let schedule = schedule(config);
    let (mut at, until): (Timestamp, Timestamp) = (
        from.parse().expect("an instant"),
        until.parse().expect("an instant"),
    );
    let mut all = Vec::new();
    while let Some(next) = schedule.next_after(at).filter(|next| *next <= until) {
        all.push(next.to_string());
        at = next;
    }
    all
}

#[test]
fn a_time_of_day_that_is_skipped_or_comes_twice_is_due_once() {
    // Lisbon goes from 01:00 to 02:00 on 29 March 2026, and from 02:00 to 01:00 on 25 October.
    let config = r#"{"mode":"daily","atTime":"01:30","timezone":"Europe/Lisbon"}"#;
    assert_eq!(
        due(config, "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z"),
        [
            "2026-03-28T01:30:00Z",
            "2026-03-29T01:30:00Z",
            "2026-03-30T00:30:00Z"
        ]
    );
    assert_eq!(
        due(config, "2026-10-24T00:00:00Z", "2026-10-27T00:00:00Z"),
        [
            "2026-10-24T00:30:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-26T01:30:00Z"
        ]
    );
}

#[test]
fn hourly_schedules_follow_elapsed_time_across_dst() {
    for config in [
        r#"{"mode":"hourly","timezone":"America/New_York"}"#,
        r#"{"mode":"expression","expression":"0 * * * *","timezone":"America/New_York"}"#,
    ] {
        for (from, until) in [
            ("2026-03-08T04:30:00Z", "2026-03-08T10:00:00Z"),
            ("2026-11-01T04:30:00Z", "2026-11-01T10:00:00Z"),
        ] {
            let all = due(config, from, until);
            let hours: Vec<String> = (5..=10)
                .map(|hour| format!("{}T{hour:02}:00:00Z", &from[..10]))
                .collect();
            assert_eq!(all, hours);
        }
    }
}

#[test]
fn every_mode_has_its_days() {
    for (config, from, expected) in [
        (
            r#"{"mode":"weekly","atTime":"09:05","dayOfWeek":7}"#,
            "2026-11-22T09:05:00Z",
            "2026-11-29T09:05:00Z",
        ),
        (
            r#"{"mode":"weekly","atTime":"09:05","dayOfWeek":1}"#,
            "2026-11-22T09:05:00Z",
            "2026-11-23T09:05:00Z",
        ),
        (
            r#"{"mode":"monthly","atTime":"00:00","dayOfMonth":31}"#,
            "2026-02-01T00:00:00Z",
            "2026-02-28T00:00:00Z",
        ),
        (
            r#"{"mode":"monthly","atTime":"00:00","dayOfMonth":31}"#,
            "2026-02-28T00:00:00Z",
            "2026-03-31T00:00:00Z",
        ),
        (
            r#"{"mode":"profile","timerProfile":"x"}"#,
            "2026-02-28T06:30:00Z",
            "2026-03-01T06:30:00Z",
        ),
        (
            r#"{"mode":"expression","expression":"0 0 29 2 *"}"#,
            "2026-01-01T00:00:00Z",
            "2028-02-29T00:00:00Z",
        ),
        (
            r#"{"mode":"expression","expression":"0 0 L * ?"}"#,
            "2026-04-01T00:00:00Z",
            "2026-04-30T00:00:00Z",
        ),
        (
            r#"{"mode":"expression","expression":"0 0 LW * *"}"#,
            "2026-05-01T00:00:00Z",
            "2026-05-29T00:00:00Z",
        ),
        (
            r#"{"mode":"expression","expression":"0 0 1W * *"}"#,
            "2026-07-31T00:00:00Z",
            "2026-08-03T00:00:00Z",
        ),
        (
            r#"{"mode":"expression","expression":"0 0 * * 5#2"}"#,
            "2026-11-01T00:00:00Z",
            "2026-11-13T00:00:00Z",
        ),
        (
            r#"{"mode":"expression","expression":"0 0 * * FRIL"}"#,
            "2026-11-01T00:00:00Z",
            "2026-11-27T00:00:00Z",
        ),
        (
            r#"{"mode":"expression","expression":"*/20 8-9 * jan-mar mon,7"}"#,
            "2026-01-04T09:40:00Z",
            "2026-01-05T08:00:00Z",
        ),
        // Where both kinds of days are limited, either will do.
        (
            r#"{"mode":"expression","expression":"0 0 13 * 5"}"#,
            "2026-11-20T00:00:00Z",
            "2026-11-27T00:00:00Z",
        ),
    ] {
        let next = schedule(config).next_after(from.parse().expect("an instant"));
        assert_eq!(
            next.map(|next| next.to_string()).as_deref(),
            Some(expected),
            "{config}"
        );
    }
    let never = schedule(r#"{"mode":"expression","expression":"0 0 31 2 *"}"#);
    assert_eq!(never.next_after(Timestamp::UNIX_EPOCH), None);
}

#[test]
fn a_timer_is_a_cron_expression_or_a_delay() {
    assert_eq!(
        Timer::parse("cron: 0 8 * * 1-5"),
        Some(Timer::Cron("0 8 * * 1-5".to_owned()))
    );
    assert_eq!(Timer::parse("delay:60"), Some(Timer::Delay(60)));
    for (timer, due) in [
        ("cron:0 0 29 2 *", true),
        ("cron:0 0 30 2 *", false),
        ("cron:0 0 31 4,6 *", false),
        ("cron:0 0 31 4 1", true),
        ("delay:0", true),
    ] {
        let parsed = Timer::parse(timer).expect(timer);
        assert_eq!(parsed.is_ever_due(), due, "{timer}");
    }
    for bad in [
        "",
        "cron:",
        "cron:* * *",
        "delay:",
        "delay:-1",
        "delay:99999999",
        "60",
    ] {
        assert_eq!(Timer::parse(bad), None, "{bad}");
    }
}
