//! One file per pass, its shader beside it.

mod cull;
mod lights;
mod post;
mod scatter;
mod shade;
mod sun;
mod translucent;
mod visibility;

pub use cull::Cull;
pub use lights::Lights;
pub use post::Post;
pub use scatter::Scatter;
pub use shade::Shade;
pub use sun::{N_RAY_COUNTS, Sun};
pub use translucent::Translucent;
pub use visibility::Visibility;

/// A number of workgroups in two dimensions, each within what every adapter allows; the shader flattens them.
fn groups_2d(n: u32) -> (u32, u32) {
    const MOST: u32 = 65_535;
    let y = n.div_ceil(MOST).max(1);
    (n.div_ceil(y), y)
}
