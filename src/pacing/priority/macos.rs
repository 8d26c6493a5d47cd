//! macOS: a thread's quality-of-service class, which ranks threads there before any priority does.
#![allow(unsafe_code)]

/// `QOS_CLASS_USER_INTERACTIVE` of `sys/qos.h`: work that the next picture waits for.
const USER_INTERACTIVE: u32 = 0x21;

// From `pthread/qos.h` of the system library, which every program is linked with.
unsafe extern "C" {
    /// Sets the calling thread's class; 0 or an error number.
    fn pthread_set_qos_class_self_np(class: u32, relative_priority: i32) -> i32;
    /// The calling thread's class.
    fn qos_class_self() -> u32;
}

/// Puts the calling thread into the class for what the user sees at once.
pub(super) fn set_interactive() -> Result<(), String> {
    // SAFETY: it takes plain numbers, changes the calling thread alone, and refuses what it doesn't know.
    match unsafe { pthread_set_qos_class_self_np(USER_INTERACTIVE, 0) } {
        0 => Ok(()),
        code => Err(std::io::Error::from_raw_os_error(code).to_string()),
    }
}

/// The class that the calling thread is in.
pub(super) fn describe_class() -> &'static str {
    // SAFETY: it takes nothing and returns a number.
    match unsafe { qos_class_self() } {
        USER_INTERACTIVE => "QOS_CLASS_USER_INTERACTIVE",
        0x19 => "QOS_CLASS_USER_INITIATED",
        0x15 => "QOS_CLASS_DEFAULT",
        0x11 => "QOS_CLASS_UTILITY",
        0x09 => "QOS_CLASS_BACKGROUND",
        _ => "QOS_CLASS_UNSPECIFIED",
    }
}
