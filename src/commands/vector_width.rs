//! The width of the vectors that Mesa's software driver computes with. It takes the CPU's own unless told, and sums in
//! another order at another width: pictures would differ from machine to machine.

const VARIABLE: &str = "LP_NATIVE_VECTOR_WIDTH";
/// Every x86-64 CPU of the last ten years has it, and the driver emulates it elsewhere.
const BITS: &str = "256";

/// Whether the driver computes, or would compute, with the goldens' width.
pub fn is_fixed() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|bits| bits == BITS)
}

/// Starts the program anew with the variable set, where nobody has set it. The driver reads it when it is loaded, and
/// setting a variable in a running process is unsound where another thread may read one, so that this is the safe way.
/// Returns where the variable is set already, or where a program can't take another's place.
pub fn fix() {
    if std::env::var_os(VARIABLE).is_some() {
        return;
    }
    #[cfg(unix)]
    if let Ok(program) = std::env::current_exe() {
        use std::os::unix::process::CommandExt;
        // Comes back only if it fails; `is_fixed` then says so.
        let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).env(VARIABLE, BITS).exec();
        tracing::warn!("could not start anew with {VARIABLE}={BITS}: {error}");
    }
}

/// What a reader is told where the width isn't the goldens'.
pub fn hint() -> String {
    format!("set {VARIABLE}={BITS}, with which the goldens are drawn")
}
