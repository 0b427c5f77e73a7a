//! Process CPU time and memory, read from `/proc`; where there is none, wall time and no memory.
//!
//! Other processes on the machine disturb CPU time less than wall time. Threads that end during a measurement are left
//! out.

use std::fs;
use std::time::{Duration, Instant};

/// Measures CPU time of a process, this one or a child.
#[derive(Debug, Clone)]
pub struct Meter {
    process: String,
    began: Instant,
    cpu: Option<Duration>,
}

impl Meter {
    /// Starts measuring this process.
    pub fn own() -> Self {
        Self::of("self".to_owned())
    }

    /// Starts measuring a running child.
    pub fn child(id: u32) -> Self {
        Self::of(id.to_string())
    }

    fn of(process: String) -> Self {
        let cpu = cpu_time(&process);
        Self { process, began: Instant::now(), cpu }
    }

    /// CPU time since the start, or wall time where CPU time cannot be read.
    pub fn elapsed(&self) -> Duration {
        match (self.cpu, cpu_time(&self.process)) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.began.elapsed(),
        }
    }
}

/// The quantity that [`Meter`] measures here, for the head of a table.
pub(super) fn quantity() -> &'static str {
    if cpu_time("self").is_some() { "process CPU time" } else { "wall time" }
}

/// The time on a CPU of all live threads of a process, together.
fn cpu_time(process: &str) -> Option<Duration> {
    // The kernel updates the time of a running thread only every few milliseconds, and when the thread yields.
    std::thread::yield_now();
    let mut nanos = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanos += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanos))
}

/// Bytes of memory that this process holds, if `/proc` reports them.
pub(super) fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The name of this machine's processor, for the head of a table.
pub(super) fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|it| it.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let meter = Meter::own();
        let mut sum = 0u64;
        for at in 0..20_000_000u64 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(at));
        }
        assert!(meter.elapsed() > Duration::ZERO, "{sum}");
    }
}
