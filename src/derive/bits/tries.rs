//! Statistics on machine code that counts leaves: how often it gives up.

/// Number of calls of code for an action, and how often it gave up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tries {
    all: u32,
    given_up: u32,
}

impl Tries {
    pub(super) fn note(&mut self, done: bool) {
        self.all = self.all.saturating_add(1);
        self.given_up = self.given_up.saturating_add(u32::from(!done));
    }

    /// Whether it gives up on more than one call in `one_in`, after `first` calls.
    pub(super) fn gives_up(self, first: u32, one_in: u32) -> bool {
        self.all >= first && self.given_up > self.all / one_in
    }
}
