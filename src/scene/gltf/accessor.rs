//! Reads accessors of every kind: normalized, strided, interleaved, sparse, or with no data at all (zeros).

use super::check::whole;
use super::document::{Document, index};
use super::fault::Fault;

/// An accessor without a buffer view costs no bytes in the file, so nothing else bounds what it would allocate.
const MAX_ZERO_FILLED: u64 = 1 << 24;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn from_gl(code: u64) -> Self {
        match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            _ => Self::F32,
        }
    }

    fn n_bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The first component of `bytes`; `is_normalized` maps integers to -1 to 1 or 0 to 1 (glTF 2.0, section 3.6.2.2).
    fn read(self, bytes: &[u8], is_normalized: bool) -> f32 {
        let (value, max) = match self {
            Self::I8 => (f32::from(bytes[0] as i8), 127.0),
            Self::U8 => (f32::from(bytes[0]), 255.0),
            Self::I16 => (f32::from(i16::from_le_bytes([bytes[0], bytes[1]])), 32767.0),
            Self::U16 => (f32::from(u16::from_le_bytes([bytes[0], bytes[1]])), 65535.0),
            Self::U32 => (u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as f32, u32::MAX as f32),
            Self::F32 => return f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        };
        if is_normalized { (value / max).max(-1.0) } else { value }
    }

    fn read_index(self, bytes: &[u8]) -> u32 {
        match self {
            Self::U8 => u32::from(bytes[0]),
            Self::U16 => u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            _ => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        }
    }
}

/// Elements `stride` bytes apart, all within `data`.
struct Elements<'a> {
    data: &'a [u8],
    stride: usize,
}

impl<'a> Elements<'a> {
    fn at(&self, element_idx: usize) -> &'a [u8] {
        &self.data[element_idx * self.stride..]
    }
}

/// Where elements lie, by the JSON alone: known to fit into their buffer view.
#[derive(Clone, Copy)]
struct Run {
    view_idx: usize,
    offset: usize,
    stride: usize,
}

/// What the JSON says about an accessor, checked.
pub(super) struct Layout {
    component: Component,
    is_normalized: bool,
    n_components: usize,
    count: usize,
    base: Option<Run>,
    sparse: Option<SparseLayout>,
}

struct SparseLayout {
    count: usize,
    index_component: Component,
    indices: Run,
    values: Run,
}

impl Layout {
    /// Checks accessor `accessor_idx` against its buffer views without looking at any data.
    pub fn read(document: &Document, accessor_idx: usize) -> Result<Self, Fault> {
        let at = format!("/accessors/{accessor_idx}");
        let json = &document.array("accessors")[accessor_idx];
        let component = Component::from_gl(whole(&json["componentType"]).unwrap_or(0));
        let is_normalized = json["normalized"].as_bool().unwrap_or(false);
        if is_normalized && matches!(component, Component::F32 | Component::U32) {
            return Err(Fault::new(format!("{at}/normalized"), "only 8 and 16 bit integers can be normalized"));
        }
        let (n_components, n_columns) = match json["type"].as_str().unwrap_or("") {
            "SCALAR" => (1, 1),
            "VEC2" => (2, 1),
            "VEC3" => (3, 1),
            "VEC4" => (4, 1),
            "MAT2" => (4, 2),
            "MAT3" => (9, 3),
            _ => (16, 4),
        };
        let n_column_bytes = n_components / n_columns * component.n_bytes();
        // A matrix's columns start at multiples of 4 bytes (glTF 2.0, section 3.6.2.4).
        let n_element_bytes =
            if n_columns == 1 { n_column_bytes } else { n_columns * n_column_bytes.next_multiple_of(4) };
        let count = whole(&json["count"]).unwrap_or(0);
        let offset = whole(&json["byteOffset"]).unwrap_or(0);
        let base = match index(&json["bufferView"]) {
            Some(view_idx) => Some(fit(document, view_idx, offset, count, n_element_bytes, true, &at)?),
            None if json.get("byteOffset").is_some() && json.get("sparse").is_none() => {
                return Err(Fault::new(format!("{at}/byteOffset"), "is given without a bufferView"));
            }
            None if count > MAX_ZERO_FILLED => {
                return Err(Fault::new(
                    format!("{at}/count"),
                    format!("{count} elements without a bufferView; at most {MAX_ZERO_FILLED} are supported"),
                ));
            }
            None => None,
        };
        let sparse = match json.get("sparse") {
            Some(sparse) => {
                Some(SparseLayout::read(document, sparse, count, n_element_bytes, &format!("{at}/sparse"))?)
            }
            None => None,
        };
        Ok(Self { component, is_normalized, n_components, count: count as usize, base, sparse })
    }
}

impl SparseLayout {
    fn read(
        document: &Document,
        json: &serde_json::Value,
        n_elements: u64,
        n_element_bytes: usize,
        at: &str,
    ) -> Result<Self, Fault> {
        let count = whole(&json["count"]).unwrap_or(0);
        if count > n_elements {
            return Err(Fault::new(
                format!("{at}/count"),
                format!("{count} elements are replaced, but there are {n_elements}"),
            ));
        }
        let run = |name: &str, n_bytes| {
            let part = &json[name];
            let view_idx = index(&part["bufferView"]).unwrap_or(0);
            let offset = whole(&part["byteOffset"]).unwrap_or(0);
            fit(document, view_idx, offset, count, n_bytes, false, &format!("{at}/{name}"))
        };
        let index_component = Component::from_gl(whole(&json["indices"]["componentType"]).unwrap_or(0));
        Ok(Self {
            count: count as usize,
            index_component,
            indices: run("indices", index_component.n_bytes())?,
            values: run("values", n_element_bytes)?,
        })
    }
}

/// An accessor with its data.
pub(super) struct Accessor<'a> {
    /// `/accessors/3`, for faults.
    pub at: String,
    /// Number of elements.
    pub count: usize,
    /// 1 to 4, or 4, 9 and 16 for matrices.
    pub n_components: usize,
    component: Component,
    is_normalized: bool,
    base: Option<Elements<'a>>,
    /// Which elements are replaced, ascending, and with what.
    sparse: Option<(Vec<u32>, Elements<'a>)>,
}

impl<'a> Accessor<'a> {
    /// Checks accessor `accessor_idx` and finds its data; allocates for sparse indices only, once those are checked.
    pub fn open(document: &'a Document, accessor_idx: usize) -> Result<Self, Fault> {
        let at = format!("/accessors/{accessor_idx}");
        let Layout { component, is_normalized, n_components, count, base, sparse } =
            Layout::read(document, accessor_idx)?;
        let base = base.map(|run| run.elements(document)).transpose()?;
        let sparse = sparse.map(|sparse| open_sparse(document, &sparse, count, &at)).transpose()?;
        Ok(Self { at, count, n_components, component, is_normalized, base, sparse })
    }

    /// Whether there are any bytes behind it: without, all elements are zero.
    pub fn has_data(&self) -> bool {
        self.base.is_some() || self.sparse.is_some()
    }

    /// Whether the components are 32-bit unsigned integers, which no vertex attribute may have.
    pub fn is_u32(&self) -> bool {
        self.component == Component::U32
    }

    /// Reads integers as if `normalized` were set: what colours and texture coordinates always mean.
    pub fn assume_normalized(&mut self) {
        self.is_normalized = !matches!(self.component, Component::F32 | Component::U32);
    }

    /// All elements as `N` floats; `n_components` is at least `N`.
    pub fn read<const N: usize>(&self) -> Vec<[f32; N]> {
        debug_assert!(self.n_components >= N);
        let decode = |bytes: &[u8]| -> [f32; N] {
            std::array::from_fn(|idx| self.component.read(&bytes[idx * self.component.n_bytes()..], self.is_normalized))
        };
        let mut values: Vec<[f32; N]> = match &self.base {
            Some(base) => (0..self.count).map(|element_idx| decode(base.at(element_idx))).collect(),
            None => vec![[0.0; N]; self.count],
        };
        if let Some((replaced, with)) = &self.sparse {
            for (value_idx, &element_idx) in replaced.iter().enumerate() {
                values[element_idx as usize] = decode(with.at(value_idx));
            }
        }
        values
    }

    /// All elements as vertex indices, or a fault where this is no accessor for that.
    pub fn read_indices(&self) -> Result<Vec<u32>, Fault> {
        if self.n_components != 1 || !matches!(self.component, Component::U8 | Component::U16 | Component::U32) {
            return Err(Fault::new(&self.at, "indices must be SCALAR unsigned integers"));
        }
        let mut values: Vec<u32> = match &self.base {
            Some(base) => (0..self.count).map(|element_idx| self.component.read_index(base.at(element_idx))).collect(),
            None => vec![0; self.count],
        };
        if let Some((replaced, with)) = &self.sparse {
            for (value_idx, &element_idx) in replaced.iter().enumerate() {
                values[element_idx as usize] = self.component.read_index(with.at(value_idx));
            }
        }
        Ok(values)
    }
}

fn open_sparse<'a>(
    document: &'a Document,
    sparse: &SparseLayout,
    n_elements: usize,
    at: &str,
) -> Result<(Vec<u32>, Elements<'a>), Fault> {
    let indices = sparse.indices.elements(document)?;
    let replaced: Vec<u32> = (0..sparse.count).map(|idx| sparse.index_component.read_index(indices.at(idx))).collect();
    let at = format!("{at}/sparse/indices");
    if let Some(pair) = replaced.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(Fault::new(at, format!("{} comes before {}; they must ascend", pair[0], pair[1])));
    }
    match replaced.last() {
        Some(&last) if last as usize >= n_elements => {
            Err(Fault::new(at, format!("{last} is replaced, but there are {n_elements} elements")))
        }
        _ => Ok((replaced, sparse.values.elements(document)?)),
    }
}

impl Run {
    fn elements<'a>(&self, document: &'a Document) -> Result<Elements<'a>, Fault> {
        Ok(Elements { data: &document.view(self.view_idx)?[self.offset..], stride: self.stride })
    }
}

/// `count` elements in a view, or a fault if they don't fit; `is_strided` where the view's stride counts.
fn fit(
    document: &Document,
    view_idx: usize,
    offset: u64,
    count: u64,
    n_element_bytes: usize,
    is_strided: bool,
    at: &str,
) -> Result<Run, Fault> {
    let n_view_bytes = whole(&document.array("bufferViews")[view_idx]["byteLength"]).unwrap_or(0);
    let stride = if is_strided { document.view_stride(view_idx)? } else { None }.unwrap_or(n_element_bytes);
    if stride < n_element_bytes {
        return Err(Fault::new(at, format!("elements of {n_element_bytes} bytes overlap at a stride of {stride}")));
    }
    let end = match count {
        0 => offset,
        _ => (count - 1).saturating_mul(stride as u64).saturating_add(n_element_bytes as u64).saturating_add(offset),
    };
    if end > n_view_bytes {
        return Err(Fault::new(
            at,
            format!("{count} elements reach {end} bytes into bufferView {view_idx}, which has {n_view_bytes}"),
        ));
    }
    Ok(Run { view_idx, offset: offset as usize, stride })
}
