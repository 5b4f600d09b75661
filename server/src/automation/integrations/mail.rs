//! The step `email.send`: one mail to all recipients, by SMTP.
//!
//! Its Message-ID derives from run and step, so a repeat after a crash is recognizable as the same
//! mail.

use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use lettre::message::header::ContentTransferEncoding;
use lettre::message::header::ContentType;
use lettre::message::{Body, Mailbox, Message, MultiPart, SinglePart};
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use percent_encoding::percent_decode_str;
use tokio::time::timeout;
use tplkit::automation::run::{Failure, Mail};
use tplkit::json::{Object, Value as Json};
use url::Url;

use super::attachment_name::SavedAs;
use super::{BAD_CERTIFICATE, Stamp, TIMEOUT};
use crate::automation::connections::OpenConnection;
use crate::automation::mail_attachments::Attachment;
use crate::automation::private_addresses::resolve;

/// How long a mail server may take for a whole mail, its files included: some look into them before they respond.
const MAIL_TIMEOUT: Duration = Duration::from_secs(300);

/// What is wrong with the address of a mail server, if anything.
pub(in crate::automation) fn transport_fault(text: &str) -> Option<&'static str> {
    let url = Url::parse(text).ok();
    let good = url.is_some_and(|url| matches!(url.scheme(), "smtp" | "smtps") && url.has_host());
    (!good).then_some("is not an address of a mail server: use smtp://user@host:port or smtps://…")
}

/// Sends a mail, and gives the output. The server may be in a private network where that is allowed.
///
/// # Errors
/// Addresses that are none, and whatever keeps the server from taking it.
pub(in crate::automation) async fn send(
    server: &OpenConnection,
    mail: &Mail,
    attachments: Vec<Attachment>,
    stamp: &Stamp,
    now: i64,
    allow_private: bool,
) -> Result<Object, Failure> {
    let bad = |why: &str| Failure::at("connectionName", why.to_owned());
    let url = Url::parse(&server.url).map_err(|_| bad("the connection has no good address"))?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let id = format!("<{}.{}@{host}>", stamp.run, stamp.step);
    let message = message(&url, mail, attachments, &id, now)?;
    let beyond_ascii = beyond_ascii(&message);
    let transport = Transport::of(&url, server.secret.as_deref())?;
    let resolving = resolve(&transport.host, transport.port, allow_private);
    let addresses = timeout(TIMEOUT, resolving)
        .await
        .unwrap_or_else(|_| Err("its host was not found in time".to_owned()));
    let refused = |reason: &str| bad(&format!("the mail server did not take it: {reason}"));
    let addresses = addresses.map_err(|reason| bad(&format!("the mail was not sent: {reason}")))?;
    let sent = timeout(MAIL_TIMEOUT, Box::pin(transport.send(&addresses, &message))).await;
    let sent = sent.map_err(|_| refused("it did not respond in time"))?;
    sent.map_err(|error| {
        let reason = reason(&error);
        match beyond_ascii.filter(|_| reason.contains(ANY_LETTERS)) {
            Some(address) => {
                let reason = "the mail server takes no address with letters beyond ASCII";
                Failure::at("to", reason).yields(None, &address.into())
            }
            None => refused(&reason),
        }
    })?;
    let accepted = mail.to.iter().map(|address| address.as_str().into());
    let mut output = Object::from_iter([
        ("messageId".to_owned(), id.into()),
        ("accepted".to_owned(), Json::List(accepted.collect())),
    ]);
    output.extend(
        mail.note(false)
            .map(|note| ("note".to_owned(), note.into())),
    );
    Ok(output)
}

/// What a server announces that takes addresses of any letters. Where one does not, nothing is sent to it, and the
/// error says so.
const ANY_LETTERS: &str = "SMTPUTF8";

/// The first recipient whose address has letters beyond ASCII.
fn beyond_ascii(message: &Message) -> Option<String> {
    let mut recipients = message.envelope().to().iter().map(ToString::to_string);
    recipients.find(|address| !address.is_ascii())
}

fn parameter(url: &Url, wanted: &str) -> Option<String> {
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.into_owned())
}

fn user(url: &Url) -> Option<String> {
    let user = percent_decode_str(url.username())
        .decode_utf8_lossy()
        .into_owned();
    (!user.is_empty()).then_some(user)
}

/// Who sends: as the address says, else who signs in, else the host itself.
fn sender(url: &Url) -> Result<Mailbox, Failure> {
    let host = url.host_str().unwrap_or_default();
    let from = parameter(url, "from")
        .or_else(|| user(url).filter(|user| user.contains('@')))
        .unwrap_or_else(|| format!("automations@{host}"));
    // What does not parse is a part of the connection's address, which not everybody is to read.
    from.parse().map_err(|_| {
        let reason =
            "the connection has no address to send from: end its address with ?from=ADDRESS";
        Failure::at("connectionName", reason)
    })
}

/// To whom a mail goes.
///
/// # Errors
/// What is no address.
pub(in crate::automation) fn recipients(mail: &Mail) -> Result<Vec<Mailbox>, Failure> {
    let parsed = mail.to.iter().map(|to| {
        to.parse::<Mailbox>().map_err(|error| {
            let reason = format!("is not an address: {error}");
            Failure::at("to", reason).yields(None, &to.as_str().into())
        })
    });
    parsed.collect()
}

fn message(
    url: &Url,
    mail: &Mail,
    attachments: Vec<Attachment>,
    id: &str,
    now: i64,
) -> Result<Message, Failure> {
    let seconds = u64::try_from(now / 1_000_000).unwrap_or(0);
    let date = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    let mut builder = Message::builder()
        .from(sender(url)?)
        .subject(&mail.subject)
        .message_id(Some(id.to_owned()))
        .date(date);
    for mailbox in recipients(mail)? {
        builder = builder.to(mailbox);
    }
    let made = if attachments.is_empty() {
        builder
            .header(ContentType::TEXT_HTML)
            .body(mail.body.clone())
    } else {
        let mut parts = MultiPart::mixed().singlepart(SinglePart::html(mail.body.clone()));
        for attachment in attachments {
            parts = parts.singlepart(attached(attachment)?);
        }
        builder.multipart(parts)
    };
    made.map_err(|error| Failure::at("body", format!("no mail can be made of it: {error}")))
}

/// A file as a part of a mail. Its bytes arrive as they are: nothing on the way takes them for lines.
fn attached(attachment: Attachment) -> Result<SinglePart, Failure> {
    let Attachment {
        name,
        content_type,
        bytes,
    } = attachment;
    let body = Body::new_with_encoding(bytes, ContentTransferEncoding::Base64);
    let body = body.map_err(|_| Failure::new("a file cannot be encoded for a mail"))?;
    let content_type = ContentType::parse(&content_type)
        .map_err(|error| Failure::new(format!("a file has no type: {error}")))?;
    let part = SinglePart::builder().header(SavedAs::new(&name));
    Ok(part.header(content_type).body(body))
}

/// How a mail server is spoken to.
struct Transport {
    host: String,
    port: u16,
    tls: Tls,
    credentials: Option<Credentials>,
}

impl Transport {
    fn of(url: &Url, secret: Option<&str>) -> Result<Transport, Failure> {
        // Numbers of IPv6 stand in brackets in an address, and nowhere else.
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let tls = || {
            TlsParameters::new(host.to_owned())
                .map_err(|error| Failure::at("connectionName", format!("no TLS: {error}")))
        };
        let (tls, port) = match (url.scheme(), parameter(url, "tls").as_deref()) {
            ("smtps", _) => (Tls::Wrapper(tls()?), 465),
            (_, Some("required")) => (Tls::Required(tls()?), 587),
            (_, Some("none")) => (Tls::None, 25),
            // Encrypted where the server offers it.
            _ => (Tls::Opportunistic(tls()?), 25),
        };
        let credentials = user(url).zip(secret);
        Ok(Transport {
            host: host.to_owned(),
            port: url.port().unwrap_or(port),
            tls,
            credentials: credentials
                .map(|(user, secret)| Credentials::new(user, secret.to_owned())),
        })
    }

    /// Hands a mail to the first of these addresses that takes a connection. The name is not resolved again: it could lead
    /// elsewhere by then.
    async fn send(&self, addresses: &[SocketAddr], message: &Message) -> Result<(), SmtpError> {
        let name = ClientId::default();
        let from_the_start = match &self.tls {
            Tls::Wrapper(parameters) => Some(parameters.clone()),
            _ => None,
        };
        let mut connection = AsyncSmtpConnection::connect_tokio1(
            addresses,
            Some(TIMEOUT),
            &name,
            from_the_start,
            None,
        )
        .await?;
        match &self.tls {
            Tls::Opportunistic(parameters) if connection.can_starttls() => {
                connection.starttls(parameters.clone(), &name).await?;
            }
            Tls::Required(parameters) => {
                connection.starttls(parameters.clone(), &name).await?;
            }
            _ => {}
        }
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        let text = message.formatted();
        connection.send(message.envelope(), &text).await?;
        // The server has the mail, and nobody waits for its farewell.
        tokio::spawn(async move {
            let _ = timeout(TIMEOUT, connection.abort()).await;
        });
        Ok(())
    }
}

/// Why a mail was not taken. Nothing that the other side said is in it but its status: it may be no mail server, and many
/// read runs.
fn reason(error: &SmtpError) -> String {
    if let Some(status) = error.status() {
        return format!("it responded with status {status}");
    }
    if error.is_response() {
        return "it does not respond as a mail server does".to_owned();
    }
    if error.is_client() {
        return error.to_string();
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            let kind = error.kind().to_string();
            let Some(inner) = error.get_ref() else {
                return kind;
            };
            return match inner.downcast_ref::<rustls::Error>() {
                Some(rustls::Error::InvalidCertificate(_)) => BAD_CERTIFICATE.to_owned(),
                Some(_) => "no encrypted connection came about".to_owned(),
                None => kind,
            };
        }
        cause = error.source();
    }
    "no connection came about".to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use tokio::time::timeout;
    use tplkit::automation::run::Mail;
    use url::Url;

    use super::{OpenConnection, Stamp, message, send, sender, transport_fault};

    fn mail(to: &[&str], subject: &str) -> Mail {
        Mail {
            to: to.iter().map(|to| (*to).to_owned()).collect(),
            subject: subject.to_owned(),
            body: "<p>olá</p>".to_owned(),
            connection: None,
            attach_row: false,
            attachment: None,
            mailbox: false,
        }
    }

    #[test]
    fn a_mail_has_a_head_that_nobody_bends() {
        let url = Url::parse("smtp://mail.example.org?from=desk@example.org").expect("a URL");
        let made = message(
            &url,
            &mail(&["a@b.c", "Ana <d@e.f>"], "Olá"),
            Vec::new(),
            "<r.s@h>",
            0,
        )
        .expect("a mail");
        let text = String::from_utf8(made.formatted()).expect("text");
        assert!(text.contains("Message-ID: <r.s@h>\r\n"), "{text}");
        assert!(text.contains("From: desk@example.org\r\n"), "{text}");
        assert!(text.contains("Content-Type: text/html"), "{text}");
        for to in ["nobody", "a@b.c\r\nBcc: x@y.z"] {
            let refused =
                message(&url, &mail(&[to], "s"), Vec::new(), "<r.s@h>", 0).expect_err("no address");
            assert_eq!(refused.field, "to");
        }
    }

    #[test]
    fn no_line_of_a_head_is_longer_than_servers_take() {
        let url = Url::parse("smtp://mail.example.org?from=desk@example.org").expect("a URL");
        for subject in [
            "x".repeat(900),
            "é".repeat(900),
            format!("a{}b", " ".repeat(898)),
            format!("a{}", " ".repeat(899)),
            format!("{} {}", "x".repeat(70), "y".repeat(829)),
        ] {
            let mail = mail(&["a@b.c"], &subject);
            let made = message(&url, &mail, Vec::new(), "<r.s@h>", 0).expect("a mail");
            let text = String::from_utf8(made.formatted()).expect("text");
            assert!(text.lines().all(|line| line.len() <= 998), "{text}");
        }
    }

    #[test]
    fn who_sends_follows_from_the_address() {
        for (url, from) in [
            ("smtp://h.example?from=a@b.c", "a@b.c"),
            ("smtp://a%40b.c@h.example", "a@b.c"),
            ("smtp://user@h.example", "automations@h.example"),
        ] {
            let url = Url::parse(url).expect("a URL");
            assert_eq!(sender(&url).expect("a sender").to_string(), from);
        }
        let url = Url::parse("smtp://h.example?from=canary").expect("a URL");
        let refused = sender(&url).expect_err("no address");
        assert!(!refused.to_string().contains("canary"), "{refused}");
        assert_eq!(transport_fault("smtps://h"), None);
        for bad in ["", "h", "http://h", "smtp:"] {
            assert!(transport_fault(bad).is_some(), "{bad}");
        }
    }

    /// Greets whoever connects with those words; gives the port, and how many came.
    fn greets(words: &'static str) -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let port = listener.local_addr().expect("an address").port();
        let came = Arc::new(AtomicUsize::new(0));
        let counted = came.clone();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(words.as_bytes());
            }
        });
        (port, came)
    }

    /// Takes mails, and says nothing to a farewell; gives the port.
    fn takes_without_farewell() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
                let _ = stream.write_all(b"220 here\r\n");
                let mut text = false;
                for line in lines.map_while(Result::ok) {
                    let said = match line.as_str() {
                        "DATA" => "354 go on\r\n",
                        "." => "250 taken\r\n",
                        line if text || line == "QUIT" => "",
                        _ => "250 yes\r\n",
                    };
                    text = line == "DATA" || (text && line != ".");
                    let _ = stream.write_all(said.as_bytes());
                }
            }
        });
        port
    }

    fn at(port: u16) -> OpenConnection {
        OpenConnection {
            url: format!("smtp://localhost:{port}?from=a@b.c&tls=none"),
            secret: None,
            target: None,
        }
    }

    fn stamp() -> Stamp {
        Stamp {
            run: uuid::Uuid::nil(),
            step: "s".to_owned(),
        }
    }

    #[tokio::test]
    async fn nobody_waits_for_the_farewell_of_a_mail_server() {
        let (server, stamp) = (at(takes_without_farewell()), stamp());
        let mail = mail(&["a@b.c"], "s");
        let sending = Box::pin(send(&server, &mail, Vec::new(), &stamp, 0, true));
        let sent = timeout(Duration::from_secs(10), sending).await;
        let output = sent.expect("in time").expect("is sent");
        assert!(output.contains_key("messageId"));
    }

    #[tokio::test]
    async fn what_is_no_mail_server_is_not_heard() {
        for (words, reported) in [
            ("554 canary\r\n", "status 554"),
            ("SSH-2.0-canary\r\n", "as a mail server does"),
        ] {
            let (port, came) = greets(words);
            let (server, stamp) = (at(port), stamp());
            let mail = mail(&["a@b.c"], "s");
            let sent = send(&server, &mail, Vec::new(), &stamp, 0, false).await;
            let reason = sent.expect_err("no mail server").reason;
            assert!(reason.contains(reported), "{reason}");
            assert!(!reason.contains("canary"), "{reason}");
            assert!(came.load(Ordering::SeqCst) > 0, "{reason}");
        }
    }
}
