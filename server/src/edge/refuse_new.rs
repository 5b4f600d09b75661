//! Closes a listener without resetting established connections.
//!
//! The system completes connections before they are accepted, and resets the unaccepted ones when
//! the listener closes, although their clients may have sent a request. So new connections are
//! blocked first, then the established ones are accepted, and then the listener closes. A client
//! that connects meanwhile gets no response, retries a second later, and is refused.

use tokio::net::TcpListener;

/// Blocks new connections. Established ones continue.
///
/// Only Linux can do this; elsewhere, and where it may not, a client that connects in the last moment
/// is reset.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn close(listener: &TcpListener) {
    use socket2::{SockFilter, SockRef};
    // Flags stand in byte 13 of a TCP header, and SYN in bit 1 of them: what has it is dropped. To the
    // listener only first packets have it.
    const NO_FIRST_PACKETS: [SockFilter; 4] = [
        SockFilter::new(0x30, 0, 0, 13),     // load a byte
        SockFilter::new(0x45, 0, 1, 0x02),   // is this bit set?
        SockFilter::new(0x06, 0, 0, 0),      // keep nothing
        SockFilter::new(0x06, 0, 0, 0xFFFF), // keep all
    ];
    if let Err(error) = SockRef::from(listener).attach_filter(&NO_FIRST_PACKETS) {
        tracing::debug!(%error, "connections go on beginning while the listener closes");
    }
}

/// Does nothing here.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn close(_: &TcpListener) {}
