//! `rulemate check`: diagnostics of rule files, every one at once.
//!
//! A file is checked together with what it builds on: the embedded core, and of the embedded games
//! and presets those that it names. A file whose path ends like an embedded one replaces it.

use std::path::Path;

use serde::Serialize;

use super::Verdict;
use super::args::CheckArgs;
use super::output::{Out, trouble};
use crate::rules::{EMBEDDED, Source, compile, embedded_folder, load_file};

#[derive(Debug, Serialize)]
struct Answer {
    file: String,
    ok: bool,
    diagnostics: serde_json::Value,
}

pub(crate) fn run(args: &CheckArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut found = false;
    for path in &args.files {
        let file = path.display();
        match compile(sources(path)?) {
            Ok(_) if args.json => {
                let diagnostics = serde_json::json!([]);
                out.json_line(&Answer { file: file.to_string(), ok: true, diagnostics })?;
            }
            Ok(program) => {
                let rules = program.rules.len();
                out.line(format_args!("{file}: ok ({rules} rules with what it builds on)"))?;
            }
            Err(diagnostics) => {
                found = true;
                if args.json {
                    let diagnostics = diagnostics.to_json();
                    out.json_line(&Answer { file: file.to_string(), ok: false, diagnostics })?;
                } else {
                    let count = diagnostics.list().len() + diagnostics.dropped();
                    out.line(diagnostics.render(out.paints()).trim_end())?;
                    out.line(format_args!("{file}: {count} found"))?;
                }
            }
        }
    }
    Ok(Verdict::of(found))
}

/// The core with the file in it.
fn sources(path: &Path) -> anyhow::Result<Vec<Source>> {
    let file = load_file(path)
        .map_err(|why| trouble(format!("{}: {why}", path.display()), "name a rule file (.dl)"))?;
    let mut all = embedded_folder("rules/core");
    let twin = EMBEDDED.iter().map(|it| it.0).find(|it| file.path.ends_with(it));
    match all.iter_mut().find(|it| Some(it.path.as_str()) == twin) {
        Some(core) => *core = file,
        None => all.push(file),
    }
    Ok(all)
}
