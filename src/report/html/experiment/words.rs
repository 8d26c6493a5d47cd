//! Words of a comparison's page.

/// Words that the page uses, each with its meaning.
pub(super) const GLOSSARY: [(&str, &str); 12] = [
    (
        "Run",
        "One execution of the benchmark, in a process of its own. Frames of one run resemble each other, so a run counts as one sample, never each of its frames.",
    ),
    (
        "Pair",
        "A run of A and a run of B, one after the other, in an order drawn by lot: whatever drifts on the machine drifts for both.",
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
        "All judged lines together, the test finds it at one of the looks; the interval is clear of 0, and the estimate beyond the margin. Before the first look there is no such verdict.",
    ),
    ("The same", "The interval lies within the margin: whatever the difference is, it is too small to matter."),
    ("Can't tell", "Neither: more pairs would tell."),
    ("Leans", "Can't be told yet, though the line's own interval is clear of 0: likely, not sure."),
    ("Detectable", "The least difference that so many pairs would have found nine times out of ten."),
    (
        "Clock chain",
        "The same piece of arithmetic, timed in every frame: the core's speed. Pairs whose chains differ too much are void and are run again.",
    ),
];
