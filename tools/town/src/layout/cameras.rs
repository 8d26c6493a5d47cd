//! The bench path and the stills.

use crate::scene::{Camera, Key};
use glam::Vec3;

/// All cameras, by name.
pub fn all() -> Vec<(&'static str, Camera)> {
    let v = Vec3::new;
    let still = |position, target, fov_y_deg| Camera::Still { position, target, fov_y_deg };
    let key = |frame, position, target| Key { frame, position, target };
    vec![
        ("square", still(v(-19.0, 1.75, 19.0), v(5.0, 6.6, -26.0), 50.0)),
        ("street", still(v(1.4, -1.2, 54.0), v(3.6, 3.4, 20.0), 38.0)),
        ("bridge", still(v(-42.0, -1.4, 101.5), v(6.0, -0.6, 66.0), 45.0)),
        ("roofs", still(v(-118.0, 52.0, 132.0), v(18.0, -4.0, -22.0), 40.0)),
        ("shade", still(v(-62.5, 2.0, 14.0), v(-55.0, 3.0, 30.0), 45.0)),
        (
            "bench",
            Camera::Path {
                fov_y_deg: 50.0,
                keys: vec![
                    key(0, v(-19.0, 1.8, 17.0), v(5.0, 6.0, -26.0)),
                    key(240, v(-4.0, 1.9, 12.0), v(14.0, 5.0, -24.0)),
                    key(420, v(3.5, 1.9, 24.0), v(5.0, 1.0, 44.0)),
                    key(640, v(3.0, -0.7, 46.0), v(0.0, -2.6, 74.0)),
                    key(800, v(0.5, -0.4, 72.0), v(-6.0, -2.4, 104.0)),
                    key(960, v(-12.0, 1.0, 92.0), v(10.0, 0.0, 66.0)),
                    key(1120, v(-46.0, 4.0, 92.0), v(0.0, 2.0, 60.0)),
                    key(1320, v(-92.0, 34.0, 96.0), v(4.0, 0.0, 0.0)),
                    key(1540, v(-70.0, 44.0, 40.0), v(20.0, 0.0, -30.0)),
                    key(1700, v(-34.0, 18.0, 24.0), v(6.0, 4.0, -26.0)),
                    key(1800, v(-19.0, 1.8, 17.0), v(5.0, 6.0, -26.0)),
                ],
            },
        ),
    ]
}
