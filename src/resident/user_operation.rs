//! An operation in the caller's WGSL, checked before it becomes part of the kernel.

use wgpu::naga;

use super::Config;
use super::kernel::{KernelOptions, kernel_wgsl};

/// The function that must be there.
const NAME: &str = "user_operation";
const SIGNATURE: &str = "fn user_operation(a: f32, b: f32, parameters: vec4<f32>) -> f32";
/// What names of the caller's begin with, so that none of them is one of the kernel's or of WGSL's own.
const PREFIX: &str = "user_";
/// Most prefix operators one after another, and most bytes: so that the stack on which a worker starts is deep enough for whoever reads it.
const MOST_SIGNS: usize = 64;
const MOST_BYTES: usize = 64 << 10;
/// What stands at module scope and would mean something for the whole kernel, or leaves no name to check.
const FORBIDDEN: [&str; 6] = ["alias", "enable", "requires", "diagnostic", "override", "const_assert"];

/// If the caller gives none: nothing calls it.
pub(super) const NONE: &str =
    "fn user_operation(a: f32, b: f32, parameters: vec4<f32>) -> f32 { return a + b + parameters.x; }\n";

/// Why a text is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UserOperationError {
    /// It is no WGSL, or names what isn't in it.
    #[error("{0}")]
    Wgsl(String),
    /// It is WGSL, but not valid.
    #[error("{0}")]
    NotValid(String),
    /// The function is not there, or has another signature.
    #[error("it must have the function `{SIGNATURE}`")]
    Signature,
    /// Something besides functions, structures and constants.
    #[error("it may have functions, structures and constants, and no {0}")]
    Forbidden(&'static str),
    /// A name that could be one of the kernel's.
    #[error("`{0}` must begin with `{PREFIX}`, as all names at module scope")]
    Name(String),
    /// It waits for other lanes, which may not be there.
    #[error(
        "`{0}` has a barrier, a discard, a derivative, or something else that a single lane of a compute kernel can't do"
    )]
    Barrier(String),
}

/// Checks `wgsl` as a module of its own: what parses alone names nothing of the kernel's, its bindings least of all.
///
/// # Errors
/// [`UserOperationError`].
pub(super) fn check(wgsl: &str) -> Result<(), UserOperationError> {
    let code = code_of(wgsl);
    if longest_run_of_signs(&code) > MOST_SIGNS {
        return Err(UserOperationError::Forbidden("run of more than 64 signs"));
    }
    if wgsl.len() > MOST_BYTES {
        return Err(UserOperationError::Forbidden("more than 64 KiB of text"));
    }
    let module = naga::front::wgsl::parse_str(wgsl)
        .map_err(|error| UserOperationError::Wgsl(placed(error.location(wgsl), wgsl, error.message())))?;
    let words = words_of(&code);
    if let Some(word) = FORBIDDEN.into_iter().find(|word| words.iter().any(|found| found == word)) {
        return Err(UserOperationError::Forbidden(word));
    }
    let has = [
        (module.global_variables.is_empty(), "variables at module scope"),
        (module.overrides.is_empty(), "override"),
        (module.entry_points.is_empty(), "entry points"),
    ];
    if let Some((_, what)) = has.into_iter().find(|(is_empty, _)| !is_empty) {
        return Err(UserOperationError::Forbidden(what));
    }
    let names = module.functions.iter().map(|(_, function)| &function.name);
    let names = names.chain(module.constants.iter().map(|(_, constant)| &constant.name));
    let names = names.chain(module.types.iter().map(|(_, named)| &named.name));
    // naga's own structures begin with what nobody else may begin with.
    if let Some(name) = names.flatten().find(|name| !name.starts_with(PREFIX) && !name.starts_with("__")) {
        return Err(UserOperationError::Name(name.clone()));
    }
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    let info = validator.validate(&module).map_err(|error| {
        UserOperationError::NotValid(placed(error.location(wgsl), wgsl, &reasons_of(error.as_inner())))
    })?;
    for (handle, function) in module.functions.iter() {
        let name = function.name.clone().unwrap_or_default();
        let function = &info[handle];
        let runs_in_compute = function.available_stages.contains(naga::valid::ShaderStages::COMPUTE);
        if !function.uniformity.requirements.is_empty() || !runs_in_compute {
            return Err(UserOperationError::Barrier(name));
        }
    }
    if !has_signature(&module) {
        return Err(UserOperationError::Signature);
    }
    // Constants without a type have no trace in the module: only beside the kernel's own names is a clash seen.
    let kernel = kernel_wgsl(KernelOptions::new(&Config::default(), 1), Some(wgsl));
    naga::front::wgsl::parse_str(&kernel).map_err(|error| UserOperationError::Wgsl(error.message().to_owned()))?;
    Ok(())
}

/// What is wrong with a text and where, in one line.
fn placed(place: Option<naga::SourceLocation>, wgsl: &str, message: &str) -> String {
    const MOST_SHOWN: usize = 100;
    let line_of =
        |place: naga::SourceLocation| Some((place.line_number, wgsl.lines().nth(place.line_number as usize - 1)?));
    match place.filter(|place| place.line_number > 0).and_then(line_of) {
        Some((number, line)) => {
            let shown: String = line.trim().chars().take(MOST_SHOWN).collect();
            format!("line {number}, `{shown}`: {message}")
        }
        None => message.to_owned(),
    }
}

/// An error and what it came from, in one line.
fn reasons_of(error: &dyn std::error::Error) -> String {
    let reasons = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string);
    reasons.collect::<Vec<_>>().join(": ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn has_signature(module: &naga::Module) -> bool {
    let Some((_, function)) = module.functions.iter().find(|(_, function)| function.name.as_deref() == Some(NAME))
    else {
        return false;
    };
    let number = naga::Scalar::F32;
    let is_number = |ty| module.types[ty].inner == naga::TypeInner::Scalar(number);
    let is_vector =
        |ty| module.types[ty].inner == naga::TypeInner::Vector { size: naga::VectorSize::Quad, scalar: number };
    let returns = function.result.as_ref().is_some_and(|result| is_number(result.ty));
    match &function.arguments[..] {
        [a, b, parameters] => returns && is_number(a.ty) && is_number(b.ty) && is_vector(parameters.ty),
        _ => false,
    }
}

/// The words of a text that naga parsed, without its comments.
fn words_of(code: &str) -> Vec<String> {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    code.split(|c| !is_part(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Prefix operators one after another: each is a call of the parser within another's, and of whoever goes through what it parsed.
fn longest_run_of_signs(code: &str) -> usize {
    let mut run = 0;
    let mut longest = 0;
    for char in code.chars().filter(|char| !char.is_whitespace()) {
        run = if "-!~&*".contains(char) { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A text without its comments.
fn code_of(wgsl: &str) -> String {
    let mut text = String::with_capacity(wgsl.len());
    let mut rest = wgsl;
    let mut depth = 0u32;
    while let Some(next) = rest.chars().next() {
        let n_bytes = match () {
            () if rest.starts_with("/*") => {
                depth += 1;
                2
            }
            () if depth > 0 && rest.starts_with("*/") => {
                depth -= 1;
                text.push(' ');
                2
            }
            () if depth == 0 && rest.starts_with("//") => {
                rest.find(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']).unwrap_or(rest.len())
            }
            () => {
                if depth == 0 {
                    text.push(next);
                }
                next.len_utf8()
            }
        };
        rest = &rest[n_bytes..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::worker::on_deep_stack;
    use super::*;

    fn refused(wgsl: &str) -> String {
        check(wgsl).expect_err(wgsl).to_string()
    }

    #[test]
    fn resident_user_operations_may_have_functions_structures_and_constants() {
        check(NONE).expect("the one that stands for none");
        let wgsl = "
            // enable nothing; /* alias in a comment
            /* alias user_x = f32; /* nested */ */
            const user_half: f32 = 0.5;
            struct user_pair { x: f32, y: f32 }
            fn user_both(p: user_pair) -> f32 { return p.x * user_half + p.y; }
            fn user_operation(a: f32, b: f32, parameters: vec4<f32>) -> f32 {
                var sum = 0.0;
                for (var k = 0; k < 4; k++) { sum += parameters[k]; }
                return user_both(user_pair(a, b)) + sin(sum);
            }";
        check(wgsl).expect("it is all right");
    }

    #[test]
    fn resident_user_operations_can_name_nothing_of_the_kernel() {
        let body = |body: &str| format!("{SIGNATURE} {{ {body} }}");
        for name in ["arena[0].x", "mailbox[0]", "f32(slot[0])", "f32(N_LANES)", "block_sum(0u, false, 0u, 0u, 0u)"] {
            assert!(refused(&body(&format!("return {name};"))).contains("no definition in scope"), "{name}");
        }
        let operation = body("return a;");
        for (wgsl, reason) in [
            (
                format!("@group(0) @binding(0) var<storage, read_write> user_x: array<f32>;\n{operation}"),
                "no variables",
            ),
            (format!("var<private> user_x: f32;\n{operation}"), "no variables"),
            (format!("override user_x: f32 = 1.0;\n{operation}"), "no override"),
            (format!("alias user_x = f32;\n{operation}"), "no alias"),
            (format!("diagnostic(off, derivative_uniformity);\n{operation}"), "no diagnostic"),
            (format!("@compute @workgroup_size(1) fn user_main() {{}}\n{operation}"), "no entry points"),
            (format!("fn min(x: f32) -> f32 {{ return x; }}\n{operation}"), "`min` must begin with `user_`"),
            (format!("const N_LANES: u32 = 7u;\n{operation}"), "`N_LANES` must begin"),
            (format!("const N_LANES = 7;\n{operation}"), "redefinition of `N_LANES`"),
            (format!("struct Settings {{ x: f32 }}\n{operation}"), "`Settings` must begin"),
            (body("storageBarrier(); return a;"), "has a barrier"),
            (body("return dpdx(a);"), "has a barrier"),
            (body("return 1u;"), "f32"),
            ("fn user_operation(a: f32) -> f32 { return a; }".into(), "it must have the function"),
            ("fn user_other(a: f32) -> f32 { return a; }".into(), "it must have the function"),
            (body("return a") + "}", "expected"),
            (String::new(), "it must have the function"),
        ] {
            let told = refused(&wgsl);
            assert!(told.contains(reason) && told.lines().count() == 1, "{wgsl}: {told}");
        }
    }

    #[test]
    fn resident_user_operations_that_lie_deep_are_refused_and_not_the_end_of_the_stack() {
        let operation =
            |body: &str| format!("fn user_operation(a: f32, b: f32, parameters: vec4<f32>) -> f32 {{ {body} }}");
        let returning = |expression: String| operation(&format!("return {expression};"));
        let signs = |n: usize| returning("- ".repeat(n) + "a");
        let hidden = returning("-/* - */".repeat(100) + "a");
        let elses = |n: usize| operation(&("if (a > 1.0) { return 1.0; } else ".repeat(n) + "{ return b; }"));
        let terms = |n: usize| returning("a + ".repeat(n) + "b");
        let parentheses = |n: usize| returning("(".repeat(n) + "a" + &")".repeat(n));
        // As a start does it. A text may be refused or not; no stack overflows.
        let told = |text: String| on_deep_stack(|| check(&text)).expect("a thread");
        assert!(told(signs(64)).is_ok() && told(terms(1_000)).is_ok());
        for text in [signs(65), hidden, signs(30_000), terms(30_000), elses(30_000), parentheses(30_000)] {
            assert!(told(text).is_err());
        }
        let most = |n_each: usize| MOST_BYTES / n_each - 100;
        for text in [terms(most(4)), elses(most(34)), parentheses(most(2))] {
            let _ = told(text);
        }
    }
}
