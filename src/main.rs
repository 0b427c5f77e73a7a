//! The binary: everything it does is in `rulemate::cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rulemate::cli::run()
}
