//! `praxis info`.

use super::{Project, praxis, stderr, stdout};

#[test]
fn cli_info_names_machine_and_adapter() {
    let project = Project::new();
    let output = praxis(project.path()).arg("info").output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for name in
        ["CPU ", "cores ", "cache line ", "clock source ", "clock chain ", "adapter ", "ray queries ", "chosen "]
    {
        assert_eq!(
            text.lines().filter(|line| line.trim_start().starts_with(name)).count().min(1),
            1,
            "{name}:\n{text}"
        );
    }

    let output = praxis(project.path()).args(["info", "--json"]).output().expect("it starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let chosen = json["chosen"]["adapter"].as_u64().expect("one is chosen") as usize;
    let adapter = &json["adapters"][chosen];
    assert_eq!((&json["schema"], &adapter["can_draw"]), (&"praxis.info/1".into(), &true.into()));
    let needed = adapter["needed_features"].as_object().expect("names");
    assert!(needed["MULTI_DRAW_INDIRECT_COUNT"] == true && needed.values().all(|is_held| *is_held == true));
    assert!(json["clock"]["resolution_ns"].as_u64() > Some(0) && json["clock"]["chain_min_ns"].as_u64() > Some(100));
    assert!(text.contains(json["machine_key"].as_str().expect("a name")), "{text}");
}

#[test]
fn cli_info_without_an_adapter_shows_the_machine_and_fails() {
    let project = Project::new();
    let output = praxis(project.path())
        .args(["info"])
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .output()
        .expect("it starts");
    assert!(super::fault(&output).starts_with("no GPU adapter found"));
    assert!(stdout(&output).contains("clock chain ") && !stdout(&output).contains("chosen "));
}
