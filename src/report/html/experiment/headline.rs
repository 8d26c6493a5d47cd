//! What a comparison comes to, in a few words.

use super::judged;
use crate::measure::experiment::{Experiment, ExperimentKind, LineResult, Verdict};
use crate::measure::names::LineKind;

/// The verdict's class on the page, and its words: CPU and GPU by themselves where they come to something else.
pub(super) fn headline(experiment: &Experiment) -> (&'static str, String) {
    let all: Vec<&LineResult> = judged(experiment).collect();
    let has = |verdict| all.iter().any(|line| line.verdict == verdict);
    if experiment.lines.is_empty() {
        return ("plain", "No pair has been measured yet".to_owned());
    }
    if experiment.kind == ExperimentKind::SelfTest && (has(Verdict::Regressed) || has(Verdict::Improved)) {
        return ("warn", "A false alarm: a program differs from itself".to_owned());
    }
    let (gpu, cpu): (Vec<&LineResult>, Vec<&LineResult>) =
        all.iter().partition(|line| LineKind::of(&line.name).is_gpu(&line.name));
    let (of_gpu, of_cpu, of_all) = (Outcome::of(&gpu), Outcome::of(&cpu), Outcome::of(&all));
    match (of_gpu, of_cpu) {
        (Some(of_gpu), Some(of_cpu)) if of_gpu != of_cpu => {
            let class = of_all.unwrap_or(of_gpu).class();
            (class, format!("GPU: {}. CPU: {}", of_gpu.in_short(), of_cpu.in_short()))
        }
        _ => of_all.map_or(("plain", "No line is judged".to_owned()), |all| (all.class(), all.in_full().to_owned())),
    }
}

/// What some lines come to together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Mixed,
    Slower,
    Faster,
    Unsure,
    Same,
}

impl Outcome {
    fn of(lines: &[&LineResult]) -> Option<Self> {
        let has = |verdict| lines.iter().any(|line| line.verdict == verdict);
        match () {
            () if lines.is_empty() => None,
            () if has(Verdict::Regressed) && has(Verdict::Improved) => Some(Self::Mixed),
            () if has(Verdict::Regressed) => Some(Self::Slower),
            () if has(Verdict::Improved) => Some(Self::Faster),
            () if has(Verdict::CantTell) => Some(Self::Unsure),
            () => Some(Self::Same),
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Mixed | Self::Slower => "bad",
            Self::Faster | Self::Same => "good",
            Self::Unsure => "warn",
        }
    }

    fn in_full(self) -> &'static str {
        match self {
            Self::Mixed => "B is slower in some lines, faster in others",
            Self::Slower => "B is slower than A",
            Self::Faster => "B is faster than A",
            Self::Unsure => "Can't tell A from B yet",
            Self::Same => "A and B are the same, within the margin",
        }
    }

    /// After the name of what it is about.
    fn in_short(self) -> &'static str {
        match self {
            Self::Mixed => "B is slower in some lines, faster in others",
            Self::Slower => "B is slower",
            Self::Faster => "B is faster",
            Self::Unsure => "can't tell yet",
            Self::Same => "the same",
        }
    }
}
