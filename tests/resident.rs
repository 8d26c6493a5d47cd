//! The resident worker on the adapter that is there. On the software adapter a polling kernel keeps a core busy: each test has one
//! worker and lets it go soon.

use std::time::{Duration, Instant};

use praxis::gpu::{GpuOptions, choose_adapter, instance};
use praxis::resident::{
    Array, Comparison, Config, Fault, Invalid, Operand, Operation, OperationError, ResidentWorker, StartError, Ticket,
    sum_of,
};

/// Small, quick to give way, and with faults to be put in.
fn config() -> Config {
    Config {
        n_slots: 4,
        arena_bytes: 1 << 20,
        readback_bytes: 4096,
        spin_time: Duration::from_micros(20),
        has_fault_injection: true,
        ..Config::default()
    }
}

fn start(config: &Config) -> Result<ResidentWorker, StartError> {
    let instance = instance(&GpuOptions::default());
    let adapter = choose_adapter(&instance, &GpuOptions::default(), None).expect("an adapter");
    ResidentWorker::start(&instance, &adapter, config)
}

/// `None`, and said, where there can be no such worker.
fn worker(config: &Config) -> Option<ResidentWorker> {
    match start(config) {
        Ok(worker) => Some(worker),
        Err(StartError::Unavailable(why)) => {
            assert!(!why.reason.is_empty());
            println!("not tried: {why}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let number = |idx: usize| ((idx as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 20) as f32 / 64.0 - 30.0;
    (0..n).map(number).collect()
}

fn run(worker: &ResidentWorker, operation: Operation) -> praxis::resident::Answer {
    worker.submit(&[operation]).and_then(Ticket::wait).expect("it is done")
}

type Holds = fn(f32, f32) -> bool;

/// What the CPU makes of each comparison.
const COMPARISONS: [(Comparison, Holds); 6] = [
    (Comparison::Less, |x, y| x < y),
    (Comparison::LessEqual, |x, y| x <= y),
    (Comparison::Greater, |x, y| x > y),
    (Comparison::GreaterEqual, |x, y| x >= y),
    (Comparison::Equal, |x, y| x == y),
    (Comparison::NotEqual, |x, y| x != y),
];

/// Sizes around vectors, lines, subgroups and what they do alone, workgroups and blocks.
const SIZES: [usize; 17] = [1, 3, 4, 5, 31, 32, 33, 64, 65, 127, 129, 256, 257, 1023, 1024, 1025, 9_001];

#[test]
fn resident_gpu_every_operation_gives_what_the_cpu_does() {
    let user = "fn user_operation(a: f32, b: f32, parameters: vec4<f32>) -> f32 {
        return max(a, b) + parameters.x * parameters.w;
    }";
    let Some(worker) = worker(&Config { user_operation: Some(user.into()), ..config() }) else { return };
    for n in SIZES {
        let (x, y) = (numbers(n, 1), numbers(n, 77));
        let (a, b) = (worker.array_from(&x).expect("room"), worker.array_from(&y).expect("room"));
        let out = worker.array(n).expect("room");
        assert_eq!(worker.read(&out).expect("it is read"), vec![0.0; n], "arrays begin with zeros");
        let mapped = |operation: Operation, f: &dyn Fn(f32, f32) -> f32| {
            run(&worker, operation);
            let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| f(*x, *y)).collect();
            assert_eq!(worker.read(&out).expect("it is read"), expected, "{n}: {operation:?}");
        };
        let (a, b, out) = (&a, &b, &out);
        let both = Operand::Array(b);
        mapped(Operation::Fill { out, value: 7.5 }, &|_, _| 7.5);
        mapped(Operation::Add { a, b: both, out }, &|x, y| x + y);
        mapped(Operation::Add { a, b: 2.5.into(), out }, &|x, _| x + 2.5);
        mapped(Operation::Multiply { a, b: both, out }, &|x, y| x * y);
        mapped(Operation::Multiply { a, b: (-3.0).into(), out }, &|x, _| x * -3.0);
        for (comparison, holds) in COMPARISONS {
            mapped(Operation::Compare { a, comparison, b: both, out }, &|x, y| f32::from(u8::from(holds(x, y))));
            let b = Operand::Scalar(x[0]);
            mapped(Operation::Compare { a, comparison, b, out }, &|v, _| f32::from(u8::from(holds(v, x[0]))));
        }
        let parameters = [2.0, 0.0, 0.0, 0.5];
        mapped(Operation::User { a, b: both, parameters, out }, &|x, y| x.max(y) + 1.0);
        mapped(Operation::User { a, b: 4.0.into(), parameters, out }, &|x, _| x.max(4.0) + 1.0);

        // In place, from either side.
        run(&worker, Operation::Fill { out, value: 3.0 });
        run(&worker, Operation::Multiply { a: out, b: both, out });
        run(&worker, Operation::Add { a, b: Operand::Array(out), out });
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + 3.0 * y).collect();
        assert_eq!(worker.read(out).expect("it is read"), expected, "{n}: in place");

        let sum = run(&worker, Operation::Sum { a, out: Some(out) }).sum(0).expect("a sum");
        assert_eq!(sum.to_bits(), sum_of(&x).to_bits(), "{n}");
        assert_eq!(worker.read(out).expect("it is read")[0], sum);
    }
}

#[test]
fn resident_gpu_sums_have_the_same_bits_whoever_adds() {
    let Some(worker) = worker(&config()) else { return };
    for n in SIZES {
        for (name, x) in [("numbers", numbers(n, 5)), ("negative zeros", vec![-0.0; n])] {
            let a = worker.array_from(&x).expect("room");
            // First behind what the CPU wrote, by all lanes; then, if it is small, by those that watch.
            for round in 0..2 {
                let sum = run(&worker, Operation::Sum { a: &a, out: None }).sum(0).expect("a sum");
                assert_eq!(sum.to_bits(), sum_of(&x).to_bits(), "{n} {name}, {round}: {sum}");
            }
        }
    }
}

#[test]
fn resident_gpu_sums_of_a_million_have_the_same_bits_on_every_level() {
    let Some(worker) = worker(&Config { arena_bytes: 16 << 20, ..config() }) else { return };
    // As many blocks as a block has values, and one more: then there are three levels, in other memory.
    for n in [1 << 20, (1 << 20) + 1, 1_500_000] {
        let x = numbers(n, 8);
        let (a, out) = (worker.array_from(&x).expect("room"), worker.array(8).expect("room"));
        let sum = run(&worker, Operation::Sum { a: &a, out: Some(&out) }).sum(0).expect("a sum");
        assert_eq!(sum.to_bits(), sum_of(&x).to_bits(), "{n}: {sum}");
        assert_eq!(worker.read(&out).expect("it is read")[0], sum, "{n}");
    }
}

#[test]
fn resident_gpu_filters_keep_the_order_and_leave_the_rest() {
    let Some(worker) = worker(&config()) else { return };
    for n in SIZES {
        let x = numbers(n, 3);
        for (name, mask) in [
            ("all", vec![1.0; n]),
            ("none", vec![0.0; n]),
            ("some", (0..n).map(|idx| f32::from(u8::from(idx * 7 % 5 < 2))).collect::<Vec<f32>>()),
            ("the last", (0..n).map(|idx| if idx + 1 == n { -2.0 } else { 0.0 }).collect()),
        ] {
            let (a, m) = (worker.array_from(&x).expect("room"), worker.array_from(&mask).expect("room"));
            let out = worker.array_from(&vec![99.0; n]).expect("room");
            let mut expected: Vec<f32> = x.iter().zip(&mask).filter(|(_, m)| **m != 0.0).map(|(x, _)| *x).collect();
            let n_kept = expected.len();
            expected.resize(n, 99.0);
            // First behind what the CPU wrote, by all lanes; then, if it is small, by those that watch.
            for round in 0..2 {
                let count = run(&worker, Operation::Filter { a: &a, mask: &m, out: &out }).count(0);
                assert_eq!(count, Some(n_kept), "{n}, {name}, {round}");
                assert_eq!(worker.read(&out).expect("it is read"), expected, "{n}, {name}, {round}");
                run(&worker, Operation::Fill { out: &out, value: 99.0 });
            }
        }
    }
}

#[test]
fn resident_gpu_a_chain_sees_what_its_steps_before_left() {
    let Some(worker) = worker(&config()) else { return };
    let x = numbers(300, 9);
    let (a, b) = (worker.array_from(&x).expect("room"), worker.array(300).expect("room"));
    let (mask, kept) = (worker.array(300).expect("room"), worker.array(300).expect("room"));
    let answer = worker
        .submit(&[
            Operation::Multiply { a: &a, b: 2.0.into(), out: &b },
            Operation::Add { a: &b, b: Operand::Array(&a), out: &b },
            Operation::Compare { a: &b, comparison: Comparison::Greater, b: 0.0.into(), out: &mask },
            Operation::Sum { a: &mask, out: None },
            Operation::Filter { a: &b, mask: &mask, out: &kept },
            Operation::Sum { a: &b, out: Some(&a) },
        ])
        .and_then(Ticket::wait)
        .expect("it is done");
    let tripled: Vec<f32> = x.iter().map(|x| x * 2.0 + x).collect();
    let positive: Vec<f32> = tripled.iter().copied().filter(|x| *x > 0.0).collect();
    assert_eq!((answer.sum(0), answer.sum(3), answer.count(3)), (None, Some(positive.len() as f32), None));
    assert_eq!(answer.count(4), Some(positive.len()));
    assert_eq!(worker.read(&kept).expect("it is read")[..positive.len()], positive);
    assert_eq!(answer.sum(5), Some(sum_of(&tripled)));
    assert_eq!(worker.read(&a).expect("it is read")[0], sum_of(&tripled));
}

#[test]
fn resident_gpu_a_chain_may_go_back_to_any_array_that_it_had() {
    let Some(worker) = worker(&config()) else { return };
    // One quad for each lane and several; lanes without any.
    for n in [5, 128, 1_000] {
        let (x, y) = (numbers(n, 4), numbers(n, 40));
        let (a, b, c) = (worker.array_from(&x).expect("room"), worker.array_from(&y).expect("room"), worker.array(n));
        let (a, b, c) = (&a, &b, &c.expect("room"));
        let add = |a, b, out| Operation::Add { a, b: Operand::Array(b), out };
        let answer = worker
            .submit(&[
                add(a, b, c),
                add(a, c, a),
                add(b, b, c),
                add(a, c, b),
                Operation::Multiply { a, b: 0.5.into(), out: a },
                Operation::Sum { a, out: Some(c) },
                add(c, a, a),
                add(a, b, c),
            ])
            .and_then(Ticket::wait)
            .expect("it is done");
        let twice: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + (x + y)).collect();
        let last_b: Vec<f32> = twice.iter().zip(&y).map(|(twice, y)| twice + (y + y)).collect();
        let half: Vec<f32> = twice.iter().map(|twice| twice * 0.5).collect();
        let sum = sum_of(&half);
        assert_eq!(answer.sum(5), Some(sum), "{n}");
        let mut summed: Vec<f32> = y.iter().map(|y| y + y).collect();
        summed[0] = sum;
        let last_a: Vec<f32> = summed.iter().zip(&half).map(|(c, a)| c + a).collect();
        let last_c: Vec<f32> = last_a.iter().zip(&last_b).map(|(a, b)| a + b).collect();
        for (name, array, expected) in [("a", a, last_a), ("b", b, last_b), ("c", c, last_c)] {
            assert_eq!(worker.read(array).expect("it is read"), expected, "{name} of {n}");
        }
    }
}

#[test]
fn resident_gpu_what_is_written_behind_an_answer_stays() {
    for answers_after_stores in [false, true] {
        let Some(worker) = worker(&Config { answers_after_stores, ..config() }) else { return };
        let a = worker.array(5_000).expect("room");
        for round in 0..300u16 {
            let add = Operation::Add { a: &a, b: 1.0.into(), out: &a };
            run(&worker, add);
            let value = f32::from(round);
            if round % 3 == 0 {
                // The same memory, by another array.
                drop(worker.array_from(&[value; 100]).expect("room"));
            }
            worker.write(&a, &[value; 5_000]).expect("it is written");
            assert_eq!(run(&worker, Operation::Sum { a: &a, out: None }).sum(0), Some(5_000.0 * value));
        }
    }
}

#[test]
fn resident_gpu_a_full_ring_pushes_back_and_untaken_answers_are_kept() {
    let Some(worker) = worker(&config()) else { return };
    let a = worker.array(9_000).expect("room");
    let one = worker.array_from(&[1.0]).expect("room");
    let mut tickets = Vec::new();
    let mut n_full = 0;
    for k in 0..200 {
        let operations = [
            Operation::Fill { out: &a, value: k as f32 },
            Operation::Add { a: &one, b: 1.0.into(), out: &one },
            Operation::Sum { a: &one, out: None },
        ];
        match worker.try_submit(&operations) {
            Err(OperationError::Full) => {
                n_full += 1;
                tickets.push(worker.submit(&operations).expect("there is room in the end"));
            }
            submitted => tickets.push(submitted.expect("it is submitted")),
        }
        if k % 3 == 0 {
            drop(tickets.pop());
        }
    }
    assert!(n_full > 0, "four slots were never full");
    let first = tickets.first().expect("tickets").number();
    for (idx, ticket) in tickets.into_iter().enumerate() {
        let (number, answer) = (ticket.number(), ticket.wait().expect("it is done"));
        // Every number's sum is one more than the one before; a third of the tickets were let go.
        assert_eq!(answer.sum(2), Some((number - first) as f32 + 3.0), "ticket {idx}");
    }
    assert_eq!(worker.status().n_answered, worker.status().n_submitted);
}

#[test]
fn resident_gpu_short_kernels_follow_each_other_and_nothing_is_lost() {
    let Some(worker) = worker(&Config { kernel_time: Duration::from_millis(5), ..config() }) else { return };
    let before = worker.status().n_launches;
    let tally = worker.array_from(&[0.0; 5]).expect("room");
    let started = Instant::now();
    let mut n = 0;
    while started.elapsed() < Duration::from_millis(400) {
        let add = Operation::Add { a: &tally, b: 1.0.into(), out: &tally };
        let answer = worker.submit(&[add, Operation::Sum { a: &tally, out: None }]).and_then(Ticket::wait);
        n += 1;
        assert_eq!(answer.expect("it is done").sum(1), Some(5.0 * n as f32));
    }
    assert!(worker.status().n_launches > before + 3, "{:?}", worker.status());
}

#[test]
fn resident_gpu_an_idle_kernel_ends_and_comes_back_for_work() {
    let Some(worker) = worker(&Config { idle_time: Some(Duration::from_millis(2)), ..config() }) else { return };
    let a = worker.array_from(&[1.0, 2.0]).expect("room");
    let wait_until = |is_parked: bool| {
        let started = Instant::now();
        while worker.status().is_parked != is_parked {
            assert!(started.elapsed() < Duration::from_secs(20), "{:?}", worker.status());
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    for _ in 0..3 {
        wait_until(true);
        let n_launches = worker.status().n_launches;
        assert_eq!(run(&worker, Operation::Sum { a: &a, out: None }).sum(0), Some(3.0));
        assert!(worker.status().n_launches > n_launches);
    }
    worker.set_idle_time(None);
    wait_until(false);
}

/// Four chains of so many adds of 1, of which the first is killed and the others are done: what that leaves of zeros.
fn adds_after_a_kill(n_steps: usize) -> Option<Vec<f32>> {
    let worker = worker(&config())?;
    let (a, b) = (worker.array_from(&[1.0; 8]).expect("room"), worker.array_from(&[0.0; 8]).expect("room"));
    let _ = run(&worker, Operation::Sum { a: &a, out: None });
    worker.inject(Fault::KillKernel);
    let chain = vec![Operation::Add { a: &b, b: Operand::Array(&a), out: &b }; n_steps];
    let tickets: Vec<_> = (0..4).map(|_| worker.submit(&chain).expect("it is submitted")).collect();
    let killed = tickets[0].number();
    let mut answers = tickets.into_iter().map(Ticket::wait);
    assert_eq!(answers.next().map(|a| a.expect_err("killed")), Some(OperationError::Interrupted { ticket: killed }));
    assert!(answers.all(|answer| answer.is_ok()), "the others are done");
    Some(worker.read(&b).expect("it is read"))
}

#[test]
fn resident_gpu_a_killed_kernel_interrupts_one_chain_and_the_next_launch_goes_on() {
    let Some(left) = adds_after_a_kill(2) else { return };
    // The killed one ended after its first step; the three others added twice.
    assert_eq!(left, [7.0; 8]);
}

#[test]
fn resident_gpu_a_kernel_killed_in_a_small_step_interrupts_it_and_nothing_is_done_twice() {
    let Some(left) = adds_after_a_kill(1) else { return };
    // It had been added when the kernel went, which nobody is told; and once only.
    assert_eq!(left, [4.0; 8]);
}

#[test]
fn resident_gpu_a_lost_device_fails_what_is_pending_and_leaves_the_callers_data() {
    let Some(worker) = worker(&config()) else { return };
    let a = worker.array_from(&numbers(5_000, 5)).expect("room");
    worker.inject(Fault::LoseDevice);
    let mut kept = vec![1.25; 5_000];
    let started = Instant::now();
    let lost = loop {
        let fill = worker.submit(&[Operation::Fill { out: &a, value: 1.0 }]).and_then(Ticket::wait);
        match fill.map(drop).and_then(|()| worker.read_into(&a, &mut kept)) {
            Ok(()) | Err(OperationError::Interrupted { .. }) => kept.fill(1.25),
            Err(error) => break error,
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the loss is never told of");
    };
    assert!(matches!(lost, OperationError::Lost { .. }), "{lost}");
    assert!(lost.to_string().starts_with("the resident worker is gone: its device"), "{lost}");
    assert!(kept.iter().all(|x| *x == 1.25), "a failed read changed the caller's slice");
    for error in [worker.array(7).map(drop), worker.read(&a).map(drop), worker.write(&a, &[0.0; 5_000])] {
        assert!(matches!(error, Ok(()) | Err(OperationError::Lost { .. })), "{error:?}");
    }
    let submitted = worker.submit(&[Operation::Sum { a: &a, out: None }]);
    assert!(matches!(submitted, Err(OperationError::Lost { .. })), "{submitted:?}");
}

#[test]
fn resident_gpu_stop_drains_and_answers_stay() {
    let Some(worker) = worker(&Config { n_slots: 16, ..config() }) else { return };
    let a = worker.array(1_000).expect("room");
    let tickets: Vec<_> = (1..=10)
        .map(|k| worker.submit(&[Operation::Fill { out: &a, value: k as f32 }, Operation::Sum { a: &a, out: None }]))
        .collect();
    worker.stop();
    for (k, ticket) in (1..).zip(tickets) {
        let answer = ticket.expect("it was submitted").try_wait().expect("it is there").expect("it is done");
        assert_eq!(answer.sum(1), Some(1_000.0 * k as f32));
    }
    let after = worker.submit(&[Operation::Sum { a: &a, out: None }]).map(drop);
    assert!(after.is_err_and(|error| error.to_string().contains("it was stopped")));
    // Nobody could read what is written now.
    for refused in [worker.write(&a, &[0.0; 1_000]), worker.array_from(&[1.0]).map(drop), worker.array(1).map(drop)] {
        assert!(refused.is_err_and(|error| error.to_string().contains("it was stopped")));
    }
    worker.stop();
}

/// What is not a number, infinities and zeros of both signs, each with each.
#[test]
fn resident_gpu_special_values_compare_and_filter_as_on_the_cpu() {
    let Some(worker) = worker(&config()) else { return };
    let special = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0];
    let pairs: Vec<(f32, f32)> = special.iter().flat_map(|x| special.map(|y| (*x, y))).collect();
    let (x, y): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let (a, b) = (worker.array_from(&x).expect("room"), worker.array_from(&y).expect("room"));
    let out = worker.array(x.len()).expect("room");
    for (comparison, holds) in COMPARISONS {
        run(&worker, Operation::Compare { a: &a, comparison, b: Operand::Array(&b), out: &out });
        let expected: Vec<f32> = pairs.iter().map(|(x, y)| f32::from(u8::from(holds(*x, *y)))).collect();
        assert_eq!(worker.read(&out).expect("it is there"), expected, "{comparison:?}");
        run(&worker, Operation::Compare { a: &a, comparison, b: f32::NAN.into(), out: &out });
        let expected = f32::from(u8::from(comparison == Comparison::NotEqual));
        assert_eq!(worker.read(&out).expect("it is there"), vec![expected; x.len()], "{comparison:?} with NaN");
    }
    // A mask that is not a number isn't 0.
    let answer = run(&worker, Operation::Filter { a: &b, mask: &a, out: &out });
    let kept: Vec<u32> = pairs.iter().filter(|(x, _)| *x != 0.0).map(|(_, y)| y.to_bits()).collect();
    assert_eq!(answer.count(0), Some(kept.len()));
    let found: Vec<u32> = worker.read(&out).expect("it is there").iter().map(|x| x.to_bits()).collect();
    assert_eq!(found[..kept.len()], kept);
}

/// An operation of the user's that goes on for longer than anybody waits: the worker is lost, says so, and lets go of its thread.
#[test]
fn resident_gpu_a_kernel_that_does_not_end_keeps_nobody() {
    let user = "fn user_operation(a: f32, b: f32, parameters: vec4<f32>) -> f32 {
        var x = a;
        for (var i = 0u; i < u32(parameters.x); i++) {
            for (var j = 0u; j < 1000000u; j++) { x = fract(x * 1.1 + 0.3); }
        }
        return x;
    }";
    let config = Config { user_operation: Some(user.into()), silence_time: Duration::from_millis(300), ..config() };
    let Some(worker) = worker(&config) else { return };
    let a = worker.array(4).expect("room");
    let parameters = [4_000.0, 0.0, 0.0, 0.0];
    let ticket =
        worker.submit(&[Operation::User { a: &a, b: 0.0.into(), parameters, out: &a }]).expect("it is submitted");
    let submitted = Instant::now();
    let error = ticket.wait().expect_err("it takes tens of seconds").to_string();
    assert!(error.contains("no sign of life for 300ms") && error.lines().count() == 1, "{error}");
    drop(worker);
    assert!(submitted.elapsed() < Duration::from_secs(8), "{:?}", submitted.elapsed());
}

#[test]
fn resident_gpu_more_memory_than_the_adapter_allows_is_a_fault_of_the_configuration() {
    for (name, config) in [
        ("arena_bytes", Config { arena_bytes: 1 << 33, ..config() }),
        ("readback_bytes", Config { readback_bytes: 1 << 33, ..config() }),
    ] {
        match start(&config) {
            Err(StartError::Config(told)) => assert!(told.contains(name), "{told}"),
            Err(StartError::Unavailable(why)) => assert!(!why.reason.contains("words"), "{why}"),
            Err(error) => panic!("{error}"),
            Ok(_) => println!("this adapter allows 8 GiB"),
        }
    }
}

#[test]
fn resident_gpu_what_makes_no_sense_is_refused_before_it_is_submitted() {
    let Some(worker) = worker(&config()) else { return };
    let (a, b) = (worker.array(8).expect("room"), worker.array(9).expect("room"));
    let before = worker.status().n_submitted;
    let refused = |operations: &[Operation]| match worker.submit(operations) {
        Err(OperationError::Invalid(invalid)) => invalid,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&[]), Invalid::Length { n_steps: 0, most: 16 });
    assert_eq!(refused(&[Operation::Sum { a: &a, out: None }; 17]), Invalid::Length { n_steps: 17, most: 16 });
    let add = |a, b, out| Operation::Add { a, b: Operand::Array(b), out };
    assert_eq!(refused(&[add(&a, &a, &a), add(&a, &b, &a)]), Invalid::Lengths { step_idx: 1, lengths: (8, 9) });
    assert_eq!(refused(&[Operation::Filter { a: &a, mask: &a, out: &a }]), Invalid::InPlaceFilter { step_idx: 0 });
    let user = Operation::User { a: &a, b: 0.0.into(), parameters: [0.0; 4], out: &a };
    assert_eq!(refused(&[user]), Invalid::NoUserOperation { step_idx: 0 });
    assert_eq!(worker.write(&a, &[0.0; 7]), Err(Invalid::Slice { slice: 7, array: 8 }.into()));
    assert_eq!(worker.array(0).map(drop), Err(Invalid::Empty.into()));
    if let Some(other) = self::worker(&config()) {
        let theirs = other.array(8).expect("room");
        assert_eq!(worker.write(&theirs, &[0.0; 8]), Err(Invalid::ForeignArray.into()));
        assert_eq!(worker.read(&theirs).map(drop), Err(Invalid::ForeignArray.into()));
    }
    let too_much = worker.array(1 << 19).map(drop).expect_err("the arena has a quarter of a million");
    let OperationError::OutOfMemory { largest_free_bytes, arena_bytes, .. } = too_much else { panic!("{too_much}") };
    let status = worker.status();
    assert_eq!((largest_free_bytes, arena_bytes), (status.largest_free_bytes, 1 << 20));
    assert!(status.largest_free_bytes <= status.free_bytes, "{status:?}");
    drop(worker.array(largest_free_bytes / 4).expect("the largest piece is one array's"));
    let before = before + 1;
    assert_eq!(worker.status().n_submitted, before);
}

#[test]
fn resident_gpu_several_threads_share_a_worker() {
    let Some(worker) = worker(&config()) else { return };
    std::thread::scope(|scope| {
        for thread in 0..3u16 {
            let worker = &worker;
            scope.spawn(move || {
                let own: Array = worker.array_from(&[f32::from(thread); 40]).expect("room");
                for round in 1..=50u16 {
                    let add = Operation::Add { a: &own, b: 1.0.into(), out: &own };
                    let answer = worker.submit(&[add, Operation::Sum { a: &own, out: None }]).and_then(Ticket::wait);
                    let expected = 40.0 * f32::from(thread + round);
                    assert_eq!(answer.expect("it is done").sum(1), Some(expected), "thread {thread}");
                }
                assert_eq!(worker.read(&own).expect("it is read"), [f32::from(thread + 50); 40]);
            });
        }
    });
}

#[test]
fn resident_gpu_without_vulkan_it_is_unavailable_and_says_why() {
    let options = GpuOptions { is_noop: true, ..GpuOptions::default() };
    let instance = instance(&options);
    let adapter = choose_adapter(&instance, &options, None).expect("the no-op adapter");
    match ResidentWorker::start(&instance, &adapter, &config()).map(drop) {
        Err(StartError::Unavailable(why)) => {
            assert!(why.to_string().starts_with("a resident worker is not available here: "), "{why}");
            assert!(why.measured.observed.is_empty());
        }
        other => panic!("{other:?}"),
    }
    let bad = Config { user_operation: Some("fn user_operation() {}".into()), ..config() };
    let error = ResidentWorker::start(&instance, &adapter, &bad).map(drop).expect_err("no such signature");
    assert!(matches!(error, StartError::UserOperation(_)), "{error}");
}
