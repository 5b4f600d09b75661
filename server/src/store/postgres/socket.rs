//! The socket of a connection: the driver signs in on it, and whoever reads takes it over then.
//!
//! The driver opens sockets of its own and keeps them. So this opens them as it does (the address, keep-alive, TLS by
//! what the URL says), lends one to it for the start of a session, and takes it back.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_postgres::config::Host;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{Client, Config, Connection};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The port of PostgreSQL where the URL names none.
const PORT: u16 = 5432;

type Handshake = <MakeRustlsConnect as MakeTlsConnect<TcpStream>>::TlsConnect;
type Encrypted = <MakeRustlsConnect as MakeTlsConnect<TcpStream>>::Stream;

/// A way to a database.
pub(super) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    Tls(Box<Encrypted>),
}

/// A socket that the driver uses until it is taken back. After that, reads return nothing and writes are dropped.
#[derive(Clone)]
pub(super) struct LentSocket(Arc<Mutex<Option<Socket>>>);

/// Why no session could be started.
#[derive(Debug)]
pub(super) enum StartError {
    Socket(io::Error),
    Driver(tokio_postgres::Error),
}

/// Connects to the host of a configuration and signs in.
pub(super) async fn sign_in(
    config: &Config,
    tls: &MakeRustlsConnect,
) -> Result<(Client, Connection<LentSocket, LentSocket>, LentSocket), StartError> {
    let socket = Socket::open(config).await.map_err(StartError::Socket)?;
    let lent = LentSocket(Arc::new(Mutex::new(Some(socket))));
    let name = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.as_str(),
        _ => "",
    };
    let mut tls = tls.clone();
    let Ok(handshake) = MakeTlsConnect::<TcpStream>::make_tls_connect(&mut tls, name);
    let started = config.connect_raw(lent.clone(), LentHandshake(handshake));
    let (client, connection) = started.await.map_err(StartError::Driver)?;
    Ok((client, connection, lent))
}

impl Socket {
    /// Connects to the host of a configuration, with what it says of connections.
    async fn open(config: &Config) -> io::Result<Socket> {
        let port = config.get_ports().first().copied().unwrap_or(PORT);
        let stream = match (config.get_hostaddrs().first(), config.get_hosts().first()) {
            (Some(address), _) => TcpStream::connect((*address, port)).await?,
            (None, Some(Host::Tcp(name))) => TcpStream::connect((name.as_str(), port)).await?,
            #[cfg(unix)]
            (None, Some(Host::Unix(folder))) => {
                let file = folder.join(format!(".s.PGSQL.{port}"));
                return Ok(Socket::Unix(UnixStream::connect(file).await?));
            }
            (None, None) => {
                let why = "the URL names no host";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
        };
        stream.set_nodelay(true)?;
        let socket = SockRef::from(&stream);
        #[cfg(target_os = "linux")]
        if let Some(limit) = config.get_tcp_user_timeout() {
            socket.set_tcp_user_timeout(Some(*limit))?;
        }
        if config.get_keepalives() {
            let mut keepalive = TcpKeepalive::new().with_time(config.get_keepalives_idle());
            if let Some(interval) = config.get_keepalives_interval() {
                keepalive = keepalive.with_interval(interval);
            }
            #[cfg(unix)]
            if let Some(retries) = config.get_keepalives_retries() {
                keepalive = keepalive.with_retries(retries);
            }
            socket.set_tcp_keepalive(&keepalive)?;
        }
        Ok(Socket::Tcp(stream))
    }
}

impl LentSocket {
    /// Takes the socket back; nothing where it is not there.
    pub(super) fn take(&self) -> Option<Socket> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Socket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Encrypts a lent socket, which stays lent.
struct LentHandshake(Handshake);

impl TlsConnect<LentSocket> for LentHandshake {
    type Stream = LentSocket;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<LentSocket>>;

    fn connect(self, lent: LentSocket) -> Self::Future {
        async move {
            let Some(Socket::Tcp(stream)) = lent.take() else {
                return Err(io::Error::other("only TCP is encrypted"));
            };
            let encrypted = self.0.connect(stream).await?;
            *lent.lock() = Some(Socket::Tls(Box::new(encrypted)));
            Ok(lent)
        }
        .boxed()
    }
}

impl TlsStream for LentSocket {
    fn channel_binding(&self) -> ChannelBinding {
        match &*self.lock() {
            Some(Socket::Tls(stream)) => stream.channel_binding(),
            _ => ChannelBinding::none(),
        }
    }
}

/// Calls the same of whatever the socket is.
macro_rules! each {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Tcp($stream) => $call,
            #[cfg(unix)]
            Socket::Unix($stream) => $call,
            Socket::Tls($stream) => $call,
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(cx))
    }
}

impl AsyncRead for LentSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self.lock() {
            Some(socket) => Pin::new(socket).poll_read(cx, buffer),
            None => Poll::Pending,
        }
    }
}

impl AsyncWrite for LentSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut *self.lock() {
            Some(socket) => Pin::new(socket).poll_write(cx, bytes),
            None => Poll::Pending,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.lock() {
            Some(socket) => Pin::new(socket).poll_flush(cx),
            None => Poll::Pending,
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.lock() {
            Some(socket) => Pin::new(socket).poll_shutdown(cx),
            None => Poll::Ready(Ok(())),
        }
    }
}
