//! `praxis resident-soak`.

use super::{Project, praxis, stderr};

#[test]
fn cli_resident_soak_finds_nothing_wrong() {
    let project = Project::new();
    let output = praxis(project.path())
        .args(["resident-soak", "--seconds", "3", "--seed", "4", "--json"])
        .output()
        .expect("it starts");
    if stderr(&output).contains("a resident worker is not available here") {
        assert_eq!(output.status.code(), Some(1));
        return;
    }
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(json["schema"], "praxis.resident-soak/1");
    for fault in ["n_wrong", "n_lost", "n_run_twice", "n_hangs"] {
        assert_eq!(json[fault], 0, "{fault}: {}", json["first_fault"]);
    }
    assert!(json["n_ops"].as_u64() > Some(100), "{json}");
    assert_eq!((&json["ended_by"], &json["is_interrupted"]), (&serde_json::Value::Null, &false.into()));
}

/// The fault that it is there to find is no reason to say nothing of the rest.
#[test]
fn cli_resident_soak_tells_of_a_worker_that_was_lost() {
    let project = Project::new();
    let output = praxis(project.path())
        .args(["resident-soak", "--seconds", "60", "--lose-device", "--json"])
        .output()
        .expect("it starts");
    if stderr(&output).contains("a resident worker is not available here") {
        assert_eq!(output.status.code(), Some(1));
        return;
    }
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let end = json["ended_by"].as_str().expect("a reason");
    assert!(end.contains("the resident worker is gone") && stderr(&output).contains(end), "{end}");
    assert!(json["n_chains"].as_u64() >= Some(1_000) && json["n_wrong"] == 0, "{json}");
}
