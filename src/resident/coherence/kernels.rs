//! The kernels of the coherence check: one for each way to read a word that someone else writes.
//!
//! All do the same. A mailbox holds the doorbell, which the CPU rings, and the heartbeat, which the kernel raises; where in it
//! they lie, and how long the kernel may run, is in a third buffer. Every distinct doorbell value goes into a log that is read
//! after the kernel's end, when the GPU's caches have been flushed whatever they did before.

/// How the kernel declares the mailbox and reads from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// Nothing: a compiler may read once and never again.
    Plain,
    /// `@volatile`: each read is made.
    Volatile,
    /// `@coherent`: reads and writes are seen by all of the device.
    Coherent,
    /// Both.
    CoherentVolatile,
    /// `atomicLoad`.
    AtomicLoad,
    /// `atomicAdd(…, 0)`: a read that has to go where writes go.
    AtomicAdd,
}

impl Qualifier {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Plain, Self::Volatile, Self::Coherent, Self::CoherentVolatile, Self::AtomicLoad, Self::AtomicAdd];

    /// As WGSL has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Volatile => "@volatile",
            Self::Coherent => "@coherent",
            Self::CoherentVolatile => "@coherent @volatile",
            Self::AtomicLoad => "atomicLoad",
            Self::AtomicAdd => "atomicAdd 0",
        }
    }

    /// What the device must have for it.
    pub fn features(self) -> wgpu::Features {
        let (coherent, volatile) =
            (wgpu::Features::MEMORY_DECORATION_COHERENT, wgpu::Features::MEMORY_DECORATION_VOLATILE);
        match self {
            Self::Plain | Self::AtomicLoad | Self::AtomicAdd => wgpu::Features::empty(),
            Self::Volatile => volatile,
            Self::Coherent => coherent,
            Self::CoherentVolatile => coherent | volatile,
        }
    }
}

/// A doorbell of this value ends a kernel before its bound.
pub const STOP: u32 = u32::MAX;
/// Doorbell values that the log holds.
pub const LOG_CAPACITY: usize = 1022;
/// Words of the log: how many values were seen, how many turns the loop made, the values.
pub const LOG_WORDS: usize = LOG_CAPACITY + 2;

macro_rules! coherence_wgsl {
    ($qualifiers:literal, $word:literal, $read:literal, $write:literal, $barrier:literal) => {
        concat!(
            "@group(0) @binding(0) ",
            $qualifiers,
            " var<storage, read_write> mailbox: array<",
            $word,
            ">;\n",
            "@group(0) @binding(1) var<storage, read_write> log: array<u32>;\n",
            // Most turns of the loop, and the words of doorbell and heartbeat.
            "@group(0) @binding(2) var<storage, read_write> settings: array<u32, 3>;\n",
            "@compute @workgroup_size(1)\nfn main() {\n",
            "    let n_turns = settings[0];\n    let doorbell = settings[1];\n    let heartbeat = settings[2];\n",
            "    var last = 0u;\n    var n_seen = 0u;\n    var turn = 0u;\n",
            "    while (turn < n_turns) {\n",
            "        turn += 1u;\n",
            "        let value = ",
            $read,
            ";\n",
            "        if (value != last) {\n",
            "            last = value;\n",
            "            if (n_seen < 1022u) { log[2u + n_seen] = value; }\n",
            "            n_seen += 1u;\n",
            "        }\n",
            "        ",
            $write,
            ";\n",
            "        ",
            $barrier,
            "\n",
            "        if (value == 0xffffffffu) { break; }\n",
            "    }\n",
            "    log[0] = n_seen;\n    log[1] = turn;\n}\n",
        )
    };
    ($barrier:literal, $qualifier:expr) => {
        match $qualifier {
            Qualifier::Plain => {
                coherence_wgsl!("", "u32", "mailbox[doorbell]", "mailbox[heartbeat] = turn", $barrier)
            }
            Qualifier::Volatile => {
                coherence_wgsl!("@volatile", "u32", "mailbox[doorbell]", "mailbox[heartbeat] = turn", $barrier)
            }
            Qualifier::Coherent => {
                coherence_wgsl!("@coherent", "u32", "mailbox[doorbell]", "mailbox[heartbeat] = turn", $barrier)
            }
            Qualifier::CoherentVolatile => {
                coherence_wgsl!(
                    "@coherent @volatile",
                    "u32",
                    "mailbox[doorbell]",
                    "mailbox[heartbeat] = turn",
                    $barrier
                )
            }
            Qualifier::AtomicLoad => coherence_wgsl!(
                "",
                "atomic<u32>",
                "atomicLoad(&mailbox[doorbell])",
                "atomicStore(&mailbox[heartbeat], turn)",
                $barrier
            ),
            Qualifier::AtomicAdd => coherence_wgsl!(
                "",
                "atomic<u32>",
                "atomicAdd(&mailbox[doorbell], 0u)",
                "atomicStore(&mailbox[heartbeat], turn)",
                $barrier
            ),
        }
    };
}

/// The coherence check's kernel.
pub fn coherence_wgsl(qualifier: Qualifier, has_barrier: bool) -> &'static str {
    if has_barrier { coherence_wgsl!("storageBarrier();", qualifier) } else { coherence_wgsl!("", qualifier) }
}

macro_rules! round_trip_wgsl {
    ($qualifiers:literal, $word:literal, $read:literal, $read_end:literal, $write:literal, $write_is:literal, $write_end:literal) => {
        concat!(
            // Doorbell in word 0, a number to work on in word 64.
            "@group(0) @binding(0) ",
            $qualifiers,
            " var<storage, read_write> mailbox: array<",
            $word,
            ">;\n",
            // Flag in word 0, result in word 64.
            "@group(0) @binding(1) ",
            $qualifiers,
            " var<storage, read_write> reply: array<",
            $word,
            ">;\n",
            // Most turns of the loop.
            "@group(0) @binding(2) var<storage, read_write> settings: array<u32, 3>;\n",
            "@compute @workgroup_size(1)\nfn main() {\n",
            "    let n_turns = settings[0];\n",
            "    var last = 0u;\n    var turn = 0u;\n",
            "    while (turn < n_turns) {\n",
            "        turn += 1u;\n",
            "        let ring = ",
            $read,
            "0]",
            $read_end,
            ";\n",
            "        if (ring != last) {\n",
            "            if (ring == 0xffffffffu) { break; }\n",
            "            last = ring;\n",
            "            let answer = ",
            $read,
            "64]",
            $read_end,
            " * 3u + ring;\n",
            "            ",
            $write,
            "64]",
            $write_is,
            "answer",
            $write_end,
            ";\n",
            "            storageBarrier();\n",
            "            ",
            $write,
            "0]",
            $write_is,
            "ring",
            $write_end,
            ";\n",
            "        }\n",
            "    }\n}\n",
        )
    };
}

/// The round trip's kernel: answers each ring with `3 · number + ring`.
pub fn round_trip_wgsl(qualifier: Qualifier) -> &'static str {
    match qualifier {
        Qualifier::Plain => round_trip_wgsl!("", "u32", "mailbox[", "", "reply[", " = ", ""),
        Qualifier::Volatile => round_trip_wgsl!("@volatile", "u32", "mailbox[", "", "reply[", " = ", ""),
        Qualifier::Coherent => round_trip_wgsl!("@coherent", "u32", "mailbox[", "", "reply[", " = ", ""),
        Qualifier::CoherentVolatile => {
            round_trip_wgsl!("@coherent @volatile", "u32", "mailbox[", "", "reply[", " = ", "")
        }
        Qualifier::AtomicLoad => {
            round_trip_wgsl!("", "atomic<u32>", "atomicLoad(&mailbox[", ")", "atomicStore(&reply[", ", ", ")")
        }
        Qualifier::AtomicAdd => {
            round_trip_wgsl!("", "atomic<u32>", "atomicAdd(&mailbox[", ", 0u)", "atomicStore(&reply[", ", ", ")")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_every_coherence_kernel_is_valid() {
        for qualifier in Qualifier::ALL {
            let texts = [coherence_wgsl(qualifier, false), coherence_wgsl(qualifier, true), round_trip_wgsl(qualifier)];
            for text in texts {
                let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|error| {
                    panic!("{}: {}", qualifier.name(), error.emit_to_string(text));
                });
                let capabilities = naga::valid::Capabilities::all();
                let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
                validator.validate(&module).unwrap_or_else(|error| panic!("{}: {error:?}", qualifier.name()));
            }
            assert!(!texts[0].contains("storageBarrier"));
            assert!(texts[1].contains("storageBarrier();"));
        }
        assert!(coherence_wgsl(Qualifier::Plain, false).contains(&format!("n_seen < {LOG_CAPACITY}u")));
    }
}
