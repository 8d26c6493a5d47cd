//! The commands that settle a suspicion: interleaved runs against the program that recorded the Baseline.

use serde_json::Value;

use crate::measure::RunFile;

/// Two commands, to be given in a checkout: the Baseline's program is built beside it, then both are run in turn with the
/// run's settings. Without a known commit the first is left out, and the path is for the reader to fill in.
pub(super) fn commands(run: &RunFile, baseline: &RunFile) -> Vec<String> {
    let bench = |other: &str| format!("praxis bench {} --vs {other}{}", shell_word(&run.scene), flags(run));
    match &baseline.build.commit {
        Some(commit) => {
            let folder = format!("../praxis-{commit}");
            let build = format!(
                "git worktree add {folder} {commit} && cargo build --release --locked --manifest-path {folder}/Cargo.toml"
            );
            vec![build, bench(&format!("{folder}/target/release/praxis"))]
        }
        None => vec![bench("PATH_OF_THE_OLDER_PRAXIS")],
    }
}

/// The flags with which `bench` measures under the run's settings again.
fn flags(run: &RunFile) -> String {
    let mut flags = String::from(" --skip-aliasing");
    let setting = |name: &str| run.settings.get(name).filter(|value| !value.is_null());
    if let (Some(width), Some(height)) = (setting("width_px"), setting("height_px")) {
        flags += &format!(" --size {width}x{height}");
    }
    for (name, flag) in [
        ("frames", "--frames"),
        ("warmup", "--warmup"),
        ("msaa", "--msaa"),
        ("camera", "--camera"),
        ("tonemap", "--tonemap"),
        ("exposure_ev100", "--exposure"),
        ("rays", "--rays"),
        ("ray_backend", "--ray-backend"),
        ("ray_columns", "--ray-columns"),
        ("wait", "--wait"),
        ("frames_in_flight", "--frames-in-flight"),
    ] {
        match setting(name) {
            Some(Value::String(text)) => flags += &format!(" {flag} {}", shell_word(text)),
            Some(value) => flags += &format!(" {flag} {value}"),
            None => {}
        }
    }
    if setting("validate") == Some(&Value::Bool(true)) {
        flags += " --validate";
    }
    flags
}

/// As a POSIX shell reads it as one word.
pub(super) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/+:".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::FrameLog;

    #[test]
    fn report_settling_repeats_the_runs_settings() {
        let mut run = RunFile::from_log("my town", &FrameLog::default());
        run.settings.set("width_px", 640).set("height_px", 360).set("frames", 60).set("wait", "block");
        run.settings.set("camera", "it's").set("exposure_ev100", Value::Null).set("scene.lights", 7);
        let mut baseline = run.clone();
        let expected = "praxis bench 'my town' --vs PATH_OF_THE_OLDER_PRAXIS --skip-aliasing --size 640x360 --frames 60 \
                        --camera 'it'\\''s' --wait block";
        assert_eq!(commands(&run, &baseline), [expected]);
        baseline.build.commit = Some("abc123".into());
        let commands = commands(&run, &baseline);
        assert!(commands[0].starts_with("git worktree add ../praxis-abc123 abc123 && cargo build --release"));
        assert!(commands[1].contains(" --vs ../praxis-abc123/target/release/praxis --skip-aliasing"));
    }
}
