//! The measures on pictures whose numbers can be worked out by hand.

use super::*;
use crate::measure::picture::Picture;

const WIDTH: u32 = 8;
const HEIGHT: u32 = 4;

/// Grey values by column, the same in each row.
fn columns(bytes: [u8; WIDTH as usize]) -> Vec<u8> {
    (0..HEIGHT).flat_map(|_| bytes.into_iter().flat_map(|byte| [byte, byte, byte, 255])).collect()
}

fn flat(byte: u8) -> Vec<u8> {
    columns([byte; 8])
}

fn picture(rgba: &[u8]) -> Picture<'_> {
    Picture::new(WIDTH, HEIGHT, rgba).expect("the size fits")
}

fn reference(rgba: &[u8]) -> Reference {
    let mut sum = ReferenceSum::new(WIDTH, HEIGHT);
    sum.add(&picture(rgba)).expect("one size");
    sum.finish()
}

fn measure(pairs: &[(Vec<u8>, Vec<u8>)]) -> PlaceAliasing {
    let references: Vec<_> = pairs.iter().map(|(_, wanted)| reference(wanted)).collect();
    let steps = pairs.iter().zip(&references).map(|((drawn, _), reference)| PanStep {
        picture: picture(drawn),
        reference,
        unshadowed_reference: None,
    });
    measure_place(3, &steps.collect::<Vec<_>>()).expect("one size")
}

#[track_caller]
fn assert_near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-6, "{actual} is not {expected}");
}

#[test]
fn aliasing_a_picture_like_its_reference_measures_zero() {
    let moving = [columns([9, 9, 255, 255, 0, 0, 77, 77]), columns([9, 255, 255, 0, 0, 77, 77, 9]), flat(200)];
    let place = measure(&moving.map(|rgba| (rgba.clone(), rgba)));
    assert!(place.edge_fraction > 0.3, "{place:?}");
    let expected = PlaceAliasing {
        frame_idx: 3,
        edge_error: Some(0.0),
        edge_fraction: place.edge_fraction,
        ..PlaceAliasing::default()
    };
    assert_eq!(place, expected);
}

#[test]
fn aliasing_flicker_that_the_reference_has_too_is_none() {
    // Both flash between black and white; the picture is off by nothing, or always by the same.
    let place = measure(&[(flat(0), flat(0)), (flat(255), flat(255)), (flat(0), flat(0))]);
    assert_eq!(place.flicker_variance, 0.0);
    let place = measure(&[(flat(255), flat(0)), (flat(255), flat(0))]);
    assert_eq!(place.flicker_variance, 0.0, "an error that stays is no flicker");
    assert!(place.flip_mean > 0.5, "but it is an error: {place:?}");
}

#[test]
fn aliasing_a_known_flicker_has_its_known_variance() {
    // White in one of four steps where it should be black: mean 1/4, variance 1/4 · 3/4.
    let steps = [0, 0, 255, 0].map(|byte| (flat(byte), flat(0)));
    assert_near(measure(&steps).flicker_variance, 0.1875);
    // In one of eight columns alone: an eighth of it.
    let lit = columns([0, 0, 0, 255, 0, 0, 0, 0]);
    let steps = [flat(0), flat(0), lit, flat(0)].map(|drawn| (drawn, flat(0)));
    assert_near(measure(&steps).flicker_variance, 0.1875 / 8.0);
    // A hard edge that jumps where it should glide: the pixel is 0, 0, 1, 1; it should be 0, 188, 255, 255 (0, ½, 1, 1).
    let steps = [(0, 0), (0, 188), (255, 255), (255, 255)].map(|(drawn, wanted)| (flat(drawn), flat(wanted)));
    let half = 0.502_886_5; // sRGB's 188 in linear light
    assert_near(measure(&steps).flicker_variance, half * half / 4.0 - (half / 4.0_f64).powi(2));
}

#[test]
fn aliasing_edge_error_looks_at_edges_alone() {
    // One edge, between the fourth column and the fifth; columns at the left are wrong, but at no edge.
    let wanted = columns([0, 0, 0, 0, 255, 255, 255, 255]);
    let wrong_far_away = columns([255, 255, 0, 0, 255, 255, 255, 255]);
    let place = measure(&[(wrong_far_away, wanted.clone())]);
    assert_eq!((place.edge_error, place.edge_fraction), (Some(0.0), 0.25));
    assert!(place.flip_mean > 0.0);
    // One of the two columns at the edge is wholly wrong.
    let place = measure(&[(columns([0, 0, 0, 255, 255, 255, 255, 255]), wanted)]);
    assert_eq!((place.edge_error, place.edge_fraction), (Some(0.5), 0.25));
    assert_eq!(measure(&[(flat(9), flat(10))]).edge_error, None, "no edges, no edge error");
}

#[test]
fn aliasing_a_step_below_the_contrast_is_no_edge() {
    // 0.1 of 255 is 25.5.
    for (byte, is_edge) in [(125, false), (126, true)] {
        let wanted = columns([100, 100, 100, 100, byte, byte, byte, byte]);
        assert_eq!(measure(&[(wanted.clone(), wanted)]).edge_error.is_some(), is_edge, "{byte}");
    }
}

#[test]
fn aliasing_shadow_edges_are_where_the_rays_begin_to_matter() {
    // A textured wall (an edge in the middle), in shadow from the seventh column on.
    let unshadowed = reference(&columns([90, 90, 90, 255, 255, 255, 255, 255]));
    let shadowed = reference(&columns([90, 90, 90, 255, 255, 255, 60, 60]));
    // The texture's edge is right; one column at the shadow's edge is white but should be dark.
    let drawn = columns([90, 90, 90, 255, 255, 255, 255, 60]);
    let step = PanStep { picture: picture(&drawn), reference: &shadowed, unshadowed_reference: Some(&unshadowed) };
    let place = measure_place(0, &[step]).expect("one size");
    let dark = ((60.0 / 255.0 + 0.055) / 1.055_f64).powf(2.4);
    assert_near(place.shadow_edge_error.expect("there is one"), (1.0 - dark) / 2.0);
    assert_eq!(place.shadow_edge_fraction, Some(0.25));
    assert_near(place.edge_error.expect("both edges"), (1.0 - dark) / 4.0);
}

#[test]
fn aliasing_pictures_of_two_sizes_are_an_error() {
    let (drawn, wanted) = (flat(0), ReferenceSum::new(HEIGHT, WIDTH).finish());
    let step = PanStep { picture: picture(&drawn), reference: &wanted, unshadowed_reference: None };
    assert!(measure_place(0, &[step]).is_err());
    assert_eq!(measure_place(5, &[]), Ok(PlaceAliasing { frame_idx: 5, ..PlaceAliasing::default() }));
}

#[test]
fn aliasing_summary_is_the_median_over_places() {
    let place = |frame_idx, flip_mean, edge_error| PlaceAliasing {
        frame_idx,
        flip_mean,
        edge_error,
        flicker_variance: flip_mean * flip_mean,
        ..PlaceAliasing::default()
    };
    let places = vec![place(0, 0.4, Some(0.5)), place(5, 0.1, None), place(9, 0.2, Some(0.3))];
    let aliasing = Aliasing::of_places([8, 4], 8, 64, places).expect("three places");
    assert_near(aliasing.flip_mean, 0.2);
    assert_near(aliasing.flicker_rms(), 0.2);
    assert_near(aliasing.edge_error.expect("two places have edges"), 0.4);
    assert_eq!(aliasing.shadow_edge_error, None);
    assert_eq!(Aliasing::of_places([8, 4], 8, 64, Vec::new()), None);

    let mut run = RunFile::from_log("town", &crate::measure::FrameLog::default());
    assert_eq!(Aliasing::of_run(&run), None);
    run.aliasing = Some(aliasing.to_value());
    assert_eq!(Aliasing::of_run(&run).as_ref(), Some(&aliasing));
    run.aliasing = Some(serde_json::json!({"mean": 1}));
    assert_eq!(Aliasing::of_run(&run), None, "another program's measures are not ours");

    let mut other = aliasing.clone();
    assert!(aliasing.is_comparable(&other));
    other.places[1].frame_idx = 6;
    assert!(!aliasing.is_comparable(&other));
}
