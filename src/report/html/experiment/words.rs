//! Words of a comparison's page.

use crate::measure::experiment::Experiment;

/// Words that the page uses, each with its meaning.
const GLOSSARY: [(&str, &str); 12] = [
    (
        "Run",
        "One execution of the benchmark, in a process of its own. Frames of one run resemble each other, so a run counts as one sample, never each of its frames.",
    ),
    (
        "Pair",
        "A run of A and a run of B, one right after the other; which of them comes first is left to chance. Whatever drifts on the machine drifts for both.",
    ),
    (
        "Line",
        "One thing that is measured in every frame. The judged ones get a verdict; the rest are <i>shown only</i>: they tell where a difference comes from, and are no evidence by themselves, since of so many lines some differ by chance.",
    ),
    (
        "B to A",
        "The middle of what the pairs say, each pair being a run of A and one of B that ran beside it (Hodges–Lehmann). Columns A and B are medians over all runs; where runs spread, their ratio may be quite another.",
    ),
    (
        "B − A",
        "The same of the pairs' differences, in the line's own unit: how much longer B takes, not how many times as long.",
    ),
    (
        "Interval",
        "Where the true difference lies, for that line by itself. Verdicts need more: that none of the judged lines is called different by chance.",
    ),
    (
        "Slower, faster",
        "Said of a line of which three things hold: the test, which takes all judged lines together, finds a difference at one of the looks; the interval is clear of 0; and the estimate is beyond the margin. Before the first look no line is called so.",
    ),
    ("The same", "The interval lies within the margin: whatever the difference is, it is too small to matter."),
    ("Can't tell", "Neither of these: more pairs, a quieter machine or longer runs would tell."),
    ("Leans", "Can't be told yet, though the line's own interval is clear of 0: likely, not sure."),
    (
        "Detectable",
        "The least slowdown that all of the procedure would have found nine times in ten, at the spread that the pairs have. It is more than the interval is wide: the interval is for one line by itself, while the judged lines together, over all looks, may give a false alarm only once in a hundred comparisons.",
    ),
    (
        "Clock chain",
        "The same piece of arithmetic, timed in every frame: the core's speed. Pairs whose chains differ too much are void and are run again.",
    ),
];

/// Where in [`GLOSSARY`] the looks come in: before the verdicts, which speak of them.
const BEFORE_VERDICTS: usize = 6;

/// The words, with how often `experiment` looks among them.
pub(super) fn glossary_of(experiment: &Experiment, say: impl FnOnce(&[(&str, &str)])) {
    let looks: Vec<String> = experiment.plan.looks.iter().map(|look| look.n_pairs.to_string()).collect();
    let when = match looks.as_slice() {
        [] => "never".to_owned(),
        [only] => format!("once, at {only} pairs"),
        [others @ .., last] => format!("{} times, at {} and {last} pairs", looks.len(), others.join(", ")),
    };
    let look = format!(
        "A number of pairs, fixed before the first, at which the lines are judged; here {when}. Looking more often gives chance more occasions, so each look \
         asks for more."
    );
    let mut words = GLOSSARY.to_vec();
    words.insert(BEFORE_VERDICTS, ("Look", &look));
    say(&words);
}
