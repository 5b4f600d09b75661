//! The log on its way to standard error. Whoever logs puts whole lines into a queue, and one thread writes them, so
//! nobody waits for whoever reads them. Lines that find the queue full are lost, and counted.

use std::io::{self, ErrorKind, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;

/// Bytes of lines that may wait.
const MAX_QUEUED_BYTES: usize = 4 << 20;
/// How long whoever reads may take for what may be the last lines of a process.
pub(super) const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The queue. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct LogQueue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Lines have come.
    came: Condvar,
    /// Lines were written.
    written: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a thread writes what comes.
    is_started: bool,
    waiting: Vec<u8>,
    /// Whether lines that no longer wait are not written yet.
    is_writing: bool,
    lost: Counter,
    /// How many of them no line has reported.
    unreported: u64,
}

impl LogQueue {
    /// Starts to write. Where lines were lost, `report` is called with their number once the others are written; what it
    /// logs may come here.
    pub(super) fn start(
        &self,
        mut output: impl Write + Send + 'static,
        report: fn(u64),
    ) -> io::Result<()> {
        let queue = self.clone();
        let thread = thread::Builder::new().name("log".to_owned());
        drop(thread.spawn(move || queue.write_for_ever(&mut output, report))?);
        self.lock().is_started = true;
        Ok(())
    }

    /// Counts lost lines there, those of before too.
    pub(super) fn count_in(&self, counter: &Counter) {
        let mut state = self.lock();
        counter.inc_by(state.lost.get());
        state.lost = counter.clone();
    }

    /// Waits until everything is written, for so long at most.
    pub(super) fn drain(&self, patience: Duration) {
        let unwritten = |state: &mut State| state.is_writing || !state.waiting.is_empty();
        let written = &self.0.written;
        drop(written.wait_timeout_while(self.lock(), patience, unwritten));
    }

    /// Writes a text behind all lines.
    pub(super) fn end_with(&self, text: &str) {
        let is_started = self.lock().is_started;
        // Nothing can be reported when standard error is gone.
        if is_started {
            let _ = self.clone().write_all(text.as_bytes());
            self.drain(DRAIN_TIMEOUT);
        } else {
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    fn write_for_ever(&self, output: &mut impl Write, report: fn(u64)) {
        loop {
            let came = &self.0.came;
            let state = came.wait_while(self.lock(), |state| state.waiting.is_empty());
            let mut state = state.unwrap_or_else(PoisonError::into_inner);
            let lines = mem::take(&mut state.waiting);
            state.is_writing = true;
            drop(state);
            write_whole(output, &lines);
            let mut state = self.lock();
            let lost = if state.waiting.is_empty() {
                mem::take(&mut state.unreported)
            } else {
                0
            };
            drop(state);
            if lost > 0 {
                report(lost);
            }
            self.lock().is_writing = false;
            self.0.written.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for LogQueue {
    /// Takes whole lines, or loses them.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        if state.waiting.len() + lines.len() > MAX_QUEUED_BYTES {
            state.lost.inc();
            state.unreported += 1;
        } else {
            state.waiting.extend_from_slice(lines);
        }
        drop(state);
        self.0.came.notify_one();
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes all of it, unless nobody can take it any more. Where standard error is shared with a program that does not
/// want to wait for its reader, it takes a part and has to be asked again.
fn write_whole(output: &mut impl Write, mut bytes: &[u8]) {
    const PAUSE: Duration = Duration::from_millis(10);
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(written @ 1..) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Ok(0) | Err(_) => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind, Write};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::Duration;

    use prometheus_client::metrics::counter::Counter;

    use super::{LogQueue, MAX_QUEUED_BYTES, write_whole};

    /// A pipe that nobody reads until its test lets go.
    struct Stalled {
        held: Receiver<()>,
        read: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.held.recv();
            self.read.lock().expect("whole").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_reads_nothing_keeps_nobody_waiting_and_costs_lines() {
        static REPORTED: AtomicU64 = AtomicU64::new(0);
        let (go, held) = channel::<()>();
        let read = Arc::new(Mutex::new(Vec::new()));
        let output = Stalled {
            held,
            read: read.clone(),
        };
        let mut queue = LogQueue::default();
        let report = |lost| {
            REPORTED.fetch_add(lost, Ordering::Relaxed);
        };
        queue.start(output, report).expect("starts");
        queue.write_all(b"first\n").expect("is taken");
        while !queue.lock().is_writing {
            thread::yield_now();
        }
        // Four fill the queue.
        let line = vec![b'x'; MAX_QUEUED_BYTES / 4];
        for _ in 0..5 {
            queue.write_all(&line).expect("is taken or lost");
        }
        let counter = Counter::default();
        queue.count_in(&counter);
        queue.write_all(b"last\n").expect("is lost");
        assert_eq!(counter.get(), 2);
        queue.drain(Duration::from_millis(20));
        assert!(read.lock().expect("whole").is_empty());
        assert_eq!(REPORTED.load(Ordering::Relaxed), 0);
        drop(go);
        queue.drain(Duration::from_secs(60));
        let read = read.lock().expect("whole");
        assert_eq!(read.len(), b"first\n".len() + MAX_QUEUED_BYTES);
        assert_eq!(REPORTED.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn the_end_stands_behind_all_lines() {
        let (_, held) = channel::<()>();
        let read = Arc::new(Mutex::new(Vec::new()));
        let output = Stalled {
            held,
            read: read.clone(),
        };
        let mut queue = LogQueue::default();
        queue.start(output, |_| {}).expect("starts");
        for number in 0..1000 {
            writeln!(queue, "{number}").expect("is taken");
        }
        queue.end_with("error\n");
        let text = String::from_utf8(read.lock().expect("whole").clone()).expect("UTF-8");
        assert_eq!(text.lines().count(), 1001);
        assert!(text.ends_with("\n998\n999\nerror\n"), "{text}");
    }

    /// A pipe that takes a byte at a time, and asks to come back before each.
    #[derive(Default)]
    struct Reluctant {
        read: Vec<u8>,
        was_asked: bool,
    }

    impl Write for Reluctant {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.was_asked = !self.was_asked;
            if self.was_asked {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.read.push(bytes[0]);
            Ok(1)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_not_taken_at_once_is_offered_again() {
        let mut output = Reluctant::default();
        write_whole(&mut output, b"abc\n");
        assert_eq!(output.read, b"abc\n");
    }
}
