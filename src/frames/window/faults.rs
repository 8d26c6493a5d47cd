//! Faults on demand: what hardware and window systems do once a year, at a frame of one's choice.

use std::fmt;
use std::str::FromStr;

use crate::gpu::AcquireFault;

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The surface's acquire comes to this.
    Acquire(AcquireFault),
    /// The acquire is outdated, and still is after the surface was configured anew.
    OutdatedAgain,
    /// The device is lost.
    DeviceLost,
    /// No device can be opened.
    NoDevice,
    /// The window has no pixels.
    ZeroSize,
    /// The window can't be seen.
    Occluded,
    /// The window is minimised.
    Minimised,
    /// The system takes the window's drawing area away; it comes back when the fault ends.
    Suspended,
    /// The window moved to a monitor with this many pixels a point.
    Scale(f32),
}

/// A fault and when it happens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Planned {
    fault: Fault,
    /// Frame attempts, from 0.
    first: u64,
    n: u64,
}

/// Which faults happen at which frames: `acquire=lost@30,device-lost@60,zero-size@90x5`.
///
/// What follows `@` counts attempts to draw a frame, from 0, shown or not; `xN` lasts for N attempts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    text: String,
    planned: Vec<Planned>,
}

impl FaultPlan {
    /// The faults of attempt `attempt`.
    pub fn at(&self, attempt: u64) -> impl Iterator<Item = Fault> + '_ {
        let is_on = move |planned: &&Planned| (planned.first..planned.first + planned.n).contains(&attempt);
        self.planned.iter().filter(is_on).map(|planned| planned.fault)
    }

    /// Whether `fault` happens at attempt `attempt`.
    pub fn has(&self, attempt: u64, fault: Fault) -> bool {
        self.at(attempt).any(|at| at == fault)
    }

    /// How many openings of a device fail once attempt `attempt` is reached; each is to be asked for once.
    pub fn take_refused_device(&mut self, attempt: u64) -> bool {
        let is_due =
            |planned: &&mut Planned| planned.fault == Fault::NoDevice && planned.first <= attempt && planned.n > 0;
        match self.planned.iter_mut().find(is_due) {
            Some(planned) => {
                planned.n -= 1;
                true
            }
            None => false,
        }
    }
}

/// A plan that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no fault: use FAULT@FRAME or FAULT@FRAMExN with a FAULT of {known}", known = KNOWN)]
pub struct UnknownFault {
    /// The part of the plan.
    pub text: String,
}

const KNOWN: &str = "acquire=timeout|occluded|outdated|outdated-again|suboptimal|lost|refused, device-lost, no-device, zero-size, \
                     occluded, minimised, suspended, scale=NUMBER";

impl FromStr for FaultPlan {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let planned = text
            .split(',')
            .map(|part| parse_planned(part.trim()).ok_or_else(|| UnknownFault { text: part.trim().to_owned() }));
        Ok(Self { planned: planned.collect::<Result<_, _>>()?, text: text.to_owned() })
    }
}

fn parse_planned(text: &str) -> Option<Planned> {
    let (fault, when) = text.split_once('@')?;
    let (first, n) = when.split_once('x').unwrap_or((when, "1"));
    let (first, n) = (first.parse().ok()?, n.parse().ok().filter(|&n| n > 0)?);
    (n <= 1_000_000 && first <= u64::MAX / 2).then_some(Planned { fault: parse_fault(fault)?, first, n })
}

fn parse_fault(text: &str) -> Option<Fault> {
    Some(match text.split_once('=') {
        Some(("acquire", "timeout")) => Fault::Acquire(AcquireFault::Timeout),
        Some(("acquire", "occluded")) => Fault::Acquire(AcquireFault::Occluded),
        Some(("acquire", "outdated")) => Fault::Acquire(AcquireFault::Outdated),
        Some(("acquire", "outdated-again")) => Fault::OutdatedAgain,
        Some(("acquire", "suboptimal")) => Fault::Acquire(AcquireFault::Suboptimal),
        Some(("acquire", "lost")) => Fault::Acquire(AcquireFault::Lost),
        Some(("acquire", "refused")) => Fault::Acquire(AcquireFault::Refused),
        Some(("scale", factor)) => Fault::Scale(factor.parse().ok().filter(|factor| (0.5..=4.0).contains(factor))?),
        Some(_) => return None,
        None => match text {
            "device-lost" => Fault::DeviceLost,
            "no-device" => Fault::NoDevice,
            "zero-size" => Fault::ZeroSize,
            "occluded" => Fault::Occluded,
            "minimised" => Fault::Minimised,
            "suspended" => Fault::Suspended,
            _ => return None,
        },
    })
}

/// As it was read.
impl fmt::Display for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> FaultPlan {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn window_faults_happen_at_their_frames() {
        let plan = plan("acquire=lost@30, device-lost@60,zero-size@90x5,scale=2@60");
        assert_eq!(plan.at(29).count(), 0);
        assert_eq!(plan.at(30).collect::<Vec<_>>(), [Fault::Acquire(AcquireFault::Lost)]);
        assert_eq!(plan.at(60).collect::<Vec<_>>(), [Fault::DeviceLost, Fault::Scale(2.0)]);
        assert_eq!((85..100).filter(|&at| plan.has(at, Fault::ZeroSize)).collect::<Vec<_>>(), [90, 91, 92, 93, 94]);
        assert_eq!(FaultPlan::default().at(0).count(), 0);
        assert_eq!(FaultPlan::default().to_string().parse(), Ok(FaultPlan::default()));
    }

    #[test]
    fn window_devices_are_refused_as_often_as_planned() {
        let mut plan = plan("no-device@5x2");
        assert!(!plan.take_refused_device(4));
        assert!(plan.take_refused_device(7) && plan.take_refused_device(7));
        assert!(!plan.take_refused_device(8));
    }

    #[test]
    fn window_faults_that_are_none_are_named() {
        for text in
            ["lost@3", "acquire=lost", "acquire=lost@", "acquire=lost@3x0", "zero-size@-1", "scale=nan@1", "a=b@1"]
        {
            let error = text.parse::<FaultPlan>().expect_err(text);
            assert_eq!(error.text, text);
            assert_eq!(error.to_string().lines().count(), 1);
        }
        assert_eq!("device-lost@1,oops@2".parse::<FaultPlan>().unwrap_err().text, "oops@2");
    }
}
