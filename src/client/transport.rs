//! Sends one request and reads one response: redirects, bounds, transport errors.

use std::error::Error as _;
use std::io::{self, Read as _};
use std::time::Duration;

use reqwest::blocking::{self, Response};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};

use super::address::{BaseUrl, display_url};
use super::error::{Cause, Error};
use super::request::Request;
use super::response::ApiResponse;
use super::secret::Secret;
use super::upload::{LARGE_BODY_BYTES, Patience, Upload};
use super::{Host, Options};

const MAX_REDIRECTS: u32 = 5;
const NO_TIME: &str = "no complete response in time";
const NO_CONNECTION: &str = "no connection in time";
/// How much of a body is read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The connections.
pub(super) struct Transport {
    http: blocking::Client,
    options: Options,
    /// Why no server can be trusted, where this system knows no authorities. Plain HTTP asks for none.
    trusts_nobody: Option<String>,
}

/// A response that comes more slowly than this, once it has been silent or slow for long enough, is given up.
pub(super) const MIN_BYTES_PER_SECOND: u64 = 1 << 10;

/// What clients of both kinds have in common.
macro_rules! configured {
    ($builder:expr, $options:expr, $trusts:expr) => {{
        let builder = $builder
            .user_agent(concat!("tplkit/", env!("CARGO_PKG_VERSION")))
            .connect_timeout($options.connect)
            // Ours know where the credential belongs, and what may be sent twice.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never());
        let builder = if $options.environment_proxy {
            builder
        } else {
            builder.no_proxy()
        };
        // With those of the system a client without any cannot be made.
        if $trusts {
            builder
        } else {
            builder.tls_certs_only([])
        }
    }};
}

/// A response.
pub(super) struct Exchange {
    pub(super) response: ApiResponse,
    /// Its body, where it was to come as a stream and is not a refusal.
    pub(super) rest: Option<Response>,
}

/// A response that may lead elsewhere.
enum Incoming {
    /// Its body is still to be read.
    Open(Response),
    Whole(ApiResponse),
}

impl Transport {
    pub(super) fn new(options: &Options) -> Result<Transport, Error> {
        // Refused where the process has chosen already, which is as good.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let build = |trusts: bool| {
            let builder = configured!(blocking::Client::builder(), options, trusts);
            builder.timeout(options.whole).build()
        };
        let (http, trusts_nobody) = match build(true) {
            Ok(http) => (Ok(http), None),
            Err(error) => (build(false), Some(words(&error))),
        };
        Ok(Transport {
            http: http.map_err(|error| Error::Setup(words(&error)))?,
            options: *options,
            trusts_nobody,
        })
    }

    /// Whether anything can be asked there.
    fn trusts(&self, url: &Url) -> Result<(), Error> {
        match &self.trusts_nobody {
            Some(why) if url.scheme() == "https" => Err(Error::Setup(why.clone())),
            _ => Ok(()),
        }
    }

    /// Sends a request, follows redirects within the server, and reads the response.
    pub(super) fn exchange(
        &self,
        base: &BaseUrl,
        request: &Request,
        token: Option<&Secret>,
        host: &dyn Host,
    ) -> Result<Exchange, Error> {
        let Options { whole, silence, .. } = self.options;
        let began = host.now();
        let late = |read: u64| {
            let taken = host.now().duration_since(began).unsigned_abs();
            let slow =
                taken > silence && read < taken.as_secs().saturating_mul(MIN_BYTES_PER_SECOND);
            taken > whole || slow
        };
        let upload = upload(request);
        let waits = upload.is_none();
        let _asking = waits.then(|| host.asking(&request.to_string(), self.most(request)));
        let Some(mut url) = base.join(&request.path, &request.query) else {
            let path = request.path.escape_debug();
            return Err(Error::Invalid(format!(
                "`{path}` is not a path of the server"
            )));
        };
        let headers = headers(request, token)?;
        for _ in 0..=MAX_REDIRECTS {
            self.trusts(&url)?;
            let response = match &upload {
                Some(upload) => {
                    let sent = self.upload(base, request, upload, &url, headers.clone(), host);
                    Incoming::Whole(sent?)
                }
                None => Incoming::Open(self.send(base, request, &url, headers.clone())?),
            };
            let Some(to) = response.redirect(&url) else {
                return self.received(base, request, response, token, &late);
            };
            let kept = [307, 308].contains(&response.status());
            let method_stays = kept || [Method::GET, Method::HEAD].contains(&request.method);
            if !base.leads_to(&to) || !method_stays {
                return Err(redirected(&url, &to));
            }
            url = to;
        }
        Err(redirected(&url, &url))
    }

    /// How long the server may say nothing: what it has to do first takes time.
    fn most(&self, request: &Request) -> Duration {
        let Options { whole, silence, .. } = self.options;
        if request.body.is_some() || request.method != Method::GET {
            whole
        } else {
            whole.min(silence)
        }
    }

    fn send(
        &self,
        base: &BaseUrl,
        request: &Request,
        url: &Url,
        headers: HeaderMap,
    ) -> Result<Response, Error> {
        let mut builder = if request.streamed {
            // The bound of a single request is one of its whole response; that of a client is one of each wait.
            let trusts = self.trusts_nobody.is_none();
            let http = configured!(blocking::Client::builder(), &self.options, trusts);
            let http = http.timeout(self.most(request)).build();
            let http = http.map_err(|error| Error::Setup(words(&error)))?;
            http.request(request.method.clone(), url.clone())
        } else {
            let builder = self.http.request(request.method.clone(), url.clone());
            builder.timeout(self.most(request))
        };
        builder = builder.headers(headers);
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        builder.send().map_err(|error| unreachable(base, &error))
    }

    /// Sends a body in parts, and reads the response, which may come before the last of them.
    fn upload(
        &self,
        base: &BaseUrl,
        request: &Request,
        upload: &Upload,
        url: &Url,
        headers: HeaderMap,
        host: &dyn Host,
    ) -> Result<ApiResponse, Error> {
        let unread = |source| Error::Source {
            request: request.to_string(),
            source,
        };
        let (parts, sent) = upload.begin().map_err(unread)?;
        let size = upload.size();
        let sending = (size > LARGE_BODY_BYTES)
            .then(|| host.sending(&request.to_string(), size, sent.bytes.clone()))
            .flatten();
        // The connections of one runtime are of no use to another.
        let trusts = self.trusts_nobody.is_none();
        let http = configured!(reqwest::Client::builder(), self.options, trusts).build();
        let http = http.map_err(|error| Error::Setup(words(&error)))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| Error::Setup(error.to_string()))?;
        let builder = http.request(request.method.clone(), url.clone());
        let builder = builder.headers(headers).body(reqwest::Body::wrap(parts));
        let patience = Patience {
            silence: self.options.silence,
            whole: self.options.whole,
        };
        let stalls = |most| host.asking(&request.to_string(), most);
        runtime.block_on(async {
            let waited = patience.wait(size, &sent, builder.send(), stalls).await;
            drop(sending);
            let response = match waited.ok_or_else(|| timed_out(base))? {
                Ok(response) => response,
                Err(error) => {
                    let fault = sent.fault().map(unread);
                    return Err(fault.unwrap_or_else(|| unreachable(base, &error)));
                }
            };
            let _asking = host.asking(&request.to_string(), patience.whole);
            let read = tokio::time::timeout(patience.whole, self.collect(base, request, response));
            read.await.map_err(|_| timed_out(base))?
        })
    }

    async fn collect(
        &self,
        base: &BaseUrl,
        request: &Request,
        mut response: reqwest::Response,
    ) -> Result<ApiResponse, Error> {
        let mut result = head(response.status(), response.headers());
        loop {
            let part = response.chunk().await;
            let Some(part) = part.map_err(|error| unreachable(base, &error))? else {
                return Ok(result);
            };
            result.body.extend_from_slice(&part);
            self.bound(request, result.body.len() as u64)?;
        }
    }

    /// Refuses a response of more bytes than it may have.
    fn bound(&self, request: &Request, length: u64) -> Result<(), Error> {
        let largest = self.options.largest;
        if length <= largest {
            return Ok(());
        }
        Err(Error::TooLarge {
            request: request.to_string(),
            largest,
        })
    }

    fn received(
        &self,
        base: &BaseUrl,
        request: &Request,
        incoming: Incoming,
        token: Option<&Secret>,
        late: &dyn Fn(u64) -> bool,
    ) -> Result<Exchange, Error> {
        let mut response = match incoming {
            Incoming::Open(open) if request.streamed && open.status().is_success() => {
                return Ok(Exchange {
                    response: head(open.status(), open.headers()),
                    rest: Some(open),
                });
            }
            Incoming::Open(open) => self.read(base, request, open, late)?,
            Incoming::Whole(response) => response,
        };
        if !response.is_success() {
            // Refusals are shown; a server that repeats what it was sent must not make us show it.
            if let Ok(mut text) = String::from_utf8(response.body.clone()) {
                let secrets = request.secrets.iter().chain(token);
                secrets.for_each(|secret| secret.hide_in(&mut text));
                response.body = text.into_bytes();
            }
        }
        Ok(Exchange {
            response,
            rest: None,
        })
    }

    fn read(
        &self,
        base: &BaseUrl,
        request: &Request,
        mut response: Response,
        late: &dyn Fn(u64) -> bool,
    ) -> Result<ApiResponse, Error> {
        self.bound(request, response.content_length().unwrap_or(0))?;
        let mut result = head(response.status(), response.headers());
        let mut part = vec![0; CHUNK_BYTES];
        loop {
            let read = response.read(&mut part);
            let length = read.map_err(|error| broken(base, &error))?;
            if length == 0 {
                return Ok(result);
            }
            result.body.extend_from_slice(&part[..length]);
            self.bound(request, result.body.len() as u64)?;
            if late(result.body.len() as u64) {
                return Err(timed_out(base));
            }
        }
    }
}

/// The body of a request that is worth to be sent in parts.
fn upload(request: &Request) -> Option<Upload> {
    let large = request
        .body
        .as_ref()
        .filter(|body| body.len() as u64 > LARGE_BODY_BYTES);
    let large = large.map(|body| Upload::of_bytes(body));
    request.upload.clone().or(large)
}

/// A response whose body is still to come.
fn head(status: StatusCode, headers: &HeaderMap) -> ApiResponse {
    let headers = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    ApiResponse {
        status: status.as_u16(),
        headers: headers.collect(),
        body: Vec::new(),
    }
}

impl Incoming {
    fn status(&self) -> u16 {
        match self {
            Incoming::Open(response) => response.status().as_u16(),
            Incoming::Whole(response) => response.status,
        }
    }

    /// Where it leads, if it is a redirect.
    fn redirect(&self, from: &Url) -> Option<Url> {
        if ![301, 302, 303, 307, 308].contains(&self.status()) {
            return None;
        }
        let to = match self {
            Incoming::Open(response) => response.headers().get(header::LOCATION)?.to_str().ok()?,
            Incoming::Whole(response) => response.header("location")?,
        };
        from.join(to).ok()
    }
}

fn headers(request: &Request, token: Option<&Secret>) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    let media_types = "application/json, application/problem+json";
    headers.insert(header::ACCEPT, HeaderValue::from_static(media_types));
    if request.body.is_some() {
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
    }
    let mut given = HeaderMap::new();
    for (name, value) in &request.headers {
        let invalid = || Error::Invalid(format!("`{}` is not a header", name.escape_debug()));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        let value = HeaderValue::from_str(value).map_err(|_| invalid())?;
        given.append(name, value);
    }
    // The first of a name replaces ours, further ones are next to it.
    headers.extend(given);
    if let Some(key) = &request.idempotency_key {
        let value = HeaderValue::from_str(key);
        let value =
            value.map_err(|_| Error::Invalid("the idempotency key is not a header".into()))?;
        headers.insert(HeaderName::from_static("idempotency-key"), value);
    }
    if let Some(token) = token {
        let value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()));
        let mut value = value.map_err(|_| Error::Invalid("the token is not a header".into()))?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    Ok(headers)
}

fn redirected(from: &Url, to: &Url) -> Error {
    Error::Redirected {
        from: display_url(from),
        to: display_url(to),
    }
}

fn unreachable(base: &BaseUrl, error: &reqwest::Error) -> Error {
    let cause = if is_tls(error) {
        Cause::Tls
    } else if error.is_timeout() {
        Cause::Timeout
    } else {
        Cause::Connection
    };
    let why = match cause {
        Cause::Timeout if error.is_connect() => NO_CONNECTION.to_owned(),
        Cause::Timeout => NO_TIME.to_owned(),
        Cause::Tls | Cause::Connection => words(error),
    };
    Error::Unreachable {
        address: base.to_string(),
        cause,
        why,
        tries: 1,
    }
}

pub(super) fn timed_out(base: &BaseUrl) -> Error {
    Error::Unreachable {
        address: base.to_string(),
        cause: Cause::Timeout,
        why: NO_TIME.to_owned(),
        tries: 1,
    }
}

/// A response that broke off.
pub(super) fn broken(base: &BaseUrl, error: &io::Error) -> Error {
    if let Some(error) = error.get_ref().and_then(|error| error.downcast_ref()) {
        return unreachable(base, error);
    }
    Error::Unreachable {
        address: base.to_string(),
        cause: Cause::Connection,
        why: format!("the response broke off: {error}"),
        tries: 1,
    }
}

/// Everything that led to an error, the outermost first.
fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), below)
}

fn below<'a>(
    error: &&'a (dyn std::error::Error + 'static),
) -> Option<&'a (dyn std::error::Error + 'static)> {
    let error: &'a (dyn std::error::Error + 'static) = *error;
    // An I/O error passes over what it wraps.
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn is_tls(error: &reqwest::Error) -> bool {
    causes(error).any(<dyn std::error::Error>::is::<rustls::Error>)
}

/// The cause at the bottom: what is above it only says that a request failed.
fn words(error: &reqwest::Error) -> String {
    let texts: Vec<String> = error
        .source()
        .into_iter()
        .flat_map(causes)
        .map(ToString::to_string)
        .collect();
    let last = texts.last().cloned();
    last.unwrap_or_else(|| "the request could not be sent".to_owned())
        .replace(char::is_control, " ")
}
