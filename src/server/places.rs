//! Connection limits: the maximum number of connections at a time, in all and per network. A place is freed
//! when its holder is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::lock::lock;
use super::net::Net;

/// Places for connections of one kind.
#[derive(Debug, Clone)]
pub(super) struct Places {
    all: usize,
    per_net: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_net: HashMap<Net, usize>,
}

impl Places {
    pub(super) fn new(all: usize, per_net: usize) -> Self {
        Self { all, per_net, taken: Arc::default() }
    }

    /// Takes a place, if there is one. Connections without a network count only for the overall limit.
    pub(super) fn take(&self, net: Option<Net>) -> Option<Place> {
        let mut taken = lock(&self.taken);
        if taken.all >= self.all {
            return None;
        }
        if let Some(net) = net {
            let own = taken.by_net.entry(net).or_default();
            if *own >= self.per_net {
                return None;
            }
            *own += 1;
        }
        taken.all += 1;
        Some(Place { taken: Arc::clone(&self.taken), net })
    }

    /// The number of places that are taken.
    pub(super) fn taken(&self) -> usize {
        lock(&self.taken).all
    }
}

/// The place of a connection.
#[derive(Debug)]
pub(super) struct Place {
    taken: Arc<Mutex<Taken>>,
    net: Option<Net>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.all -= 1;
        let Some(net) = self.net else { return };
        if let Some(own) = taken.by_net.get_mut(&net) {
            *own -= 1;
            if *own == 0 {
                taken.by_net.remove(&net);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn one_network_gets_no_more_than_its_places_and_has_them_again() {
        let places = Places::new(1_000, 100);
        let net = |last| Some(Net::of(IpAddr::from([192, 0, 2, last])));
        let mut taken: Vec<Place> = (0..101).filter_map(|_| places.take(net(1))).collect();
        assert_eq!(taken.len(), 100);
        assert!(places.take(net(1)).is_none());
        assert!(places.take(net(2)).is_some() && places.take(None).is_some());
        taken.pop();
        assert!(places.take(net(1)).is_some());
        taken.extend((0..2_000).map_while(|_| places.take(None)));
        assert_eq!((taken.len(), places.taken()), (1_000, 1_000), "of all");
        drop(taken);
        assert_eq!(lock(&places.taken).by_net.len(), 0);
        assert_eq!(places.taken(), 0);
    }
}
