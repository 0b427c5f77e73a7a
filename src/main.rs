//! The binary: everything it does is in the layer `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rulemate::internals::cli::run()
}
