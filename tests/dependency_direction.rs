//! Dependencies between the modules of `src/` flow one way: docs/architecture.md says which and why. This test reads the
//! sources, finds every path from one top-level module to another, however it is written, and fails on a forbidden one.
//!
//! It reads tokens, not types: `crate::a::b`, `super::super::a`, `praxis::a` and nested `use` groups are resolved against the
//! file's place in the module tree; comments and strings don't count, tests inside `src/` do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What each top-level module may know: other modules, and which outside crates it must not name.
struct Rule {
    module: &'static str,
    knows: &'static [&'static str],
    never_names: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule { module: "scene", knows: &[], never_names: &["wgpu", "winit", "egui"] },
    Rule { module: "gpu", knows: &[], never_names: &["bevy_ecs"] },
    Rule { module: "measure", knows: &[], never_names: &["wgpu", "winit", "egui", "bevy_ecs", "glam"] },
    Rule { module: "pacing", knows: &["measure"], never_names: &["winit", "egui", "bevy_ecs"] },
    Rule { module: "render", knows: &["scene", "gpu"], never_names: &["winit"] },
    Rule { module: "frames", knows: &["scene", "gpu", "measure", "pacing", "render"], never_names: &[] },
    Rule { module: "report", knows: &["measure"], never_names: &["wgpu", "winit", "egui", "bevy_ecs"] },
    Rule { module: "resident", knows: &["gpu"], never_names: &["winit", "egui", "bevy_ecs"] },
    Rule { module: "probe", knows: &["gpu", "pacing", "measure", "resident"], never_names: &["bevy_ecs"] },
    Rule {
        module: "commands",
        knows: &["scene", "gpu", "measure", "pacing", "render", "frames", "report", "resident", "probe", "cli"],
        never_names: &[],
    },
    // Turns arguments into a command's options, so it may know commands; it and `main` are the only ones.
    Rule {
        module: "cli",
        knows: &["commands", "scene", "gpu", "measure", "pacing", "frames", "probe"],
        never_names: &[],
    },
];

/// The files that join the modules together: they may name all of them.
const ROOT_FILES: &[&str] = &["lib.rs", "main.rs"];

#[test]
fn no_module_knows_what_it_must_not() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = rust_files(&src);
    assert!(!files.is_empty(), "no sources under {}", src.display());

    let mut faults = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()));
        let relative = path.strip_prefix(&src).expect("listed under src").to_path_buf();
        faults.extend(faults_in(&relative, &text));
    }
    assert!(faults.is_empty(), "forbidden dependencies (docs/architecture.md has the rule):\n{}", faults.join("\n"));
}

/// Faults of one source file, given its path below `src/`: one line each, with the line it stands on.
fn faults_in(relative: &Path, text: &str) -> Vec<String> {
    if ROOT_FILES.iter().any(|root| relative == Path::new(root)) {
        return Vec::new();
    }
    let module_path = module_path_of(relative);
    let from = module_path[0].as_str();
    let Some(rule) = RULES.iter().find(|rule| rule.module == from) else {
        return vec![format!(
            "{}: `{from}` is in no rule of this test: say there what it may know",
            relative.display()
        )];
    };

    let mut faults = Vec::new();
    for edge in edges(&tokens(text), &module_path) {
        let complaint = match &edge.to {
            Target::Module(to) if to == from || rule.knows.contains(&to.as_str()) => continue,
            Target::Module(to) if RULES.iter().any(|rule| rule.module == to) => {
                format!("`{from}` must not know `{to}`")
            }
            Target::Module(to) => format!("`{to}` at the crate's root is no module: name the module it comes from"),
            Target::Root => "the crate's root is named as a whole, which hides what is used from it".to_string(),
            Target::Outside(name) if rule.never_names.contains(&name.as_str()) => {
                format!("`{from}` must not name the crate `{name}`")
            }
            Target::Outside(_) => continue,
        };
        faults.push(format!("src/{}:{}: {complaint}", relative.display(), edge.line));
    }
    faults
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("cannot list {}: {e}", folder.display()));
        for entry in entries {
            let path = entry.expect("a folder entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// `render/passes/cull.rs` is `[render, passes, cull]`; a `mod.rs` is its folder.
fn module_path_of(relative: &Path) -> Vec<String> {
    let mut path: Vec<String> =
        relative.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|last| last == "mod") {
        path.pop();
    }
    path
}

// --- Paths ---------------------------------------------------------------------------------------------------------

#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// A name directly under the crate's root.
    Module(String),
    /// The root itself: `use super::*` in a top-level module, `use crate as root`.
    Root,
    /// The first segment of a path that starts with neither `crate` nor `self` nor `super`.
    Outside(String),
}

#[derive(Debug, PartialEq, Eq)]
struct Edge {
    to: Target,
    line: usize,
}

/// Every path in a file that leaves its own module tree, and the first segment of every other path.
fn edges(tokens: &[Token], file_module: &[String]) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut module = file_module.to_vec();
    let mut inline_modules: Vec<usize> = Vec::new(); // brace depths at which an inline `mod name {` was opened
    let mut depth = 0;
    let mut i = 0;
    while i < tokens.len() {
        let text = tokens[i].text.as_str();
        match text {
            "{" => depth += 1,
            "}" => {
                if inline_modules.last() == Some(&depth) {
                    inline_modules.pop();
                    module.pop();
                }
                depth -= 1;
            }
            "mod" if text_at(tokens, i + 2) == "{" => {
                module.push(tokens[i + 1].text.clone());
                depth += 1;
                inline_modules.push(depth);
                i += 2;
            }
            // `use {crate::a, super::b}`: the group's members are found as paths of their own.
            _ if starts_path(tokens, i) => i = follow_path(tokens, i, &module, &mut edges).max(i + 1) - 1,
            _ => {}
        }
        i += 1;
    }
    edges
}

fn text_at(tokens: &[Token], i: usize) -> &str {
    tokens.get(i).map_or("", |token| token.text.as_str())
}

/// A path's first segment: an identifier before `::` (or a root-like keyword that is renamed) with no `::` before it.
fn starts_path(tokens: &[Token], i: usize) -> bool {
    let goes_on = text_at(tokens, i + 1) == "::";
    let renamed = matches!(text_at(tokens, i), "crate" | "super") && text_at(tokens, i + 1) == "as";
    let used_whole = i > 0 && text_at(tokens, i - 1) == "use" && matches!(text_at(tokens, i + 1), ";" | "as");
    let is_tail = i >= 2 && text_at(tokens, i - 1) == "::" && ends_segment(text_at(tokens, i - 2));
    is_identifier(text_at(tokens, i)) && (goes_on || renamed || used_whole) && !is_tail
}

/// Whether a `::` after this token goes on with a path; after a keyword (`use ::wgpu`) it starts one.
fn ends_segment(text: &str) -> bool {
    const KEYWORDS: &[&str] =
        &["use", "in", "as", "mut", "dyn", "impl", "for", "return", "match", "if", "where", "const"];
    text == ">" || (is_identifier(text) && !KEYWORDS.contains(&text))
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Resolves the path (or the tree of paths, in a `use` group) that starts at `i`; gives the index after it.
fn follow_path(tokens: &[Token], i: usize, module: &[String], edges: &mut Vec<Edge>) -> usize {
    let first = tokens[i].text.as_str();
    match first {
        "crate" | "praxis" => follow_segments(tokens, i + 1, Vec::new(), edges),
        "self" => follow_segments(tokens, i + 1, module.to_vec(), edges),
        "super" => follow_segments(tokens, i + 1, parent(module), edges),
        _ => {
            edges.push(Edge { to: Target::Outside(first.to_string()), line: tokens[i].line });
            i + 1
        }
    }
}

fn parent(module: &[String]) -> Vec<String> {
    module[..module.len().saturating_sub(1)].to_vec()
}

/// `at` is what was named so far, as an absolute path; `i` is at the token after it.
fn follow_segments(tokens: &[Token], mut i: usize, mut at: Vec<String>, edges: &mut Vec<Edge>) -> usize {
    loop {
        if text_at(tokens, i) != "::" {
            push_edge(&at, tokens[i - 1].line, edges);
            return i;
        }
        match text_at(tokens, i + 1) {
            "super" => at = parent(&at),
            "self" => {}
            "{" => return follow_group(tokens, i + 2, &at, edges),
            name if is_identifier(name) => at.push(name.to_string()),
            _ => {
                // `*`, or the `<` of a turbofish.
                push_edge(&at, tokens[i].line, edges);
                return i + 1;
            }
        }
        i += 2;
    }
}

/// The members of `prefix::{a, b::{c, d}, self, *}`; gives the index after the closing brace.
fn follow_group(tokens: &[Token], mut i: usize, prefix: &[String], edges: &mut Vec<Edge>) -> usize {
    while i < tokens.len() {
        match text_at(tokens, i) {
            "}" => return i + 1,
            "," => i += 1,
            "as" => i += 2,
            "*" | "self" => {
                push_edge(prefix, tokens[i].line, edges);
                i += 1;
            }
            "super" => i = follow_segments(tokens, i + 1, parent(prefix), edges),
            name if is_identifier(name) => {
                let mut at = prefix.to_vec();
                at.push(name.to_string());
                i = follow_segments(tokens, i + 1, at, edges);
            }
            _ => i += 1,
        }
    }
    i
}

fn push_edge(at: &[String], line: usize, edges: &mut Vec<Edge>) {
    let to = at.first().map_or(Target::Root, |module| Target::Module(module.clone()));
    edges.push(Edge { to, line });
}

// --- Tokens --------------------------------------------------------------------------------------------------------

#[derive(Debug)]
struct Token {
    text: String,
    line: usize,
}

/// Identifiers, `::` and single characters; no comments, no white space, and nothing of what stands in quotes.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut i = 0;
    while i < chars.len() {
        let end = end_of_item(&chars, i);
        let item = &chars[i..end];
        let is_text = item[0].is_whitespace() || item.starts_with(&['/', '/']) || item.starts_with(&['/', '*']);
        let is_literal = item.contains(&'"') || item[0] == '\'';
        if !is_text && !is_literal {
            let text: String = item.iter().collect();
            tokens.push(Token { text: text.strip_prefix("r#").unwrap_or(&text).to_string(), line });
        }
        line += item.iter().filter(|c| **c == '\n').count();
        i = end;
    }
    tokens
}

/// The index after the comment, literal, identifier, `::` or single character that starts at `i`.
fn end_of_item(chars: &[char], i: usize) -> usize {
    let next = chars.get(i + 1).copied().unwrap_or(' ');
    match chars[i] {
        '/' if next == '/' => find(chars, i, |rest| rest[0] == '\n'),
        '/' if next == '*' => end_of_block_comment(chars, i),
        '"' => end_of_string(chars, i),
        '\'' => end_of_char_or_lifetime(chars, i),
        ':' if next == ':' => i + 2,
        c if c.is_alphanumeric() || c == '_' => {
            let end = find(chars, i, |rest| !(rest[0].is_alphanumeric() || rest[0] == '_'));
            let prefix: String = chars[i..end].iter().collect();
            match (prefix.as_str(), chars.get(end)) {
                ("r" | "br" | "cr", Some('"' | '#')) => end_of_raw(chars, end),
                ("b" | "c", Some('"')) => end_of_string(chars, end),
                ("b", Some('\'')) => end_of_char_or_lifetime(chars, end),
                _ => end,
            }
        }
        _ => i + 1,
    }
}

fn find(chars: &[char], from: usize, found: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len()).find(|&i| found(&chars[i..])).unwrap_or(chars.len())
}

fn end_of_block_comment(chars: &[char], i: usize) -> usize {
    let mut depth = 0;
    let mut at = i;
    while at < chars.len() {
        if chars[at..].starts_with(&['/', '*']) {
            depth += 1;
            at += 2;
        } else if chars[at..].starts_with(&['*', '/']) {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// `i` is at the opening quote.
fn end_of_string(chars: &[char], i: usize) -> usize {
    let mut at = i + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// `i` is after the `r`: at `#` or `"`. A raw identifier (`r#type`) ends where the identifier does.
fn end_of_raw(chars: &[char], i: usize) -> usize {
    let quote = find(chars, i, |rest| rest[0] != '#');
    if chars.get(quote) != Some(&'"') {
        return find(chars, quote, |rest| !(rest[0].is_alphanumeric() || rest[0] == '_'));
    }
    let mut closing = vec!['"'];
    closing.resize(1 + quote - i, '#');
    (find(chars, quote + 1, |rest| rest.starts_with(&closing)) + closing.len()).min(chars.len())
}

/// `i` is at the `'` of `'x'`, `'\n'`, `'static`.
fn end_of_char_or_lifetime(chars: &[char], i: usize) -> usize {
    if chars.get(i + 1) == Some(&'\\') {
        return (find(chars, i + 3, |rest| rest[0] == '\'') + 1).min(chars.len());
    }
    if chars.get(i + 2) == Some(&'\'') { i + 3 } else { i + 1 }
}

// --- Tests of the test ---------------------------------------------------------------------------------------------

/// The complaints about `text` as the source of `src/{path}`, without their places.
fn complaints(path: &str, text: &str) -> BTreeSet<String> {
    let place = format!("src/{path}:");
    let strip = |fault: String| match fault.strip_prefix(&place) {
        Some(rest) => rest.split_once(": ").expect("a line number").1.to_string(),
        None => fault,
    };
    faults_in(Path::new(path), text).into_iter().map(strip).collect()
}

#[track_caller]
fn assert_forbidden(path: &str, text: &str, complaint: &str) {
    assert_eq!(complaints(path, text), BTreeSet::from([complaint.to_string()]), "in src/{path}: {text}");
}

#[track_caller]
fn assert_allowed(path: &str, text: &str) {
    assert_eq!(complaints(path, text), BTreeSet::new(), "in src/{path}: {text}");
}

#[test]
fn a_plain_use_of_a_forbidden_module_is_found() {
    assert_forbidden("scene/spawn.rs", "use crate::render::GpuScene;", "`scene` must not know `render`");
    assert_forbidden("render/prepare.rs", "use crate::pacing::Ring;", "`render` must not know `pacing`");
    assert_forbidden("pacing/ring.rs", "use crate::gpu::Factory;", "`pacing` must not know `gpu`");
    assert_forbidden("report/table.rs", "use crate::frames::Outcome;", "`report` must not know `frames`");
    assert_forbidden("resident/worker.rs", "use crate::pacing::FrameWait;", "`resident` must not know `pacing`");
    assert_forbidden("frames/mod.rs", "use crate::commands::bench;", "`frames` must not know `commands`");
}

#[test]
fn a_path_in_code_is_an_edge_too() {
    assert_forbidden("measure/mod.rs", "fn f() { let x = crate::gpu::open(); }", "`measure` must not know `gpu`");
    assert_forbidden("measure/mod.rs", "fn f(x: &'static crate::gpu::Device) {}", "`measure` must not know `gpu`");
    assert_forbidden(
        "measure/mod.rs",
        "macro_rules! m { () => { $crate::gpu::x() } }",
        "`measure` must not know `gpu`",
    );
    assert_forbidden("measure/mod.rs", "pub(in crate::gpu) fn f() {}", "`measure` must not know `gpu`");
}

#[test]
fn members_of_a_group_are_edges_each() {
    let text = "use crate::{\n    scene::{self, World},\n    gpu::{Device, timestamps::*},\n    pacing as p,\n};";
    assert_forbidden("render/mod.rs", text, "`render` must not know `pacing`");
    assert_forbidden("render/mod.rs", "use {crate::gpu, crate::measure::Line};", "`render` must not know `measure`");
    let places = faults_in(Path::new("render/mod.rs"), text);
    assert_eq!(places, ["src/render/mod.rs:4: `render` must not know `pacing`"]);
}

#[test]
fn super_is_followed_out_of_the_module() {
    assert_forbidden("render/passes/cull.rs", "use super::super::super::frames::X;", "`render` must not know `frames`");
    assert_forbidden("scene/mod.rs", "use super::gpu;", "`scene` must not know `gpu`");
    assert_forbidden("scene/a.rs", "use super::{b, super::gpu::X};", "`scene` must not know `gpu`");
    assert_forbidden("scene/a.rs", "use self::super::super::gpu::X;", "`scene` must not know `gpu`");
    assert_allowed("render/passes/cull.rs", "use super::super::layout::Instance; use super::Pass;");
}

#[test]
fn inline_modules_count_as_a_step() {
    let text = "fn f() { if x {} } mod tests { use super::super::gpu::X; fn g() {} } use super::hierarchy;";
    assert_allowed("scene/motion.rs", text);
    let text = "mod tests { mod deep { use super::super::super::super::gpu::X; } }";
    assert_forbidden("scene/motion.rs", text, "`scene` must not know `gpu`");
    let text = "mod tests { fn g() {} } fn f() { super::super::gpu::x() }";
    assert_forbidden("scene/motion.rs", text, "`scene` must not know `gpu`");
}

#[test]
fn the_library_by_its_own_name_is_the_crate() {
    assert_forbidden("measure/mod.rs", "use praxis::pacing::Ring;", "`measure` must not know `pacing`");
    assert_forbidden("measure/mod.rs", "use ::praxis::pacing::Ring;", "`measure` must not know `pacing`");
    assert_allowed("commands/bench.rs", "use praxis::{frames::render_frames, report, measure::RunFile};");
}

#[test]
fn naming_the_root_or_what_it_re_exports_hides_edges() {
    let whole = "the crate's root is named as a whole, which hides what is used from it";
    assert_forbidden("scene/mod.rs", "use super::*;", whole);
    assert_forbidden("scene/mod.rs", "use crate::*;", whole);
    assert_forbidden("scene/mod.rs", "use crate as root;", whole);
    assert_forbidden("scene/mod.rs", "use super as root;", whole);
    let re_exported = "`RunFile` at the crate's root is no module: name the module it comes from";
    assert_forbidden("scene/mod.rs", "use crate::RunFile;", re_exported);
}

#[test]
fn outside_crates_that_a_module_must_not_name_are_found() {
    assert_forbidden("scene/mod.rs", "fn f(d: &wgpu::Device) {}", "`scene` must not name the crate `wgpu`");
    assert_forbidden("pacing/mod.rs", "use bevy_ecs::prelude::*;", "`pacing` must not name the crate `bevy_ecs`");
    assert_forbidden("scene/mod.rs", "use wgpu;", "`scene` must not name the crate `wgpu`");
    assert_forbidden("scene/mod.rs", "use {std::fmt, wgpu::Device};", "`scene` must not name the crate `wgpu`");
    assert_allowed("pacing/mod.rs", "use wgpu::{Device, PollType}; fn f() -> std::io::Result<()> { a::wgpu::b() }");
}

#[test]
fn a_module_without_a_rule_is_a_fault() {
    let faults = faults_in(Path::new("audio/mod.rs"), "");
    assert_eq!(faults.len(), 1);
    assert!(faults[0].contains("`audio` is in no rule"), "{}", faults[0]);
}

#[test]
fn comments_and_strings_are_no_edges() {
    assert_allowed("scene/mod.rs", "//! See [crate::render].\n/* crate::gpu /* crate::gpu */ crate::gpu */ fn f() {}");
    assert_allowed(
        "scene/mod.rs",
        r####"const A: &str = "crate::gpu \" crate::gpu"; const B: &str = r#"crate::gpu " "#;"####,
    );
    assert_allowed("scene/mod.rs", r#"const A: &[u8] = b"crate::gpu"; const C: [char; 3] = ['"', '\'', '\u{22}'];"#);
    let after =
        r##"const A: char = '"'; const B: &str = r"\"; fn f<'a>(x: &'a u8) { let r#use = 1; crate::gpu::x() } // ""##;
    assert_forbidden("scene/mod.rs", after, "`scene` must not know `gpu`");
}

#[test]
fn everyday_code_is_allowed() {
    let text = "pub(crate) struct A; pub(super) struct B; impl A { fn f(self) -> Self { self.g::<u8>(); Self::new() } }
        use crate::scene::components::{Transform, WorldTransform as W}; use crate::gpu::Factory;";
    assert_allowed("render/mod.rs", text);
    assert_allowed("pacing/wait.rs", "use crate::measure::Nanoseconds; use super::ring::Ring;");
    assert_allowed("lib.rs", "pub mod scene; pub use crate::measure::RunFile;");
}

#[test]
fn the_rules_are_consistent() {
    let names: BTreeSet<_> = RULES.iter().map(|rule| rule.module).collect();
    assert_eq!(names.len(), RULES.len(), "a module has two rules");
    for rule in RULES {
        for known in rule.knows {
            assert!(names.contains(known), "`{}` may know `{known}`, which has no rule", rule.module);
        }
    }
    // No cycle below `commands` and `cli`: taking away modules that know nobody left must empty the set.
    let mut left: Vec<&Rule> = RULES.iter().filter(|rule| !matches!(rule.module, "commands" | "cli")).collect();
    while !left.is_empty() {
        let remaining: BTreeSet<_> = left.iter().map(|rule| rule.module).collect();
        let n_before = left.len();
        left.retain(|rule| rule.knows.iter().any(|known| remaining.contains(known)));
        assert!(left.len() < n_before, "a cycle among {remaining:?}");
    }
}
