//! `rulemate completions` and `rulemate man`: the grammar of the command line for shells and for `man`.

use std::io::Write;
use std::path::Path;

use super::args::{CompletionsArgs, ManArgs, RulesArgs};
use super::output::{Out, trouble, trouble_with};
use super::{Verdict, setup};

pub(crate) fn completions(args: &CompletionsArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut text = Vec::new();
    let mut grammar = with_names(super::grammar())?;
    clap_complete::generate(args.shell, &mut grammar, "rulemate", &mut text);
    out.write_all(&text)?;
    Ok(Verdict::Fine)
}

/// The grammar with the names of this package's games and presets as possible values.
fn with_names(grammar: clap::Command) -> anyhow::Result<clap::Command> {
    let catalogue = setup::catalogue(&RulesArgs::default())?;
    // The names are leaked: the program ends when it has printed them.
    let kept = |it: &String| -> &'static str { it.clone().leak() };
    let games: Vec<&str> = catalogue.games().iter().map(|it| kept(&it.name)).collect();
    let presets: Vec<&str> = catalogue.presets().iter().map(|it| kept(&it.preset)).collect();
    let add_names = |arg: clap::Arg| {
        let names = match arg.get_id().as_str() {
            "game" => games.clone(),
            "presets" => presets.clone(),
            _ => return arg,
        };
        arg.value_parser(clap::builder::PossibleValuesParser::new(names))
    };
    Ok(grammar.mut_subcommands(|it| it.mut_args(&add_names)))
}

pub(crate) fn man(args: &ManArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut grammar = super::grammar();
    grammar.build();
    if let Some(folder) = &args.to {
        let unwritable =
            |path: &Path, why| trouble_with(path, why, "name a folder that can be written");
        std::fs::create_dir_all(folder).map_err(|why| unwritable(folder, why))?;
        for (name, command) in pages(&grammar) {
            let file = folder.join(format!("{name}.1"));
            std::fs::write(&file, page(command)?).map_err(|why| unwritable(&file, why))?;
            out.line(file.display())?;
        }
        return Ok(Verdict::Fine);
    }
    let wanted = match &args.command {
        None => "rulemate".to_owned(),
        Some(name) => format!("rulemate-{name}"),
    };
    let Some((_, command)) = pages(&grammar).into_iter().find(|it| it.0 == wanted) else {
        let error = format!("there is no page {wanted}");
        return Err(trouble(error, "`rulemate help` lists the commands"));
    };
    out.write_all(&page(command)?)?;
    Ok(Verdict::Fine)
}

fn page(command: clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}

/// The names of all pages, each with the command that it describes: the program, then its subcommands.
fn pages(grammar: &clap::Command) -> Vec<(String, clap::Command)> {
    let of_command = |it: &clap::Command| {
        let name = format!("rulemate-{}", it.get_name());
        (name, it.clone())
    };
    let shown = grammar.get_subcommands().filter(|it| !it.is_hide_set());
    std::iter::once(("rulemate".to_owned(), grammar.clone())).chain(shown.map(of_command)).collect()
}
