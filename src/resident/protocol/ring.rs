//! Which ticket has which slot.

/// The ring's slots and tickets. A ticket counts from 1; its slot is its remainder by the number of slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    /// The next ticket to give out.
    next: u64,
    /// All tickets below have their answer.
    first_pending: u64,
    /// Of all tickets up to this one no store is outstanding.
    settled: u64,
    /// By slot, what became of the last ticket in it.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Slot {
    /// Never used, or nobody wants what is in it.
    Free,
    /// Its ticket has no answer yet.
    Pending,
    /// The same, and nobody waits for it.
    Abandoned,
    /// Its answer is there and not yet taken.
    Answered,
}

/// A slot to write a descriptor into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Whose.
    pub ticket: u64,
    /// Which.
    pub slot_idx: usize,
    /// A ticket whose answer lies in the slot and must be kept elsewhere *before* the number is written.
    pub displaced: Option<u64>,
}

/// All slots are pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Where a ticket's answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nowhere yet.
    Pending,
    /// In its slot; it is the caller's now.
    InSlot(usize),
    /// It was displaced, and kept elsewhere.
    Displaced,
}

/// What stands in memory for a ticket.
pub fn number_of(ticket: u64) -> u32 {
    ticket as u32
}

impl Ring {
    /// `n_slots` is a power of two, so that slots stay in step when numbers wrap.
    pub fn new(n_slots: usize) -> Self {
        assert!(n_slots.is_power_of_two(), "{n_slots} slots");
        Self { next: 1, first_pending: 1, settled: 0, slots: vec![Slot::Free; n_slots] }
    }

    /// As [`Self::new`], as if `n_tickets` had been given out and answered.
    #[cfg(test)]
    pub fn after(n_slots: usize, n_tickets: u64) -> Self {
        Self { next: 1 + n_tickets, first_pending: 1 + n_tickets, settled: n_tickets, ..Self::new(n_slots) }
    }

    /// The slot of a ticket.
    pub fn slot_of(&self, ticket: u64) -> usize {
        (ticket % self.slots.len() as u64) as usize
    }

    /// The next ticket to give out: all that were given out are below.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// All tickets below have their answer.
    pub fn first_pending(&self) -> u64 {
        self.first_pending
    }

    /// Whether a ticket is without an answer.
    pub fn has_pending(&self) -> bool {
        self.first_pending < self.next
    }

    /// The next ticket with its slot.
    pub fn claim(&mut self) -> Result<Claim, Full> {
        let n_slots = self.slots.len() as u64;
        if self.next - self.first_pending >= n_slots {
            return Err(Full);
        }
        let ticket = self.next;
        let slot_idx = self.slot_of(ticket);
        let displaced = (self.slots[slot_idx] == Slot::Answered).then(|| ticket - n_slots);
        self.slots[slot_idx] = Slot::Pending;
        self.next += 1;
        Ok(Claim { ticket, slot_idx, displaced })
    }

    /// Looks at the answers, oldest first, until one is missing. `is_answered` says whether a slot holds a number's whole answer; it
    /// loads with acquire.
    pub fn advance(&mut self, is_answered: impl Fn(usize, u32) -> bool) {
        while self.has_pending() {
            let slot_idx = self.slot_of(self.first_pending);
            if !is_answered(slot_idx, number_of(self.first_pending)) {
                return;
            }
            self.slots[slot_idx] = match self.slots[slot_idx] {
                Slot::Abandoned => Slot::Free,
                _ => Slot::Answered,
            };
            self.first_pending += 1;
        }
    }

    /// The kernel says that of all numbers up to `number` no store is outstanding.
    pub fn settle(&mut self, number: u32) {
        let newest = self.next - 1;
        // The kernel settles each before it begins the next: it is never further behind than the ring is long.
        let n_behind = u64::from(number_of(newest).wrapping_sub(number));
        self.settled = self.settled.max(newest.saturating_sub(n_behind));
    }

    /// Of all tickets up to this one no store is outstanding, by what the kernel [said](Self::settle).
    pub fn settled(&self) -> u64 {
        self.settled
    }

    /// Takes a ticket's answer: once.
    pub fn take(&mut self, ticket: u64) -> Taken {
        if ticket >= self.first_pending {
            return Taken::Pending;
        }
        let slot_idx = self.slot_of(ticket);
        if self.next - ticket > self.slots.len() as u64 {
            return Taken::Displaced;
        }
        self.slots[slot_idx] = Slot::Free;
        Taken::InSlot(slot_idx)
    }

    /// Nobody will take this ticket's answer. Whether it is kept elsewhere.
    pub fn abandon(&mut self, ticket: u64) -> bool {
        if self.next - ticket > self.slots.len() as u64 {
            return true;
        }
        let slot_idx = self.slot_of(ticket);
        self.slots[slot_idx] = if ticket < self.first_pending { Slot::Free } else { Slot::Abandoned };
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_ring_is_full_until_the_oldest_is_answered() {
        let mut ring = Ring::new(2);
        let first = ring.claim().expect("a slot");
        assert_eq!(first, Claim { ticket: 1, slot_idx: 1, displaced: None });
        assert_eq!(ring.claim().expect("a slot").slot_idx, 0);
        assert_eq!(ring.claim(), Err(Full));
        // The second one's flag alone frees nothing: answers come in order.
        ring.advance(|slot_idx, number| slot_idx == 0 && number == 2);
        assert_eq!((ring.claim(), ring.take(2)), (Err(Full), Taken::Pending));
        ring.advance(|slot_idx, number| slot_idx == 1 && number == 1);
        // Nobody took the first answer: it has to be kept.
        let third = ring.claim().expect("a slot");
        assert_eq!(third, Claim { ticket: 3, slot_idx: 1, displaced: Some(1) });
        assert_eq!((ring.take(1), ring.take(3)), (Taken::Displaced, Taken::Pending));
    }

    #[test]
    fn resident_ring_drops_what_nobody_wants() {
        let mut ring = Ring::new(2);
        let (first, second) = (ring.claim().expect("a slot"), ring.claim().expect("a slot"));
        assert!(!ring.abandon(first.ticket));
        ring.advance(|slot_idx, number| [2, 1][slot_idx] == number);
        assert_eq!(ring.claim().expect("a slot").displaced, None);
        assert_eq!(ring.claim().expect("a slot").displaced, Some(second.ticket));
        assert!(ring.abandon(second.ticket), "it was kept");
    }

    #[test]
    fn resident_ring_goes_on_where_numbers_wrap() {
        let mut ring = Ring::after(4, u64::from(u32::MAX) - 2);
        let tickets: Vec<u64> = (0..4).map(|_| ring.claim().expect("a slot").ticket).collect();
        assert_eq!(tickets.iter().map(|ticket| number_of(*ticket)).collect::<Vec<_>>(), [u32::MAX - 1, u32::MAX, 0, 1]);
        let flags: Vec<u32> =
            (0..4).map(|slot_idx| number_of(tickets[(slot_idx + 4 - ring.slot_of(tickets[0])) % 4])).collect();
        ring.advance(|slot_idx, number| flags[slot_idx] == number);
        assert!(!ring.has_pending());
        for (number, settled) in [(u32::MAX, 2), (1, 0), (u32::MAX - 1, 0)] {
            ring.settle(number);
            assert_eq!(ring.settled(), tickets[3] - settled, "the later one counts");
        }
        assert!(tickets.iter().all(|ticket| ring.take(*ticket) == Taken::InSlot(ring.slot_of(*ticket))));
    }
}
