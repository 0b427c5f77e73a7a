//! Start positions by number, for games with a shuffled back rank.
//!
//! `.meta number "position=518"` names the option and its default, `.meta pattern` is the position
//! with `{rank}` and `{RANK}` for the rank in lower and in upper case. Each `.meta place "LETTERS
//! at CHOICE ..."` puts pieces on the rank: the number modulo the count of its choices picks the choice, and the
//! quotient goes on to the next line. A choice has a file for each letter: `a` to `p` name it, `1` to `9` count the
//! files that were free before this line, from the left. Deliberately absent: what the letters mean.

/// The start positions of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered {
    /// The option for the number.
    pub option: String,
    /// The number of the usual position.
    pub default: u32,
    pattern: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    letters: Vec<char>,
    choices: Vec<Vec<Spot>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    File(usize),
    /// One of the files that no earlier line took, counted from 1.
    Free(usize),
}

/// Invalid `.meta` lines of numbered start positions, or a number that none of them has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlaceError {
    #[error("{text:?} is not OPTION=NUMBER")]
    Number { text: String },
    #[error(
        "{text:?} is not LETTERS at CHOICE ..., with a file (a-p) or the number of a free file (1-9) for each letter"
    )]
    Place { text: String },
    #[error("the choices make more than {max} start positions", max = u32::MAX)]
    Count,
    #[error(
        "number {number} puts two pieces on one file, or a piece on a file that the rank lacks: it has one for each letter"
    )]
    Clash { number: u32 },
    #[error("there are start positions 0 to {last}, not {number}")]
    Range { number: u32, last: u32 },
}

impl Numbered {
    /// Reads the values of the `.meta` lines.
    ///
    /// # Errors
    /// The first malformed line, or more start positions than can be numbered.
    pub(super) fn parse(number: &str, pattern: &str, places: &[&str]) -> Result<Self, PlaceError> {
        let fault = || PlaceError::Number { text: number.into() };
        let (option, default) = number.split_once('=').ok_or_else(fault)?;
        let default = default.parse().map_err(|_| fault())?;
        let steps: Vec<Step> = places.iter().map(|it| Step::parse(it)).collect::<Result<_, _>>()?;
        let mut count = 1u32;
        for step in &steps {
            let choices = u32::try_from(step.choices.len()).ok();
            count = choices.and_then(|it| count.checked_mul(it)).ok_or(PlaceError::Count)?;
        }
        Ok(Self { option: option.into(), default, pattern: pattern.into(), steps })
    }

    /// The number of start positions.
    pub fn count(&self) -> u32 {
        self.steps.iter().map(|it| it.choices.len() as u32).product()
    }

    /// The letters of the back rank with that number.
    ///
    /// # Errors
    /// The number is too large, or the lines put two pieces on one file, or a piece beside the rank.
    pub fn rank(&self, number: u32) -> Result<String, PlaceError> {
        if number >= self.count() {
            return Err(PlaceError::Range { number, last: self.count().saturating_sub(1) });
        }
        let width = self.steps.iter().map(|it| it.letters.len()).sum();
        let mut rank: Vec<Option<char>> = vec![None; width];
        let mut rest = number as usize;
        for step in &self.steps {
            let choice = &step.choices[rest % step.choices.len()];
            rest /= step.choices.len();
            step.place(choice, &mut rank).ok_or(PlaceError::Clash { number })?;
        }
        rank.into_iter().collect::<Option<_>>().ok_or(PlaceError::Clash { number })
    }

    /// The start position with that number, as FEN.
    ///
    /// # Errors
    /// As [`Numbered::rank`].
    pub fn start(&self, number: u32) -> Result<String, PlaceError> {
        let rank = self.rank(number)?;
        let (lower, upper) = (rank.to_lowercase(), rank.to_uppercase());
        Ok(self.pattern.replace("{rank}", &lower).replace("{RANK}", &upper))
    }
}

impl Step {
    fn parse(text: &str) -> Result<Self, PlaceError> {
        let fault = || PlaceError::Place { text: text.into() };
        let (letters, choices) = text.split_once(" at ").ok_or_else(fault)?;
        let letters: Vec<char> = letters.trim().chars().collect();
        let choices = choices.split_whitespace().map(|it| it.chars().map(Spot::parse).collect());
        let choices = choices.collect::<Option<Vec<Vec<Spot>>>>().ok_or_else(fault)?;
        let fits = !choices.is_empty() && choices.iter().all(|it| it.len() == letters.len());
        if fits { Ok(Self { letters, choices }) } else { Err(fault()) }
    }

    fn place(&self, choice: &[Spot], rank: &mut [Option<char>]) -> Option<()> {
        let free: Vec<usize> = (0..rank.len()).filter(|&it| rank[it].is_none()).collect();
        for (&letter, spot) in self.letters.iter().zip(choice) {
            let file = match *spot {
                Spot::File(file) => file,
                Spot::Free(nth) => *free.get(nth.checked_sub(1)?)?,
            };
            let place = rank.get_mut(file)?;
            if place.replace(letter).is_some() {
                return None;
            }
        }
        Some(())
    }
}

impl Spot {
    fn parse(text: char) -> Option<Self> {
        match text {
            'a'..='p' => Some(Self::File(text as usize - 'a' as usize)),
            '1'..='9' => Some(Self::Free(text as usize - '0' as usize)),
            _ => None,
        }
    }
}
