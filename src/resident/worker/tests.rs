//! What the public face can't do: descriptors that nobody checked.

use super::*;
use crate::gpu::{GpuOptions, choose_adapter, instance};
use crate::resident::layout::{END_WORD, FIRST_SLOT_WORD};
use crate::resident::{Config, StartError};

fn worker(config: &Config) -> Option<ResidentWorker> {
    let instance = instance(&GpuOptions::default());
    let adapter = choose_adapter(&instance, &GpuOptions::default(), None).expect("an adapter");
    match ResidentWorker::start(&instance, &adapter, config) {
        Ok(worker) => Some(worker),
        Err(StartError::Unavailable(why)) => {
            println!("not tried: {why}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn config() -> Config {
    let spin_time = Duration::from_micros(20);
    Config { n_slots: 4, arena_bytes: 64 << 10, readback_bytes: 4096, spin_time, ..Config::default() }
}

#[test]
fn resident_gpu_no_descriptor_reaches_beyond_the_arena() {
    let Some(worker) = worker(&config()) else { return };
    let memory = &worker.shared.memory;
    let mut header = vec![0; FIRST_SLOT_WORD];
    memory.mailbox.load_into(0, &mut header);
    let mut seed = 1u32;
    let mut random = |most: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Near the arena's end, and anywhere.
        let most = if seed >> 30 == 0 { u32::MAX } else { most };
        (seed >> 8) % most
    };
    for round in 0..600 {
        // Every second one is small, and near the arena's end: the lanes that watch clamp nothing themselves.
        let step = Step::wild(|| random(20_000));
        let step = if round % 2 == 0 { step } else { step.made_small(random(300), 64 * 64 - 150 + random(300)) };
        let ticket = worker.submit_batch(&Batch::only(step), &[], &[]).expect("it is submitted");
        ticket.wait().expect("it is done");
    }
    let mut after = vec![0; FIRST_SLOT_WORD];
    memory.mailbox.load_into(0, &mut after);
    // The CPU's own, and written whenever a kernel has run for long enough.
    after[END_WORD] = header[END_WORD];
    assert_eq!(header, after, "the mailbox's own words were written");
    let array = worker.array_from(&[1.5; 100]).expect("room");
    let sum = worker.submit(&[Operation::Sum { a: &array, out: None }]).and_then(Ticket::wait).expect("it still works");
    assert_eq!(sum.sum(0), Some(150.0));
}

#[test]
fn resident_gpu_workgroups_that_share_give_the_same_results() {
    let shared =
        Config { shares_on_software: true, max_workgroups: 2, shared_from: 64, arena_bytes: 32 << 20, ..config() };
    let shared = Config { readback_bytes: 1 << 20, ..shared };
    let Some(worker) = worker(&shared) else { return };
    if worker.measured().n_workgroups < 2 {
        println!("not tried: only one workgroup runs at a time");
        return;
    }
    for n in [65usize, 257, 5_000, 33_333, 1_200_000] {
        let x: Vec<f32> = (0..n).map(|idx| (idx * 37 % 101) as f32 - 50.0).collect();
        let a = worker.array_from(&x).expect("room");
        let (b, mask, kept) =
            (worker.array(n).expect("room"), worker.array(n).expect("room"), worker.array(n).expect("room"));
        let answer = worker
            .submit(&[
                Operation::Multiply { a: &a, b: 2.0.into(), out: &b },
                Operation::Add { a: &b, b: 1.0.into(), out: &b },
                Operation::Compare {
                    a: &b,
                    comparison: crate::resident::Comparison::Greater,
                    b: 0.0.into(),
                    out: &mask,
                },
                Operation::Filter { a: &b, mask: &mask, out: &kept },
                Operation::Sum { a: &b, out: None },
            ])
            .and_then(Ticket::wait)
            .expect("it is done");
        let y: Vec<f32> = x.iter().map(|x| x * 2.0 + 1.0).collect();
        let positive: Vec<f32> = y.iter().copied().filter(|y| *y > 0.0).collect();
        assert_eq!((answer.count(3), answer.sum(4)), (Some(positive.len()), Some(crate::resident::sum_of(&y))), "{n}");
        assert_eq!(worker.read(&kept).expect("it is read")[..positive.len()], positive);
    }
    // A larger step has the others take part in a sum of one block, whose sum is the sum: adding zeros to it would take its sign.
    let (one_block, large) = (worker.array_from(&[-0.0; 1024]).expect("room"), worker.array(5_000).expect("room"));
    let sum = Operation::Sum { a: &one_block, out: None };
    for chain in [vec![Operation::Fill { out: &large, value: 1.0 }, sum], vec![sum, sum], vec![sum]] {
        let answer = worker.submit(&chain).and_then(Ticket::wait).expect("it is done");
        let found = answer.sum(chain.len() - 1).expect("a sum");
        assert_eq!(found.to_bits(), (-0.0f32).to_bits(), "{found} of {} steps", chain.len());
    }
    let status = worker.status();
    assert_eq!(status.n_answered, status.n_submitted);
}
