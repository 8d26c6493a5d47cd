//! Shader text that changed since the program was built, for looking at a change without building anew.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

/// One file's text, as it was built in and as it is now.
#[derive(Debug)]
pub struct ShaderEdit {
    built_in: String,
    current: String,
    is_used: AtomicBool,
}

impl ShaderEdit {
    /// `built_in` must be the whole of a file that shaders are put together from.
    pub fn new(built_in: String, current: String) -> Self {
        Self { built_in, current, is_used: AtomicBool::new(false) }
    }

    /// Whether any shader that was made since has this file in it. If none has, either nothing that is drawn needs it, or the
    /// program was built from another text.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }
}

/// Edits that a factory and its clones apply to every shader. Shaders are files joined whole, so that a file's text can be found
/// in them and replaced, whatever the files were joined with.
#[derive(Clone, Debug, Default)]
pub(super) struct ShaderEdits(Arc<RwLock<Vec<Arc<ShaderEdit>>>>);

impl ShaderEdits {
    pub fn set(&self, edits: Vec<Arc<ShaderEdit>>) {
        *self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = edits;
    }

    pub fn apply(&self, wgsl: &'static str) -> Cow<'static, str> {
        let edits = self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut text = Cow::Borrowed(wgsl);
        for edit in edits.iter().filter(|edit| !edit.built_in.is_empty()) {
            if text.contains(&edit.built_in) {
                text = Cow::Owned(text.replace(&edit.built_in, &edit.current));
                edit.is_used.store(true, Ordering::Relaxed);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shader_edits_replace_whole_files_wherever_they_are_joined_in() {
        let edits = ShaderEdits::default();
        assert!(matches!(edits.apply("a\nb\n"), Cow::Borrowed("a\nb\n")));
        let edit = |built_in: &str, current: &str| Arc::new(ShaderEdit::new(built_in.into(), current.into()));
        let (used, unused) = (edit("fn one() {}\n", "fn one() { two(); }\n"), edit("fn three() {}\n", ""));
        edits.set(vec![used.clone(), unused.clone(), edit("", "never")]);
        let text = edits.clone().apply("enable f16;\nfn one() {}\nfn last() {}\n");
        assert_eq!(text, "enable f16;\nfn one() { two(); }\nfn last() {}\n");
        assert!(used.is_used() && !unused.is_used());
        edits.set(Vec::new());
        assert!(matches!(edits.apply("fn one() {}\n"), Cow::Borrowed(_)));
    }
}
