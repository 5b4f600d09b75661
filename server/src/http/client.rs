//! The client of a request: its address, and the key for rate limits.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::HeaderMap;

/// Where the request comes from; of whom a proxy says so, where it is trusted.
pub(crate) fn address(peer: SocketAddr, headers: &HeaderMap, trusts_proxy: bool) -> String {
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    let forwarded = forwarded
        .filter(|_| trusts_proxy)
        // The nearest proxy appends; what is before it is what the client claims.
        .and_then(|value| ip(value.to_str().ok()?.rsplit(',').next()?.trim()));
    forwarded
        .unwrap_or_else(|| peer.ip())
        .to_canonical()
        .to_string()
}

/// An address as proxies write it: alone, in brackets, or with a port.
fn ip(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let bare = bare.parse::<IpAddr>().ok();
    bare.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

/// Whose bucket it is: of IPv6, everybody has as many addresses as they like in one network.
pub(crate) fn neighbourhood(client: &str) -> String {
    match client.parse() {
        Ok(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).to_string()
        }
        _ => client.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ip, neighbourhood};

    #[test]
    fn addresses_are_read_as_proxies_write_them() {
        for (text, address) in [
            ("10.0.0.1", Some("10.0.0.1")),
            ("10.0.0.1:4711", Some("10.0.0.1")),
            ("[2001:db8::1]:4711", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("unknown", None),
            ("", None),
        ] {
            assert_eq!(
                ip(text).map(|ip| ip.to_string()).as_deref(),
                address,
                "{text}"
            );
        }
        assert_eq!(neighbourhood("2001:db8:0:1:2:3:4:5"), "2001:db8:0:1::");
        assert_eq!(neighbourhood("10.0.0.1"), "10.0.0.1");
    }
}
