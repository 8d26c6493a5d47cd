//! Skinned meshes in the pose that the file's nodes stand in. Nothing moves them yet, so the pose goes into the vertices.

use glam::{Affine3A, Mat3A, Mat4, Vec3, Vec3A};

use super::accessor::Accessor;
use super::document::{Document, index};
use super::fault::Fault;
use super::nodes::Forest;

/// Up to four joints that each vertex hangs on, and how much on each.
pub(super) struct JointSet {
    /// Whole numbers: indices into the skin's joints.
    pub joints: Vec<[f32; 4]>,
    /// Sum up to 1 over all sets.
    pub weights: Vec<[f32; 4]>,
}

/// `model_from_bind` of each joint of a skin: where it takes a vertex that hangs on it alone.
pub(super) struct Pose(Vec<Affine3A>);

impl Pose {
    /// The pose of skin `skin_idx` for a model that starts at the node `root`, whose parents are left out.
    pub fn read(document: &Document, forest: &Forest, skin_idx: usize, root: usize) -> Result<Self, Fault> {
        let skin = &document.array("skins")[skin_idx];
        let at = format!("/skins/{skin_idx}");
        let joints: Vec<usize> = skin["joints"].as_array().into_iter().flatten().filter_map(index).collect();
        let inverse_binds = match index(&skin["inverseBindMatrices"]) {
            Some(accessor_idx) => {
                let accessor = Accessor::open(document, accessor_idx)?;
                if accessor.n_components != 16 || accessor.count < joints.len() {
                    return Err(Fault::new(
                        format!("{at}/inverseBindMatrices"),
                        format!("must be {} MAT4, one for each joint", joints.len()),
                    ));
                }
                accessor.read::<16>().iter().map(|m| Affine3A::from_mat4(Mat4::from_cols_array(m))).collect()
            }
            None => vec![Affine3A::IDENTITY; joints.len()],
        };
        let model_from_file = forest.parent[root].map_or(Affine3A::IDENTITY, |parent| forest.world(parent).inverse());
        let matrices = joints.iter().zip(inverse_binds);
        Ok(Self(matrices.map(|(&joint, inverse_bind)| model_from_file * forest.world(joint) * inverse_bind).collect()))
    }

    /// `model_from_bind` of each vertex, one for each element of the shortest set.
    pub fn blend(&self, sets: &[JointSet], at: &str) -> Result<Vec<Affine3A>, Fault> {
        let n_vertices = sets.iter().map(|set| set.joints.len().min(set.weights.len())).min().unwrap_or(0);
        let mut blended = Vec::with_capacity(n_vertices);
        for vertex in 0..n_vertices {
            let (mut matrix, mut translation, mut total) = (Mat3A::ZERO, Vec3A::ZERO, 0.0);
            for JointSet { joints, weights } in sets {
                for (&joint, &weight) in joints[vertex].iter().zip(&weights[vertex]) {
                    if weight == 0.0 {
                        continue;
                    }
                    let Some(joint) = self.0.get(joint as usize) else {
                        return Err(Fault::new(
                            format!("{at}/attributes/JOINTS_0"),
                            format!("vertex {vertex} hangs on joint {joint}, but the skin has {}", self.0.len()),
                        ));
                    };
                    matrix += joint.matrix3 * weight;
                    translation += joint.translation * weight;
                    total += weight;
                }
            }
            let posed = Affine3A { matrix3: matrix * (1.0 / total), translation: translation / total };
            // A vertex without weights hangs on nothing: it stays where it is.
            blended.push(if posed.is_finite() { posed } else { Affine3A::IDENTITY });
        }
        Ok(blended)
    }
}

/// Moves positions, normals and tangents (where there are any) as the pose says, one matrix for each vertex.
pub(super) fn apply(
    pose: &[Affine3A],
    positions: &mut [[f32; 3]],
    normals: &mut [[f32; 3]],
    tangents: &mut [[f32; 4]],
) {
    for (posed, position) in pose.iter().zip(positions) {
        *position = posed.transform_point3(Vec3::from(*position)).to_array();
    }
    for (posed, normal) in pose.iter().zip(normals) {
        // The cofactor matrix carries normals as the inverse transpose does, and exists where a joint is flattened too.
        let [x, y, z] = [posed.matrix3.x_axis, posed.matrix3.y_axis, posed.matrix3.z_axis];
        let cofactors = Mat3A::from_cols(y.cross(z), z.cross(x), x.cross(y));
        *normal = (cofactors * Vec3A::from(*normal)).to_array();
    }
    for (posed, tangent) in pose.iter().zip(tangents) {
        let [x, y, z, w] = *tangent;
        let moved = posed.transform_vector3(Vec3::new(x, y, z));
        *tangent = [moved.x, moved.y, moved.z, w];
    }
}
