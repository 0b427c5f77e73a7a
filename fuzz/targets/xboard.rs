//! `cargo fuzz run xboard`: see tests/it/targets.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rulemate_fuzz::run("xboard", input));
