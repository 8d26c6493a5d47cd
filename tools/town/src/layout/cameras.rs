//! The bench path and the stills.

use crate::scene::{Camera, Key};
use glam::Vec3;

/// All cameras but `shade`, whose wall is found where the houses are placed.
pub fn all() -> Vec<(&'static str, Camera)> {
    let v = Vec3::new;
    let still = |position, target, fov_y_deg| Camera::Still { position, target, fov_y_deg };
    let key = |frame, position, target| Key { frame, position, target };
    vec![
        ("square", still(v(-10.0, 1.75, 11.0), v(3.9, 6.7, -26.0), 52.0)),
        ("street", still(v(1.4, -1.2, 54.0), v(3.6, 3.4, 20.0), 38.0)),
        ("bridge", still(v(-40.0, -1.9, 95.0), v(8.0, -0.4, 68.0), 45.0)),
        ("roofs", still(v(-118.0, 52.0, 132.0), v(18.0, -4.0, -22.0), 40.0)),
        (
            "bench",
            Camera::Path {
                fov_y_deg: 50.0,
                keys: vec![
                    // The square, round the fountain's south side.
                    key(0, v(-17.0, 1.9, 10.6), v(3.5, 6.4, -26.0)),
                    key(150, v(-8.0, 1.8, 9.8), v(6.0, 5.0, -24.0)),
                    key(290, v(-1.0, 1.9, 9.4), v(20.0, 3.6, -14.0)),
                    key(380, v(2.6, 2.0, 12.0), v(16.0, 2.6, 34.0)),
                    // Down the high street.
                    key(470, v(3.2, 2.2, 20.0), v(5.6, 1.0, 44.0)),
                    key(640, v(4.2, 0.6, 38.0), v(1.0, -2.0, 66.0)),
                    key(780, v(0.6, -1.2, 56.0), v(-1.0, -2.4, 84.0)),
                    // Over the bridge, then out over the water to the quay.
                    key(900, v(-0.5, 0.6, 76.0), v(-24.0, -2.6, 84.0)),
                    key(1020, v(-10.0, 1.6, 85.0), v(-46.0, 0.0, 70.0)),
                    key(1140, v(-34.0, 1.2, 86.0), v(-4.0, -0.8, 72.0)),
                    // Up like a crane, over the roofs, and back down into the square.
                    key(1280, v(-66.0, 14.0, 84.0), v(-6.0, 1.0, 40.0)),
                    key(1430, v(-76.0, 27.0, 52.0), v(-8.0, -2.0, -4.0)),
                    key(1580, v(-58.0, 26.0, 16.0), v(2.0, 4.0, -28.0)),
                    key(1680, v(-36.0, 21.5, 11.0), v(5.0, 4.5, -27.0)),
                    key(1750, v(-23.0, 8.5, 9.5), v(5.0, 5.5, -26.5)),
                    key(1800, v(-17.0, 1.9, 10.6), v(3.5, 6.4, -26.0)),
                ],
            },
        ),
    ]
}
