//! HTTP alone: the library that the server speaks it with, which gives one response to everything. It runs in
//! this process, so the processor time of a load includes it.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::CONNECTIONS;
use crate::load::{self, Connection, Question, Seen};
use crate::server::Server;

/// A listener that knows one response.
pub(crate) struct Http {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Http {
    /// Responds as the server does to that question.
    pub(crate) fn of(server: &Server, question: &Question<'_>) -> Http {
        let (status, body) = Connection::open(server.address).ask(&(question.next)(0, 0));
        assert_eq!(status, question.expected, "{}", question.name);
        let runtime = Runtime::new().expect("starts");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.expect("binds");
        let address = listener.local_addr().expect("an address");
        runtime.spawn(listen(listener, status, Bytes::from(body)));
        Http {
            address,
            _runtime: runtime,
        }
    }

    pub(crate) fn ask(&self, question: &Question<'_>, time: Duration) -> Seen {
        let (next, expected) = (&question.next, question.expected);
        load::run(self.address, CONNECTIONS, time, expected, next)
    }
}

async fn listen(listener: TcpListener, status: u16, body: Bytes) {
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).expect("sets");
        let body = body.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let mut response = Response::new(Full::new(body.clone()));
            async move {
                request.into_body().collect().await?;
                *response.status_mut() = status.try_into().expect("a status");
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
                Ok::<_, hyper::Error>(response)
            }
        });
        // Ends when the load hangs up.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
