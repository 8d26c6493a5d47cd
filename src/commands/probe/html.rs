//! Probes as one page that needs nothing else: no script, no font, no network.

use praxis::probe::report::Table;
use praxis::probe::{Ended, ProbeReport};

use super::{chart, text};

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1d2329; --soft: #5b6670; --ground: #fdfdfc; --line: #d9dde1; --warn: #8a4b00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e2e6ea; --soft: #9aa5b0; --ground: #14181c; --line: #313a42; --warn: #e0a458; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 84rem; margin: 2rem auto;
  padding: 0 1rem; }
p, ul { max-width: 60rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
p.by { color: var(--soft); font-size: 0.85rem; margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.7rem 0.2rem 0; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; }
li.caution, p.ended { color: var(--warn); }
svg { max-width: 100%; min-width: 40rem; height: auto; }
svg text { fill: var(--ink); opacity: 1; }
svg rect[fill='#FFFFFF'] { fill: var(--ground); }
";

/// The page of these reports.
pub fn page(reports: &[ProbeReport]) -> anyhow::Result<String> {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Praxis: probes</title><style>\n{STYLE}</style></head><body>\n<h1>What things cost on this machine</h1>\n"
    );
    for report in reports {
        page += &section(report)?;
    }
    page += "</body></html>\n";
    Ok(page)
}

/// Text that means itself in HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn section(report: &ProbeReport) -> anyhow::Result<String> {
    let mut html = format!("<h2>{}</h2>\n<p>{}</p>\n", escaped(report.probe), escaped(report.question));
    for line in text::heading(report) {
        html += &format!("<p class=\"by\">{}</p>\n", escaped(&line));
    }
    let ended = match &report.ended {
        Ended::Complete => None,
        Ended::Interrupted => Some("Incomplete: interrupted".to_owned()),
        Ended::Failed(reason) => Some(format!("Incomplete: {reason}")),
    };
    let missing = report.unavailable.as_ref().map(|reason| format!("Not available: {reason}"));
    for sentence in ended.into_iter().chain(missing) {
        html += &format!("<p class=\"ended\">{}</p>\n", escaped(&sentence));
    }
    html += "<ul>\n";
    for finding in &report.findings {
        html += &format!("<li>{}</li>\n", escaped(finding));
    }
    for caution in &report.cautions {
        html += &format!("<li class=\"caution\">{}</li>\n", escaped(caution));
    }
    html += "</ul>\n";
    for drawn in &report.charts {
        let svg = chart::svg(drawn)?;
        if !svg.is_empty() {
            html += &format!("<h3>{}</h3>\n<div class=\"scroll\">{svg}</div>\n", escaped(&drawn.title));
            if matches!(drawn.marks, praxis::probe::report::Marks::Bars(_)) {
                html += "<p class=\"by\">Bars end at the median; whiskers go from the lower quartile to the 95th percentile.</p>\n";
            }
        }
    }
    for table in report.tables.iter().filter(|table| !table.rows.is_empty()) {
        html += &of_table(table);
    }
    Ok(html)
}

fn of_table(table: &Table) -> String {
    let class = |idx: usize| if text::is_numeric(table, idx) { " class=\"n\"" } else { "" };
    let mut html = format!("<h3>{}</h3>\n<div class=\"scroll\"><table><tr>", escaped(&table.title));
    for (idx, column) in table.columns.iter().enumerate() {
        html += &format!("<th{}>{}</th>", class(idx), escaped(&text::head(column)));
    }
    html += "</tr>\n";
    for row in &table.rows {
        html += "<tr>";
        for (idx, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
            html += &format!("<td{}>{}</td>", class(idx), escaped(&text::cell(cell, column)));
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_pages_escape_what_they_show_and_need_nothing_else() {
        let mut report = ProbeReport::new("waits", "Why?");
        report.findings.push("<script>alert(1)</script> & so on".into());
        report.unavailable = Some("\"no\"".into());
        let page = page(&[report]).expect("it is made");
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"));
        assert!(page.contains("Not available: &quot;no&quot;"));
        for outside in ["http://", "https://", "src=", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
