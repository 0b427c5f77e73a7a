//! The legal moves: the rows of the action relations as moves, and how their legality is decided.
//!
//! A move is an action of the program with its arguments. Whether it leaves royal pieces safe is
//! either derived by the rules (the action's own relation) or found by playing it out (whether the
//! position after a pseudo-legal one is `untenable`; see `safety`). [`LegalityMode`] lets audits and tests compare the
//! two. Deliberately absent: how moves are written (`notation`) and played (`game`).

use foldhash::{HashSet, HashSetExt};

use crate::derive::{Leaves, Refusal, Tuple, World};
use crate::facts::NextIds;
use crate::rules::{Action, ActionId, Legality, Program, RelId, Type, Unlisted};

use super::contract::Contract;
use super::reach::Room;
use super::safety::Decision;

/// A move: an action and its arguments, in raw values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move {
    /// The kind of action.
    #[doc(hidden)]
    pub action: ActionId,
    /// A value for each column of the action's relation, in their order; then the unlisted arguments, unless all of
    /// them are the defaults.
    #[doc(hidden)]
    pub args: Tuple,
}

impl Move {
    /// The listed argument of that name, if the action has it.
    #[doc(hidden)]
    pub fn arg(&self, program: &Program, column: &str) -> Option<i64> {
        let at = column_of(program, self.action, column)?;
        self.args.get(at).copied()
    }
}

/// The index of a listed argument of an action, by its name.
pub(super) fn column_of(program: &Program, action: ActionId, column: &str) -> Option<usize> {
    let relation = program.relation(program.action(action).rel);
    relation.columns.iter().position(|it| it.name == column)
}

/// How to decide whether a move leaves royal pieces safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LegalityMode {
    /// As `safety` decides for each action, from what it declares and from what its reactions do.
    #[default]
    Declared,
    /// The actions' own relations, always.
    Rules,
    /// Playing every pseudo-legal action out, always.
    Simulate,
}

impl LegalityMode {
    fn decision(self, contract: &Contract, action: ActionId) -> Decision {
        match (self, contract.decisions[usize::from(action.0)]) {
            (Self::Declared, declared) => declared,
            (_, Decision::Never) => Decision::Never,
            (Self::Rules, _) => Decision::Rules,
            (Self::Simulate, _) => Decision::Simulation,
        }
    }

    /// Whether rules decide every action, so that the number of rows is the number of legal moves.
    pub fn is_by_rules(self, contract: &Contract) -> bool {
        match self {
            Self::Declared => {
                contract.decisions.iter().all(|it| matches!(it, Decision::Rules | Decision::Never))
            }
            Self::Rules => true,
            Self::Simulate => false,
        }
    }
}

/// Whether the rules call the game over (apart from draws by counter, repetition and material).
pub fn is_over(world: &mut World, contract: &Contract) -> bool {
    world.any(contract.over)
}

/// The legal moves, by action, then by arguments; none when the game is over.
pub fn legal_moves(world: &mut World, contract: &Contract) -> Vec<Move> {
    legal_moves_by(world, contract, LegalityMode::Declared)
}

/// The legal moves as the mode decides them.
pub fn legal_moves_by(world: &mut World, contract: &Contract, mode: LegalityMode) -> Vec<Move> {
    if is_over(world, contract) { Vec::new() } else { open_moves(world, contract, mode) }
}

/// The legal moves of a position that is known not to be over.
pub(super) fn open_moves(world: &mut World, contract: &Contract, mode: LegalityMode) -> Vec<Move> {
    let program = world.program().clone();
    let mut moves = Vec::new();
    for action in &program.actions {
        add_moves(world, contract, mode, action, &mut moves);
    }
    moves
}

/// Adds the legal moves of one action.
fn add_moves(
    world: &mut World,
    contract: &Contract,
    mode: LegalityMode,
    action: &Action,
    moves: &mut Vec<Move>,
) {
    let as_move = |args: Tuple| Move { action: action.id, args };
    let candidates = action.candidates();
    match mode.decision(contract, action.id) {
        Decision::Never => {}
        Decision::Rules => moves.extend(world.listed(action.rel).into_iter().map(as_move)),
        Decision::Simulation => {
            let rows = world.listed(candidates).into_iter().map(as_move);
            moves.extend(rows.filter_map(|it| safe_variant(world, contract, it)));
        }
        Decision::Except(rel) => {
            let odd = world.listed(rel);
            let mut rows = world.listed(action.rel);
            rows.retain(|it| odd.binary_search(it).is_err());
            let mut all: Vec<Move> = rows.into_iter().map(as_move).collect();
            for row in odd {
                if world.contains(candidates, &row) {
                    all.extend(safe_variant(world, contract, as_move(row)));
                }
            }
            all.sort_unstable();
            moves.append(&mut all);
        }
    }
}

/// The contribution of one action to the count of legal moves: their number, or the moves themselves if
/// taking one of them may fail.
pub(super) enum LeavesOfAction {
    Counted(u64),
    ToTake(Vec<Move>),
}

/// The legal moves of one action, in a position that is known not to be over, for a count: where rules decide
/// all rows, and none of them can fail, they are not even listed. `none_can_fail` is about the moves of all actions
/// ([`ids_without_failure`]).
pub(super) fn leaves_of(
    world: &mut World,
    contract: &Contract,
    mode: LegalityMode,
    action: &Action,
    none_can_fail: bool,
) -> LeavesOfAction {
    let is_ruled = match mode.decision(contract, action.id) {
        Decision::Never => return LeavesOfAction::Counted(0),
        Decision::Rules => true,
        Decision::Except(odd) => !world.any(odd),
        Decision::Simulation => false,
    };
    let is_fallible = !none_can_fail && may_fail(world, contract, action.id);
    if is_ruled && !is_fallible {
        return LeavesOfAction::Counted(world.count(action.rel));
    }
    let mut moves = Vec::new();
    add_moves(world, contract, mode, action, &mut moves);
    match is_fallible {
        true => LeavesOfAction::ToTake(moves),
        false => LeavesOfAction::Counted(moves.len() as u64),
    }
}

/// How to count the leaves after an action without taking it. The result is that of [`leaves_of`] where no move has to be
/// played out and none can fail. `None` if there are candidates of an action that is always played out; where some come up
/// later, the count has no answer.
pub(super) fn leaves(world: &mut World, contract: &Contract, mode: LegalityMode) -> Option<Leaves> {
    let (mut counted, mut odd) = (Vec::new(), Vec::new());
    let program = world.program().clone();
    for action in &program.actions {
        match mode.decision(contract, action.id) {
            Decision::Never => continue,
            Decision::Rules => {}
            Decision::Except(rel) => odd.push(rel),
            Decision::Simulation if world.any(action.candidates()) => return None,
            Decision::Simulation => {
                odd.push(action.candidates());
                continue;
            }
        }
        counted.push((action.id, action.rel));
    }
    Some(world.leaves(contract.over, counted, odd))
}

/// Whether there is a legal move in a position that is not over: the cheap answers first.
pub(super) fn has_move(world: &mut World, contract: &Contract) -> bool {
    let program = world.program().clone();
    let mut tried = Vec::new();
    for action in &program.actions {
        let candidates = action.candidates();
        match contract.decisions[usize::from(action.id.0)] {
            Decision::Rules if world.any(action.rel) => return true,
            Decision::Rules | Decision::Never => {}
            Decision::Simulation => {
                tried.extend(world.listed(candidates).into_iter().map(|it| (action.id, it)));
            }
            Decision::Except(rel) => {
                let odd = world.listed(rel);
                if world.listed(action.rel).iter().any(|it| odd.binary_search(it).is_err()) {
                    return true;
                }
                tried.extend(odd.into_iter().map(|it| (action.id, it)));
            }
        }
    }
    tried.into_iter().any(|(action, args)| {
        let mv = Move { action, args };
        is_pseudo(world, &mv) && safe_variant(world, contract, mv).is_some()
    })
}

/// The pseudo-legal moves, which need not leave royal pieces safe; also after the game's end.
pub fn pseudo_moves(world: &mut World) -> Vec<Move> {
    let program = world.program().clone();
    let mut moves = Vec::new();
    for action in program.actions.iter().filter(|it| it.legality != Legality::Never) {
        let rows = world.listed(action.candidates());
        moves.extend(rows.into_iter().map(|args| Move { action: action.id, args }));
    }
    moves
}

/// Whether the move is pseudo-legal, whatever its unlisted arguments are.
pub fn is_pseudo(world: &mut World, mv: &Move) -> bool {
    let action = world.program().action(mv.action);
    let (rel, row) = (action.candidates(), action.row(&mv.args));
    world.contains(rel, row)
}

/// The row of the action's relation for a move, without its unlisted arguments.
pub fn row<'m>(world: &World, mv: &'m Move) -> &'m [i64] {
    world.program().action(mv.action).row(&mv.args)
}

/// The rows that must hold for the unlisted arguments of a move: for each that is not the default, a row of the
/// relation of allowed values.
pub fn argument_rows(program: &Program, mv: &Move) -> Vec<(RelId, Tuple)> {
    let action = program.action(mv.action);
    let given = action.given(&mv.args).iter().zip(&action.unlisted);
    let row = |(value, argument): (&i64, &Unlisted)| {
        let from = argument.from.filter(|_| *value != argument.default)?;
        let before = columns_before(program, action, from, &mv.args);
        Some((from, before.iter().chain([value]).copied().collect()))
    };
    given.filter_map(row).collect()
}

/// The columns before the value in a row of a relation of allowed values: none, or the row of the action.
fn columns_before<'m>(
    program: &Program,
    action: &Action,
    from: RelId,
    args: &'m [i64],
) -> &'m [i64] {
    if program.relation(from).columns.len() == 1 { &[] } else { action.row(args) }
}

/// The first unlisted argument that is not allowed: the relation of allowed values, and the row that it
/// lacks.
pub fn refused_argument(world: &mut World, mv: &Move) -> Option<(RelId, Tuple)> {
    let rows = argument_rows(world.program(), mv);
    rows.into_iter().find(|(rel, row)| !world.contains(*rel, row))
}

/// Maximum number of combinations of an action's unlisted arguments that are examined.
const VARIANTS: usize = 64;

/// The action of a move with the combinations of its unlisted arguments, the defaults first, `VARIANTS` at most. An
/// argument whose values neither a relation nor a domain lists has only its default.
pub fn argument_variants(world: &mut World, mv: &Move) -> Vec<Move> {
    let program = world.program().clone();
    let action = program.action(mv.action);
    let mut variants: Vec<Tuple> = vec![action.row(&mv.args).into()];
    for argument in &action.unlisted {
        let mut values = vec![argument.default];
        values.extend(match (argument.from, argument.column.ty) {
            (Some(from), _) => {
                let before = columns_before(&program, action, from, &mv.args);
                let pattern: Vec<Option<i64>> =
                    before.iter().copied().map(Some).chain([None]).collect();
                let rows = world.matching(from, &pattern);
                rows.iter().filter_map(|row| row.last().copied()).collect()
            }
            (None, Type::Domain(domain)) => {
                (0..program.schema.domain(domain).size() as i64).collect()
            }
            (None, _) => Vec::new(),
        });
        let mut seen = HashSet::new();
        values.retain(|value| seen.insert(*value));
        let with_values = |args: &Tuple| -> Vec<Tuple> {
            values.iter().map(|value| args.iter().chain([value]).copied().collect()).collect()
        };
        variants = variants.iter().flat_map(with_values).take(VARIANTS).collect();
    }
    let variant = |it: &Tuple| Move { action: mv.action, args: action.shortest(it).into() };
    variants.iter().map(variant).collect()
}

/// The first safe variant of a listed move: as it is, or with other unlisted arguments if it is not safe with the defaults.
fn safe_variant(world: &mut World, contract: &Contract, mv: Move) -> Option<Move> {
    if is_safe_by_simulation(world, contract, &mv) {
        return Some(mv);
    }
    let mut others = argument_variants(world, &mv).into_iter().skip(1);
    others.find(|it| is_safe_by_simulation(world, contract, it))
}

/// Whether a move is legal here, decided as `safety` says for its action.
pub fn is_legal(world: &mut World, contract: &Contract, mv: &Move) -> bool {
    if is_over(world, contract) || refused_argument(world, mv).is_some() {
        return false;
    }
    if is_played_out(world, contract, mv) {
        return is_pseudo(world, mv) && is_safe_by_simulation(world, contract, mv);
    }
    let action = world.program().action(mv.action);
    let (rel, row) = (action.rel, action.row(&mv.args));
    world.contains(rel, row)
}

/// Whether a move is decided by playing it out.
pub fn is_played_out(world: &mut World, contract: &Contract, mv: &Move) -> bool {
    match contract.decisions[usize::from(mv.action.0)] {
        Decision::Rules | Decision::Never => false,
        Decision::Except(odd) => {
            let row = row(world, mv);
            world.contains(odd, row)
        }
        Decision::Simulation => true,
    }
}

/// Plays the move up to the stage that its action declares (`until STAGE`), checks whether the mover may
/// leave the position as it is, and takes it back. A move that a reaction refuses, in any stage, is not safe
/// either. A move that cannot be taken for other reasons (no room for another entity, endless events, missing
/// code) still counts as legal, or a lack of room could mate a side: it stays on the list, and [`refusal`]
/// and playing it say why it cannot be taken.
fn is_safe_by_simulation(world: &mut World, contract: &Contract, mv: &Move) -> bool {
    let Some(mover) = contract.mover(world.facts()) else {
        return true;
    };
    // Where rows are missing already, the result of playing actions out means nothing.
    if world.has_run_out() {
        return false;
    }
    let is_refused_late = contract.is_refused_late(world.program(), mv.action);
    let mut is_tenable = true;
    let done = world.taking_back(|world| {
        world.play_out(mv.action, &mv.args, &mut |world| {
            is_tenable = !world.contains(contract.untenable, &[mover]);
            is_tenable && is_refused_late
        })
    });
    is_tenable && !matches!(done, Err(Refusal::Veto { .. }))
}

/// The next ids that entities can take while every legal move is certain to succeed; `None` if one may fail here. It
/// takes longer than most questions about single actions, so it is asked once a position.
pub(super) fn ids_without_failure(world: &World, contract: &Contract) -> Option<NextIds> {
    let rooms = contract.rooms(world.program());
    match rooms.iter().try_fold(0, |most: u32, it| Some(most.max(it.always?)))? {
        0 => Some(NextIds::default()),
        most => {
            let ids = world.facts().ids();
            let left = ids.left();
            (most <= left).then(|| ids.next(left - most))
        }
    }
}

/// Whether taking a legal move of an action may fail here.
fn may_fail(world: &World, contract: &Contract, action: ActionId) -> bool {
    let Room { always, apart } = contract.rooms(world.program())[usize::from(action.0)];
    let fits = |it: Option<u32>| it.is_some_and(|it| it == 0 || it <= world.facts().room());
    !(fits(always) || fits(apart) && all_apart(world, contract))
}

/// Whether no two pieces stand on one square. (A board has at most 256 squares.)
fn all_apart(world: &World, contract: &Contract) -> bool {
    let (facts, mut taken) = (world.facts(), [false; 256]);
    facts.entities_with(contract.at.attr).all(|it| {
        let square = facts.get_raw(it, contract.at.attr).unwrap_or_default() as usize % 256;
        !std::mem::replace(&mut taken[square], true)
    })
}

/// Why a legal move cannot be played, for reasons that rules cannot know: there is no room for another
/// entity, events raise each other endlessly, or code is missing.
pub fn refusal(world: &mut World, contract: &Contract, mv: &Move) -> Option<Refusal> {
    if !may_fail(world, contract, mv.action) {
        return None;
    }
    world.taking_back(|world| world.fire(mv.action, &mv.args)).err()
}
