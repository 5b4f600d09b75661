//! Tells private addresses from public ones. A name may lead anywhere, and elsewhere tomorrow: one that leads into a private
//! network is refused unless whoever operates the server allows that. A number and `localhost` say where they lead when a
//! connection is written: the API refuses them then, because whoever administers an organization need not operate the server.

use std::net::{IpAddr, SocketAddr};

use tokio::net::lookup_host;
use url::{Host, Url};

/// Why an address is refused.
const REFUSED: &str = "leads into a private network: whoever operates the server has to allow that with \
     --allow-private-addresses";

/// What is wrong with the address of a connection that leads into a private network as it is written: by a number, or as
/// `localhost`. Whether a name leads there is known once it is resolved.
pub(super) fn fault(address: &str) -> Option<&'static str> {
    let url = Url::parse(address).ok()?;
    // A number may be written in many ways, and the address of a mail server holds it as it was typed.
    let private = match Host::parse(url.host_str()?).ok()? {
        Host::Ipv4(address) => is_private(address.into()),
        Host::Ipv6(address) => is_private(address.into()),
        Host::Domain(name) => is_localhost(&name),
    };
    private.then_some(REFUSED)
}

fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether a host says where it leads.
fn is_plain(host: &str) -> bool {
    match Host::parse(host) {
        Ok(Host::Domain(name)) => is_localhost(&name),
        Ok(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        Err(_) => false,
    }
}

/// The addresses of a host, in the order in which to try them.
///
/// # Errors
/// The reason, without the name and its addresses: it has none, or its name has a private one where these are not allowed.
pub(super) async fn resolve(
    host: &str,
    port: u16,
    allow_private: bool,
) -> Result<Vec<SocketAddr>, String> {
    let found = lookup_host((host, port)).await;
    let found = found.map_err(|error| format!("its host is not known: {error}"))?;
    permitted(found.collect(), allow_private || is_plain(host))
}

fn permitted(found: Vec<SocketAddr>, allow_private: bool) -> Result<Vec<SocketAddr>, String> {
    if !allow_private && found.iter().any(|address| is_private(address.ip())) {
        return Err(format!("its host {REFUSED}"));
    }
    Ok(found)
}

/// Whether an address is not one of the public network.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || v4.is_documentation()
                || a == 0
                || (a == 100 && (64..128).contains(&b))
                || (a == 198 && (18..20).contains(&b))
                || (a == 192 && b == 0 && v4.octets()[2] == 0)
                // Of relays from IPv4 to IPv6.
                || (a == 192 && b == 88 && v4.octets()[2] == 99)
                || a >= 240
        }
        IpAddr::V6(v6) => {
            let embedded = v6.to_ipv4_mapped().or_else(|| match v6.segments() {
                // NAT64 leads to the address at its end.
                [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                    let [a, b] = high.to_be_bytes();
                    let [c, d] = low.to_be_bytes();
                    Some([a, b, c, d].into())
                }
                _ => None,
            });
            if let Some(v4) = embedded {
                return is_private(v4.into());
            }
            v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
                || is_special(v6.segments())
        }
    }
}

/// Whether an address of IPv6 is of a range that has a purpose of its own: some of them lead to addresses of IPv4.
fn is_special(segments: [u16; 8]) -> bool {
    matches!(
        segments,
        // This machine, and addresses of IPv4 in an old notation.
        [0, 0, 0, 0, 0, 0, ..]
            // NAT64 of one network.
            | [0x64, 0xff9b, 1, ..]
            // What is thrown away.
            | [0x100, 0, 0, 0, ..]
            // Teredo and other assignments of the IETF, and examples.
            | [0x2001, 0..=0x1ff | 0xdb8, ..]
            | [0x3fff, 0..=0xfff, ..]
            // 6to4, segment routing, and networks of a site as they were once numbered.
            | [0x2002 | 0x5f00 | 0xfec0..=0xfeff, ..]
    )
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::{fault, is_private, permitted, resolve};

    #[test]
    fn what_is_not_public_is_known() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "::7f00:1",
            "64:ff9b:1::a00:1",
            "fec0::1",
            "2001::1",
            "2001:db8::1",
            "100::1",
            "3fff::1",
            "5f00::1",
            "192.88.99.1",
        ] {
            assert!(
                is_private(private.parse().expect("an address")),
                "{private}"
            );
        }
        for public in [
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860::8888",
            "192.88.98.1",
            "::ffff:1.1.1.1",
        ] {
            assert!(!is_private(public.parse().expect("an address")), "{public}");
        }
    }

    #[test]
    fn numbers_and_localhost_are_known_however_they_are_written() {
        for private in [
            "http://127.0.0.1:8080/x",
            "http://2130706433",
            "http://0x7f.1",
            "http://[::ffff:127.0.0.1]",
            "http://169.254.169.254/latest",
            "https://[fc00::1]:443/",
            "http://localhost",
            "http://a.LOCALHOST.",
            "smtp://user@127.0.0.1:25?from=a@b.c",
            "smtp://2130706433",
            "smtps://LocalHost",
            "smtp://[::1]:25",
        ] {
            assert!(fault(private).is_some(), "{private}");
        }
        for other in [
            "https://api.example.org/v1",
            "https://localhost.example.org",
            "http://1.1.1.1",
            "smtp://[2606:4700::1111]:25",
            "smtp://mail.example.org",
            "cron:0 3 * * *",
            "delay:3600",
        ] {
            assert_eq!(fault(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_of_a_private_address_takes_permission() {
        let found = || {
            let addresses = ["1.1.1.1:25", "10.0.0.1:25"];
            Vec::from(addresses.map(|address| address.parse().expect("an address")))
        };
        let refused = permitted(found(), false).expect_err("private");
        assert!(refused.contains("--allow-private-addresses"), "{refused}");
        assert_eq!(permitted(found(), true).expect("allowed"), found());
    }

    #[tokio::test]
    async fn a_host_that_says_where_it_leads_takes_none() {
        for host in ["127.0.0.1", "localhost"] {
            let found = resolve(host, 25, false).await.expect("is known");
            assert!(found.iter().all(|address| is_private(address.ip())));
        }
        let public = resolve("1.1.1.1", 25, false).await.expect("is a number");
        let number: SocketAddr = "1.1.1.1:25".parse().expect("an address");
        assert_eq!(public, [number]);
    }
}
