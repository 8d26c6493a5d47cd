//! Scene time in the window: the one place where a clock chooses the frame index.

/// Frame indices a second.
const RATE_HZ: f64 = 60.0;

/// Scene time, which runs with the wall clock, stands, or goes on by single frames.
#[derive(Clone, Debug, Default)]
pub struct SceneClock {
    frames: f64,
    is_paused: bool,
}

impl SceneClock {
    /// `elapsed_s` seconds went by.
    pub fn advance(&mut self, elapsed_s: f64) {
        if !self.is_paused {
            self.frames += elapsed_s.max(0.0) * RATE_HZ;
        }
    }

    /// Stands from the first frame on.
    pub fn paused() -> Self {
        Self { is_paused: true, ..Self::default() }
    }

    /// Stands, or goes on. Returns whether it stands.
    pub fn toggle_pause(&mut self) -> bool {
        self.is_paused = !self.is_paused;
        self.is_paused
    }

    /// Stands, one frame later.
    pub fn step(&mut self) {
        self.is_paused = true;
        self.frames = self.frames.floor() + 1.0;
    }

    /// The frame index to show; stays at the last one there is.
    pub fn frame_idx(&self) -> u32 {
        self.frames as u32
    }

    /// Whether it stands.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_time_runs_at_sixty_frames_a_second_however_long_frames_take() {
        let mut clock = SceneClock::default();
        assert_eq!(clock.frame_idx(), 0);
        for _ in 0..10 {
            clock.advance(0.035);
        }
        assert_eq!(clock.frame_idx(), 21);
        clock.advance(1.0);
        assert_eq!(clock.frame_idx(), 81);
    }

    #[test]
    fn window_time_stands_while_paused_and_steps_by_one() {
        let mut clock = SceneClock::default();
        clock.advance(0.51);
        assert!(clock.toggle_pause());
        clock.advance(5.0);
        assert_eq!(clock.frame_idx(), 30);
        clock.step();
        clock.step();
        assert_eq!((clock.frame_idx(), clock.is_paused()), (32, true));
        assert!(!clock.toggle_pause());
        clock.advance(1.0 / 60.0 + 1e-9);
        assert_eq!(clock.frame_idx(), 33);
        clock.step();
        assert!(clock.is_paused(), "a step stops a running clock");
    }
}
