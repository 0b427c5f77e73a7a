//! Rate limits: how often a client may send requests, by its network or its account. The counting is
//! `governor`'s; this file has the kinds of requests and their limits.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::lock::lock;
use super::net::Net;
use super::places::Places;

/// Maximum number of networks and accounts that are counted one by one, for each kind of request. Beyond it, networks are
/// counted by their wider networks; accounts are still counted one by one.
const PAYERS: usize = 50_000;
/// Time between two searches for payers that need no longer be counted.
const SEARCH: Duration = Duration::from_secs(1);
/// Maximum number of open sockets and streams per network.
const OPEN: usize = 100;

/// A rate: requests per second, and the maximum burst.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// Requests a second in the long run.
    pub per_second: f64,
    /// Maximum number of requests at once.
    pub burst: f64,
}

/// The cost of a request for the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cost {
    Ordinary,
    /// It makes a game.
    Game,
    /// It compiles rules, or does as much work.
    Compiling,
    /// It makes an account.
    Account,
    /// It tries a recovery code, or must be read by a person.
    Sensitive,
}

/// The client that a request is counted for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Payer {
    Net(Net),
    Account(String),
}

/// The limits of a server. Requests from this machine itself are not counted, unless they come through
/// a proxy.
#[derive(Debug)]
pub struct Limits {
    /// In the order of [`Cost`].
    meters: [Meter; 5],
    /// Whether a proxy on this machine names the clients whose requests it passes on.
    pub(super) behind_proxy: bool,
    /// The open sockets and streams, which outlive their requests.
    pub(super) open: Places,
}

impl Limits {
    /// Limits for each client: of requests, and of games that it makes. `behind_proxy` says that a proxy on this machine
    /// names the client.
    pub fn new(requests: Rate, games: Rate, behind_proxy: bool) -> Self {
        // Typing in the rule editor compiles twice a second for a while.
        let compiling = Rate { per_second: 1.0, burst: 60.0 };
        let accounts = Rate { per_second: 1.0 / 600.0, burst: 5.0 };
        let sensitive = Rate { per_second: 1.0 / 60.0, burst: 10.0 };
        let meters = [requests, games, compiling, accounts, sensitive].map(Meter::new);
        Self { meters, behind_proxy, open: Places::new(usize::MAX, OPEN) }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The rate is exceeded; the value is the time to wait.
    #[doc(hidden)]
    pub fn admit(&self, payer: &Payer, cost: Cost) -> Result<(), Duration> {
        self.meters[cost as usize].admit(payer)
    }
}

impl Default for Limits {
    fn default() -> Self {
        let requests = Rate { per_second: 40.0, burst: 200.0 };
        let games = Rate { per_second: 0.5, burst: 20.0 };
        Self::new(requests, games, false)
    }
}

/// The meter of one kind of request, for all payers.
#[derive(Debug)]
struct Meter {
    counts: DefaultKeyedRateLimiter<Payer>,
    /// The wider networks, which are few: networks are counted here while `counts` has [`PAYERS`].
    wide: DefaultKeyedRateLimiter<Payer>,
    /// When to search again for payers that need no longer be counted: this walks both tables.
    next_search: Mutex<Instant>,
}

impl Meter {
    fn new(rate: Rate) -> Self {
        let quota = quota(rate);
        let (counts, wide) = (RateLimiter::keyed(quota), RateLimiter::keyed(quota));
        Self { counts, wide, next_search: Mutex::new(Instant::now()) }
    }

    /// Whether a search is due. If so, the caller is to make it.
    fn is_search_due(&self) -> bool {
        let (now, mut next) = (Instant::now(), lock(&self.next_search));
        let is_due = now >= *next;
        if is_due {
            *next = now + SEARCH;
        }
        is_due
    }

    fn admit(&self, payer: &Payer) -> Result<(), Duration> {
        if self.counts.len() >= PAYERS && self.is_search_due() {
            // A client that was quiet for long has its full burst again, like a new one.
            self.counts.retain_recent();
            self.wide.retain_recent();
        }
        let checked = match payer {
            Payer::Net(net) if self.counts.len() >= PAYERS => {
                self.wide.check_key(&Payer::Net(net.wide()))
            }
            _ => self.counts.check_key(payer),
        };
        checked.map_err(|it| it.wait_time_from(DefaultClock::default().now()))
    }
}

fn quota(rate: Rate) -> Quota {
    // Between one a day and a billion a second; an invalid rate counts as the lowest.
    let slowest = 86_400.0;
    let is_rate = rate.per_second > 0.0;
    let seconds = if is_rate { (1.0 / rate.per_second).clamp(1e-9, slowest) } else { slowest };
    // The time to refill the whole burst must fit the nanoseconds that it is counted in.
    let most = u64::MAX as f64 / 4e9 / seconds;
    let burst = NonZeroU32::new(rate.burst.min(most) as u32).unwrap_or(NonZeroU32::MIN);
    let period = Duration::from_secs_f64(seconds);
    Quota::with_period(period).unwrap_or(Quota::per_second(burst)).allow_burst(burst)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    fn net(text: &str) -> Net {
        Net::of(text.parse().unwrap())
    }

    /// The network of a subscriber, by its number.
    fn subscriber(at: usize) -> Payer {
        let bits = ((0x2001_0db8_u128 << 32) + at as u128) << 64;
        Payer::Net(Net::of(Ipv6Addr::from_bits(bits).into()))
    }

    #[test]
    fn a_subscriber_is_one_network() {
        assert_eq!(net("2001:db8:1:2::1"), net("2001:db8:1:2:ffff::9"));
        assert_ne!(net("2001:db8:1:2::1"), net("2001:db8:1:3::1"));
        assert_eq!(net("::ffff:192.0.2.1"), net("192.0.2.1"));
        assert_ne!(net("192.0.2.2"), net("192.0.2.1"));
        assert_eq!(net("2001:db8:1:2::1").to_string(), "2001:db8:1:2::/64");
        assert_eq!(net("192.0.2.1").to_string(), "192.0.2.1");
    }

    #[test]
    fn a_crowd_of_networks_takes_no_more_memory_and_is_still_counted() {
        let meter = Meter::new(Rate { per_second: 1e-6, burst: 2.0 });
        for at in 0..PAYERS {
            assert_eq!(meter.admit(&subscriber(at)), Ok(()));
        }
        let more = (0..1_000).filter(|at| meter.admit(&subscriber(PAYERS + at)).is_ok());
        assert_eq!(more.count(), 2, "the others are counted as one");
        assert_eq!((meter.counts.len(), meter.wide.len()), (PAYERS, 1));
    }

    /// A crowd would make each request walk both tables.
    #[test]
    fn networks_that_need_no_longer_be_counted_are_searched_for_now_and_then() {
        let meter = Meter::new(Rate { per_second: 1e9, burst: 1.0 });
        let set = |next: Instant| *lock(&meter.next_search) = next;
        set(Instant::now() + Duration::from_secs(3600));
        for at in 0..=PAYERS {
            assert_eq!(meter.admit(&subscriber(at)), Ok(()));
        }
        assert_eq!((meter.counts.len(), meter.wide.len()), (PAYERS, 1), "no search yet");
        set(Instant::now());
        assert_eq!(meter.admit(&subscriber(PAYERS + 1)), Ok(()));
        assert_eq!((meter.counts.len(), meter.wide.len()), (1, 0));
    }

    #[test]
    fn odd_rates_are_rates() {
        for per_second in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            for burst in [per_second, 1e300] {
                let meter = Meter::new(Rate { per_second, burst });
                assert_eq!(meter.admit(&Payer::Account("ann".into())), Ok(()), "{per_second}");
            }
        }
    }
}
