//! The priority of the thread that runs the frame loop.

#[cfg(any(target_os = "macos", target_os = "ios"))]
mod macos;

use std::fmt;

use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// How much before other threads a thread runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FramePriority {
    /// As the system started it.
    #[default]
    Normal,
    /// Before ordinary threads: a lower nice value on Linux, the interactive quality-of-service class on macOS, a higher
    /// priority on Windows.
    High,
    /// Before all ordinary threads, whatever they are about: round robin on Linux and macOS, the highest priority of the process's class on
    /// Windows. A thread that spins there takes its core for itself.
    Realtime,
}

impl FramePriority {
    /// Every priority, lowest first.
    pub const ALL: &'static [Self] = &[Self::Normal, Self::High, Self::Realtime];

    /// The name on the command line and in run files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::High => "high",
            Self::Realtime => "realtime",
        }
    }
}

impl fmt::Display for FramePriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What became of a wish for a priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObtainedPriority {
    /// What was asked for.
    pub asked: FramePriority,
    /// What the system says that the thread has now, in its own words, such as `SCHED_RR 10`.
    pub obtained: String,
    /// Why it wasn't granted. The thread goes on as it was.
    pub refused: Option<String>,
}

impl ObtainedPriority {
    /// Whether nothing was asked for, and the thread has what threads have unless somebody changed it.
    pub fn is_ordinary(&self) -> bool {
        let is_usual = !cfg!(any(target_os = "linux", target_os = "android")) || self.obtained == "SCHED_OTHER nice 0";
        self.asked == FramePriority::Normal && is_usual
    }

    /// What to tell a user, if it wasn't granted.
    pub fn warning(&self) -> Option<String> {
        let reason = self.refused.as_ref()?;
        Some(format!("thread priority {} was refused ({reason}); the thread has {}", self.asked, self.obtained))
    }
}

/// Gives the calling thread a priority, as far as the system allows, and asks the system what it has now.
///
/// Threads that are started afterwards inherit it on Linux: call it when the device is open, so that a driver's own threads
/// (a software adapter draws with them) stay as they are. `Normal` changes nothing.
pub fn set_frame_priority(priority: FramePriority) -> ObtainedPriority {
    let refused = match priority {
        FramePriority::Normal => None,
        FramePriority::High => raise().err(),
        FramePriority::Realtime => raise_to_realtime().err(),
    };
    ObtainedPriority { asked: priority, obtained: describe(), refused }
}

/// Of 0 to 99: enough to pass ordinary threads, not those that keep a desktop alive. As a nice value it is -10.
const HIGH: u8 = 73;

#[cfg(any(target_os = "macos", target_os = "ios"))]
fn raise() -> Result<(), String> {
    macos::set_interactive()
}

#[cfg(not(any(target_os = "macos", target_os = "ios")))]
fn raise() -> Result<(), String> {
    let priority = ThreadPriorityValue::try_from(HIGH)?;
    thread_priority::set_current_thread_priority(ThreadPriority::Crossplatform(priority)).map_err(in_words)
}

#[cfg(unix)]
fn raise_to_realtime() -> Result<(), String> {
    use thread_priority::unix::{
        RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    };
    /// The lowest that passes every ordinary thread on Linux; macOS's fixed priority of a game's render thread.
    const REALTIME: u8 = if cfg!(any(target_os = "macos", target_os = "ios")) { 45 } else { 10 };
    let priority = ThreadPriorityValue::try_from(REALTIME)?;
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), policy)
        .map_err(in_words)
}

#[cfg(not(unix))]
fn raise_to_realtime() -> Result<(), String> {
    thread_priority::set_current_thread_priority(ThreadPriority::Max).map_err(in_words)
}

/// Without the advice of `Error`'s own text, which names its crate's types.
fn in_words(error: thread_priority::Error) -> String {
    match error {
        thread_priority::Error::OS(code) => std::io::Error::from_raw_os_error(code).to_string(),
        other => other.to_string(),
    }
}

#[cfg(unix)]
fn describe() -> String {
    use thread_priority::unix::{
        NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, thread_native_id,
        thread_schedule_policy_param,
    };
    let Ok((policy, params)) = thread_schedule_policy_param(thread_native_id()) else {
        return "unknown".to_owned();
    };
    let text = match policy {
        ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo) => {
            format!("SCHED_FIFO {}", params.sched_priority)
        }
        ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin) => {
            format!("SCHED_RR {}", params.sched_priority)
        }
        ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other) => describe_ordinary(params.sched_priority),
        other => format!("{other:?} {}", params.sched_priority),
    };
    #[cfg(any(target_os = "macos", target_os = "ios"))]
    let text = format!("{text}, {}", macos::describe_class());
    text
}

/// The time-sharing policy ranks by nice value on Linux, by the priority itself elsewhere.
#[cfg(unix)]
fn describe_ordinary(_priority: i32) -> String {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        match rustix::process::getpriority_process(None) {
            Ok(nice) => format!("SCHED_OTHER nice {nice}"),
            Err(_) => "SCHED_OTHER".to_owned(),
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        format!("SCHED_OTHER {_priority}")
    }
}

#[cfg(not(unix))]
fn describe() -> String {
    thread_priority::get_current_thread_priority()
        .map_or_else(|_| "unknown".to_owned(), |priority| format!("{priority:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_priority_says_what_was_obtained() {
        // A thread of its own: what it is granted must not stay with the test runner's.
        let obtained =
            std::thread::spawn(|| FramePriority::ALL.iter().map(|&asked| set_frame_priority(asked)).collect());
        let obtained: Vec<ObtainedPriority> = obtained.join().expect("it doesn't panic");
        assert_eq!(obtained[0].refused, None, "normal asks for nothing");
        for priority in &obtained {
            println!("{priority:?}");
            assert!(!priority.obtained.is_empty());
            assert!(priority.refused.as_ref().is_none_or(|reason| !reason.is_empty()));
        }
        if cfg!(target_os = "linux") {
            assert!(obtained[0].obtained.starts_with("SCHED_"), "{}", obtained[0].obtained);
            let is_realtime = obtained[2].obtained == "SCHED_RR 10";
            assert_eq!(is_realtime, obtained[2].refused.is_none(), "{:?}", obtained[2]);
            let is_high = obtained[1].obtained != obtained[0].obtained;
            assert_eq!(is_high, obtained[1].refused.is_none(), "{:?}", obtained[1]);
        }
    }
}
