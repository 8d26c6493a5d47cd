//! The check words by which what was written in one go is told from half of it and half of something older.
//!
//! The CPU writes a step's 64 bytes with one write over the bus, as a rule, and a lane its quad with one store; neither is promised. Who
//! reads takes what it finds only if the check word fits all the others, and looks again otherwise.

use super::layout::{CHECK_WORD, STEP_WORDS};

/// An odd number of its own for each word.
const FACTORS: [u32; STEP_WORDS] = {
    let mut factors = [0; STEP_WORDS];
    let mut idx = 0;
    while idx < STEP_WORDS {
        let mut x = (idx as u32 + 1).wrapping_mul(0x9E37_79B9);
        x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
        x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
        factors[idx] = (x ^ (x >> 16)) | 1;
        idx += 1;
    }
    factors
};

/// The check word of a step's other words.
pub(super) fn of_step(words: &[u32; STEP_WORDS]) -> u32 {
    of(&words[..CHECK_WORD])
}

/// The check word of an answer's first three words. It is 0 for zeros: memory that nobody has written counts as an answer to number 0,
/// which no ticket has.
pub(super) fn of_answer(words: [u32; 3]) -> u32 {
    of(&words)
}

/// The sum of all words, each folded and times its factor. Folded, since the factors alone would leave a number's sign in the highest bit
/// of its product: two signs that change would cancel out.
fn of(words: &[u32]) -> u32 {
    let terms = words.iter().zip(FACTORS).map(|(word, factor)| (word ^ (word >> 16)).wrapping_mul(factor));
    terms.fold(0, u32::wrapping_add)
}

/// The factors as the kernel's constants, a quad at a time.
pub(super) fn factors_wgsl() -> String {
    let quads = FACTORS.chunks(4).map(|quad| {
        let words: Vec<String> = quad.iter().map(|word| format!("{word}u")).collect();
        format!("vec4<u32>({})", words.join(", "))
    });
    let quads: Vec<String> = quads.collect();
    format!("const FACTORS = array<vec4<u32>, {}>({});\n", quads.len(), quads.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> u32 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 32) as u32
    }

    fn is_good(words: &[u32; STEP_WORDS]) -> bool {
        words[CHECK_WORD] == of_step(words)
    }

    #[test]
    fn resident_check_words_tell_a_step_from_halves_of_two() {
        let mut seed = 3;
        let mut steps = [[0u32; STEP_WORDS]; 2];
        for round in 0..2_000u32 {
            // Two chains of a program are alike in most words; numbers differ by the slots, others by a sign or by a little.
            let older = steps[0];
            steps[1] = older;
            steps[0][0] = older[0] + 64;
            for word in &mut steps[0][1..CHECK_WORD] {
                match random(&mut seed) % 4 {
                    0 => *word = random(&mut seed),
                    1 => *word ^= 0x8000_0000,
                    2 => *word = word.wrapping_add(round % 3),
                    _ => {}
                }
            }
            steps[0][CHECK_WORD] = of_step(&steps[0]);
            assert!(is_good(&steps[0]));
            for _ in 0..64 {
                let from_older = random(&mut seed) & 0xffff;
                let torn: [u32; STEP_WORDS] =
                    std::array::from_fn(|word| steps[(from_older >> word & 1) as usize][word]);
                assert!(torn == steps[0] || torn == steps[1] || !is_good(&torn), "{torn:?} of {steps:?}");
            }
        }
    }

    #[test]
    fn resident_check_words_see_every_single_bit_and_two_signs() {
        let words: [u32; STEP_WORDS] = std::array::from_fn(|word| word as u32 * 77);
        let check = of_step(&words);
        for word in 0..CHECK_WORD {
            for bit in 0..32 {
                let mut changed = words;
                changed[word] ^= 1 << bit;
                assert_ne!(of_step(&changed), check, "word {word}, bit {bit}");
                for other in 0..word {
                    changed[other] ^= 1 << bit;
                    assert_ne!(of_step(&changed), check, "words {word} and {other}, bit {bit}");
                    changed[other] = words[other];
                }
            }
        }
        assert_eq!(of_answer([0; 3]), 0);
        assert_ne!(of_answer([0, 1, 0]), 0);
    }
}
