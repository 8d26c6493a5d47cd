//! How finished frames reach the display: what is wanted, and the nearest that the window's surface has.

use std::fmt;
use std::str::FromStr;

/// What a user may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PresentPreference {
    /// [`Self::Vsync`]; where something else sets the pace already, [`Self::Mailbox`], so that frames aren't paced twice.
    #[default]
    Auto,
    /// Each frame is shown at the display's next refresh; a full queue makes the program wait. No tearing.
    Vsync,
    /// The newest frame is shown at the display's next refresh, older ones are dropped. No tearing, no waiting.
    Mailbox,
    /// Each frame is shown at once. Tears.
    Immediate,
}

impl PresentPreference {
    /// Every preference, in the order in which help texts list them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Vsync, Self::Mailbox, Self::Immediate];

    /// The name on the command line and in run files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Vsync => "vsync",
            Self::Mailbox => "mailbox",
            Self::Immediate => "immediate",
        }
    }

    /// The mode of `supported` that comes nearest; Fifo, which every surface has, where nothing else does. `is_paced` says
    /// that the program keeps a pace of its own.
    pub fn choose(self, supported: &[wgpu::PresentMode], is_paced: bool) -> wgpu::PresentMode {
        use wgpu::PresentMode as Mode;
        let in_order: &[Mode] = match self {
            Self::Auto if is_paced => &[Mode::Mailbox],
            Self::Auto | Self::Vsync => &[],
            // What neither waits nor tears has no neighbour: Immediate would tear.
            Self::Mailbox => &[Mode::Mailbox],
            // To tear is not the aim, not to wait is; a late frame at least goes out at once with FifoRelaxed.
            Self::Immediate => &[Mode::Immediate, Mode::Mailbox, Mode::FifoRelaxed],
        };
        in_order.iter().copied().find(|mode| supported.contains(mode)).unwrap_or(Mode::Fifo)
    }

    /// What to tell the user about `chosen`, where it is not what was asked for.
    pub fn note(self, chosen: wgpu::PresentMode) -> Option<String> {
        let is_as_asked = match self {
            Self::Auto | Self::Vsync => true,
            Self::Mailbox => chosen == wgpu::PresentMode::Mailbox,
            Self::Immediate => chosen == wgpu::PresentMode::Immediate,
        };
        let instead = present_mode_name(chosen);
        (!is_as_asked).then(|| format!("this window can't present with `--present {self}`: {instead} is used"))
    }
}

/// A present mode as the user knows it.
pub fn present_mode_name(mode: wgpu::PresentMode) -> &'static str {
    match mode {
        wgpu::PresentMode::Fifo => "vsync",
        wgpu::PresentMode::FifoRelaxed => "vsync, late frames at once",
        wgpu::PresentMode::Mailbox => "mailbox",
        wgpu::PresentMode::Immediate => "immediate",
        wgpu::PresentMode::AutoVsync | wgpu::PresentMode::AutoNoVsync => "auto",
    }
}

impl fmt::Display for PresentPreference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no [`PresentPreference`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no way to present: use auto, vsync, mailbox or immediate")]
pub struct UnknownPresent {
    /// What was given.
    pub name: String,
}

impl FromStr for PresentPreference {
    type Err = UnknownPresent;

    fn from_str(name: &str) -> Result<Self, UnknownPresent> {
        let known = Self::ALL.into_iter().find(|preference| preference.name() == name);
        known.ok_or_else(|| UnknownPresent { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::PresentMode as Mode;

    #[test]
    fn window_present_modes_that_are_there_are_taken_and_need_no_note() {
        let all = [Mode::Fifo, Mode::FifoRelaxed, Mode::Mailbox, Mode::Immediate];
        for (preference, is_paced, mode) in [
            (PresentPreference::Auto, false, Mode::Fifo),
            (PresentPreference::Auto, true, Mode::Mailbox),
            (PresentPreference::Vsync, true, Mode::Fifo),
            (PresentPreference::Mailbox, false, Mode::Mailbox),
            (PresentPreference::Immediate, false, Mode::Immediate),
        ] {
            assert_eq!(preference.choose(&all, is_paced), mode);
            assert_eq!(preference.note(mode), None);
        }
    }

    #[test]
    fn window_present_modes_that_are_missing_give_the_nearest_and_a_note() {
        for (preference, supported, mode) in [
            (PresentPreference::Mailbox, &[Mode::Fifo, Mode::Immediate][..], Mode::Fifo),
            (PresentPreference::Immediate, &[Mode::Fifo, Mode::Mailbox], Mode::Mailbox),
            (PresentPreference::Immediate, &[Mode::FifoRelaxed, Mode::Fifo], Mode::FifoRelaxed),
            (PresentPreference::Immediate, &[], Mode::Fifo),
        ] {
            assert_eq!(preference.choose(supported, false), mode);
            let note = preference.note(mode).expect("not as asked");
            assert!(note.contains(preference.name()) && note.contains(present_mode_name(mode)), "{note}");
        }
        assert_eq!(PresentPreference::Auto.note(PresentPreference::Auto.choose(&[Mode::Fifo], true)), None);
    }

    #[test]
    fn window_present_names_parse_back() {
        for preference in PresentPreference::ALL {
            assert_eq!(preference.to_string().parse(), Ok(preference));
        }
        assert!("fifo".parse::<PresentPreference>().unwrap_err().to_string().contains("use auto, vsync"));
    }
}
