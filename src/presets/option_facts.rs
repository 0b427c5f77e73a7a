//! The facts that represent an option of a preset, and their text.
//!
//! An option is one fact, or, where it is a list, a fact for each member that is chosen. Deliberately absent: which
//! options a preset has (`activation`).

use crate::facts::{AttrId, AttrType, BOOL, DomainId, Schema, Shape, Value};

/// Facts of one entity.
pub(super) type Facts = Vec<(AttrId, Value)>;

/// The attributes that represent an option.
#[derive(Debug, Clone, Copy)]
pub(super) enum OptionFacts {
    /// One attribute.
    One(AttrId),
    /// An attribute for each member of the domain, from this one on: true for the chosen members.
    List(AttrId, DomainId),
    /// One number with a bit for each of the first 63 members, the 64th in the sign: the meaning of `.meta
    /// list "NAME: DOMAIN = MEMBER+MEMBER"` in older rule files, which older saves contain.
    Bits(AttrId, DomainId),
}

/// The number that represents members of a domain in older rule files.
fn number_of(members: &[u16]) -> Option<i64> {
    let bit = |it: &u16| 1_u64.checked_shl(u32::from(*it));
    let bits = members.iter().map(bit).try_fold(0, |sum, it| Some(sum | it?))?;
    let low = (bits & (u64::MAX >> 1)) as i64;
    Some(if bits >> 63 == 1 { -low } else { low })
}

/// The members that such a number represents.
pub(super) fn members_of(number: i64) -> impl Iterator<Item = u16> {
    let bits = number.unsigned_abs() | u64::from(number <= 0) << 63;
    (0..64).filter(move |it| bits >> it & 1 == 1)
}

impl OptionFacts {
    /// The attributes, with the members that they represent.
    pub(super) fn attrs(self, schema: &Schema) -> impl Iterator<Item = (i64, AttrId)> + use<> {
        let (first, count) = match self {
            Self::One(attr) | Self::Bits(attr, _) => (attr.0, 1),
            Self::List(first, domain) => (first.0, schema.domain(domain).size() as u16),
        };
        (0..).zip((first..first + count).map(AttrId))
    }

    /// The facts that an option's text stands for, or a description of what the text should be.
    pub(super) fn read(self, schema: &Schema, text: &str) -> Result<Facts, String> {
        let (first, domain) = match self {
            Self::One(attr) => return value(schema, attr, text).map(|it| vec![(attr, it)]),
            Self::List(first, domain) | Self::Bits(first, domain) => (first, schema.domain(domain)),
        };
        let member = |name: &str| u16::try_from(domain.member(name.trim())?).ok();
        let chosen: Option<Vec<u16>> = text.split('+').map(member).collect();
        let expected = || format!("members of {}, joined by +", domain.name);
        let mut chosen = chosen.ok_or_else(expected)?;
        chosen.sort_unstable();
        chosen.dedup();
        if let Self::Bits(attr, _) = self {
            let number = number_of(&chosen).ok_or_else(expected)?;
            return Ok(vec![(attr, Value::Int(number))]);
        }
        Ok(chosen.into_iter().map(|it| (AttrId(first.0 + it), Value::Bool(true))).collect())
    }

    /// The default facts.
    pub(super) fn defaults(self, schema: &Schema) -> Facts {
        self.attrs(schema).filter_map(|(_, it)| Some((it, default(schema, it)?))).collect()
    }

    /// The text of an option that has these facts; `None` if there are none.
    pub(super) fn text(
        self,
        schema: &Schema,
        fact: impl Fn(AttrId) -> Option<Value>,
    ) -> Option<String> {
        let (chosen, domain): (Vec<i64>, _) = match self {
            Self::One(attr) => return fact(attr).map(|it| it.words(schema, attr)),
            Self::List(_, domain) => {
                let is_chosen = |it: &(i64, AttrId)| fact(it.1) == Some(Value::Bool(true));
                (self.attrs(schema).filter(is_chosen).map(|it| it.0).collect(), domain)
            }
            Self::Bits(attr, domain) => match fact(attr)? {
                Value::Int(number) => (members_of(number).map(i64::from).collect(), domain),
                _ => return None,
            },
        };
        let names: Vec<_> =
            chosen.into_iter().map(|it| schema.domain(domain).member_name(it)).collect();
        (!names.is_empty()).then(|| names.join("+"))
    }
}

/// The default value of an attribute, if it has one.
pub(super) fn default(schema: &Schema, attr: AttrId) -> Option<Value> {
    let attribute = schema.attribute(attr);
    let raw = attribute.default?;
    Some(match attribute.ty {
        AttrType::Int => Value::Int(raw),
        AttrType::Member(BOOL) => Value::Bool(raw != 0),
        AttrType::Member(_) => Value::Member(u16::try_from(raw).ok()?),
        AttrType::Entity => return None,
    })
}

/// The value of an attribute that a text stands for, or a description of what the text should be.
pub(super) fn value(schema: &Schema, attr: AttrId, text: &str) -> Result<Value, String> {
    match schema.attribute(attr).ty {
        AttrType::Int => text.parse().map(Value::Int).map_err(|_| "an integer".to_string()),
        AttrType::Member(BOOL) => {
            text.parse().map(Value::Bool).map_err(|_| "true or false".to_string())
        }
        AttrType::Member(id) if !schema.is_entity(AttrType::Member(id)) => {
            let index = schema.domain(id).member(text).and_then(|it| u16::try_from(it).ok());
            index.map(Value::Member).ok_or_else(|| one_of(&names_of(schema, attr)))
        }
        _ => Err("an entity, which cannot be chosen".into()),
    }
}

/// The members of an attribute's domain by name; for a board, a description of them.
pub(super) fn names_of(schema: &Schema, attr: AttrId) -> Vec<String> {
    match schema.attribute(attr).ty {
        AttrType::Member(id) => match &schema.domain(id).shape {
            Shape::Members(names) => names.clone(),
            _ => vec![format!("a member of {}", schema.domain(id).name)],
        },
        _ => Vec::new(),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn one_of(names: &[String]) -> String {
    match names {
        [] => "nothing".into(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
