//! When a kernel is launched, and when one is asked to end.

/// The launches so far, counted from 1. At most two live at a time: one that runs, and one that the queue holds behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Launches {
    /// Launches made.
    last: u32,
    /// All up to this one were asked to end.
    asked: u32,
    /// All up to this one are known to have ended.
    ended: u32,
}

/// What is known when the next action is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// A ticket is without an answer.
    pub has_pending: bool,
    /// The last launch has run for as long as a kernel should.
    pub is_over_time: bool,
    /// Nothing was submitted for as long as a kernel may idle.
    pub is_idle: bool,
    /// Nothing more will be submitted.
    pub is_stopping: bool,
    /// The adapter's `submit` returns while another kernel runs: a launch may wait in the queue behind the one that runs.
    pub can_queue: bool,
}

/// What is to be done about launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Launch the kernel once more.
    Launch,
    /// Ask launches up to this one to end.
    AskEnd(u32),
}

impl Launches {
    /// The number of the last launch; 0 for none.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Launches that have not ended.
    pub fn n_live(&self) -> u32 {
        self.last - self.ended
    }

    /// The next action. Ask again after it was [done](Self::did), until there is nothing to do.
    pub fn next(&self, facts: Facts) -> Action {
        let Facts { has_pending, is_over_time, is_idle, is_stopping, can_queue } = facts;
        let is_wanted = has_pending || !(is_idle || is_stopping);
        let is_last_ending = self.asked >= self.last;
        match self.n_live() {
            0 if is_wanted => Action::Launch,
            0 => Action::Nothing,
            // A successor is there: the one before it has no more to do.
            2 if self.asked < self.last - 1 => Action::AskEnd(self.last - 1),
            1 if is_last_ending && is_wanted && can_queue => Action::Launch,
            _ if is_last_ending => Action::Nothing,
            _ if !is_wanted => Action::AskEnd(self.last),
            1 if is_over_time && can_queue => Action::Launch,
            1 if is_over_time => Action::AskEnd(self.last),
            _ => Action::Nothing,
        }
    }

    /// An action was done.
    pub fn did(&mut self, action: Action) {
        match action {
            Action::Nothing => {}
            Action::Launch => self.last += 1,
            Action::AskEnd(launch) => self.asked = self.asked.max(launch),
        }
    }

    /// The oldest live launch was seen to have ended: asked to, by its bound, or killed.
    pub fn see_ended(&mut self) {
        debug_assert!(self.n_live() > 0);
        self.ended += 1;
        self.asked = self.asked.max(self.ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Facts =
        Facts { has_pending: true, is_over_time: false, is_idle: false, is_stopping: false, can_queue: true };

    fn act(launches: &mut Launches, facts: Facts) -> Action {
        let action = launches.next(facts);
        launches.did(action);
        action
    }

    #[test]
    fn resident_launches_rearm_with_a_successor_in_the_queue() {
        let mut launches = Launches::default();
        assert_eq!(act(&mut launches, BUSY), Action::Launch);
        assert_eq!(act(&mut launches, BUSY), Action::Nothing);
        let over = Facts { is_over_time: true, ..BUSY };
        assert_eq!(act(&mut launches, over), Action::Launch);
        assert_eq!(act(&mut launches, BUSY), Action::AskEnd(1));
        assert_eq!(act(&mut launches, over), Action::Nothing, "never a third");
        launches.see_ended();
        assert_eq!((act(&mut launches, BUSY), launches.n_live()), (Action::Nothing, 1));
    }

    #[test]
    fn resident_launches_wait_for_the_end_where_submit_blocks() {
        let mut launches = Launches::default();
        let facts = Facts { can_queue: false, ..BUSY };
        act(&mut launches, facts);
        assert_eq!(act(&mut launches, Facts { is_over_time: true, ..facts }), Action::AskEnd(1));
        assert_eq!(act(&mut launches, facts), Action::Nothing);
        launches.see_ended();
        assert_eq!(act(&mut launches, facts), Action::Launch);
    }

    #[test]
    fn resident_launches_park_when_idle_and_come_back_for_work() {
        let mut launches = Launches::default();
        act(&mut launches, BUSY);
        let idle = Facts { has_pending: false, is_idle: true, ..BUSY };
        assert_eq!(act(&mut launches, idle), Action::AskEnd(1));
        // Work that arrives meanwhile does not wait for the end to be seen.
        assert_eq!(launches.next(BUSY), Action::Launch);
        launches.see_ended();
        assert_eq!(act(&mut launches, idle), Action::Nothing);
        assert_eq!(act(&mut launches, BUSY), Action::Launch);
        // One that ended by its bound was not asked, and is replaced.
        launches.see_ended();
        assert_eq!(act(&mut launches, BUSY), Action::Launch);
    }

    #[test]
    fn resident_launches_drain_before_they_stop() {
        let mut launches = Launches::default();
        let stopping = Facts { is_stopping: true, ..BUSY };
        assert_eq!(act(&mut launches, stopping), Action::Launch);
        assert_eq!(act(&mut launches, stopping), Action::Nothing);
        assert_eq!(act(&mut launches, Facts { has_pending: false, ..stopping }), Action::AskEnd(1));
        launches.see_ended();
        assert_eq!(act(&mut launches, Facts { has_pending: false, ..stopping }), Action::Nothing);
    }
}
