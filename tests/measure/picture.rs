//! Pictures against their goldens: what must pass, and every fault that must not.

use std::path::Path;

use praxis::measure::picture::{
    GoldenComparison, GoldenLane, GoldenThresholds, GoldenView, Goldens, Picture, PictureError, compare_with_golden,
    exact_difference, flip_difference,
};

const WIDTH: u32 = 96;
const HEIGHT: u32 = 64;

/// A checkered, shaded picture: edges, gradients and flat parts.
fn scene() -> Vec<u8> {
    let pixel = |x: u32, y: u32| {
        let checker = if (x / 8 + y / 8).is_multiple_of(2) { 60 } else { 0 };
        let disc = if (x as i32 - 48).pow(2) + (y as i32 - 32).pow(2) < 400 { 80 } else { 0 };
        [(40 + checker + x / 2) as u8, (50 + disc + y) as u8, (90 + checker / 2) as u8, 255]
    };
    (0..HEIGHT).flat_map(|y| (0..WIDTH).flat_map(move |x| pixel(x, y))).collect()
}

fn picture(rgba: &[u8]) -> Picture<'_> {
    Picture::new(WIDTH, HEIGHT, rgba).expect("the size fits")
}

fn compare(golden: &[u8], actual: &[u8], lane: GoldenLane) -> GoldenComparison {
    compare_with_golden(&picture(golden), &picture(actual), lane, &GoldenThresholds::default()).expect("one size")
}

#[test]
fn measure_a_picture_is_like_itself() {
    let golden = scene();
    for lane in [GoldenLane::Software, GoldenLane::Flip] {
        let comparison = compare(&golden, &golden, lane);
        assert!(comparison.passes(), "{:?}", comparison.excesses);
        let map = comparison.error_map_rgb();
        assert_eq!(map.len(), (WIDTH * HEIGHT * 3) as usize);
        assert!(map.as_chunks::<3>().0.iter().all(|pixel| pixel == &map[..3]), "no error is one colour");
    }
}

#[test]
fn measure_software_lane_allows_one_step_and_few_pixels() {
    let golden = scene();
    let mut actual = golden.clone();
    // Every channel of every pixel off by one: rounding.
    actual.as_chunks_mut::<4>().0.iter_mut().for_each(|[r, g, b, _]| (*r, *g, *b) = (*r + 1, *g - 1, *b + 1));
    assert!(compare(&golden, &actual, GoldenLane::Software).passes());
    // 0.05% of 6,144 pixels are 3.
    for n_pixels in 1..=5 {
        actual[n_pixels * 400] ^= 0xFF;
        let comparison = compare(&golden, &actual, GoldenLane::Software);
        assert_eq!(comparison.numbers.exact.n_differing, n_pixels as u64);
        assert_eq!(comparison.passes(), n_pixels <= 3, "{n_pixels} pixels: {:?}", comparison.excesses);
    }
    let message = compare(&golden, &actual, GoldenLane::Software).excesses[0].to_string();
    assert_eq!(message, "part of pixels whose colour differs is 0.000814, at most 0.000500 is allowed");
}

#[test]
fn measure_alpha_is_compared_on_its_own_in_both_lanes() {
    let golden = scene();
    let mut actual = golden.clone();
    actual.as_chunks_mut::<4>().0.iter_mut().take(100).for_each(|pixel| pixel[3] = 0);
    for lane in [GoldenLane::Software, GoldenLane::Flip] {
        let comparison = compare(&golden, &actual, lane);
        let exceeded: Vec<&str> = comparison.excesses.iter().map(|excess| excess.what.as_str()).collect();
        assert_eq!(exceeded, ["part of pixels whose alpha differs"], "{lane:?}");
        let exact = &comparison.numbers.exact;
        assert_eq!((exact.n_alpha_differing, exact.n_differing, exact.max_alpha_difference), (100, 0, 255));
    }
}

#[test]
fn measure_visible_faults_fail_in_both_lanes() {
    let golden = scene();
    let shifted: Vec<u8> = golden[4..].iter().chain(&golden[..4]).copied().collect();
    let srgb_twice = golden.iter().map(|&byte| ((f32::from(byte) / 255.0).powf(1.0 / 2.2) * 255.0) as u8).collect();
    let darker = golden.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, a]| [r / 2, g / 2, b / 2, a]).collect();
    let mut blank_tile = golden.clone();
    for y in 20..36 {
        for x in 40..56 {
            let start = ((y * WIDTH + x) * 4) as usize;
            blank_tile[start..start + 3].fill(0);
        }
    }
    let blank = vec![255; golden.len()];
    let faults: [(&str, Vec<u8>); 5] = [
        ("one-pixel shift", shifted),
        ("sRGB twice", srgb_twice),
        ("a light dropped", darker),
        ("a blank tile", blank_tile),
        ("a blank picture", blank),
    ];
    for (fault, actual) in faults {
        for lane in [GoldenLane::Software, GoldenLane::Flip] {
            let comparison = compare(&golden, &actual, lane);
            assert!(!comparison.passes(), "{fault} passes in the {lane:?} lane: {:?}", comparison.numbers);
        }
    }
}

#[test]
fn measure_flip_finds_the_tile_and_stays_small_for_rounding() {
    let golden = scene();
    // Other hardware rounds some channels up and some down.
    let mut noise = 1u32;
    let mut rounded = golden.clone();
    for pixel in rounded.as_chunks_mut::<4>().0 {
        for channel in &mut pixel[..3] {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match noise >> 30 {
                0 => *channel += 1,
                1 => *channel -= 1,
                _ => {}
            }
        }
    }
    let comparison = compare(&golden, &rounded, GoldenLane::Flip);
    println!("{:?}", comparison.numbers.flip.as_ref().map(|flip| (flip.mean, flip.p99, flip.worst_tile)));
    assert!(comparison.passes(), "{:?}", comparison.excesses);

    let mut actual = golden.clone();
    for y in 48..64 {
        for x in 80..96 {
            let start = ((y * WIDTH + x) * 4) as usize;
            actual[start..start + 3].copy_from_slice(&[255, 0, 255]);
        }
    }
    let difference = flip_difference(&picture(&golden), &picture(&actual)).expect("one size");
    let worst = difference.worst_tile;
    assert_eq!((worst.x_px, worst.y_px), (80, 48));
    assert!(worst.mean > 0.4 && difference.mean < 0.1 && difference.p99 > difference.mean, "{worst:?}");
    assert!((0.0..=1.0).contains(&difference.p99) && worst.mean <= 1.0);
}

#[test]
fn measure_exact_error_map_shows_where() {
    let golden = scene();
    let mut actual = golden.clone();
    actual[4 * 10] += 2;
    let difference = exact_difference(&picture(&golden), &picture(&actual), 1).expect("one size");
    let pixels = difference.error_map_rgb.as_chunks::<3>().0;
    let lit: Vec<usize> = (0..pixels.len()).filter(|&idx| pixels[idx] != pixels[0]).collect();
    assert_eq!((lit, difference.max_difference), (vec![10], 2));
    assert!(pixels[10].iter().max() > Some(&60), "even 2/255 can be seen: {:?}", pixels[10]);
}

#[test]
fn measure_pictures_that_cannot_be_compared_say_why() {
    let (large, small) = (scene(), [0; 8]);
    let error = exact_difference(&picture(&large), &Picture::new(2, 1, &small).expect("it fits"), 1).unwrap_err();
    assert_eq!(error.to_string(), "the picture is 2×1, its golden 96×64");
    assert_eq!(flip_difference(&picture(&large), &Picture::new(2, 1, &small).expect("it fits")), Err(error));
    let message = Picture::new(3, 1, &small).unwrap_err().to_string();
    assert_eq!(message, "a picture of 3×1 has 12 bytes, not 8");
    assert!(matches!(Picture::new(0, 7, &[]), Err(PictureError::Pixels { .. })));
    assert!(matches!(Picture::new(u32::MAX, u32::MAX, &[]), Err(PictureError::Pixels { .. })));
    let one = Picture::new(1, 1, &[1, 2, 3, 4]).expect("it fits");
    assert_eq!(flip_difference(&one, &one).expect("one size").mean, 0.0);
}

#[test]
fn measure_goldens_toml_inherits_from_its_default() {
    let text = r#"
        software_driver = "Mesa 25.0.7 (LLVM 15.0.6)"
        [default]
        flip_mean = 0.04
        [golden.town_street]
        flip_p99 = 0.3
    "#;
    let goldens = Goldens::parse(text, Path::new("goldens/goldens.toml")).expect("it is well-formed");
    let default = GoldenThresholds { flip_mean: 0.04, ..GoldenThresholds::default() };
    assert_eq!(goldens.thresholds("cornell"), default);
    assert_eq!(goldens.thresholds("town_street"), GoldenThresholds { flip_p99: 0.3, ..default });
    assert_eq!(goldens.lane(true, "Mesa 25.0.7 (LLVM 15.0.6)"), GoldenLane::Software);
    assert_eq!(goldens.lane(true, "Mesa 22.3.6 (LLVM 15.0.6)"), GoldenLane::Flip);
    assert_eq!(goldens.lane(false, "Mesa 25.0.7 (LLVM 15.0.6)"), GoldenLane::Flip);
    assert_eq!(Goldens::default().lane(true, ""), GoldenLane::Flip);
    assert_eq!(Goldens::parse("", Path::new("goldens.toml")).expect("all has a default"), Goldens::default());
}

#[test]
fn measure_goldens_toml_says_what_each_golden_shows() {
    let text = r#"
        [golden.roofs]
        scene = "town"
        camera = "roofs"
        size_px = [480, 270]
        flip_mean = 0.03
        [golden.later]
        scene = "town"
        camera = "bench"
        size_px = [31, 17]
        frame = 900
        msaa = 1
        [golden.bare]
    "#;
    let goldens = Goldens::parse(text, Path::new("goldens.toml")).expect("it is well-formed");
    let view = |camera: &str, size_px, frame, msaa| {
        Some(GoldenView { scene: "town".into(), camera: camera.into(), size_px, frame, msaa })
    };
    assert_eq!(goldens.views.get("roofs").cloned(), view("roofs", [480, 270], 0, 4));
    assert_eq!(goldens.views.get("later").cloned(), view("bench", [31, 17], 900, 1));
    assert_eq!((goldens.views.get("bare"), goldens.thresholds("roofs").flip_mean), (None, 0.03));
}

#[test]
fn measure_blessing_on_hardware_forgets_the_software_driver() {
    let text = "# who drew\nsoftware_driver = \"Mesa 25\"\n\n[golden.a] # a\nsoftware_driver = 1\n";
    let blessed = Goldens::without_software_driver(text);
    assert_eq!(blessed, "# who drew\n\n[golden.a] # a\nsoftware_driver = 1\n");
    assert_eq!(Goldens::without_software_driver(&blessed), blessed);
}

#[test]
fn measure_blessing_keeps_all_but_the_driver() {
    let driver = |text: &str| {
        Goldens::parse(text, Path::new("goldens.toml")).expect("it is well-formed").software_driver.expect("it is set")
    };
    let rest = "[default] # strict\nflip_mean = 0.02\n";
    let blessed = Goldens::with_software_driver(rest, "Mesa 25 \"x\" \\");
    assert_eq!((driver(&blessed).as_str(), blessed.ends_with(rest)), ("Mesa 25 \"x\" \\", true));
    let blessed = Goldens::with_software_driver(&format!("# who drew\n{blessed}"), "Mesa 26");
    assert_eq!(blessed, format!("# who drew\nsoftware_driver = \"Mesa 26\"\n{rest}"));
}

#[test]
fn measure_bad_goldens_toml_is_refused() {
    let message = |text: &str| Goldens::parse(text, Path::new("goldens.toml")).expect_err("it is bad").to_string();
    for (text, part) in [
        ("[default", "line 1"),
        ("[golden.a]\nflip_maen = 1", "[golden.a]: unknown field `flip_maen`"),
        ("[default]\nflip_mean = 1.5", "[default]: flip_mean is 1.5; it goes from 0 to 1"),
        ("[default]\nflip_mean = nan", "flip_mean is NaN"),
        ("[default]\nmax_channel_difference = 256", "[default]: "),
        ("[goldens.a]", "unknown field `goldens`"),
        ("[golden.a]\nscene = 'town'\ncamera = 'x'", "[golden.a]: missing field `size_px`"),
        ("[golden.a]\nscene = 'town'\ncamera = 'x'\nsize_px = [4, 0]", "[golden.a]: size_px is 4×0"),
        ("[golden.a]\nscene = 'town'\ncamera = 'x'\nsize_px = [4, 4]\nmsaa = 2", "[golden.a]: msaa is 2; it is 1 or 4"),
        ("[golden.a]\nscene = 'town'\ncamera = 'x'\nsize_px = [4, 4]\nframe = -1", "[golden.a]: "),
    ] {
        let message = message(text);
        assert!(message.starts_with("goldens.toml: ") && message.contains(part), "{text}: {message}");
    }
}
