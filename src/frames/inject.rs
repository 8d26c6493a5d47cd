//! A known slowdown, so that what comparing finds can be held against what is there.

use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::measure::names;

use super::recorder::Stage;

/// Work by the clock in one stage of the main thread, in every frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    stage: Stage,
    duration: Duration,
}

/// Text that is no injection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no slowdown: use SECONDS@LINE, such as 0.00002@stage.encode; the line is stage.update, stage.prepare_frame, stage.encode or stage.submit, the seconds 0 to 1"
)]
pub struct UnknownInjection(String);

const STAGES: [(&str, Stage); 4] = [
    (names::STAGE_UPDATE, Stage::Update),
    (names::STAGE_PREPARE_FRAME, Stage::PrepareFrame),
    (names::STAGE_ENCODE, Stage::Encode),
    (names::STAGE_SUBMIT, Stage::Submit),
];

impl FromStr for Injection {
    type Err = UnknownInjection;

    fn from_str(text: &str) -> Result<Self, UnknownInjection> {
        let parse = || {
            let (seconds, line) = text.split_once('@')?;
            let seconds: f64 = seconds.parse().ok().filter(|seconds| (0.0..=1.0).contains(seconds))?;
            let (_, stage) = STAGES.iter().find(|(name, _)| *name == line)?;
            Some(Self { stage: *stage, duration: Duration::from_secs_f64(seconds) })
        };
        parse().ok_or_else(|| UnknownInjection(text.to_owned()))
    }
}

impl std::fmt::Display for Injection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = STAGES.iter().find(|(_, stage)| *stage == self.stage).map_or("", |(name, _)| name);
        write!(f, "{}@{name}", self.duration.as_secs_f64())
    }
}

impl Injection {
    /// Keeps the thread busy if `stage` is the one.
    pub(super) fn slow_down(self, stage: Stage) {
        if stage == self.stage && !self.duration.is_zero() {
            let started = Instant::now();
            while started.elapsed() < self.duration {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injections_parse_and_nonsense_is_refused() {
        let injection: Injection = "0.000025@stage.encode".parse().expect("25 µs of encode");
        assert_eq!(injection, Injection { stage: Stage::Encode, duration: Duration::from_micros(25) });
        assert_eq!(injection.to_string(), "0.000025@stage.encode");
        for text in [
            "",
            "1",
            "@stage.encode",
            "2@stage.encode",
            "-1@stage.encode",
            "nan@stage.encode",
            "1@stage.wait",
            "1@gpu.sun",
        ] {
            assert!(text.parse::<Injection>().is_err(), "{text}");
        }
    }

    #[test]
    fn injections_slow_their_own_stage_alone() {
        let injection: Injection = "0.002@stage.submit".parse().expect("2 ms of submit");
        let started = Instant::now();
        injection.slow_down(Stage::Encode);
        let other = started.elapsed();
        injection.slow_down(Stage::Submit);
        assert!(started.elapsed() - other >= Duration::from_millis(2));
    }
}
