//! `cargo fuzz run save-json`: see tests/it/targets.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rulemate_fuzz::run("save-json", input));
