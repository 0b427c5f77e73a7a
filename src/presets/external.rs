//! Presets of other crates ([`Preset`]): rule text with code behind it, and the reactions that call the code.
//!
//! Deliberately absent: what a call may do (`derive::Moment`).

#![warn(missing_docs)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::error::LoadError;
use super::templates::Template;
use crate::derive::{Calls, Moment};
use crate::facts::{GAME, Value};
use crate::rules::{Effect, Program};

/// The folder in the paths of the rules of registered presets.
pub(super) const FOLDER: &str = "rust/";

/// A point at which an external preset's code is called. An action passes them in the order here, from
/// [`Point::BeforeMove`] on, except those for events: captures, damage, spawns and deaths happen when they are
/// raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// An activation of the preset begins: [`Preset::on_activate`].
    Activate,
    /// An activation of it ends: [`Preset::on_deactivate`].
    Deactivate,
    /// An action is about to change facts, be it played or tried out to see whether it is legal; scoped to the
    /// mover: [`Preset::on_before_move`].
    BeforeMove,
    /// A piece captures; scoped to its side: [`Preset::on_before_capture`].
    BeforeCapture,
    /// A piece takes damage, in that stage (`absorb`, `wound`, or one of its own); scoped to the
    /// piece's side: [`Preset::on_damage`].
    Damage(&'static str),
    /// A piece is new on the board; scoped to its side: [`Preset::on_piece_spawn`].
    PieceSpawn,
    /// A piece dies, and its facts are still there; scoped to its side: [`Preset::on_piece_retract`].
    PieceRetract,
    /// Does the turn pass? Unscoped: [`Preset::should_advance_turn`].
    AdvanceTurn,
    /// The action has changed its facts, the turn included, and the result is not determined yet; unscoped:
    /// [`Preset::on_after_move`].
    AfterMove,
    /// The turn has passed; scoped to the side to move: [`Preset::on_turn_start`].
    TurnStart,
    /// Is the game over? Unscoped: [`Preset::check_game_result`].
    CheckGameResult,
    /// Adds a line about the action; unscoped: [`Preset::describe_move_effect`].
    DescribeMoveEffect,
}

/// A preset's verdict on the end of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opinion {
    /// The game is over, with this outcome of the rules: `white_wins`, `black_wins`, `draw`. The reason is the
    /// preset, as its line `.meta preset` names it.
    Over(&'static str),
    /// Mate and stalemate do not end the game.
    Ongoing,
}

/// A preset of another crate: rule text with code behind it.
///
/// It states what follows from facts (moves, royal pieces, ways to win) in rules like any other preset, so that this is
/// derived, proved and audited alike. It may implement what happens at an action in Rust: for each [`Point`] that it
/// names, a reaction is generated that calls its code, in the scope that the point has. The code reads and writes facts
/// through a [`Moment`], inside the transaction.
///
/// It reads the options of its activations as rows of their inputs ([`Moment::rows`]). Whatever it counts must be a
/// fact that its rules declare by `.input`.
///
/// Its code must be deterministic, with the same effects for the same facts: moves are tried out and taken
/// back, and saves are loaded by playing them again. Anything that it must remember has to be a fact.
///
/// A preset of shields that absorb damage, as another crate may write it:
///
/// ```
/// use rulemate::prelude::*;
///
/// #[derive(Debug)]
/// struct Shield;
///
/// impl Preset for Shield {
///     fn rules(&self) -> String {
///         r#"
/// .meta preset "steel"
/// .meta name "Shield"
/// .meta description "Every piece has a shield that absorbs one point of damage"
/// .domain Preset += { steel }
/// .input armour(piece: Entity, n: Int) key attr armour "{piece} has armour of {n}"
/// .decl armoured(piece: Entity) "{piece} is to have armour"
/// armoured(p) :- color(p, c), at(p, _), active('steel, c).
/// "#.into()
///     }
///     fn points(&self) -> Vec<Point> {
///         vec![Point::Activate, Point::PieceSpawn, Point::Damage("absorb")]
///     }
///     fn on_activate(&self, now: &mut Moment<'_>) {
///         for piece in now.entities("armoured") {
///             now.set(piece, "armour", 1);
///         }
///     }
///     fn on_piece_spawn(&self, now: &mut Moment<'_>) {
///         let piece = now.entity("piece");
///         now.set(piece, "armour", 1);
///     }
///     fn on_damage(&self, now: &mut Moment<'_>) {
///         let (target, amount) = (now.entity("target"), now.int("amount"));
///         let armour = now.get_int(target, "armour").unwrap_or(0);
///         if armour > 0 {
///             now.set(target, "armour", armour - 1);
///             // What is left of the blow goes on to hit points.
///             if amount > 1 { now.pass("amount", amount - 1) } else { now.stop() }
///         }
///     }
/// }
///
/// let mut catalogue = Catalogue::embedded()?;
/// catalogue.register(Shield)?;
/// let rules = catalogue.load("chess", &["piece-hp:both:hp=1", "steel:black"])?;
/// let mut game = rules.start(None)?;
/// for uci in ["e2e4", "d7d5", "e4d5", "g8f6", "e4d5"] {
///     game.play_text(uci)?;
/// }
/// // The first blow took the shield, the second the only hit point.
/// assert!(game.fen().starts_with("rnbqkb1r/ppp1pppp/5n2/3P4/8/8/PPPP1PPP/RNBQKBNR b"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Preset: fmt::Debug + Send + Sync {
    /// Its file: metadata, attributes, options, relations and reactions, like those in `rules/presets`.
    fn rules(&self) -> String;

    /// The version of its code's behaviour. Saves of another version are refused like saves under other rules.
    fn version(&self) -> &str {
        "1"
    }

    /// The points at which it is to be called.
    fn points(&self) -> Vec<Point>;

    /// Argument: `activation`.
    fn on_activate(&self, _now: &mut Moment<'_>) {}

    /// Argument: `activation`. Afterwards the facts that the preset's rules declare are retracted, for the sides
    /// that no other activation of it applies to.
    fn on_deactivate(&self, _now: &mut Moment<'_>) {}

    /// Arguments: the columns of the action, `piece` and `to` of a move. A veto makes the action
    /// illegal: this is the place of filters, too.
    fn on_before_move(&self, _now: &mut Moment<'_>) {}

    /// Arguments: `attacker`, `target`, `to`. Code that stops the event is responsible for everything after
    /// it, moving the attacker included.
    fn on_before_capture(&self, _now: &mut Moment<'_>) {}

    /// Arguments: `target`, `amount`, `kind`, `by`. Stopping the event absorbs the damage; passing it on with
    /// another amount absorbs a part.
    fn on_damage(&self, _now: &mut Moment<'_>) {}

    /// Arguments: `piece`, and `origin`, the piece that it comes from or itself.
    fn on_piece_spawn(&self, _now: &mut Moment<'_>) {}

    /// Arguments: `piece`, `by`.
    fn on_piece_retract(&self, _now: &mut Moment<'_>) {}

    /// Whether the turn passes, according to this preset. The game's fact `half_moves` is the number of
    /// half-moves that were played in this turn before this one.
    fn should_advance_turn(&self, _now: &mut Moment<'_>) -> bool {
        true
    }

    /// Arguments: the columns of the action.
    fn on_after_move(&self, _now: &mut Moment<'_>) {}

    /// Arguments: the columns of the action that ended the turn before.
    fn on_turn_start(&self, _now: &mut Moment<'_>) {}

    /// Its verdict on the end of the game, if it has one.
    fn check_game_result(&self, _now: &mut Moment<'_>) -> Option<Opinion> {
        None
    }

    /// A line for the record of the action.
    fn describe_move_effect(&self, _now: &mut Moment<'_>) -> Option<String> {
        None
    }

    /// Any other `call` in its rules. Returns false if there is none of that name.
    fn call(&self, _name: &str, _now: &mut Moment<'_>) -> bool {
        false
    }
}

impl Point {
    /// The part of the template for this point.
    fn part(self) -> &'static str {
        match self {
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::BeforeMove => "before-move",
            Self::BeforeCapture => "before-capture",
            Self::Damage(_) => "damage",
            Self::PieceSpawn => "piece-spawn",
            Self::PieceRetract => "piece-retract",
            Self::AdvanceTurn => "advance-turn",
            Self::AfterMove => "after-move",
            Self::TurnStart => "turn-start",
            Self::CheckGameResult => "check-game-result",
            Self::DescribeMoveEffect => "describe-move-effect",
        }
    }

    /// The rules that call a preset at this point.
    pub(super) fn rules(self, id: &str) -> String {
        let stage = if let Self::Damage(stage) = self { stage } else { "" };
        let places = [("id", id), ("name", &id.replace('-', "_")), ("stage", stage)];
        Template::named("external").filled(self.part(), &places)
    }
}

/// All registered presets, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Externals(pub(super) BTreeMap<String, Arc<dyn Preset>>);

impl Externals {
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Checks that the presets whose code a program calls are registered.
    pub(super) fn check(&self, program: &Program) -> Result<(), LoadError> {
        for reaction in &program.reactions {
            let calls = |it: &&Effect| matches!(it, Effect::Call { .. });
            let Some(Effect::Call { name, .. }) = reaction.effects.iter().find(calls) else {
                continue;
            };
            let preset = reaction.owner.and_then(|it| program.preset_of(it));
            if !preset.is_some_and(|it| self.has(it)) {
                return Err(LoadError::Code {
                    place: program.place(reaction.span),
                    name: name.clone(),
                    preset: preset.unwrap_or_default().to_string(),
                });
            }
        }
        Ok(())
    }
}

impl Calls for Externals {
    fn call(&self, id: &str, name: &str, now: &mut Moment<'_>) -> bool {
        let Some(preset) = self.0.get(id) else { return false };
        match name {
            "on_activate" => preset.on_activate(now),
            "on_deactivate" => preset.on_deactivate(now),
            "on_before_move" => preset.on_before_move(now),
            "on_before_capture" => preset.on_before_capture(now),
            "on_damage" => preset.on_damage(now),
            "on_piece_spawn" => preset.on_piece_spawn(now),
            "on_piece_retract" => preset.on_piece_retract(now),
            "on_after_move" => preset.on_after_move(now),
            "on_turn_start" => preset.on_turn_start(now),
            "should_advance_turn" => {
                let is_kept = !preset.should_advance_turn(now);
                set_flag(now, &format!("{id}.holds"), is_kept);
            }
            "check_game_result" => {
                let opinion = preset.check_game_result(now);
                let attribute = format!("{id}.ends");
                match opinion {
                    Some(Opinion::Over(outcome)) => now.set_word(GAME, &attribute, outcome),
                    _ => now.retract(GAME, &attribute),
                }
                set_flag(now, &format!("{id}.goes_on"), opinion == Some(Opinion::Ongoing));
            }
            "describe_move_effect" => {
                if let Some(text) = preset.describe_move_effect(now) {
                    now.note(&text);
                }
            }
            other => return preset.call(other, now),
        }
        true
    }
}

/// States a flag of the game if it holds, and retracts it if not.
fn set_flag(now: &mut Moment<'_>, attribute: &str, holds: bool) {
    if holds { now.set(GAME, attribute, Value::Bool(true)) } else { now.retract(GAME, attribute) }
}
