//! Pairs players and gives them sides: all players for a round of a Swiss, or the free players of an arena.
//!
//! Both are minimum-cost matchings (`integer-blossom`): a cost of one rank outweighs any sum of costs of
//! lower ranks. Nothing is random, so the same players are always paired alike.
//! Deliberately absent: FIDE's Dutch system with its brackets and floats.

use std::cmp::Reverse;

use integer_blossom::max_weight_matching;

/// Time for which a free player of an arena waits for an opponent other than the last one, in milliseconds.
pub const PATIENCE: u64 = 30_000;

/// A player who may be paired.
#[derive(Debug, Clone, Default)]
pub struct Contender {
    /// The number that identifies the player here.
    pub who: usize,
    pub points: u32,
    /// The rating at the start, which orders players with equal points.
    pub seed: i32,
    /// The number of games with the first side, less those with the second.
    pub balance: i32,
    /// Whether the last game was with the first side, if there was one.
    pub had_first: Option<bool>,
    /// The number of rounds without an opponent.
    pub byes: u32,
    /// Earlier opponents: all of them in a Swiss, the last one in an arena.
    pub met: Vec<usize>,
    /// Players that this one blocks, or that block this one.
    pub blocked: Vec<usize>,
    /// How long the player has been free, in milliseconds.
    pub waited: u64,
}

/// The pairs of a round, and the players left over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paired {
    /// The players of each game, by side.
    pub pairs: Vec<[usize; 2]>,
    /// Players without an opponent.
    pub left: Vec<usize>,
}

/// The weight of a rank of costs: with the maximum numbers of players and rounds, the sum of one rank over
/// all pairs is less than one of the next.
const fn rank(number: u32) -> i128 {
    1 << (18 * number)
}

/// Draws a round of a Swiss. One player is left if their number is odd.
///
/// The aims, the most important one first: no player meets another if one of them blocks the other; the player without an
/// opponent has had the fewest byes; no pair meets twice; the player without an opponent has few points; no player has
/// over two games more with one side than with the other; opponents have equal points; sides alternate; and the upper
/// half of the players with equal points meets the lower half.
pub fn swiss(mut all: Vec<Contender>) -> Paired {
    sort(&mut all);
    let half = |at: usize| all.iter().filter(|it| it.points == all[at].points).count() / 2;
    let cost = |one: usize, other: usize| {
        let (a, b) = (&all[one], &all[other]);
        let repeats = a.met.iter().filter(|&&it| it == b.who).count() as i128;
        let apart = i128::from(a.points.abs_diff(b.points));
        let fold = match apart {
            0 => (other - one).abs_diff(half(one)) as i128,
            _ => 0,
        };
        let uneven = i128::from(imbalance(a, b).saturating_sub(2));
        // More than all byes add up to, and less than an unnecessary bye.
        let blocked = i128::from(a.blocked.contains(&b.who)) * (rank(5) << 10);
        blocked
            + repeats * rank(4)
            + uneven * rank(3)
            + apart * apart * rank(2)
            + clash(a, b) * rank(1)
            + fold
    };
    // A bye for a player with many points is worse than uneven sides, and better than a repeated pairing.
    let cost_of_bye = |it: usize| {
        let Contender { points, byes, .. } = &all[it];
        rank(6) + i128::from(*byes) * rank(5) + i128::from(*points) * (rank(4) >> 8) - it as i128
    };
    matched(&all, |one, other| Some(cost(one, other)), cost_of_bye)
}

/// Pairs the free players of an arena by similar points. Of the players who can be paired, the one who has waited longest
/// always is. A player meets the last opponent again only after both have waited for [`PATIENCE`], or if
/// no other players take part (`others` is false). Players never meet if one blocks the other.
pub fn arena(mut all: Vec<Contender>, others: bool) -> Paired {
    sort(&mut all);
    let cost = |one: usize, other: usize| {
        let (a, b) = (&all[one], &all[other]);
        let is_repeat = a.met.contains(&b.who) || b.met.contains(&a.who);
        let too_soon = is_repeat && others && a.waited.min(b.waited) < PATIENCE;
        if too_soon || a.blocked.contains(&b.who) {
            return None;
        }
        let apart = (other - one) as i128;
        Some(i128::from(is_repeat) * rank(2) + apart * apart * 16 + clash(a, b).min(15))
    };
    // More than the six hours of the longest arena, and so little that the times of all players weigh less than one pair.
    let longest = 1 << 25;
    let cost_of_waiting = |it: usize| rank(5) + i128::from(all[it].waited.min(longest)) * rank(3);
    matched(&all, cost, cost_of_waiting)
}

/// Sorts players, the best first.
fn sort(all: &mut [Contender]) {
    all.sort_by_key(|it| (Reverse(it.points), Reverse(it.seed), it.who));
}

/// How uneven the sides of two players are after a game between them.
fn imbalance(one: &Contender, other: &Contender) -> u32 {
    let [first, second] = if has_first(one, other) { [one, other] } else { [other, one] };
    (first.balance + 1).unsigned_abs().max((second.balance - 1).unsigned_abs())
}

/// The cost of a pair's sides: twice the distance of the sum of their balances from 0, which a game between them cannot
/// change; or 1 if the sum is 0 and both had the same side in their last games.
fn clash(one: &Contender, other: &Contender) -> i128 {
    let sum = one.balance + other.balance;
    let is_same = sum == 0 && one.had_first.is_some() && one.had_first == other.had_first;
    i128::from(sum.unsigned_abs() * 2 + u32::from(is_same))
}

/// Whether the first of two players gets the first side: the player with the lower balance gets it, else the player who
/// did not have it in the last game.
fn has_first(one: &Contender, other: &Contender) -> bool {
    let wish = |it: &Contender| (it.balance, it.had_first == Some(true));
    match wish(one).cmp(&wish(other)) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        // As good as random, and always the same.
        std::cmp::Ordering::Equal => (one.who + one.met.len()).is_multiple_of(2),
    }
}

/// The minimum-cost matching of players: `cost` of each pair (`None` if it must not be), and `cost_alone` of a player left
/// over, which exceeds the cost of any pair.
fn matched(
    all: &[Contender],
    cost: impl Fn(usize, usize) -> Option<i128>,
    cost_alone: impl Fn(usize) -> i128,
) -> Paired {
    let count = all.len();
    // The saving of each pair; the matching reads only the upper triangle.
    let mut saved = vec![0_i128; count * count];
    for one in 0..count {
        for other in one + 1..count {
            if let Some(cost) = cost(one, other) {
                saved[one * count + other] = cost_alone(one) + cost_alone(other) - cost;
            }
        }
    }
    let mut paired = Paired::default();
    for (at, mate) in max_weight_matching(&saved, count).into_iter().enumerate() {
        match mate {
            None => paired.left.push(all[at].who),
            Some(other) if other > at => {
                let (one, other) = (&all[at], &all[other]);
                let pair = [one.who, other.who];
                paired.pairs.push(if has_first(one, other) { pair } else { [pair[1], pair[0]] });
            }
            Some(_) => {}
        }
    }
    paired
}
