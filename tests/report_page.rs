//! The HTML page in a real browser. Without one the test says so and passes: `script/setup --test` installs Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use praxis::measure::aliasing::{Aliasing, PlaceAliasing};
use praxis::measure::experiment::{
    EXPERIMENT_SCHEMA, Experiment, ExperimentKind, ExperimentState, GATED_LINES, Pair, Plan, RunStatistics, Side,
    SideName, VoidReason,
};
use praxis::measure::picture::{GoldenCheck, GoldenLane, GoldenView, Picture, compare_with_golden};
use praxis::measure::{Adapter, Budget, FrameLog, Machine, RunFile, Unit};
use praxis::report::{ExperimentPage, Page, PagePictures, PictureSet, Report, ReportPicture};
use serde_json::Value;

/// Lines with two modes, a spike and a gap; `scale` makes a slower run of it.
fn run_of(n_frames: u64, scale: u64) -> RunFile {
    let lines = [
        ("cpu_frame", 1_100_000),
        ("frame_time", 9_900_000),
        ("stage.wait", 8_700_000),
        ("stage.update", 400_000),
        ("stage.prepare_frame", 150_000),
        ("stage.encode", 420_000),
        ("stage.submit", 130_000),
        ("system.propagate_world_transforms", 350_000),
        ("tlas.cpu", 90_000),
        ("gpu_frame", 9_500_000),
        ("gpu.cull", 200_000),
        ("gpu.visibility", 6_300_000),
        ("gpu.shade", 2_900_000),
        ("gpu.post", 100_000),
    ];
    let mut log = FrameLog::with_capacity(n_frames as usize);
    for frame in 0..n_frames {
        let frame_idx = log.begin_frame();
        for (name, ns) in lines {
            let line = log.line(name, Unit::Nanoseconds);
            let wobble = (frame * 7_919 + ns) % 97;
            let mode = if frame % 50 < 15 { 118 } else { 100 };
            let spike = if frame == 77 { 9 } else { 1 };
            log.set(line, frame_idx, ns * (1_000 + wobble) / 1_000 * mode / 100 * spike * scale / 100);
        }
        let chain = log.line("chain.start", Unit::Nanoseconds);
        if frame % 10 != 3 {
            log.set(chain, frame_idx, 3_000 + frame % 40);
        }
        log.set_core(frame_idx, Some((frame / 90) as u32 % 2));
    }
    let mut run = RunFile::from_log("town", &log);
    run.date = Some("2026-03-01T10:20:30Z".into());
    run.adapter.name = "A GPU <&\"'>".into();
    run.settings.set("width_px", 640).set("height_px", 360).set("msaa", 4).set("wait", "spin");
    run
}

fn png_of(seed: u8) -> (Vec<u8>, ReportPicture) {
    let picture = image::RgbaImage::from_fn(160, 90, |x, y| {
        image::Rgba([(x as u8).wrapping_add(seed), (y as u8).wrapping_mul(2), seed.wrapping_mul(3), 255])
    });
    let mut bytes = Vec::new();
    picture.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).expect("memory can be written");
    (picture.into_raw(), ReportPicture { media_type: "image/png", bytes })
}

/// A page with everything on it.
fn page() -> String {
    let baseline = run_of(60, 100).without_samples();
    let mut run = run_of(600, 120);
    run.warnings.push("a warning with <b>markup</b> & more".into());
    let ((golden, expected), (drawn, actual)) = (png_of(1), png_of(40));
    let picture = |pixels| Picture::new(160, 90, pixels).expect("it has its size");
    let comparison = compare_with_golden(&picture(&golden), &picture(&drawn), GoldenLane::Flip, &Default::default());
    let comparison = comparison.expect("they are of one size");
    run.goldens.push(GoldenCheck {
        name: "town_square".into(),
        view: GoldenView { scene: "town".into(), camera: "square".into(), size_px: [160, 90], frame: 0, msaa: 4 },
        passes: comparison.passes(),
        fault: None,
        comparison: Some(comparison),
    });
    let place = PlaceAliasing {
        frame_idx: 0,
        flip_mean: 0.02,
        edge_error: Some(0.01),
        shadow_edge_error: None,
        flicker_variance: 1e-4,
        edge_fraction: 0.1,
        shadow_edge_fraction: None,
    };
    run.aliasing = Aliasing::of_places([160, 90], 8, 64, vec![place]).map(|aliasing| aliasing.to_value());
    let pictures = PagePictures {
        last_frame: Some(actual.clone()),
        goldens: vec![PictureSet {
            name: "town_square".into(),
            expected: Some(expected.clone()),
            actual: Some(actual.clone()),
            error: Some(png_of(90).1),
        }],
        aliasing: vec![PictureSet {
            name: "Place 0".into(),
            expected: Some(expected),
            actual: Some(actual),
            error: None,
        }],
    };
    let report = Report::new(&run, Some(&baseline), &Budget::m3());
    Page { report: &report, pictures: &pictures }.to_html()
}

/// Twenty pairs of which B is 20% slower, and one that does not count.
fn comparison() -> Experiment {
    let statistics = |scale| {
        let mut statistics = RunStatistics::of(&run_of(20, scale).without_samples(), "runs/000");
        statistics.chain_ns = Some(3_000.0);
        statistics
    };
    let mut pairs: Vec<Pair> = (0..20)
        .map(|pair| Pair {
            first: if pair % 3 == 0 { SideName::A } else { SideName::B },
            void: None,
            a: Some(statistics(1_000 + pair % 7)),
            b: Some(statistics(1_200 + pair % 5)),
        })
        .collect();
    let void = Some(VoidReason::Failed { side: SideName::B, message: "<script>lost</script>".into() });
    pairs.push(Pair { first: SideName::A, void, a: None, b: None });
    let side = |label: &str, msaa: u32| {
        let mut side = Side { label: label.into(), program: "/usr/bin/praxis".into(), ..Side::default() };
        (side.build.version, side.build.commit) = ("0.1.0".into(), Some("1234abcd".into()));
        side.settings.set("width_px", 640).set("height_px", 360).set("msaa", msaa).set("frames", 20).set("warmup", 5);
        side.settings.set("rays", "edge").set("ray_backend", "bvh").set("wait", "block");
        side
    };
    let mut experiment = Experiment {
        schema: EXPERIMENT_SCHEMA.into(),
        scene: "scenes/town.ron".into(),
        kind: ExperimentKind::Ab,
        state: ExperimentState::Unfinished,
        date: Some("2026-03-01T10:20:30Z".into()),
        a: side("msaa=1", 1),
        b: side("msaa=4", 4),
        machine: Machine { cpu: "A CPU".into(), n_cores: 2, ..Machine::default() },
        adapter: Adapter { name: "A GPU <b>".into(), driver: "A driver".into(), ..Adapter::default() },
        plan: Plan::new(20, 1, &GATED_LINES),
        pairs,
        lines: Vec::new(),
        clock: Default::default(),
        warnings: Vec::new(),
    };
    experiment.judge_so_far();
    experiment
}

/// Runs before the page's own script: whatever goes wrong is kept.
const LISTEN: &str = r#"<script>
window.faults = [];
addEventListener("error", (event) => faults.push(event.message || "a resource failed"), true);
addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => faults.push("forbidden: " + event.blockedURI));
for (const kind of ["error", "warn"]) console[kind] = (...words) => faults.push(words.join(" "));
</script>"#;

/// Uses the page as a reader would, and writes down what came of it.
const USE: &str = r##"<script>
const results = {};
try {
  const names = () => [...document.querySelectorAll("#table tbody .name")].map((cell) => cell.textContent);
  const values = (column) =>
    [...document.querySelectorAll("#table tbody tr")].map((row) => Number(row.cells[column].dataset.v));
  const heading = (title) =>
    [...document.querySelectorAll("#table thead button")].find((button) => button.textContent === title);
  const column = (title) => heading(title).parentElement.cellIndex;
  results.names = names();
  heading("median").click();
  results.falling = values(column("median"));
  heading("median").click();
  results.rising = values(column("median"));
  heading("line").click();
  results.byName = names();
  heading("kind").click();
  results.again = names();

  const compare = document.querySelector(".compare");
  const over = compare.querySelector(".over");
  const slide = (input, value) => {
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const clip = () => getComputedStyle(over).clipPath;
  results.clipBefore = clip();
  slide(compare.querySelector("input"), 20);
  results.clipAfter = clip();
  const error = compare.querySelector(".error");
  results.errorBefore = getComputedStyle(error).display;
  compare.querySelector("button").click();
  results.errorAfter = getComputedStyle(error).display;

  const chosen = () => document.querySelector("#stack-cpu .bar.chosen b").textContent;
  results.chosenBefore = chosen();
  document.getElementById("slowest").click();
  results.slowest = document.getElementById("frame-no").textContent;
  results.chosenAfter = chosen();
  slide(document.getElementById("frame"), 5);
  results.fifth = document.getElementById("frame-no").textContent;

  const paper = () => getComputedStyle(document.body).backgroundColor;
  results.paperBefore = paper();
  document.getElementById("theme").click();
  results.paperAfter = paper();

  document.querySelectorAll("details").forEach((details) => (details.open = true));
  results.width = innerWidth;
  results.scrollWidth = document.documentElement.scrollWidth;
  results.broken = [...document.images].filter((image) => !(image.complete && image.naturalWidth > 0)).length;
  results.images = document.images.length;
  results.loaded = performance.getEntriesByType("resource").filter((entry) => !entry.name.startsWith("data:")).length;
  results.charts = document.querySelectorAll("figure svg").length;
} catch (error) {
  faults.push("the test itself: " + error);
}
results.faults = faults;
const out = document.createElement("pre");
out.id = "results";
out.textContent = "RESULTS " + encodeURIComponent(JSON.stringify(results)) + " END";
document.body.append(out);
</script>"##;

fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell"];
    let folders = std::env::split_paths(&std::env::var_os("PATH")?).collect::<Vec<_>>();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// The document after its scripts ran, in a window of some width. A browser that hangs is ended.
fn dumped_dom(browser: &Path, file: &Path, width_px: u32) -> (String, String) {
    let profile = tempfile::tempdir().expect("a temporary folder");
    let log = |name: &str| std::fs::File::create(profile.path().join(name)).expect("it can be made");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-extensions", "--enable-logging=stderr", "--log-level=0"])
        .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
        .arg(format!("--window-size={width_px},1000"))
        .args(["--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("file://{}", file.display()))
        .stdout(log("dom"))
        .stderr(log("log"))
        .spawn()
        .expect("the browser starts");
    let started = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if started.elapsed() > Duration::from_secs(120) {
            child.kill().expect("it still runs");
            panic!("the browser does not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let text = |name: &str| {
        String::from_utf8_lossy(&std::fs::read(profile.path().join(name)).expect("it is there")).into_owned()
    };
    (text("dom"), text("log"))
}

fn results_in(dom: &str) -> Value {
    let encoded = dom.split("RESULTS ").last().and_then(|rest| rest.split(" END").next()).expect("the script ran");
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let [first, after @ ..] = rest {
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |c: &u8| char::from(*c).to_digit(16).expect("a percent sign and two digits") as u8;
                bytes.push(digit(high) * 16 + digit(low));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = browser() else {
        println!("no browser is here: the page was not opened (script/setup --test installs Chromium)");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("report.html");
    let page =
        page().replacen("<style>", &format!("{LISTEN}\n<style>"), 1).replacen("</body>", &format!("{USE}\n</body>"), 1);
    std::fs::write(&file, page).expect("it can be written");

    for width_px in [500, 1_600] {
        let (dom, log) = dumped_dom(&browser, &file, width_px);
        let results = results_in(&dom);
        assert_eq!(results["faults"], Value::Array(Vec::new()), "faults on the page at {width_px} pixels");
        assert!(!log.contains(":CONSOLE"), "something is on the console:\n{log}");

        let numbers = |key: &str| -> Vec<f64> {
            results[key].as_array().expect("a list").iter().map(|value| value.as_f64().expect("a number")).collect()
        };
        assert!(numbers("falling").len() == 15 && numbers("falling").is_sorted_by(|a, b| a >= b), "{results}");
        assert!(numbers("rising").is_sorted(), "{results}");
        let by_name: Vec<&str> =
            results["byName"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert!(by_name.len() == 15 && by_name.is_sorted(), "{by_name:?}");
        assert_eq!(results["again"], results["names"], "kinds are in the order of a frame");

        assert_ne!(results["clipBefore"], results["clipAfter"], "the slider moves the border between the pictures");
        assert_eq!((&results["errorBefore"], &results["errorAfter"]), (&"none".into(), &"block".into()));
        assert_ne!(results["chosenBefore"], results["chosenAfter"]);
        assert_eq!((&results["slowest"], &results["fifth"]), (&"77".into(), &"5".into()));
        assert_ne!(results["paperBefore"], results["paperAfter"], "light and dark are different");
        let width = |key: &str| results[key].as_f64().expect("a width");
        assert!(width("scrollWidth") <= width("width"), "the page is wider than its window: {results}");
        assert_eq!((&results["broken"], &results["images"], &results["loaded"]), (&0.into(), &6.into(), &0.into()));
        assert!(results["charts"].as_u64() > Some(60), "{results}");
    }
}

/// As [`USE`], for a comparison.
const USE_COMPARISON: &str = r##"<script>
const results = { faults };
try {
  const rows = () => [...document.querySelectorAll("#table tbody tr")];
  const names = () => rows().map((row) => row.cells[0].textContent);
  results.names = names();
  results.columns = [...document.querySelectorAll("#table thead button")].map((heading) => {
    const column = heading.parentElement.cellIndex;
    const keys = () => rows().map((row) => row.cells[column].dataset.v);
    const sorted = () => {
      heading.click();
      return { order: heading.parentElement.getAttribute("aria-sort"), keys: keys() };
    };
    return { title: heading.textContent, once: sorted(), twice: sorted() };
  });
  const byEffect = document.getElementById("by-effect");
  byEffect.click();
  results.pressed = byEffect.getAttribute("aria-pressed");
  results.effects = rows().filter((row) => row.dataset.judged === "1").map((row) => row.dataset.effect);
  results.otherEffects = rows().filter((row) => row.dataset.judged === "0").map((row) => row.dataset.effect);
  results.judgedFirst = rows().map((row) => row.dataset.judged);
  byEffect.click();
  results.again = names();
  document.querySelectorAll("details").forEach((details) => (details.open = true));
  results.headline = document.querySelector("#verdict h2").textContent;
  results.charts = document.querySelectorAll("figure svg").length;
  results.none = [...document.querySelectorAll("details.line")]
    .filter((line) => line.textContent.includes("none: 0 in every run of both sides"))
    .map((line) => line.id);
  results.drawnNone = results.none.filter((id) => document.getElementById(id).querySelector("svg"));
  // What can be read of a line without opening anything.
  results.row = rows()[0].innerText;
  results.width = innerWidth;
  results.scrollWidth = document.documentElement.scrollWidth;
  results.tableWidth = document.getElementById("table").scrollWidth - document.querySelector(".scroll").clientWidth;
} catch (error) {
  faults.push("the test itself: " + error);
}
const out = document.createElement("pre");
out.textContent = "RESULTS " + encodeURIComponent(JSON.stringify(results)) + " END";
parent.document.body.append(out);
</script>"##;

/// A page that shows another one in a frame of some width: a browser's window can't be as narrow as a phone.
fn framed(page: &str, width_px: u32) -> String {
    let escaped = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!doctype html><meta charset=\"utf-8\"><body style=\"margin: 0\">\n\
         <iframe srcdoc=\"{escaped}\" style=\"border: 0; width: {width_px}px; height: 900px\"></iframe></body>"
    )
}

#[test]
fn the_page_of_a_comparison_works_in_a_browser() {
    let experiment = comparison();
    let html = ExperimentPage { experiment: &experiment }.to_html();
    assert!(html.contains("A: msaa=1") && !html.contains("<script>lost"), "words of the file are no markup");
    assert!(html.contains("pair 21: a run of B failed"));
    let Some(browser) = browser() else {
        println!("no browser is here: the page was not opened (script/setup --test installs Chromium)");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("report.html");
    let listening = html.replacen("<style>", &format!("{LISTEN}\n<style>"), 1);
    let page = listening.replacen("</body>", &format!("{USE_COMPARISON}\n</body>"), 1);
    for width_px in [390, 1_400] {
        std::fs::write(&file, framed(&page, width_px)).expect("it can be written");
        let (dom, log) = dumped_dom(&browser, &file, 1_500);
        let results = results_in(&dom);
        assert_eq!(results["faults"], Value::Array(Vec::new()));
        assert!(!log.contains(":CONSOLE"), "something is on the console:\n{log}");
        assert_eq!((&results["headline"], &results["width"]), (&"B is slower than A".into(), &width_px.into()));
        assert!(results["charts"].as_u64() > Some(20), "{results}");
        assert!(results["scrollWidth"].as_f64() <= results["width"].as_f64(), "{results}");
        assert!(results["tableWidth"].as_f64() <= Some(0.0), "the table is cut off: {results}");
        let row = results["row"].as_str().expect("a text");
        for part in ["13.37 ms", "16.02 ms", "+19.", " … "] {
            assert!(row.contains(part), "{part:?} can't be read at {width_px} px: {row}");
        }
        assert_eq!(row.matches(" … ").count(), 2, "both intervals are there at {width_px} px: {row}");
        assert_eq!(results["none"], serde_json::json!(["line-migrations", "line-missed"]));
        assert_eq!(results["drawnNone"], Value::Array(Vec::new()), "what is nothing has no chart");
        assert_every_column_sorts(&results);
    }
}

/// Names by letters, the rest by numbers, either way round; what has no number comes last.
fn assert_every_column_sorts(results: &Value) {
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
    };
    let numbers = |keys: &[String], title: &str| -> Vec<f64> {
        let n_known = keys.iter().position(|key| key.is_empty()).unwrap_or(keys.len());
        assert!(keys[n_known..].iter().all(|key| key.is_empty()), "{title}: what is missing is not last: {keys:?}");
        keys[..n_known]
            .iter()
            .map(|key| key.parse().unwrap_or_else(|_| panic!("{title}: {key} is no number")))
            .collect()
    };
    let columns = results["columns"].as_array().expect("a list");
    assert_eq!(columns.len(), 10);
    for column in columns {
        let title = column["title"].as_str().expect("a title");
        for sorted in [&column["once"], &column["twice"]] {
            let (keys, is_rising) = (texts(&sorted["keys"]), sorted["order"] == "ascending");
            let is_sorted = match title {
                "line" if is_rising => keys.is_sorted(),
                "line" => keys.is_sorted_by(|a, b| a >= b),
                _ if is_rising => numbers(&keys, title).is_sorted(),
                _ => numbers(&keys, title).is_sorted_by(|a, b| a >= b),
            };
            assert!(is_sorted, "{title}, {}: {keys:?}", sorted["order"]);
        }
        assert_ne!(column["once"]["order"], column["twice"]["order"], "{title}");
    }
    for (key, n_least) in [("effects", 6), ("otherEffects", 5)] {
        let effects = numbers(&texts(&results[key]), key);
        assert!(effects.len() >= n_least && effects.is_sorted_by(|a, b| a >= b) && effects[0] > 0.1, "{effects:?}");
    }
    assert!(texts(&results["judgedFirst"]).is_sorted_by(|a, b| a >= b), "judged lines come before the others");
    assert_eq!((&results["pressed"], &results["again"]), (&"true".into(), &results["names"]), "and back again");
}

#[test]
fn the_page_of_a_comparison_says_what_was_run() {
    let html = ExperimentPage { experiment: &comparison() }.to_html();
    for part in [
        "<li>20 frames a run</li><li>640×360 pixels</li>",
        "<dt>Scene</dt><dd>town (scenes/town.ron)</dd>",
        "<dd>640×360 pixels</dd>",
        "<dd>A: none: 1 sample a pixel. B: 4 samples a pixel</dd>",
        "<dd>edge: one ray for each surface of a pixel, more along the edges of shadows, traced by Praxis&#39;s own trees (bvh)</dd>",
        "<dd>block: the CPU sleeps until the frame is drawn</dd>",
        "<li>1 more that does not count</li>",
        "<dd>20 pairs, each a run of A and one of B; which of them comes first is left to chance; 1 more that does not count</dd>",
        "20 frames measured after 5 to warm up",
        "<dd>A GPU &lt;b&gt;</dd>",
        "<dt>Driver</dt><dd>A driver</dd>",
        "<dd>A CPU, 2 cores for the program</dd>",
        "<dt>Began</dt><dd>2026-03-01 10:20:30 UTC</dd>",
        "praxis 0.1.0, commit 1234abcd",
        "<code>/usr/bin/praxis</code>",
        "<li>msaa: 1 in A, 4 in B</li>",
    ] {
        assert!(html.contains(part), "{part:?} is missing");
    }
}

#[test]
fn the_page_is_whole_without_a_browser() {
    let html = page();
    // The verdict comes first, and nothing of the run's own words becomes markup.
    let at = |part: &str| html.find(part).unwrap_or_else(|| panic!("{part:?} is missing"));
    assert!(at("id=\"verdict\"") < at("id=\"lines\"") && at("id=\"lines\"") < at("id=\"timeline\""));
    assert!(html.contains("A GPU &lt;&amp;&quot;&#39;&gt;") && html.contains("&lt;b&gt;markup&lt;/b&gt;"));
    assert!(html.contains("<title>town: "));
    for outside in ["src=\"http", "href=\"http", "url(", "@import", "//cdn"] {
        assert!(!html.contains(outside), "{outside:?} would need a network");
    }
    assert!(
        html.contains("cpu_frame") && html.contains("praxis bench town <span class=\"word\">--vs</span>"),
        "what is suspect can be settled"
    );

    let empty = RunFile::from_log("town", &FrameLog::default());
    let report = Report::new(&empty, None, &[]);
    let html = Page { report: &report, pictures: &PagePictures::default() }.to_html();
    assert!(html.contains("Measured, not judged") && html.ends_with("</html>\n"));
}
