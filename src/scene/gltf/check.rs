//! Checks a document's JSON against the schema table and for what a schema cannot say, before anything is read from it.

use serde_json::Value;

use super::fault::Fault;
use super::schema::{Kind, ROOT, Schema};

/// Extensions that a file may require.
pub(super) const SUPPORTED_EXTENSIONS: &[&str] = &[
    "EXT_texture_webp",
    "KHR_lights_punctual",
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_texture_transform",
];

/// The whole document: version, required extensions, then every property of the schema.
pub(super) fn check_document(json: &Value) -> Result<(), Fault> {
    if !json.is_object() {
        return Err(Fault::whole(format!("the JSON holds {}, not an object; is it a glTF file?", describe(json))));
    }
    check_version(json)?;
    check_required_extensions(json)?;
    Checker { root: json }.object(json, ROOT, "")
}

fn check_version(json: &Value) -> Result<(), Fault> {
    let asset = &json["asset"];
    let Some(version) = asset["version"].as_str() else {
        return Err(Fault::new("/asset/version", "is missing or no string; is it a glTF 2.0 file?"));
    };
    let parse = |text: &str| -> Option<(u32, u32)> {
        let (major, minor) = text.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let Some(parsed) = parse(version) else {
        return Err(Fault::new("/asset/version", format!("{version:?} is no version such as \"2.0\"")));
    };
    if parsed.0 != 2 {
        return Err(Fault::new("/asset/version", format!("glTF {version} is not supported; export it as glTF 2.0")));
    }
    if let Some(min_text) = asset["minVersion"].as_str() {
        let Some(min) = parse(min_text) else {
            return Err(Fault::new("/asset/minVersion", format!("{min_text:?} is no version such as \"2.0\"")));
        };
        if min > parsed {
            return Err(Fault::new("/asset/minVersion", format!("{min_text} is above the version {version}")));
        }
        if min > (2, 0) {
            return Err(Fault::new("/asset/minVersion", format!("glTF {min_text} is needed, but 2.0 is supported")));
        }
    }
    Ok(())
}

fn check_required_extensions(json: &Value) -> Result<(), Fault> {
    let required = json["extensionsRequired"].as_array().map_or(&[][..], Vec::as_slice);
    let missing: Vec<&str> =
        required.iter().filter_map(Value::as_str).filter(|name| !SUPPORTED_EXTENSIONS.contains(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Fault::new(
        "/extensionsRequired",
        format!("the file requires {}, which Praxis does not support; export it without", missing.join(", ")),
    ))
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn object(&self, value: &Value, schema: Schema, at: &str) -> Result<(), Fault> {
        let Some(object) = value.as_object() else {
            return Err(Fault::new(at, format!("expected an object, found {}", describe(value))));
        };
        for property in schema {
            let here = || format!("{at}/{}", property.name);
            match object.get(property.name) {
                Some(value) => self.value(value, &property.kind, &here())?,
                None if property.is_required => return Err(Fault::new(here(), "is missing")),
                None => {}
            }
        }
        Ok(())
    }

    fn value(&self, value: &Value, kind: &Kind, at: &str) -> Result<(), Fault> {
        let expected = |what: &str| Err(Fault::new(at, format!("expected {what}, found {}", describe(value))));
        match *kind {
            Kind::Bool if !value.is_boolean() => expected("true or false"),
            Kind::Str if !value.is_string() => expected("a string"),
            Kind::Bool | Kind::Str => Ok(()),
            Kind::Strings => self.each(value, at, |item, at| match item {
                Value::String(_) => Ok(()),
                _ => Err(Fault::new(at, format!("expected a string, found {}", describe(item)))),
            }),
            Kind::Choice(choices) => match value.as_str() {
                Some(text) if choices.contains(&text) => Ok(()),
                _ => expected(&format!("one of {}", choices.join(", "))),
            },
            Kind::IntChoice(choices) => match whole(value) {
                Some(number) if choices.contains(&number) => Ok(()),
                _ => expected(&format!("one of {choices:?}")),
            },
            Kind::Int(min) => match whole(value) {
                Some(number) if number >= min => Ok(()),
                _ => expected(&format!("a whole number of at least {min}")),
            },
            Kind::Num(min, max) => number_within(value, min, max, at),
            Kind::Nums(n, min, max) => {
                if value.as_array().is_some_and(|items| items.len() == n) {
                    self.each(value, at, |item, at| number_within(item, min, max, at))
                } else {
                    expected(&format!("{n} numbers"))
                }
            }
            Kind::AnyNums => self.each(value, at, |item, at| number_within(item, f64::MIN, f64::MAX, at)),
            Kind::Ref(collection) => self.reference(value, collection, at),
            Kind::Refs(collection) => {
                self.each(value, at, |item, at| self.reference(item, collection, at))?;
                let mut indices: Vec<u64> = value.as_array().into_iter().flatten().filter_map(whole).collect();
                indices.sort_unstable();
                match indices.windows(2).find(|pair| pair[0] == pair[1]) {
                    Some(pair) => Err(Fault::new(at, format!("{} is listed twice", pair[0]))),
                    None => Ok(()),
                }
            }
            Kind::Object(schema) => self.object(value, schema, at),
            Kind::Objects(schema) => self.each(value, at, |item, at| self.object(item, schema, at)),
            Kind::Attributes => self.attributes(value, at),
            Kind::AttributeSets => self.each(value, at, |item, at| self.attributes(item, at)),
        }
    }

    /// An array of at least one item, each of which `check` is asked about.
    fn each(&self, value: &Value, at: &str, check: impl Fn(&Value, &str) -> Result<(), Fault>) -> Result<(), Fault> {
        let Some(items) = value.as_array() else {
            return Err(Fault::new(at, format!("expected an array, found {}", describe(value))));
        };
        if items.is_empty() {
            return Err(Fault::new(at, "is empty; glTF wants at least one element, or none of the array"));
        }
        items.iter().enumerate().try_for_each(|(idx, item)| check(item, &format!("{at}/{idx}")))
    }

    fn attributes(&self, value: &Value, at: &str) -> Result<(), Fault> {
        let Some(object) = value.as_object() else {
            return Err(Fault::new(at, format!("expected an object, found {}", describe(value))));
        };
        if object.is_empty() {
            return Err(Fault::new(at, "is empty; a primitive has at least one attribute"));
        }
        object.iter().try_for_each(|(name, index)| self.reference(index, "/accessors", &format!("{at}/{name}")))
    }

    fn reference(&self, value: &Value, collection: &str, at: &str) -> Result<(), Fault> {
        let n = self.root.pointer(collection).and_then(Value::as_array).map_or(0, Vec::len);
        match whole(value) {
            Some(index) if index < n as u64 => Ok(()),
            Some(index) => {
                let name = collection.rsplit('/').next().unwrap_or(collection);
                Err(Fault::new(at, format!("refers to {name} {index}, but there are {n}")))
            }
            None => Err(Fault::new(at, format!("expected an index, found {}", describe(value)))),
        }
    }
}

/// A number without a fraction; exporters write `3.0` too.
pub(super) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|x| x.fract() == 0.0 && (0.0..9e15).contains(x)).map(|x| x as u64))
}

fn number_within(value: &Value, min: f64, max: f64, at: &str) -> Result<(), Fault> {
    match value.as_f64() {
        Some(number) if (min..=max).contains(&number) => Ok(()),
        Some(number) if max >= f64::from(f32::MAX) && number <= max => {
            Err(Fault::new(at, format!("{number} is too small; at least {min} is allowed")))
        }
        Some(number) if max >= f64::from(f32::MAX) => Err(Fault::new(at, format!("{number} is too large for 32 bits"))),
        Some(number) => Err(Fault::new(at, format!("{number} is not within {min} to {max}"))),
        None => Err(Fault::new(at, format!("expected a number, found {}", describe(value)))),
    }
}

/// A short name for a value in a message.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".into(),
        Value::String(text) if text.chars().count() > 40 => "a long string".into(),
        other => other.to_string(),
    }
}
