//! Everything that a run leaves in its folder, written as a whole or not at all.

use std::path::Path;

use anyhow::Context;
use praxis::measure::{FrameLog, RunFile, StagedFiles, write_frames_csv};
use praxis::report::{Page, PagePictures, PictureSet, write_trace};

use super::folder::RUN_FILE;
use super::goldens::GoldenPictures;
use crate::commands::beside::Beside;
use crate::commands::page::{self, ALIASING_FOLDER, GOLDEN_FOLDER};
use crate::commands::png;

/// What a run leaves.
pub struct SavedRun<'a> {
    pub run: &'a RunFile,
    pub log: &'a FrameLog,
    /// The last frame, if it could be read.
    pub picture: Option<&'a png::Rgba>,
    pub goldens: &'a [GoldenPictures],
}

impl SavedRun<'_> {
    /// Writes all of it. What an earlier run left in the folder is replaced, or, where this one has no such thing, removed.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let could_not = || format!("could not save the run in {}, where nothing of it was left", folder.display());
        let final_png = self.picture.map(png::encode).transpose()?;
        let page = page_of(self.run, &self.page_pictures());
        let mut files = StagedFiles::new(folder);
        let mut add =
            |name: String, bytes: &[u8]| files.add(name, |file| file.write_all(bytes)).with_context(could_not);
        if let Some(bytes) = &final_png {
            add("final.png".into(), bytes)?;
        }
        for golden in self.goldens {
            let shown = [
                ("expected", golden.expected.as_ref()),
                ("actual", Some(&golden.actual)),
                ("error", golden.error.as_ref()),
            ];
            for (what, bytes) in shown {
                if let Some(bytes) = bytes {
                    add(format!("{GOLDEN_FOLDER}/{}.{what}.png", golden.name), bytes)?;
                }
            }
        }
        add("report.html".into(), page.as_bytes())?;
        files.add("frames.csv", |file| write_frames_csv(self.log, file)).with_context(could_not)?;
        files.add("trace.json", |file| write_trace(self.log, self.run, file)).with_context(could_not)?;
        // Last: where there is a run.json, the folder is whole.
        files.add(RUN_FILE, |file| self.run.write_to(file)).with_context(could_not)?;
        remove_stale(folder)?;
        files.commit().with_context(|| format!("could not save the run in {}", folder.display()))
    }

    fn page_pictures(&self) -> PagePictures {
        let set = |golden: &GoldenPictures| PictureSet {
            name: golden.name.clone(),
            expected: golden.expected.clone().map(page::png_picture),
            actual: Some(page::png_picture(golden.actual.clone())),
            error: golden.error.clone().map(page::png_picture),
        };
        PagePictures {
            last_frame: self.picture.and_then(page::last_frame),
            goldens: self.goldens.iter().map(set).collect(),
            aliasing: Vec::new(),
        }
    }
}

/// Writes run file and page anew, when aliasing has been measured or is known to be missing.
pub fn write_again(folder: &Path, run: &RunFile) -> anyhow::Result<()> {
    let goldens: Vec<String> = run.goldens.iter().map(|check| check.name.clone()).collect();
    let page = page_of(run, &page::pictures_in(folder, &goldens));
    let mut files = StagedFiles::new(folder);
    let could_not = || format!("could not add aliasing to the run in {}, which is there without it", folder.display());
    files.add("report.html", |file| file.write_all(page.as_bytes())).with_context(could_not)?;
    files.add(RUN_FILE, |file| run.write_to(file)).with_context(could_not)?;
    files.commit().with_context(could_not)
}

fn page_of(run: &RunFile, pictures: &PagePictures) -> String {
    let beside = Beside::of(run);
    let report = beside.report(run);
    Page { report: &report, pictures }.to_html()
}

/// Takes away the pictures that an earlier run left: this run's come in their place, or it has none. Only files of our own
/// names go; a folder of that name may be anything.
fn remove_stale(folder: &Path) -> anyhow::Result<()> {
    type IsOurs = fn(&str) -> bool;
    let is_ours: [(&str, IsOurs); 2] = [
        (ALIASING_FOLDER, |name| {
            let place = name.strip_prefix("place").and_then(|rest| rest.split_once('_'));
            place.is_some_and(|(number, what)| {
                number.chars().all(|c| c.is_ascii_digit())
                    && matches!(what, "picture.png" | "reference.png" | "flip.png")
            })
        }),
        (GOLDEN_FOLDER, |name| [".expected.png", ".actual.png", ".error.png"].iter().any(|end| name.ends_with(end))),
    ];
    for (name, is_ours) in is_ours {
        let folder = folder.join(name);
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            // Those of this run are staged under names of their own and not in place yet.
            if is_ours(&entry.file_name().to_string_lossy()) && !entry.file_name().to_string_lossy().starts_with('.') {
                let path = entry.path();
                std::fs::remove_file(&path).with_context(|| format!("could not remove the old {}", path.display()))?;
            }
        }
        // Fails, as it should, where something is left in it.
        let _ = std::fs::remove_dir(&folder);
    }
    Ok(())
}
