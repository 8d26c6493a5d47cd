//! The small values of scene files: checked numbers, names that know where they stand, maps without duplicates.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use glam::Vec3;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// A number that is neither infinite nor NaN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finite(pub f32);

/// A finite number above 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positive(pub f32);

/// A finite number of at least 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotNegative(pub f32);

impl<'de> Deserialize<'de> for Finite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f32::deserialize(deserializer)?;
        if number.is_finite() {
            Ok(Self(number))
        } else {
            Err(D::Error::custom(format!("{number} is no finite number")))
        }
    }
}

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Finite(number) = Finite::deserialize(deserializer)?;
        if number > 0.0 { Ok(Self(number)) } else { Err(D::Error::custom(format!("{number} must be above 0"))) }
    }
}

impl<'de> Deserialize<'de> for NotNegative {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Finite(number) = Finite::deserialize(deserializer)?;
        if number >= 0.0 { Ok(Self(number)) } else { Err(D::Error::custom(format!("{number} must not be negative"))) }
    }
}

/// Three finite numbers, `(x, y, z)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point(pub Vec3);

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [x, y, z] = <[Finite; 3]>::deserialize(deserializer)?;
        Ok(Self(Vec3::new(x.0, y.0, z.0)))
    }
}

/// A direction of unit length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis(pub Vec3);

impl<'de> Deserialize<'de> for Axis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Point(vector) = Point::deserialize(deserializer)?;
        vector.try_normalize().map(Self).ok_or_else(|| D::Error::custom("the axis has no length; (0, 1, 0) is upwards"))
    }
}

/// A linear RGB factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Color(pub [f32; 3]);

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rgb = <[NotNegative; 3]>::deserialize(deserializer)?;
        Ok(Self(rgb.map(|channel| channel.0)))
    }
}

/// A string that borrows from the file's text, so that its place can be told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name<'a>(pub Cow<'a, str>);

impl Name<'_> {
    /// Line and column, from 1, where it stands in `text`, which it was read from.
    pub fn place_in(&self, text: &str) -> (usize, usize) {
        // A name with an escape is a copy; it stands nowhere.
        let offset = (self.0.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        let before = match &self.0 {
            Cow::Borrowed(_) => text.get(..offset).unwrap_or(""),
            Cow::Owned(_) => "",
        };
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.chars().rev().take_while(|&c| c != '\n').count();
        (line, column)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_string())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// A map in the file's order, in which no name stands twice.
#[derive(Clone, Debug)]
pub(super) struct Entries<'a, V>(pub Vec<(Name<'a>, V)>);

impl<V> Default for Entries<'_, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'a, V> Entries<'a, V> {
    /// The names, in the file's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.0.as_ref())
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Entries<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<'a, V>(PhantomData<(&'a (), V)>);
        impl<'de: 'a, 'a, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<'a, V> {
            type Value = Entries<'a, V>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a map from names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries: Vec<(Name<'a>, V)> = Vec::new();
                let mut seen = std::collections::HashSet::new();
                while let Some(name) = map.next_key::<Name<'a>>()? {
                    if !seen.insert(name.0.to_string()) {
                        return Err(A::Error::custom(format!("{:?} is there twice", name.0)));
                    }
                    entries.push((name, map.next_value()?));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}
