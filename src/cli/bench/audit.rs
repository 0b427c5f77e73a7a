//! How fast games are audited, under both evaluators and with proofs, and how large they are as files.

use serde::Serialize;

use super::meter::Meter;
use crate::audit;
use crate::cli::args::RulesArgs;
use crate::cli::setup::{self, Library};
use crate::presets::Past;
use crate::presets::save::{Content, Form, RulesFrom, Save};

/// Half-moves of the game.
const PLIES: usize = 100;

#[derive(Debug, Serialize)]
pub(super) struct Figures {
    plies: usize,
    /// Plies a second when the moves are audited: both evaluators, every row compared.
    moves: f64,
    /// Plies a second when a save is audited: in addition, the proof of each move is checked.
    save: f64,
    /// Bytes of the game as a file.
    json: usize,
    binary: usize,
}

pub(super) fn run(library: &mut Library) -> anyhow::Result<Figures> {
    let rules = library.load("chess", &[])?;
    let mut game = setup::start(&rules, None)?;
    super::play_on(&mut game, PLIES)?;
    let catalogue = setup::catalogue(&RulesArgs::default())?;
    let past: Vec<Past> = game.history().iter().map(|it| Past::Turn(it.uci.to_string())).collect();
    let mut replay = setup::start(&rules, None)?;
    let by = (&catalogue, &*rules);
    let moves = timed(|progress| Ok(audit::past(&mut replay, by, &past, progress)?))?;
    let save = Save::of(&game, &rules, Content::default())?;
    let (json, binary) = (save.write(Form::Json), save.write(Form::Binary));
    let save =
        timed(|progress| Ok(audit::save(&binary, "", &catalogue, RulesFrom::Here, progress)?))?;
    Ok(Figures { plies: past.len(), moves, save, json: json.len(), binary: binary.len() })
}

/// Plies a second of an audit, from its first report on: the time to load the rules is left out.
fn timed(
    audit: impl FnOnce(audit::Progress<'_>) -> anyhow::Result<audit::Tally>,
) -> anyhow::Result<f64> {
    let mut meter: Option<(Meter, usize)> = None;
    let (mut plies, mut seconds) = (0, 0.0);
    audit(&mut |tally| {
        let (meter, first) = meter.get_or_insert_with(|| (Meter::own(), tally.plies));
        (plies, seconds) = (tally.plies - *first, meter.elapsed().as_secs_f64());
    })?;
    Ok(plies as f64 / seconds.max(1e-9))
}

pub(super) fn lines(Figures { plies, moves, save, json, binary }: &Figures) -> Vec<String> {
    let [json, binary] = [json, binary].map(|it| *it as f64 / 1024.0);
    vec![
        format!("both evaluators, every row: {moves:.0} plies a second"),
        format!("a save, proofs checked too: {save:.0} plies a second"),
        format!("a game of {plies} plies: {json:.0} KB as JSON, {binary:.0} KB as binary"),
    ]
}
