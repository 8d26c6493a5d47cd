//! Arrays, and the memory that they lie in.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::layout::ARRAY_ALIGN_QUADS;

/// An array of f32 in a worker's memory on the GPU. Made by [`ResidentWorker::array`](super::ResidentWorker::array), which fills it
/// with zeros; let go when the last clone is dropped, and used again only after everything submitted until then is done.
#[derive(Clone, Debug)]
pub struct Array(Arc<Region>);

#[derive(Debug)]
struct Region {
    quad: usize,
    n_quads: usize,
    n: usize,
    /// The last ticket that reads or writes it.
    last_use: AtomicU64,
    arena: Arc<Arena>,
}

impl Array {
    /// Elements.
    #[expect(clippy::len_without_is_empty, reason = "an array is never empty")]
    pub fn len(&self) -> usize {
        self.0.n
    }

    /// Whether both are one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn is_of(&self, arena: &Arc<Arena>) -> bool {
        Arc::ptr_eq(&self.0.arena, arena)
    }

    /// Where it begins, in units of four elements.
    pub(super) fn quad(&self) -> u32 {
        self.0.quad as u32
    }

    pub(super) fn first_word(&self) -> usize {
        self.0.quad * 4
    }

    pub(super) fn last_use(&self) -> u64 {
        self.0.last_use.load(Ordering::Relaxed)
    }

    /// Told while the ring is locked.
    pub(super) fn use_by(&self, ticket: u64) {
        self.0.last_use.store(ticket, Ordering::Relaxed);
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let last_use = self.last_use.load(Ordering::Relaxed);
        self.arena.lock().free(Piece { quad: self.quad, n_quads: self.n_quads, last_use });
    }
}

/// A piece that is nobody's, in quads; free to use once ticket `last_use` is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    quad: usize,
    n_quads: usize,
    last_use: u64,
}

/// The memory as a list of free pieces, in order of place.
#[derive(Debug)]
pub(super) struct Arena {
    n_quads: usize,
    pieces: Mutex<Pieces>,
}

#[derive(Debug)]
struct Pieces(Vec<Piece>);

impl Arena {
    pub fn new(n_quads: usize) -> Arc<Self> {
        let n_quads = n_quads / ARRAY_ALIGN_QUADS * ARRAY_ALIGN_QUADS;
        let whole = Piece { quad: 0, n_quads, last_use: 0 };
        Arc::new(Self { n_quads, pieces: Mutex::new(Pieces(vec![whole])) })
    }

    fn lock(&self) -> MutexGuard<'_, Pieces> {
        self.pieces.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Bytes in all.
    pub fn bytes(&self) -> usize {
        self.n_quads * 16
    }

    /// Bytes that are nobody's, in however many pieces.
    pub fn free_bytes(&self) -> usize {
        self.lock().0.iter().map(|piece| piece.n_quads * 16).sum()
    }

    /// Bytes of the largest piece that is nobody's.
    pub fn largest_free_bytes(&self) -> usize {
        self.lock().0.iter().map(|piece| piece.n_quads * 16).max().unwrap_or(0)
    }

    /// An array of `n` elements, and the ticket that has to be answered before its memory is written; `None` where no piece is large
    /// enough. Takes the smallest piece that is.
    pub fn allocate(self: &Arc<Self>, n: usize) -> Option<(Array, u64)> {
        let n_quads = n.div_ceil(4).next_multiple_of(ARRAY_ALIGN_QUADS);
        let piece = self.lock().take(n_quads)?;
        let last_use = AtomicU64::new(piece.last_use);
        let region = Region { quad: piece.quad, n_quads, n, last_use, arena: self.clone() };
        Some((Array(Arc::new(region)), piece.last_use))
    }
}

impl Pieces {
    fn take(&mut self, n_quads: usize) -> Option<Piece> {
        let fitting = self.0.iter().enumerate().filter(|(_, piece)| piece.n_quads >= n_quads);
        let (idx, piece) = fitting.min_by_key(|(_, piece)| piece.n_quads).map(|(idx, piece)| (idx, *piece))?;
        if piece.n_quads == n_quads {
            self.0.remove(idx);
        } else {
            self.0[idx].quad += n_quads;
            self.0[idx].n_quads -= n_quads;
        }
        Some(Piece { n_quads, ..piece })
    }

    /// Joins it with its neighbours: the later of their last uses counts.
    fn free(&mut self, piece: Piece) {
        let mut idx = self.0.partition_point(|other| other.quad < piece.quad);
        self.0.insert(idx, piece);
        if idx > 0 && self.0[idx - 1].quad + self.0[idx - 1].n_quads == piece.quad {
            idx -= 1;
            self.join_next(idx);
        }
        if idx + 1 < self.0.len() && self.0[idx].quad + self.0[idx].n_quads == self.0[idx + 1].quad {
            self.join_next(idx);
        }
    }

    fn join_next(&mut self, idx: usize) {
        let next = self.0.remove(idx + 1);
        self.0[idx].n_quads += next.n_quads;
        self.0[idx].last_use = self.0[idx].last_use.max(next.last_use);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_arrays_never_overlap_and_all_memory_comes_back() {
        let arena = Arena::new(1024);
        let mut arrays = Vec::new();
        let mut seed = 1u64;
        for round in 0..4_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let n = 1 + (seed >> 33) as usize % 500;
            match arena.allocate(n) {
                Some((array, _)) if round % 3 != 0 => arrays.push(array),
                Some(_) => {}
                None => drop(arrays.swap_remove((seed >> 40) as usize % arrays.len())),
            }
            let mut spans: Vec<_> = arrays.iter().map(|array| (array.0.quad, array.0.n_quads, array.len())).collect();
            spans.sort_unstable();
            assert!(spans.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{spans:?}");
            assert!(spans.iter().all(|(quad, n_quads, n)| quad % ARRAY_ALIGN_QUADS == 0 && n_quads * 4 >= *n));
        }
        drop(arrays);
        assert_eq!((arena.free_bytes(), arena.lock().0.len()), (arena.bytes(), 1));
    }

    #[test]
    fn resident_arrays_remember_who_used_their_memory() {
        let arena = Arena::new(64);
        let (first, before) = arena.allocate(128).expect("room");
        assert_eq!(before, 0);
        first.use_by(7);
        let (second, _) = arena.allocate(128).expect("room");
        assert!(arena.allocate(1).is_none(), "it is all taken");
        drop(second);
        drop(first);
        let (_, last_use) = arena.allocate(256).expect("all of it");
        assert_eq!(last_use, 7);
    }
}
