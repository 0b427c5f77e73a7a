//! The threads of a store: one that appends events, in groups, and one for all else.
//!
//! Syncing to disk costs the same for one event as for hundreds. So appends that arrive while a commit is
//! under way are committed together by the next one. An append returns when it is durable.

use std::thread::{self, JoinHandle};

use tokio::sync::{mpsc, oneshot};

use super::{Append, Change, Conflict, Store, StoreError, edited};

/// Maximum number of appends in one transaction.
const GROUP: usize = 512;
/// Maximum number of requests that wait for a thread; the sender of another one waits, too.
const QUEUE: usize = 4096;

type Done = oneshot::Sender<Result<Result<(), Conflict>, StoreError>>;

/// A message to the writing thread; `None` ends it.
type Queued = Option<(Append, Done)>;

/// The thread that appends events; not the journal of a session.
#[derive(Debug)]
pub struct Journal {
    queue: mpsc::Sender<Queued>,
    thread: JoinHandle<()>,
}

impl Journal {
    /// Starts the thread.
    ///
    /// # Errors
    /// There are too many threads.
    pub fn start(store: Box<dyn Store>) -> std::io::Result<Self> {
        let (queue, inbox) = mpsc::channel(QUEUE);
        let name = "journal".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || write(store, inbox))?;
        Ok(Self { queue, thread })
    }

    /// A handle to write with.
    #[doc(hidden)]
    pub fn writer(&self) -> Writer {
        Writer { queue: self.queue.clone() }
    }

    /// Waits until everything sent is written. Later writes through remaining handles fail: the journal
    /// has stopped.
    pub fn finish(self) {
        let queue = self.queue;
        // A thread of the runtime must not block on the queue. If the queue has no reader, the message is not needed.
        let sent = thread::spawn(move || drop(queue.blocking_send(None))).join();
        if sent.is_err() || self.thread.join().is_err() {
            tracing::error!("the journal's thread has failed");
        }
    }
}

/// The handle that games write through.
#[derive(Debug, Clone)]
pub struct Writer {
    queue: mpsc::Sender<Queued>,
}

impl Writer {
    /// Returns when the events are durable, or with the conflict because of which they are not stored.
    ///
    /// # Errors
    /// The store cannot be reached; whether the events are stored is then unknown.
    pub async fn append(&self, append: Append) -> Result<Result<(), Conflict>, StoreError> {
        let gone = || StoreError::Unavailable("the journal has stopped".into());
        let (done, answer) = oneshot::channel();
        self.queue.send(Some((append, done))).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

fn write(mut store: Box<dyn Store>, mut inbox: mpsc::Receiver<Queued>) {
    let mut group = Vec::with_capacity(GROUP);
    let mut ends = false;
    while !ends && let Some(first) = inbox.blocking_recv() {
        let mut next = Some(first);
        while let Some(queued) = next {
            ends = queued.is_none();
            group.extend(queued);
            let is_full = ends || group.len() >= GROUP;
            next = if is_full { None } else { inbox.try_recv().ok() };
        }
        write_group(store.as_mut(), &mut group);
    }
}

fn write_group(store: &mut dyn Store, group: &mut Vec<(Append, Done)>) {
    let (appends, waiting): (Vec<Append>, Vec<Done>) = group.drain(..).unzip();
    if appends.is_empty() {
        return;
    }
    match store.append(&appends) {
        // A caller that has stopped waiting does not need the answer.
        Ok(results) => {
            for (done, result) in waiting.into_iter().zip(results) {
                let _ = done.send(Ok(result));
            }
        }
        Err(error) => {
            tracing::error!(%error, appends = appends.len(), "not stored");
            for done in waiting {
                let _ = done.send(Err(error.clone()));
            }
        }
    }
}

type Job = Box<dyn FnOnce(&mut dyn Store) + Send>;

/// A handle to the thread for everything but appending events: mostly reads, but also writes to other tables. The thread
/// has a connection of its own.
#[derive(Debug, Clone)]
pub struct Reads {
    queue: mpsc::Sender<Job>,
}

impl Reads {
    /// Starts the thread, which ends when its last handle is gone.
    ///
    /// # Errors
    /// There are too many threads.
    pub fn start(mut store: Box<dyn Store>) -> std::io::Result<Self> {
        let (queue, mut inbox) = mpsc::channel::<Job>(QUEUE);
        let body = move || {
            while let Some(job) = inbox.blocking_recv() {
                job(store.as_mut());
            }
        };
        thread::Builder::new().name("reads".to_owned()).spawn(body)?;
        Ok(Self { queue })
    }

    /// Runs a job on the store, and returns its answer.
    ///
    /// # Errors
    /// Those of the job, or the thread has ended.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.request(question).await
    }

    /// [`Reads::ask`] for a job that may be refused for other reasons than the store's.
    ///
    /// # Errors
    /// Those of the job, or the thread has ended.
    pub async fn request<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        request: impl FnOnce(&mut dyn Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let gone = || StoreError::Unavailable("the reader has stopped".into());
        let (done, answer) = oneshot::channel();
        let job: Job = Box::new(move |store| {
            // A caller that has stopped waiting does not need the answer.
            let _ = done.send(request(store));
        });
        self.queue.send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Changes records by [`edited`].
    ///
    /// # Errors
    /// As [`edited`], or the thread has ended.
    pub async fn edit<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        busy: fn() -> E,
        edit: impl FnMut(&mut dyn Store) -> Result<(T, Vec<Change>), E> + Send + 'static,
    ) -> Result<T, E> {
        self.request(move |store| edited(store, busy, edit)).await
    }
}
