//! Where a frame's time goes: CPU stages and GPU passes on top of each other over the run, and within the median frame and
//! one that the reader chooses.

use serde_json::json;

use super::charts::{self, N_PART_COLOURS, NARROW, WIDE};
use super::{escaped, push};
use crate::measure::names::{self, LineKind};
use crate::measure::{RunFile, RunLine, Unit};
use crate::report::table::{section as lines_of, short_name};
use crate::report::{Report, format_value};

/// Frames whose parts the page holds; of a longer run, evenly chosen ones.
const MOST_FRAMES: usize = 4_000;

/// Parts of a frame that follow each other.
struct Stack<'a> {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    parts: Vec<(&'a str, &'a RunLine)>,
}

/// Both stacks, and the frames to choose from.
pub(super) fn section(report: &Report, html: &mut String) {
    let run = report.run;
    let of_kind = |kind| {
        let lines = lines_of(report, kind).into_iter();
        lines.filter(|(name, line)| {
            *name != names::STAGE_WAIT && !line.samples.is_empty() && line.unit == Unit::Nanoseconds
        })
    };
    let stages: Vec<_> = of_kind(LineKind::Stage).collect();
    let mut passes: Vec<_> = of_kind(LineKind::Pass).collect();
    // As they run: the table has the costliest first.
    const PASS_ORDER: [&str; 6] = ["gpu.cull", "gpu.visibility", "gpu.sun", "gpu.shade", "gpu.translucent", "gpu.post"];
    passes.sort_by_key(|(name, _)| PASS_ORDER.iter().position(|known| known == name).unwrap_or(PASS_ORDER.len()));
    let stacks = [
        Stack { id: "cpu", title: "CPU", about: "the main thread's stages, without the wait", parts: stages },
        Stack { id: "gpu", title: "GPU", about: "the passes, in their order", parts: passes },
    ];
    let Some(median_idx) = median_frame(run) else { return };
    if stacks.iter().all(|stack| stack.parts.is_empty()) {
        return;
    }
    html.push_str(
        "<section id=\"timeline\">\n<h2>Where a frame's time goes</h2>\n<p class=\"lead\">Parts of a frame on top of each other, frame \
         by frame. CPU and GPU work at the same time, on different frames, and each has its own scale. Click a chart, or move the slider, to \
         choose a frame.</p>\n",
    );
    let frames = shown_frames(run.n_frames as usize);
    html.push_str("<div class=\"stacks\">\n");
    for stack in stacks.iter().filter(|stack| !stack.parts.is_empty()) {
        draw(stack, median_idx, html);
    }
    html.push_str("</div>\n");
    let last = frames.len().saturating_sub(1);
    let at = frames.iter().position(|frame| *frame >= median_idx).unwrap_or(last);
    push(
        html,
        format_args!(
            "<div class=\"choose\"><label for=\"frame\">frame <output id=\"frame-no\">{median_idx}</output></label>\
             <input id=\"frame\" type=\"range\" min=\"0\" max=\"{last}\" value=\"{at}\">\
             <button type=\"button\" id=\"slowest\">the slowest</button></div>\n"
        ),
    );
    // `</script>` can't come up: names of lines are escaped below.
    push(
        html,
        format_args!(
            "<script type=\"application/json\" id=\"frames\">{}</script>\n</section>\n",
            data(&stacks, run, &frames)
        ),
    );
}

fn draw(stack: &Stack, median_idx: usize, html: &mut String) {
    let columns: Vec<Vec<f64>> = stack
        .parts
        .iter()
        .map(|(_, line)| line.samples.iter().map(|sample| sample.unwrap_or(0) as f64).collect())
        .collect();
    let label = format!("{} time of each frame by part", stack.title);
    push(
        html,
        format_args!("<figure class=\"stack\" id=\"stack-{}\">\n<h3>{}: {}</h3>\n", stack.id, stack.title, stack.about),
    );
    for (class, size) in [("on-wide", WIDE), ("on-narrow", NARROW)] {
        let (left, right) = size.plot_percent();
        push(
            html,
            format_args!(
                "<div class=\"over {class}\" data-left=\"{left:.3}\" data-right=\"{right:.3}\">{}<i class=\"cursor\" hidden></i></div>\n",
                charts::stacked(&columns, Unit::Nanoseconds, size, &label)
            ),
        );
    }
    let value = |line: &RunLine| line.samples.get(median_idx).copied().flatten().unwrap_or(0);
    let total: u64 = stack.parts.iter().map(|(_, line)| value(line)).sum();
    for (id, title) in
        [("median", format!("the median frame, {median_idx}")), ("chosen", "the chosen frame".to_owned())]
    {
        let segments: Vec<String> = stack
            .parts
            .iter()
            .enumerate()
            .map(|(part_idx, (name, line))| {
                format!(
                    "<i class=\"part-{}\" style=\"flex-grow:{}\" title=\"{} {}\"></i>",
                    part_idx % N_PART_COLOURS,
                    value(line),
                    escaped(short_name(name)),
                    format_value(value(line) as f64, line.unit)
                )
            })
            .collect();
        push(
            html,
            format_args!(
                "<div class=\"bar {id}\"><p><span>{title}</span> <b>{}</b></p><div class=\"parts\">{}</div></div>\n",
                format_value(total as f64, Unit::Nanoseconds),
                segments.concat()
            ),
        );
    }
    html.push_str(
        "<table class=\"legend\"><thead><tr><th></th><th>median frame</th><th>chosen</th></tr></thead><tbody>\n",
    );
    for (part_idx, (name, line)) in stack.parts.iter().enumerate() {
        let value = format_value(value(line) as f64, line.unit);
        push(
            html,
            format_args!(
                "<tr><th scope=\"row\"><i class=\"part-{}\"></i>{}</th><td>{value}</td><td class=\"chosen\">{value}</td></tr>\n",
                part_idx % N_PART_COLOURS,
                escaped(short_name(name)),
            ),
        );
    }
    html.push_str("</tbody></table>\n</figure>\n");
}

/// The frame in the middle by how long it took.
fn median_frame(run: &RunFile) -> Option<usize> {
    let line = [names::FRAME_TIME, names::CPU_FRAME, names::GPU_FRAME].iter().find_map(|name| run.lines.get(*name))?;
    let mut frames: Vec<(u64, usize)> =
        line.samples.iter().enumerate().filter_map(|(idx, sample)| Some(((*sample)?, idx))).collect();
    frames.sort_unstable();
    frames.get(frames.len() / 2).map(|(_, idx)| *idx)
}

fn shown_frames(n_frames: usize) -> Vec<usize> {
    (0..n_frames).step_by(n_frames.div_ceil(MOST_FRAMES).max(1)).collect()
}

/// What the script needs to show any frame.
fn data(stacks: &[Stack], run: &RunFile, frames: &[usize]) -> String {
    let chosen = |line: &RunLine| -> Vec<Option<u64>> {
        frames.iter().map(|frame| line.samples.get(*frame).copied().flatten()).collect()
    };
    let stacks: Vec<_> = stacks
        .iter()
        .filter(|stack| !stack.parts.is_empty())
        .map(|stack| json!({ "id": stack.id, "parts": stack.parts.iter().map(|(_, line)| chosen(line)).collect::<Vec<_>>() }))
        .collect();
    let whole = [names::FRAME_TIME, names::CPU_FRAME].iter().find_map(|name| run.lines.get(*name)).map(chosen);
    json!({ "frames": frames, "whole": whole, "n_frames": run.n_frames, "stacks": stacks })
        .to_string()
        .replace('<', "\\u003c")
}
