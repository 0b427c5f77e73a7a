//! A cache of syntax trees: programs made of the same rule files parse each of them once.
//!
//! The key of a tree is its text and the number of its file in the program, which the places of its words
//! contain. Deliberately absent: trees of files with mistakes, which are parsed again to report them.

use std::sync::{Arc, Mutex, PoisonError};

use self_cell::self_cell;

use super::ast::File;
use super::diagnostic::Diagnostic;
use super::syntax;

/// Maximum size of the texts in the cache, in bytes. When it is reached, the cache is emptied.
const BYTES: usize = 1 << 21;

self_cell! {
    /// A text with the tree that borrows its words.
    struct Tree {
        owner: Arc<str>,
        #[covariant]
        dependent: File,
    }
}

/// Parses rule files through the cache, which copies of a reader share.
#[derive(Clone, Default)]
pub struct Reader(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    /// By the number of the file.
    trees: Vec<Vec<Arc<Tree>>>,
    bytes: usize,
}

/// The tree of one file: made for this program, or shared with others.
pub(super) struct Reading(Arc<Tree>);

impl Reading {
    pub(super) fn file(&self) -> &File<'_> {
        self.0.borrow_dependent()
    }
}

impl Reader {
    /// Reads one source. Mistakes are added to `found`.
    pub(super) fn read(
        &self,
        source: u16,
        text: &Arc<str>,
        found: &mut Vec<Diagnostic>,
    ) -> Reading {
        if let Some(tree) = self.find(source, text) {
            return Reading(tree);
        }
        let before = found.len();
        let tree = Tree::new(Arc::clone(text), |text| syntax::parse(source, text, found));
        let tree = Arc::new(tree);
        if found.len() == before {
            self.keep(source, Arc::clone(&tree));
        }
        Reading(tree)
    }

    fn find(&self, source: u16, text: &Arc<str>) -> Option<Arc<Tree>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let trees = known.trees.get(usize::from(source))?;
        trees.iter().find(|it| it.borrow_owner() == text).cloned()
    }

    fn keep(&self, source: u16, tree: Arc<Tree>) {
        let size = tree.borrow_owner().len();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.bytes + size > BYTES {
            *known = Known::default();
        }
        if size <= BYTES {
            known.bytes += size;
            let at = usize::from(source);
            if known.trees.len() <= at {
                known.trees.resize_with(at + 1, Vec::new);
            }
            known.trees[at].push(tree);
        }
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Reader").field("bytes", &known.bytes).finish_non_exhaustive()
    }
}
