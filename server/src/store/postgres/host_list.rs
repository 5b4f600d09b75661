//! The hosts that a URL names, each with the whole of what the URL says otherwise.

use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// One of the hosts of a URL.
#[derive(Debug)]
pub(super) struct NamedHost {
    /// As it may be shown.
    pub(super) name: Arc<str>,
    pub(super) config: Config,
}

/// A configuration for each host, with its name.
pub(super) fn split(config: &Config) -> Vec<NamedHost> {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    let ports = config.get_ports();
    let count = hosts.len().max(addresses.len());
    // One host stays as it is, and so does what connecting will refuse.
    let whole = count < 2
        || (ports.len() > 1 && ports.len() != count)
        || (!hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len());
    if whole {
        let names: Vec<String> = (0..count).map(|number| name(config, number)).collect();
        return vec![NamedHost {
            name: names.join(",").into(),
            config: config.clone(),
        }];
    }
    let one = |number: usize| {
        let mut one = without_hosts(config);
        match hosts.get(number) {
            Some(Host::Tcp(host)) => drop(one.host(host)),
            #[cfg(unix)]
            Some(Host::Unix(folder)) => drop(one.host_path(folder)),
            None => {}
        }
        if let Some(address) = addresses.get(number) {
            one.hostaddr(*address);
        }
        one.port(port(config, number));
        NamedHost {
            name: name(config, number).into(),
            config: one,
        }
    };
    (0..count).map(one).collect()
}

fn port(config: &Config, number: usize) -> u16 {
    let ports = config.get_ports();
    let port = ports.get(number).or(ports.first());
    port.copied().unwrap_or(5432)
}

fn name(config: &Config, number: usize) -> String {
    let port = port(config, number);
    match config.get_hosts().get(number) {
        Some(Host::Tcp(host)) if host.contains(':') => format!("[{host}]:{port}"),
        Some(Host::Tcp(host)) => format!("{host}:{port}"),
        #[cfg(unix)]
        Some(Host::Unix(folder)) => format!("{}:{port}", folder.display()),
        None => match config.get_hostaddrs().get(number) {
            Some(address) => std::net::SocketAddr::new(*address, port).to_string(),
            None => String::new(),
        },
    }
}

/// Everything else that a configuration says.
fn without_hosts(config: &Config) -> Config {
    let mut one = Config::new();
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(database) = config.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(patience) = config.get_connect_timeout() {
        one.connect_timeout(*patience);
    }
    if let Some(patience) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*patience);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding())
        .load_balance_hosts(config.get_load_balance_hosts());
    one
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use tokio_postgres::Config;

    use super::split;

    /// A setting that the library gets and `without_hosts` does not know would be lost without a word.
    #[test]
    fn each_host_keeps_all_that_a_url_says() {
        let all = "user=u password=p dbname=d options=-cwork_mem=1MB application_name=a sslmode=require \
                   sslnegotiation=direct connect_timeout=3 tcp_user_timeout=4 keepalives=0 keepalives_idle=5 \
                   keepalives_interval=6 keepalives_retries=7 target_session_attrs=read-write \
                   channel_binding=disable load_balance_hosts=random";
        let of =
            |hosts: &str| Config::from_str(&format!("{hosts} {all}")).expect("a configuration");
        let hosts = split(&of("host=one,::1 port=1,2"));
        let expected = [
            ("one:1", of("host=one port=1")),
            ("[::1]:2", of("host=::1 port=2")),
        ];
        assert_eq!(hosts.len(), expected.len());
        for (host, (name, config)) in hosts.iter().zip(expected) {
            assert_eq!(&*host.name, name);
            assert_eq!(host.config, config, "{name}");
        }
        let hosts = split(&of("hostaddr=127.0.0.1,::1 port=7"));
        let names: Vec<&str> = hosts.iter().map(|host| &*host.name).collect();
        assert_eq!(names, ["127.0.0.1:7", "[::1]:7"]);
    }
}
