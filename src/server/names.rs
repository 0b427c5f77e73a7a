//! The host names that the server answers to, and the origins whose pages may use it.
//!
//! A browser sends the host name of the page's address. Another site can make its own name resolve to this
//! machine (DNS rebinding), and its pages would then have this server's origin: so only listed names are
//! accepted. IP addresses need not be listed, since they cannot be rebound.

use std::net::IpAddr;

use axum::http::HeaderValue;
use axum::http::uri::{Authority, Uri};

/// The accepted names and origins, besides this machine's own.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The listed hosts, and those of the listed origins.
    hosts: Vec<String>,
    origins: Vec<String>,
    /// The origins whose pages may show games in frames.
    frames: Vec<String>,
}

/// An invalid entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NameError {
    #[error(
        "{0} is no name of a host: write it without scheme, port and path, as games.example.org"
    )]
    Host(String),
    #[error("{0} is no origin: write scheme and host alone, as https://games.example.org")]
    Origin(String),
}

impl Names {
    /// The names of these hosts and origins.
    ///
    /// # Errors
    /// A host or an origin is not valid.
    pub fn new(hosts: &[String], origins: &[String]) -> Result<Self, NameError> {
        let mut all = Self::default();
        for host in hosts {
            let name = name_of(host).filter(|it| *it == host.to_lowercase());
            all.hosts.push(name.ok_or_else(|| NameError::Host(host.clone()))?);
        }
        for origin in origins {
            let (name, origin) =
                origin_of(origin).ok_or_else(|| NameError::Origin(origin.clone()))?;
            all.hosts.push(name);
            all.origins.push(origin);
        }
        Ok(all)
    }

    /// Lets pages of these origins show games in frames.
    ///
    /// # Errors
    /// One of them is not an origin.
    pub fn framed_by(mut self, origins: &[String]) -> Result<Self, NameError> {
        for origin in origins {
            let wrong = || NameError::Origin(origin.clone());
            self.frames.push(origin_of(origin).ok_or_else(wrong)?.1);
        }
        Ok(self)
    }

    /// The origins that may show games in frames, as written in a content security policy; `None` if there
    /// are none.
    pub(super) fn frames(&self) -> Option<String> {
        (!self.frames.is_empty()).then(|| self.frames.join(" "))
    }

    /// Whether the server answers to a host that a request names: a name or an address, with a port or
    /// without.
    pub(super) fn knows(&self, authority: &str) -> bool {
        let Some(name) = name_of(authority) else { return false };
        let address = name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || address.parse::<IpAddr>().is_ok() || self.hosts.contains(&name)
    }

    /// Whether pages of an origin may use the server, which they address by `host`.
    pub(super) fn allows_origin(&self, origin: &str, host: Option<&str>) -> bool {
        let own = origin.split_once("://").map(|it| it.1);
        (host.is_some() && own == host) || self.origins.iter().any(|it| it == origin)
    }

    /// The listed origins, as headers have them.
    pub(super) fn origins(&self) -> Vec<HeaderValue> {
        self.origins.iter().filter_map(|it| HeaderValue::from_str(it).ok()).collect()
    }
}

/// The host of an origin, and the origin in lower case; `None` if it is not an origin. A host has only letters,
/// digits and `.-:[]`: with a space or a semicolon it could add directives to the content security policy, of which
/// it becomes a part.
fn origin_of(text: &str) -> Option<(String, String)> {
    let uri: Uri = text.parse().ok()?;
    let (scheme, authority) = uri.scheme_str().zip(uri.authority())?;
    let name = name_of(authority.as_str())?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || ".-:[]".contains(it);
    let is_whole = matches!(uri.path(), "" | "/") && uri.query().is_none();
    let is_origin = is_whole && authority.as_str().chars().all(is_plain);
    // Browsers leave out the port that the scheme has anyway.
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority.as_str().strip_suffix(usual).unwrap_or(authority.as_str());
    is_origin.then(|| (name, format!("{scheme}://{authority}").to_lowercase()))
}

/// The host of `HOST` or `HOST:PORT`, in lower case.
fn name_of(authority: &str) -> Option<String> {
    let read: Authority = authority.parse().ok()?;
    let host = read.host().to_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    // A user name before the host belongs to other protocols.
    (!host.is_empty() && !authority.contains('@')).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_hosts_and_origins_are_read() {
        let own = |it: &str| vec![it.to_owned()];
        for host in ["http://x.example", "x.example:80", "x.example/", "a b", "", "a@x.example"] {
            assert_eq!(Names::new(&own(host), &[]).err(), Some(NameError::Host(host.into())));
        }
        for origin in ["x.example", "https://x.example/page", "https://", "", "https://x?y"] {
            assert_eq!(Names::new(&[], &own(origin)).err(), Some(NameError::Origin(origin.into())));
        }
        let frames = Names::default().framed_by(&own("https://Z.example/"));
        assert_eq!(frames.unwrap().frames().as_deref(), Some("https://z.example"));
        for origin in
            ["*", "z.example", "https://z.example;script-src *", "https://a b", "https://*"]
        {
            assert!(Names::default().framed_by(&own(origin)).is_err(), "{origin}");
        }
        let names = Names::new(&own("X.example"), &own("https://Y.example:8443/")).unwrap();
        assert!(
            names.knows("x.example:1") && names.knows("y.example") && !names.knows("z.example")
        );
        assert!(names.allows_origin("https://y.example:8443", None));
        assert!(!names.allows_origin("http://y.example:8443", Some("x.example")));
        for (listed, sent) in
            [("https://y.example:443", "https://y.example"), ("http://[::1]:80/", "http://[::1]")]
        {
            let names = Names::new(&[], &own(listed)).unwrap();
            assert!(names.allows_origin(sent, None) && !names.allows_origin(listed, None));
        }
    }
}
