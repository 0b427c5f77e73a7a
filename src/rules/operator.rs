//! Operators of rules: comparisons, integer arithmetic and the folds of aggregates.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Op {
    /// Its symbol in rules.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    pub fn holds(self, lhs: i64, rhs: i64) -> bool {
        match self {
            Self::Eq => lhs == rhs,
            Self::Ne => lhs != rhs,
            Self::Lt => lhs < rhs,
            Self::Le => lhs <= rhs,
            Self::Gt => lhs > rhs,
            Self::Ge => lhs >= rhs,
        }
    }
}

/// Integer arithmetic. Overflow and division by zero make the literal fail (no value). The least 64-bit
/// integer is not a value either: evaluators use it for missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    /// Rounds toward negative infinity.
    Div,
    /// Takes the sign of the divisor.
    Mod,
}

impl Arith {
    pub fn apply(self, lhs: i64, rhs: i64) -> Option<i64> {
        self.calculate(lhs, rhs).filter(|it| *it != i64::MIN)
    }

    fn calculate(self, lhs: i64, rhs: i64) -> Option<i64> {
        match self {
            Self::Add => lhs.checked_add(rhs),
            Self::Sub => lhs.checked_sub(rhs),
            Self::Mul => lhs.checked_mul(rhs),
            Self::Div => {
                let quotient = lhs.checked_div(rhs)?;
                Some(if lhs % rhs != 0 && (lhs < 0) != (rhs < 0) { quotient - 1 } else { quotient })
            }
            Self::Mod => {
                let rest = lhs.checked_rem(rhs)?;
                Some(if rest != 0 && (rest < 0) != (rhs < 0) { rest + rhs } else { rest })
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fold {
    Count,
    Sum,
    Min,
    Max,
}
