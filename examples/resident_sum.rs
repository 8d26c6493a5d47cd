//! A small operation and a chain through `praxis::resident` alone: nothing here knows the renderer.
//!
//! ```sh
//! cargo run --release --example resident_sum -- 1000
//! ```

use std::time::Instant;

use anyhow::{Context, Result};
use praxis::resident::{Comparison, Config, Operation, ResidentWorker, StartError, Ticket, sum_of};

fn main() -> Result<()> {
    let n =
        std::env::args().nth(1).map_or(Ok(1000), |text| text.parse()).context("the argument is how many numbers")?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let options =
        wgpu::RequestAdapterOptions { power_preference: wgpu::PowerPreference::HighPerformance, ..Default::default() };
    let adapter = pollster::block_on(instance.request_adapter(&options)).context("there is no adapter")?;
    println!("on {}", adapter.get_info().name);
    let worker = match ResidentWorker::start(&instance, &adapter, &Config::default()) {
        Ok(worker) => worker,
        Err(StartError::Unavailable(why)) => {
            println!("{why}");
            println!("measured: {:?}", why.measured);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };

    let numbers: Vec<f32> = (0..n).map(|k| (k % 100) as f32).collect();
    let array = worker.array_from(&numbers)?;
    let (mask, kept) = (worker.array(n)?, worker.array(n)?);
    let mut best = None;
    for _ in 0..1000 {
        let started = Instant::now();
        let answer = worker.submit(&[Operation::Sum { a: &array, out: None }]).and_then(Ticket::wait)?;
        let took = started.elapsed();
        best = best.max(Some(std::cmp::Reverse(took)));
        assert_eq!(answer.sum(0), Some(sum_of(&numbers)), "the CPU adds in the same order");
    }
    if let Some(std::cmp::Reverse(best)) = best {
        println!("the sum of {n} numbers is {}; it took {best:?} at best", sum_of(&numbers));
    }

    let answer = worker
        .submit(&[
            Operation::Compare { a: &array, comparison: Comparison::GreaterEqual, b: 90.0.into(), out: &mask },
            Operation::Filter { a: &array, mask: &mask, out: &kept },
            Operation::Sum { a: &mask, out: None },
        ])
        .and_then(Ticket::wait)?;
    let n_kept = answer.count(1).context("the second step is a filter")?;
    println!("{n_kept} of them are 90 or more; the first: {:?}", &worker.read(&kept)?[..n_kept.min(5)]);
    worker.stop();
    Ok(())
}
