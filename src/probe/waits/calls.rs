//! What single calls within a wait take: where the time goes that `device.poll` takes beyond a look at a semaphore.

use super::super::report::{Cell, Column, ProbeReport, Table, spread_columns};
use super::super::spread::Spread;

/// Single calls, each timed by itself; in ns.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// `device.poll` with a zero timeout that found the GPU still at it.
    pub poll_running_ns: Vec<u64>,
    /// The one that found it done, and freed what the submission had held.
    pub poll_done_ns: Vec<u64>,
    /// A look at the semaphore's counter.
    pub look_ns: Vec<u64>,
}

/// Samples kept of each kind: a spinning wait makes many.
const MOST_SAMPLES: usize = 1 << 16;

impl Calls {
    /// Adds `ns` to one of them.
    pub fn note(samples: &mut Vec<u64>, ns: u64) {
        if samples.len() < MOST_SAMPLES {
            samples.push(ns);
        }
    }

    /// Adds the table, and what follows from it.
    pub fn fill(&self, report: &mut ProbeReport) {
        let kinds = [
            ("device.poll while the GPU is at it", &self.poll_running_ns),
            ("device.poll that finds it done, and frees what it held", &self.poll_done_ns),
            ("a look at the semaphore's counter", &self.look_ns),
        ];
        let spreads = kinds.map(|(name, samples)| (name, Spread::of(samples.iter().copied())));
        let rows: Vec<Vec<Cell>> = spreads
            .iter()
            .filter_map(|(name, spread)| {
                let mut row = vec![Cell::from(*name)];
                row.extend(Cell::spread_us(Some(spread.as_ref()?)));
                Some(row)
            })
            .collect();
        if rows.is_empty() {
            return;
        }
        let mut columns = vec![Column::text("one call")];
        columns.extend(spread_columns());
        report.tables.push(Table { title: "Single calls in a wait".into(), columns, rows });
        let [running, done, look] = spreads.map(|(_, spread)| spread.map(|spread| spread.median / 1e3));
        if let (Some(running), Some(done), Some(look)) = (running, done, look) {
            report.findings.push(format!(
                "a poll takes {running:.2} µs while the GPU is at it and {done:.2} µs when it is done and frees what was held; \
                 a look at a semaphore {look:.2} µs"
            ));
            report.findings.push(format!(
                "so a spinning wait returns some {:.2} µs after a loop of looks would: half a poll, and the last one",
                running / 2.0 + done - 1.5 * look
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_waits_single_calls_are_listed_and_summed_up() {
        let mut calls = Calls::default();
        let mut report = ProbeReport::new("waits", "?");
        calls.fill(&mut report);
        assert!(report.tables.is_empty() && report.findings.is_empty(), "nothing was measured");

        for ns in [600, 700, 800] {
            Calls::note(&mut calls.poll_running_ns, ns);
        }
        Calls::note(&mut calls.poll_done_ns, 2_500);
        Calls::note(&mut calls.look_ns, 60);
        calls.fill(&mut report);
        assert_eq!(report.tables[0].rows.len(), 3);
        assert_eq!(report.tables[0].rows[0][2], Cell::Number(0.7));
        let [calls, wait] = &report.findings[..] else { panic!("{:?}", report.findings) };
        assert!(
            calls.contains("0.70 µs while") && calls.contains("2.50 µs when") && calls.ends_with("0.06 µs"),
            "{calls}"
        );
        assert!(wait.contains("some 2.76 µs after"), "0.35 + 2.5 - 0.09: {wait}");
    }

    #[test]
    fn probe_waits_single_calls_are_kept_within_bounds() {
        let mut samples = Vec::new();
        (0..2 * MOST_SAMPLES as u64).for_each(|ns| Calls::note(&mut samples, ns));
        assert_eq!(samples.len(), MOST_SAMPLES);
    }
}
