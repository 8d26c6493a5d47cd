// What is known of the sun at a pixel: a byte for each sample, 0 in shadow to 255 in light. With one sample a pixel the first byte is
// its mean over the pixel.
const SUN_UNTRACED: u32 = 0x80u;
const SUN_LIT: u32 = 0xffu;

// Whether any byte is 0.
fn has_dark(word: u32) -> bool { return ((word - 0x01010101u) & ~word & 0x80808080u) != 0u; }
fn has_lit(word: u32) -> bool { return has_dark(~word); }
