//! `cargo fuzz run rules`: see tests/it/targets.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rulemate_fuzz::run("rules", input));
