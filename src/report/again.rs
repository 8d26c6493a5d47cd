//! The commands that two sides ran with: what differs between them, and how to compare them again.

use super::settle::shell_word;
use crate::measure::experiment::{CHAIN_GATE, Experiment, ExperimentKind, MARGIN, Side, WAITING_HINT};

/// Options that one side had and the other had not, besides what is compared; `None` where there are none.
pub(super) fn differing_options(experiment: &Experiment) -> Option<String> {
    let compared = compared_flag(experiment);
    let is_compared = |option: &str| compared.as_deref().is_some_and(|flag| name_of(option) == flag);
    let only_in = |side: &Side, other: &Side| -> Vec<String> {
        let own = side.arguments.iter().filter(|option| !other.arguments.contains(option));
        own.filter(|option| !is_compared(option)).cloned().collect()
    };
    let (in_a, in_b) = (only_in(&experiment.a, &experiment.b), only_in(&experiment.b, &experiment.a));
    let had = |name: &str, options: &[String]| {
        (!options.is_empty()).then(|| format!("only {name} had {}", options.join(" ")))
    };
    let sides: Vec<String> = [had("A", &in_a), had("B", &in_b)].into_iter().flatten().collect();
    if sides.is_empty() {
        return None;
    }
    let is_hint = in_a.iter().chain(&in_b).all(|option| name_of(option) == WAITING_HINT);
    let why = match is_hint {
        true => {
            ": it tells what the comparison's first run found out, whether submit blocks, so that a run need not measure that before its frames; the \
             measured frames are the same"
        }
        false => "",
    };
    Some(format!("options differ: {}{why}", sides.join("; ")))
}

/// The command that compares the two sides anew with up to `n_pairs` pairs; `None` for a program that was compared with itself.
pub(super) fn again(experiment: &Experiment, n_pairs: u32) -> Option<String> {
    let compared = compared_flag(experiment);
    let how = match experiment.kind {
        ExperimentKind::Vs => format!("--vs {}", shell_word(&experiment.a.program.display().to_string())),
        ExperimentKind::Ab => {
            let (_, in_b) = experiment.b.label.split_once('=')?;
            format!("--ab {}", shell_word(&format!("{},{in_b}", experiment.a.label)))
        }
        ExperimentKind::SelfTest => return None,
    };
    // What every run of a comparison gets is not given.
    let is_given = |option: &&String| {
        let name = name_of(option);
        !["--skip-aliasing", "--quiet", WAITING_HINT].contains(&name) && compared.as_deref() != Some(name)
    };
    let program = experiment.b.program.display().to_string();
    let mut words = vec![shell_word(&program), "bench".to_owned(), shell_word(&experiment.scene), how];
    words.extend(experiment.b.arguments.iter().skip(2).filter(is_given).map(|option| option_word(option)));
    let plan = &experiment.plan;
    if plan.margin != MARGIN {
        words.push(format!("--margin={}", rounded(100.0 * plan.margin)));
    }
    if plan.spread_from.is_none() && plan.chain_gate != CHAIN_GATE {
        words.push(format!("--clock-gate={}", rounded(100.0 * plan.chain_gate.exp_m1())));
    }
    words.push(format!("--pairs={n_pairs}"));
    Some(words.join(" "))
}

/// The flag of which the two sides have two values, with its dashes.
fn compared_flag(experiment: &Experiment) -> Option<String> {
    let (name, _) = experiment.b.label.split_once('=').filter(|_| experiment.kind == ExperimentKind::Ab)?;
    Some(format!("--{name}"))
}

fn name_of(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

fn option_word(option: &str) -> String {
    match option.split_once('=') {
        Some((name, value)) => format!("{name}={}", shell_word(value)),
        None => shell_word(option),
    }
}

fn rounded(percent: f64) -> f64 {
    (percent * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::experiment::{EXPERIMENT_SCHEMA, ExperimentState, GATED_LINES, Plan};

    fn experiment(kind: ExperimentKind, [a, b]: [&str; 2], [in_a, in_b]: [&str; 2]) -> Experiment {
        let side = |label: &str, options: &str| Side {
            label: label.into(),
            program: "/usr/bin/praxis".into(),
            arguments: format!("bench town --skip-aliasing --quiet {options}")
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            ..Side::default()
        };
        Experiment {
            schema: EXPERIMENT_SCHEMA.into(),
            scene: "town".into(),
            date: None,
            kind,
            state: ExperimentState::Exhausted,
            a: side(a, in_a),
            b: side(b, in_b),
            machine: Default::default(),
            adapter: Default::default(),
            plan: Plan::new(12, 1, &GATED_LINES),
            pairs: Vec::new(),
            lines: Vec::new(),
            clock: Default::default(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn report_comparisons_again_repeat_what_was_given_and_no_more() {
        let options = "--frames=60 --submit-blocks=true";
        let mut vs = experiment(ExperimentKind::Vs, ["/old/praxis", "/usr/bin/praxis"], [options; 2]);
        vs.a.program = "/old/the praxis".into();
        let command = again(&vs, 60).expect("two programs");
        assert_eq!(command, "/usr/bin/praxis bench town --vs '/old/the praxis' --frames=60 --pairs=60");
        let sides = ["--frames=60 --wait=block", "--frames=60 --wait=spin"];
        let mut ab = experiment(ExperimentKind::Ab, ["wait=block", "wait=spin"], sides);
        (ab.plan.margin, ab.plan.chain_gate) = (0.05, 0.1f64.ln_1p());
        let command = again(&ab, 40).expect("two values");
        let expected =
            "/usr/bin/praxis bench town --ab 'wait=block,spin' --frames=60 --margin=5 --clock-gate=10 --pairs=40";
        assert_eq!(command, expected);
        assert_eq!(again(&experiment(ExperimentKind::SelfTest, ["a"; 2], [""; 2]), 40), None);
    }

    #[test]
    fn report_options_that_differ_are_said() {
        let of = |kind, labels, options| differing_options(&experiment(kind, labels, options));
        assert_eq!(of(ExperimentKind::Vs, ["a", "b"], ["--frames=60"; 2]), None);
        assert_eq!(of(ExperimentKind::Ab, ["wait=block", "wait=spin"], ["--wait=block", "--wait=spin"]), None);
        assert_eq!(of(ExperimentKind::Ab, ["validate=off", "validate=on"], ["", "--validate"]), None);
        let hinted = of(ExperimentKind::Vs, ["a", "b"], ["", "--submit-blocks=false"]).expect("they differ");
        assert!(hinted.starts_with("options differ: only B had --submit-blocks=false: it tells"), "{hinted}");
        let other =
            of(ExperimentKind::Ab, ["wait=block", "wait=spin"], ["--frames=6 --wait=block", "--msaa=1 --wait=spin"]);
        assert_eq!(other.as_deref(), Some("options differ: only A had --frames=6; only B had --msaa=1"));
    }
}
