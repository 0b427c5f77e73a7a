//! The threads that rules run on. Rules may be untrusted, so nothing that compiles or evaluates them
//! runs on the runtime's threads: a few threads are reserved for that, with bounded queues, and every job has
//! a deadline.
//!
//! There are four lanes, so that short jobs do not wait for long ones: moves and views of games under rules that were
//! not uploaded (those of this package, of an earlier one, or of a folder of this machine); longer jobs under these rules
//! (compiling, explaining, importing games); everything about uploaded rules; and the computer's moves. A job has one
//! allowance of steps. Its rules are stopped when the allowance is used up, when the deadline has passed, or when the
//! client no longer waits. Deliberately absent: what the jobs do.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::lock::lock;
use super::problem::Problem;
use crate::game::{Allowance, Resource, Stop};

/// The kinds of jobs: each has a queue and threads of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Moves and views under rules that were not uploaded; making and loading most of the games, too.
    Play,
    /// Longer jobs under rules that were not uploaded, and jobs without rules.
    Work,
    /// All jobs under uploaded rules, except for the computer's moves.
    Uploaded,
    /// The computer's moves.
    Think,
}

const LANES: [Lane; 4] = [Lane::Play, Lane::Work, Lane::Uploaded, Lane::Think];

impl Lane {
    /// Maximum number of jobs that wait.
    fn limit(self) -> usize {
        match self {
            // After a start, requests for many games wait for the same rules to be compiled once.
            Self::Play | Self::Work => 4096,
            Self::Uploaded | Self::Think => 64,
        }
    }

    /// Maximum time that a job takes once it has begun.
    fn time(self) -> Duration {
        match self {
            Self::Play => Duration::from_secs(5),
            Self::Work => Duration::from_secs(10),
            Self::Uploaded => Duration::from_secs(2),
            // The longest thought, and before it the time to learn what pieces are worth in a new game.
            Self::Think => Duration::from_secs(8),
        }
    }

    fn threads(self) -> usize {
        let cores = thread::available_parallelism().map_or(1, |it| it.get());
        match self {
            Self::Play => cores.max(2),
            // A job may take much memory, so there are few threads.
            Self::Work => (cores / 2).clamp(1, 4),
            Self::Uploaded | Self::Think => (cores / 4).clamp(1, 4),
        }
    }

    /// Whether jobs that have begun go on when the server stops.
    fn finishes_jobs(self) -> bool {
        self == Self::Play
    }
}

/// A job that has waited longer than this is refused when its turn comes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval at which deadlines are checked.
const LOOK: Duration = Duration::from_millis(20);
/// Maximum budget of one job, as a number of requests: replaying a game counts as one for each action.
const REQUESTS: u64 = 1024;

/// Why a job was not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undone {
    /// It has waited for longer than [`PATIENCE`].
    Waited,
    Stopping,
}

struct Job {
    /// Runs the job and answers its caller. Given an error, it only passes the error on.
    work: Box<dyn FnOnce(Result<(), Undone>) + Send>,
    stop: Stop,
    since: Instant,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Whether no more jobs are accepted.
    is_closed: bool,
}

struct Queue {
    lane: Lane,
    waiting: Mutex<Waiting>,
    arrival: Condvar,
    /// For each thread that has a job: its deadline, and the handle to stop it.
    running: Mutex<Vec<Option<(Instant, Stop)>>>,
}

impl Queue {
    /// Adds a job.
    ///
    /// # Errors
    /// Too many jobs wait already, or the queue is closed.
    fn add(&self, job: Job) -> Result<(), Problem> {
        let mut waiting = lock(&self.waiting);
        if waiting.is_closed {
            return Err(stopping());
        }
        if waiting.jobs.len() >= self.lane.limit() {
            return Err(busy());
        }
        waiting.jobs.push_back(job);
        drop(waiting);
        self.arrival.notify_one();
        Ok(())
    }

    /// Waits for the next job; `None` when the queue is closed and empty.
    fn next(&self) -> Option<Job> {
        let mut waiting = lock(&self.waiting);
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                return Some(job);
            }
            if waiting.is_closed {
                return None;
            }
            waiting = self.arrival.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs jobs until the queue is closed, and refuses the jobs that still wait then.
    fn serve(&self, thread: usize) {
        while let Some(Job { work, stop, since }) = self.next() {
            // Listed before `is_closed` is asked, since `close` first closes the queue and then stops the listed jobs:
            // no job escapes both.
            let until = Instant::now() + self.lane.time();
            lock(&self.running)[thread] = Some((until, stop));
            let admission = if self.is_closed() {
                Err(Undone::Stopping)
            } else if since.elapsed() > PATIENCE {
                Err(Undone::Waited)
            } else {
                Ok(())
            };
            if catch_unwind(AssertUnwindSafe(|| work(admission))).is_err() {
                tracing::error!(lane = ?self.lane, "a job has failed");
            }
            lock(&self.running)[thread] = None;
        }
    }

    /// The problem of a job that ran out of something, or was stopped because the queue is closed.
    fn problem(&self, ran_out: Resource) -> Problem {
        match ran_out {
            Resource::Time if self.is_closed() && !self.lane.finishes_jobs() => stopping(),
            _ => spent(ran_out),
        }
    }

    fn is_closed(&self) -> bool {
        lock(&self.waiting).is_closed
    }

    /// Whether jobs run, or may still come.
    fn needs_watching(&self) -> bool {
        !self.is_closed() || lock(&self.running).iter().any(Option::is_some)
    }

    fn stop_late(&self, now: Instant) {
        for (until, stop) in lock(&self.running).iter().flatten() {
            if *until <= now && !stop.is_stopped() {
                tracing::warn!(lane = ?self.lane, "a job takes too long: its rules are stopped");
                stop.stop();
            }
        }
    }
}

/// The threads with their queues.
pub(super) struct Pool(Vec<Arc<Queue>>);

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("waiting", &LANES.map(|it| self.waiting(it))).finish()
    }
}

impl Pool {
    /// Starts the threads of all lanes.
    ///
    /// # Errors
    /// The machine is out of threads.
    pub(super) fn start() -> std::io::Result<Self> {
        let mut queues = Vec::new();
        for lane in LANES {
            let threads = lane.threads();
            let queue = Arc::new(Queue {
                lane,
                waiting: Mutex::default(),
                arrival: Condvar::new(),
                running: Mutex::new(vec![None; threads]),
            });
            for at in 0..threads {
                let queue = Arc::clone(&queue);
                let name = format!("rules-{lane:?}-{at}").to_lowercase();
                // Parsers and proofs recurse, so the stack is as large as the main thread's.
                let builder = thread::Builder::new().name(name).stack_size(8 << 20);
                builder.spawn(move || queue.serve(at))?;
            }
            queues.push(queue);
        }
        let watched: Vec<_> = queues.iter().map(Arc::downgrade).collect();
        let watchdog = thread::Builder::new().name("rules-watchdog".into());
        watchdog.spawn(move || watch_deadlines(&watched))?;
        Ok(Self(queues))
    }

    fn queue(&self, lane: Lane) -> &Queue {
        &self.0[lane as usize]
    }

    /// The number of jobs that wait in a lane.
    pub(super) fn waiting(&self, lane: Lane) -> usize {
        lock(&self.queue(lane).waiting).jobs.len()
    }

    /// Accepts no more jobs, refuses those that wait, and stops those under way, except in the lane of moves and views.
    pub(super) fn close(&self) {
        for queue in &self.0 {
            lock(&queue.waiting).is_closed = true;
            queue.arrival.notify_all();
            if !queue.lane.finishes_jobs() {
                lock(&queue.running).iter().flatten().for_each(|it| it.1.stop());
            }
        }
    }

    /// Runs a job with the steps of one request, and returns its result.
    ///
    /// # Errors
    /// As [`Pool::run_with_budget`]; or the deadline has passed, or the steps were used up.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (done, ran_out) = self.run_with_budget(lane, 1, work).await?;
        ran_out.map_or(Ok(done), Err)
    }

    /// [`Pool::run`] for a job with the budget of several requests, which may fail itself.
    ///
    /// # Errors
    /// That of the job, or as [`Pool::run`].
    pub(super) async fn attempt<T: Send + 'static>(
        &self,
        lane: Lane,
        requests: usize,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (done, ran_out) = self.run_with_budget(lane, requests, work).await?;
        ran_out.map_or(done, Err)
    }

    /// [`Pool::run`] for a job with the budget of several requests. Its result is returned even if the steps were used up
    /// or the job was stopped, together with that problem.
    ///
    /// # Errors
    /// Too many jobs wait already, this one has waited too long, the server is about to stop, or the job has panicked.
    pub(super) async fn run_with_budget<T: Send + 'static>(
        &self,
        lane: Lane,
        requests: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<(T, Option<Problem>), Problem> {
        let (reply, answer) = oneshot::channel();
        let (stop, requests) = (Stop::default(), (requests as u64).clamp(1, REQUESTS));
        let own = stop.clone();
        let work = move |admission: Result<(), Undone>| {
            // The caller may have gone meanwhile.
            if reply.is_closed() {
                return;
            }
            let done = admission.map(|()| {
                let allowance = Allowance::of_many(requests, own);
                let done = work();
                let ran_out = Allowance::exhausted();
                drop(allowance);
                (done, ran_out)
            });
            drop(reply.send(done));
        };
        let job = Job { work: Box::new(work), stop: stop.clone(), since: Instant::now() };
        let queue = self.queue(lane);
        queue.add(job)?;
        let _waiting = StopOnDrop(stop);
        match answer.await {
            Ok(Ok((done, ran_out))) => Ok((done, ran_out.map(|it| queue.problem(it)))),
            Ok(Err(Undone::Waited)) => Err(busy()),
            Ok(Err(Undone::Stopping)) => Err(stopping()),
            Err(_) => Err(Problem::internal()),
        }
    }
}

/// Stops jobs that take too long, until all queues are closed and no job runs.
fn watch_deadlines(queues: &[Weak<Queue>]) {
    let mut is_needed = true;
    while is_needed {
        thread::sleep(LOOK);
        let now = Instant::now();
        is_needed = false;
        for queue in queues.iter().filter_map(Weak::upgrade) {
            queue.stop_late(now);
            is_needed |= queue.needs_watching();
        }
    }
}

/// Stops a job when this is dropped: no request waits for it any more.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

/// The problem of a job that used a resource up.
pub(super) fn spent(resource: Resource) -> Problem {
    match resource {
        Resource::Time => {
            let message = "the rules of this game take too long: nothing was done";
            Problem::not_now("rules_too_slow", message)
        }
        Resource::Actions => {
            let message =
                "the rules of this game have too many rows to list (possible actions, for example)";
            Problem::unprocessable("rules_exhausted", message)
        }
        Resource::Steps | Resource::Rows | Resource::Action => {
            let message = "the rules of this game take too much for one request: nothing was done";
            Problem::unprocessable("rules_exhausted", message)
        }
    }
}

fn busy() -> Problem {
    let message = "too much is being worked out at the moment: ask again in a few seconds";
    Problem::not_now("rules_busy", message)
}

fn stopping() -> Problem {
    let message = "the server is about to stop: nothing was done";
    Problem::not_now("stopping", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    /// Waits for a message from a job.
    async fn received(receiver: &mpsc::Receiver<()>) {
        while receiver.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
    }

    /// Occupies one of the threads for uploaded rules until the returned sender is dropped.
    fn occupy(pool: &Arc<Pool>, at: &tokio::runtime::Runtime) -> mpsc::Sender<()> {
        let (begun, began) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let pool = Arc::clone(pool);
        at.spawn(async move {
            let hold = move || {
                begun.send(()).unwrap();
                ended.recv().ok();
            };
            pool.run(Lane::Uploaded, hold).await
        });
        at.block_on(received(&began));
        end
    }

    #[test]
    fn a_full_queue_refuses_and_other_lanes_go_on() {
        let (runtime, pool) = (runtime(), Arc::new(Pool::start().unwrap()));
        let ends: Vec<_> = (0..Lane::Uploaded.threads()).map(|_| occupy(&pool, &runtime)).collect();
        runtime.block_on(async {
            let mut waiting = tokio::task::JoinSet::new();
            for _ in 0..Lane::Uploaded.limit() {
                let pool = Arc::clone(&pool);
                waiting.spawn(async move { pool.run(Lane::Uploaded, || 7).await });
            }
            while pool.waiting(Lane::Uploaded) < Lane::Uploaded.limit() {
                tokio::task::yield_now().await;
            }
            let refused = pool.run(Lane::Uploaded, || 7).await;
            assert_eq!(refused, Err(busy()));
            assert_eq!(pool.run(Lane::Play, || 5).await, Ok(5));
            drop(ends);
            while let Some(done) = waiting.join_next().await {
                assert_eq!(done.unwrap(), Ok(7));
            }
        });
    }

    #[test]
    fn a_job_that_no_request_waits_for_is_stopped() {
        let (runtime, pool) = (runtime(), Arc::new(Pool::start().unwrap()));
        let ends: Vec<_> = (0..Lane::Uploaded.threads()).map(|_| occupy(&pool, &runtime)).collect();
        runtime.block_on(async {
            let asking = tokio::spawn({
                let pool = Arc::clone(&pool);
                async move { pool.run(Lane::Uploaded, || 7).await }
            });
            while pool.waiting(Lane::Uploaded) == 0 {
                tokio::task::yield_now().await;
            }
            let stop = lock(&pool.queue(Lane::Uploaded).waiting).jobs[0].stop.clone();
            assert!(!stop.is_stopped());
            asking.abort();
            assert!(asking.await.is_err());
            // It has not begun, so no deadline of its own has ended it.
            assert!(stop.is_stopped());
            drop(ends);
        });
    }

    /// Runs rules without end, until they run out of something.
    fn endless() {
        while Allowance::exhausted().is_none() {
            Allowance::spend(1);
        }
    }

    #[test]
    fn rules_without_end_meet_the_deadline_and_the_end_of_the_server() {
        let (runtime, pool) = (runtime(), Arc::new(Pool::start().unwrap()));
        runtime.block_on(async {
            let late = pool.run_with_budget(Lane::Uploaded, usize::MAX, endless).await;
            assert_eq!(late, Ok(((), Some(spent(Resource::Time)))));
            let (sender, receiver) = mpsc::channel();
            let asking = tokio::spawn({
                let pool = Arc::clone(&pool);
                let hold = move || {
                    sender.send(()).unwrap();
                    endless();
                };
                async move { pool.run_with_budget(Lane::Work, usize::MAX, hold).await }
            });
            received(&receiver).await;
            pool.close();
            let running = lock(&pool.queue(Lane::Work).running).clone();
            assert!(running.iter().flatten().all(|it| it.1.is_stopped()));
            let ended = asking.await.unwrap();
            assert_eq!(ended, Ok(((), Some(stopping()))));
            assert_eq!(pool.run(Lane::Play, || 1).await, Err(stopping()));
        });
    }

    /// Moves and views are finished when the server stops, but not without end.
    #[test]
    fn a_move_under_way_has_its_deadline_while_the_server_stops() {
        let (runtime, pool) = (runtime(), Arc::new(Pool::start().unwrap()));
        runtime.block_on(async {
            let (sender, receiver) = mpsc::channel();
            let asking = tokio::spawn({
                let pool = Arc::clone(&pool);
                let endless = move || {
                    sender.send(()).unwrap();
                    while Allowance::exhausted().is_none() {
                        thread::sleep(LOOK);
                        Allowance::spend(1 << 14);
                    }
                };
                async move { pool.run_with_budget(Lane::Play, usize::MAX, endless).await }
            });
            received(&receiver).await;
            pool.close();
            let ended = tokio::time::timeout(Lane::Play.time() * 3, asking).await;
            assert_eq!(ended.unwrap().unwrap(), Ok(((), Some(spent(Resource::Time)))));
        });
    }

    #[test]
    fn a_job_that_is_not_waited_for_ends_and_a_panic_takes_no_thread() {
        let (runtime, pool) = (runtime(), Arc::new(Pool::start().unwrap()));
        runtime.block_on(async {
            let (sender, receiver) = mpsc::channel();
            let endless = move || {
                sender.send(()).unwrap();
                while Allowance::exhausted().is_none() {
                    Allowance::spend(1 << 10);
                }
                sender.send(()).unwrap();
            };
            let asking = tokio::spawn({
                let pool = Arc::clone(&pool);
                async move { pool.run_with_budget(Lane::Uploaded, usize::MAX, endless).await }
            });
            received(&receiver).await;
            asking.abort();
            received(&receiver).await;
            let failing = pool.run(Lane::Uploaded, || panic!("on purpose")).await;
            assert_eq!(failing, Err::<(), _>(Problem::internal()));
            assert_eq!(pool.run(Lane::Uploaded, || 3).await, Ok(3));
        });
    }
}
