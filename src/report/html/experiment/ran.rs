//! What was run, for a reader who did not run it: scene, picture, machine, time, and the two programs.

use serde_json::Value;

use super::{not_counted, scene};
use crate::measure::experiment::{Experiment, Side};
use crate::measure::{Build, Settings};
use crate::report::again::differing_options;
use crate::report::html::{command, escaped, push};
use crate::report::{counted, plain};

/// What is compared with what: everything that somebody needs to run it again, in words.
pub(super) fn section(experiment: &Experiment, html: &mut String) {
    html.push_str("<section id=\"ran\">\n<h2>What was run</h2>\n<dl class=\"ran\">\n");
    for (name, text) in facts(experiment) {
        push(html, format_args!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(&text)));
    }
    html.push_str("</dl>\n<div class=\"stacks\">\n");
    for (name, about, side) in
        [("A", "what was there before", &experiment.a), ("B", "what is in question", &experiment.b)]
    {
        push(
            html,
            format_args!(
                "<div class=\"stack\"><h3><i class=\"swatch side-{}\"></i>{name}: {}</h3>\n<p class=\"muted\">{about}{}</p>{}</div>\n",
                name.to_lowercase(),
                escaped(&side.label),
                escaped(&program(&side.build)),
                command(&command_line(side))
            ),
        );
    }
    html.push_str("</div>\n");
    if let Some(differing) = differing_options(experiment) {
        push(html, format_args!("<p>Besides what is compared, {}.</p>\n", escaped(&differing)));
    }
    differing_settings(experiment, html);
    html.push_str("</section>\n");
}

/// What both sides share, in few words: for the page's head.
pub(super) fn at_a_glance(experiment: &Experiment) -> Vec<String> {
    let n_frames = |settings: &Settings| Some(format!("{} a run", counted(settings.get("frames")?.as_u64()?, "frame")));
    let shared = |say: &dyn Fn(&Settings) -> Option<String>| {
        let [a, b] = [&experiment.a, &experiment.b].map(|side| say(&side.settings));
        a.filter(|a| b.as_ref() == Some(a))
    };
    [shared(&n_frames), shared(&picture)].into_iter().flatten().collect()
}

/// When the first run's frames began.
pub(super) fn date(experiment: &Experiment) -> Option<String> {
    experiment.date.as_ref().map(|date| date.replace('T', " ").replace('Z', " UTC"))
}

/// Names of what was run, and what it was. What is not known is left out.
fn facts(experiment: &Experiment) -> Vec<(&'static str, String)> {
    let of_sides = |say: fn(&Settings) -> Option<String>| {
        let [a, b] = [&experiment.a, &experiment.b].map(|side| say(&side.settings));
        match (a, b) {
            (Some(a), Some(b)) if a != b => Some(format!("A: {a}. B: {b}")),
            (a, b) => a.or(b),
        }
    };
    let mut pairs = format!(
        "{}, each a run of A and one of B; which of them comes first is left to chance",
        counted(experiment.n_valid_pairs() as u64, "pair")
    );
    if let Some(others) = not_counted(experiment) {
        pairs.push_str(&format!("; {others}"));
    }
    let known = |parts: &[&str]| {
        let parts: Vec<&str> = parts.iter().filter(|part| !part.is_empty()).copied().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    };
    let (adapter, machine) = (&experiment.adapter, &experiment.machine);
    let kind = match adapter.device_type.as_str() {
        "Cpu" => "a driver that draws on the CPU, no GPU",
        "IntegratedGpu" => "a GPU in the processor",
        "DiscreteGpu" => "a graphics card",
        "VirtualGpu" => "a GPU of a virtual machine",
        _ => "",
    };
    let n_cores = match machine.n_cores {
        0 => String::new(),
        n => format!("{} for the program", counted(n.into(), "core")),
    };
    let path = if scene(experiment) == experiment.scene { String::new() } else { format!(" ({})", experiment.scene) };
    [
        ("Scene", Some(scene(experiment).to_owned() + &path)),
        ("Seen through", of_sides(|settings| Some(format!("the scene's camera {}", text(settings, "camera")?)))),
        ("Picture", of_sides(picture)),
        ("Smooth edges (MSAA)", of_sides(samples)),
        ("Sun's shadows (rays)", of_sides(rays)),
        ("Waiting for the GPU", of_sides(wait)),
        ("Pairs of runs", Some(pairs)),
        ("Each run", of_sides(frames)),
        ("Drawn by (adapter)", known(&[&adapter.name, kind])),
        ("Driver", known(&[&adapter.driver, &adapter.driver_info, &adapter.backend])),
        ("Processor (CPU)", known(&[&machine.cpu, &n_cores])),
        ("System", known(&[&machine.os])),
        ("Began", date(experiment)),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, text?)))
    .collect()
}

fn text(settings: &Settings, name: &str) -> Option<String> {
    settings.get(name).filter(|value| !value.is_null()).map(plain)
}

fn picture(settings: &Settings) -> Option<String> {
    Some(format!("{}×{} pixels", text(settings, "width_px")?, text(settings, "height_px")?))
}

fn samples(settings: &Settings) -> Option<String> {
    Some(match settings.get("msaa")?.as_u64()? {
        1 => "none: 1 sample a pixel".to_owned(),
        n => format!("{n} samples a pixel"),
    })
}

fn rays(settings: &Settings) -> Option<String> {
    let mode = text(settings, "rays")?;
    let what = match mode.as_str() {
        "off" => return Some("off: no ray is traced, and the sun casts no shadow".to_owned()),
        "hard" => "hard: one ray for each surface of a pixel",
        "edge" => "edge: one ray for each surface of a pixel, more along the edges of shadows",
        other => other,
    };
    let by = match text(settings, "ray_backend").as_deref() {
        Some("bvh") => ", traced by Praxis's own trees (bvh)".to_owned(),
        Some("query") => ", traced by the adapter's ray queries".to_owned(),
        Some(other) => format!(", traced by {other}"),
        None => String::new(),
    };
    Some(format!("{what}{by}"))
}

fn wait(settings: &Settings) -> Option<String> {
    let wait = text(settings, "wait")?;
    let what = match wait.split(':').next() {
        Some("block") => "the CPU sleeps until the frame is drawn",
        Some("spin") => "the CPU asks without a pause whether the frame is drawn",
        Some("hybrid") => "the CPU sleeps until shortly before the frame should be drawn, then asks without a pause",
        _ => return Some(wait),
    };
    Some(format!("{wait}: {what}"))
}

fn frames(settings: &Settings) -> Option<String> {
    let frames = counted(settings.get("frames")?.as_u64()?, "frame");
    let warmup = settings.get("warmup").and_then(Value::as_u64).filter(|n| *n > 0);
    let warmup = warmup.map_or(String::new(), |n| format!(" after {n} to warm up, which do not count"));
    Some(format!("a process of its own; {frames} measured{warmup}"))
}

/// What is known of a program besides its path.
fn program(build: &Build) -> String {
    let mut known = Vec::new();
    if !build.version.is_empty() {
        known.push(format!("praxis {}", build.version));
    }
    match &build.commit {
        Some(commit) if build.dirty == Some(true) => known.push(format!("commit {commit} with uncommitted changes")),
        Some(commit) => known.push(format!("commit {commit}")),
        None if !build.version.is_empty() => known.push("commit unknown".to_owned()),
        None => {}
    }
    match build.profile.as_str() {
        "" => {}
        "dev" => known.push("debug build".to_owned()),
        profile => known.push(format!("{profile} build")),
    }
    if known.is_empty() { String::new() } else { format!(": {}", known.join(", ")) }
}

fn command_line(side: &Side) -> String {
    let words = std::iter::once(side.program.display().to_string()).chain(side.arguments.iter().cloned());
    words.collect::<Vec<_>>().join(" ")
}

/// Every setting that the two sides do not share.
fn differing_settings(experiment: &Experiment, html: &mut String) {
    let (a, b) = (&experiment.a.settings, &experiment.b.settings);
    // Before a side has run nothing is known of it.
    if *a == Settings::default() || *b == Settings::default() {
        return;
    }
    let only_in_b = b.iter().map(|(name, _)| name).filter(|name| a.get(name).is_none());
    let names = a.iter().map(|(name, _)| name).chain(only_in_b);
    let differing: Vec<String> = names
        .filter(|name| a.get(name) != b.get(name))
        .map(|name| {
            let [in_a, in_b] = [a, b].map(|side| side.get(name).map_or("unset".to_owned(), plain));
            format!("<li>{}: {} in A, {} in B</li>", escaped(name), escaped(&in_a), escaped(&in_b))
        })
        .collect();
    if !differing.is_empty() {
        push(html, format_args!("<p>Settings that differ:</p><ul>{}</ul>\n", differing.concat()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_settings_are_said_in_words() {
        let mut settings = Settings::default();
        assert_eq!([picture, samples, rays, wait, frames].map(|say| say(&settings)), [const { None }; 5]);
        settings.set("width_px", 64).set("height_px", 48).set("msaa", 1).set("frames", 20).set("warmup", 3);
        settings.set("rays", "hard").set("ray_backend", "bvh").set("wait", "hybrid:50");
        assert_eq!(picture(&settings).as_deref(), Some("64×48 pixels"));
        assert_eq!(samples(&settings).as_deref(), Some("none: 1 sample a pixel"));
        let rays = rays(&settings).expect("it is set");
        assert_eq!(rays, "hard: one ray for each surface of a pixel, traced by Praxis's own trees (bvh)");
        assert!(wait(&settings).is_some_and(|text| text.starts_with("hybrid:50: the CPU sleeps until shortly")));
        let frames = frames(&settings).expect("they are set");
        assert_eq!(frames, "a process of its own; 20 frames measured after 3 to warm up, which do not count");
    }

    #[test]
    fn report_programs_are_said_by_what_is_known_of_them() {
        let build = Build { version: "0.1.0".into(), profile: "dev".into(), ..Build::default() };
        assert_eq!(program(&build), ": praxis 0.1.0, commit unknown, debug build");
        let build = Build { commit: Some("abc".into()), dirty: Some(true), profile: "release".into(), ..build };
        assert_eq!(program(&build), ": praxis 0.1.0, commit abc with uncommitted changes, release build");
        assert_eq!(program(&Build::default()), "");
    }
}
