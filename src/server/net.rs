//! Networks: the addresses that rate limits count as one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The network of a subscriber (an IPv4 address, or a /64 of IPv6), or the wider one around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Net {
    first: IpAddr,
    bits: u8,
}

impl Net {
    /// The network of the subscriber with this address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            first @ IpAddr::V4(_) => Self { first, bits: 32 },
            IpAddr::V6(it) => Self::v6(it, 64),
        }
    }

    /// The wider network around this one, about as large as a provider's: a /16 of IPv4 or a /32 of IPv6.
    pub(super) fn wide(self) -> Self {
        match self.first {
            IpAddr::V4(it) => {
                let [a, b, ..] = it.octets();
                Self { first: Ipv4Addr::new(a, b, 0, 0).into(), bits: 16 }
            }
            IpAddr::V6(it) => Self::v6(it, 32),
        }
    }

    fn v6(address: Ipv6Addr, bits: u8) -> Self {
        let first = Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (128 - bits)));
        Self { first: first.into(), bits }
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.bits) {
            (it @ IpAddr::V4(_), 32) => write!(f, "{it}"),
            (it, bits) => write!(f, "{it}/{bits}"),
        }
    }
}
