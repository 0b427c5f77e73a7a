//! The command line as scripts see it: output, exit codes, errors, and the README's tour run line by
//! line.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// What a command printed, and its exit code.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the binary in the project's folder.
pub(crate) fn rulemate(args: &[&str]) -> Ran {
    rulemate_reading(args, "")
}

/// Runs the binary with a text as standard input.
pub(crate) fn rulemate_reading(args: &[&str], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rulemate"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A command that does not read its input may have ended already.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    ran(child.wait_with_output().expect("the binary ends"))
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().expect("no signal"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The output of a command that must end with this exit code.
fn check(code: i32, args: &[&str]) -> String {
    let ran = rulemate(args);
    assert_eq!(ran.code, code, "{args:?}\n{}{}", ran.out, ran.err);
    ran.out
}
