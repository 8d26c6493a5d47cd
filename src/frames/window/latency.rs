//! How old a frame's input is when the GPU has drawn it.

/// From a frame's input to the end of its GPU work, worked out from what is measured anyway.
///
/// One queue draws frames one after the other: a frame's GPU work begins when it is submitted, or when the frame before it
/// ends, if that is later. Where there are no timestamps, the moment counts at which the wait for the frame returned.
/// Until the display has shown the frame takes longer by what compositor and display take, of which wgpu tells nothing.
#[derive(Clone, Debug, Default)]
pub struct InputLatency {
    /// Frames submitted and not done yet, by submission number modulo the length.
    frames: Vec<Submitted>,
    gpu_ended_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Submitted {
    input_ns: u64,
    submitted_ns: u64,
}

impl InputLatency {
    /// For up to `n_in_flight` frames at once.
    pub fn new(n_in_flight: usize) -> Self {
        Self { frames: vec![Submitted::default(); n_in_flight + 1], gpu_ended_ns: 0 }
    }

    /// Submission `submission` was made at `submitted_ns`, of a frame that took its input at `input_ns`.
    pub fn submitted(&mut self, submission: u64, input_ns: u64, submitted_ns: u64) {
        let slot = self.slot(submission);
        self.frames[slot] = Submitted { input_ns, submitted_ns };
    }

    /// Submission `submission` took the GPU `gpu_ns`; gives the frame's latency in nanoseconds.
    pub fn drawn(&mut self, submission: u64, gpu_ns: u64) -> u64 {
        let frame = self.frames[self.slot(submission)];
        self.gpu_ended_ns = frame.submitted_ns.max(self.gpu_ended_ns) + gpu_ns;
        self.gpu_ended_ns.saturating_sub(frame.input_ns)
    }

    /// Submission `submission` was known to be done at `now_ns`; gives the frame's latency in nanoseconds, or a little more.
    pub fn seen_done(&mut self, submission: u64, now_ns: u64) -> u64 {
        self.gpu_ended_ns = now_ns;
        now_ns.saturating_sub(self.frames[self.slot(submission)].input_ns)
    }

    fn slot(&self, submission: u64) -> usize {
        (submission % self.frames.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn window_latency_of_an_idle_gpu_is_cpu_and_gpu_time() {
        let mut latency = InputLatency::new(2);
        for frame in 0..100 {
            latency.submitted(frame, frame * 16 * MS, frame * 16 * MS + 2 * MS);
            assert_eq!(latency.drawn(frame, 5 * MS), 7 * MS);
        }
    }

    #[test]
    fn window_latency_behind_a_busy_gpu_grows_with_the_frames_in_flight() {
        // The GPU takes 20 ms; the CPU takes input as soon as there is room for a frame in flight.
        for n_in_flight in [1_u64, 2, 3] {
            let mut latency = InputLatency::new(n_in_flight as usize);
            let mut ended_ns = vec![0; n_in_flight as usize];
            let mut last = 0;
            for frame in 0..50 {
                let input_ns = ended_ns[(frame % n_in_flight) as usize];
                latency.submitted(frame, input_ns, input_ns + MS);
                last = latency.drawn(frame, 20 * MS);
                ended_ns[(frame % n_in_flight) as usize] = latency.gpu_ended_ns;
            }
            let expected = if n_in_flight == 1 { 21 * MS } else { n_in_flight * 20 * MS };
            assert_eq!(last, expected, "{n_in_flight} in flight");
        }
    }

    #[test]
    fn window_latency_without_timestamps_is_what_the_wait_saw() {
        let mut latency = InputLatency::new(2);
        latency.submitted(0, 10, 20);
        latency.submitted(1, 30, 40);
        assert_eq!(latency.seen_done(0, 100), 90);
        assert_eq!(latency.seen_done(1, 120), 90);
    }
}
