//! The HTML page of a run, with the pictures that lie in its folder.

use std::path::Path;

use image::codecs::jpeg::JpegEncoder;
use praxis::report::{PagePictures, PictureSet, ReportPicture};

use super::png::{self, Rgba};

/// A last frame wider than this is made smaller for the page: it is to be looked at, `final.png` to be measured.
const WIDEST_PX: u32 = 1_280;
const JPEG_QUALITY: u8 = 88;

/// What the files of a golden or of a place are called.
pub const GOLDEN_FOLDER: &str = "golden";
/// Where the aliasing measure leaves its pictures.
pub const ALIASING_FOLDER: &str = "aliasing";

/// The pictures in a run folder. One that can't be read is left out: the numbers count.
pub fn pictures_in(folder: &Path, goldens: &[String]) -> PagePictures {
    let read = |path: &Path| std::fs::read(path).ok().map(png_picture);
    let set = |name: String, folder: &Path, [expected, actual, error]: [String; 3]| PictureSet {
        name,
        expected: read(&folder.join(expected)),
        actual: read(&folder.join(actual)),
        error: read(&folder.join(error)),
    };
    let golden_folder = folder.join(GOLDEN_FOLDER);
    let of_golden = |name: &String| {
        let file = |what: &str| format!("{name}.{what}.png");
        set(name.clone(), &golden_folder, ["expected", "actual", "error"].map(file))
    };
    let aliasing_folder = folder.join(ALIASING_FOLDER);
    let of_place = |place_idx: usize| {
        let file = |what: &str| format!("place{place_idx}_{what}.png");
        let set = set(format!("Place {place_idx}"), &aliasing_folder, ["reference", "picture", "flip"].map(file));
        set.actual.is_some().then_some(set)
    };
    PagePictures {
        last_frame: png::read(&folder.join("final.png")).ok().as_ref().and_then(last_frame),
        goldens: goldens.iter().map(of_golden).collect(),
        aliasing: (0..).map_while(of_place).collect(),
    }
}

/// The bytes of a PNG file, for the page.
pub fn png_picture(bytes: Vec<u8>) -> ReportPicture {
    ReportPicture { media_type: "image/png", bytes }
}

/// A run's last frame as the page shows it; `None` where it can't be encoded.
pub fn last_frame(picture: &Rgba) -> Option<ReportPicture> {
    let rgba = image::RgbaImage::from_raw(picture.width_px, picture.height_px, picture.pixels.clone())?;
    let mut rgb = image::DynamicImage::ImageRgba8(rgba).into_rgb8();
    if picture.width_px > WIDEST_PX {
        let height_px = (u64::from(picture.height_px) * u64::from(WIDEST_PX) / u64::from(picture.width_px)).max(1);
        rgb = image::imageops::resize(&rgb, WIDEST_PX, height_px as u32, image::imageops::FilterType::Triangle);
    }
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY).encode_image(&rgb).ok()?;
    Some(ReportPicture { media_type: "image/jpeg", bytes })
}
