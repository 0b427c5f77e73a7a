//! The notation that files declare, by lines `.meta fen "..."` or `.meta san "..."`: further fields, marks
//! next to letters, walls, counters, stacks, the text of a turn; with the relations that they name.

use crate::facts::{AttrId, BOOL, Shape};
use crate::rules::{Input, RelId, Role, TemplatePart, Type};

use super::finder::{
    About, Counters, Fact, Fault, Field, Finder, Mark, Slot, Source, TurnPart, TurnWords, Walls,
    describe, source_of,
};
use super::meta_lines::{called, fen_lines, fen_lines_by_file};

/// Maximum number of signs next to letters: one for each punctuation character.
const MARKS: usize = 32;
/// Maximum number of fields of a FEN that are always a dash.
const DASHES: usize = 8;

impl Finder<'_> {
    /// `.meta fen "KEY=RELATION"`: an attribute of the game or of pieces, by the relation that reads it. Files
    /// that need the same field may each declare it.
    pub(super) fn fields(&mut self) -> Vec<Field> {
        let program = self.program;
        let mut fields: Vec<Field> = Vec::new();
        for (line, file) in fen_lines_by_file(program) {
            let Some((key, name)) = line.split_once('=') else { continue };
            let (key, quiet) = key.strip_prefix('?').map_or((key, false), |it| (it, true));
            if key.contains(' ') {
                continue;
            }
            let found = self.field(key, &called(program, file, name));
            let Some(field) = found.map(|it| Field { quiet, ..it }) else { continue };
            match fields.iter().find(|it| it.key == key) {
                None => fields.push(field),
                Some(known) if known.fact == field.fact => {}
                Some(known) => self.report_conflict(
                    &format!("the field {key}"),
                    known.fact.rel,
                    field.fact.rel,
                ),
            }
        }
        fields
    }

    /// Notes that two files give one word of the FEN different meanings.
    fn report_conflict(&mut self, what: &str, first: RelId, second: RelId) {
        let name = |it| self.program.relation(it).name.clone();
        let (what, first, second) = (what.to_owned(), name(first), name(second));
        self.faults.push(Fault::Taken { what, first, second });
    }

    fn field(&mut self, key: &str, name: &str) -> Option<Field> {
        let program = self.program;
        let key = key.to_owned();
        let Some(rel) = program.relation_known(name) else {
            self.faults.push(Fault::Missing { relation: name.to_owned() });
            return None;
        };
        let relation = program.relation(rel);
        let truth = Type::Domain(BOOL);
        let last = relation.columns.last().map(|it| it.ty);
        let fact = match relation.role {
            Role::Input(Input::Key(attr)) => last.map(|ty| (attr, ty, About::Pieces)),
            Role::Input(Input::Flag(attr)) => Some((attr, truth, About::Pieces)),
            Role::Input(Input::Game(attr)) => last.map(|ty| (attr, ty, About::Game)),
            Role::Input(Input::GameFlag(attr)) => Some((attr, truth, About::Game)),
            _ => None,
        };
        let fact = fact.map(|it| match program.schema.attribute(it.0).of {
            Some(domain) => (it.0, it.1, About::Members(domain)),
            None => it,
        });
        // A piece is written as its square, so only once.
        let is_value = |ty: Type, about: About| match ty {
            Type::Int => true,
            Type::Text => false,
            Type::Domain(it) => {
                about == About::Game
                    || !matches!(program.schema.domain(it).shape, Shape::Entities { .. })
            }
        };
        let is_piece = |it: &(AttrId, Type, About)| {
            it.2 != About::Pieces
                || relation.columns.first().is_some_and(|it| self.fits(Slot::Entity, it.ty))
        };
        match fact.filter(|it| is_value(it.1, it.2)).filter(is_piece) {
            Some((attr, ty, about)) => {
                let quiet = false;
                Some(Field { key, fact: Fact { rel, attr }, ty, about, quiet })
            }
            None => {
                let columns = relation.columns.iter().map(|it| self.type_name(it.ty));
                let found = describe(source_of(&relation.role), columns);
                let expected =
                    "an attribute of the game or of pieces, and no entity; or one of a domain's members".into();
                self.faults.push(Fault::Shape { relation: name.to_owned(), expected, found });
                None
            }
        }
    }

    /// `.meta fen "dashes N"`: the number of fields after the side to move that are always a dash.
    pub(super) fn dashes(&mut self) -> usize {
        let program = self.program;
        let mut lines = fen_lines(program).filter_map(|it| it.strip_prefix("dashes "));
        let Some(number) = lines.next() else { return 0 };
        let found: Option<usize> = number.parse().ok().filter(|it| *it <= DASHES);
        if found.is_none() {
            self.faults.push(Fault::Shape {
                relation: "the number of dashes".into(),
                expected: format!("a number up to {DASHES}"),
                found: format!("{number:?}"),
            });
        }
        found.unwrap_or_default()
    }

    /// `.meta fen "mark SIGN=RELATION"`: a flag of pieces, as a sign after the letter; `prefix SIGN=RELATION`
    /// puts it before.
    pub(super) fn marks(&mut self) -> Vec<Mark> {
        let program = self.program;
        let read = |(line, file): (&str, u16)| {
            let (word, rest) = line.split_once(' ')?;
            let (sign, name) = rest.split_once('=')?;
            let before = word == "prefix";
            let name = called(program, file, name);
            (before || word == "mark").then(|| (before, sign.to_owned(), name))
        };
        let mut marks: Vec<Mark> = Vec::new();
        for (before, sign, name) in fen_lines_by_file(program).filter_map(read) {
            let is_sign = |it: char| it.is_ascii_punctuation() && !"/[]".contains(it);
            let mut signs = sign.chars();
            let (Some(sign), None) = (signs.next().filter(|it| is_sign(*it)), signs.next()) else {
                self.faults.push(Fault::Shape {
                    relation: format!("the mark {name}"),
                    expected: "one sign of punctuation, but no `/`, `[` or `]`".into(),
                    found: format!("{sign:?}"),
                });
                continue;
            };
            let Some(fact) = self.input(&name, Source::Flag, &[Slot::Entity]) else { continue };
            match marks.iter().find(|it| it.sign == sign) {
                // Presets that need the same mark may each declare it.
                Some(known) if known.fact == fact && known.before == before => {}
                Some(known) => {
                    self.report_conflict(&format!("the mark {sign}"), known.fact.rel, fact.rel)
                }
                None if marks.len() < MARKS => marks.push(Mark { sign, before, fact }),
                None => self.faults.push(Fault::Shape {
                    relation: format!("the mark {name}"),
                    expected: format!("one of at most {MARKS} marks"),
                    found: "one more".into(),
                }),
            }
        }
        marks
    }

    /// `.meta fen "stack RELATION"`: a square may hold several pieces, written in the order of the numbers that
    /// the relation gives to their kinds.
    pub(super) fn stack(&mut self) -> Option<RelId> {
        let name = fen_lines(self.program).find_map(|it| it.strip_prefix("stack "))?;
        self.find(name, Source::Rules, &[Slot::Kind, Slot::Int])
    }

    /// `.meta fen "turn {RELATION}:{RELATION}"`: relations whose rows have a text, and the text between them.
    pub(super) fn turn_text(&mut self) -> Option<Vec<TurnPart>> {
        let program = self.program;
        let (line, file) = fen_lines_by_file(program).find(|it| it.0.starts_with("turn "))?;
        let parts = self.turn_parts(&line["turn ".len()..], file);
        let texts = parts.iter().filter_map(|it| match it {
            TurnPart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let signs: String = texts.collect();
        let mut of_rows = parts.iter().filter_map(|it| match it {
            TurnPart::Rows(rel) | TurnPart::List(rel) => program.row_texts.get(rel),
            _ => None,
        });
        let blurs = |it: &str| it.contains(['=', ' ']);
        if !signs.contains(':') || blurs(&signs) || of_rows.any(|it| says(&it.0, blurs)) {
            let template = line["turn ".len()..].to_owned();
            self.faults.push(Fault::TurnText { template });
        }
        Some(parts)
    }

    /// `.meta san "turn [{RELATION}<]{RELATION,}"`, as often as there are words, and `.meta san "hold RELATION"`.
    pub(super) fn turn_words(&mut self) -> Option<TurnWords> {
        let program = self.program;
        let mut texts = Vec::new();
        let mut hold = None;
        for it in program.meta.iter().filter(|it| it.key == "san") {
            let file = it.span.source;
            if let Some(template) = it.value.strip_prefix("turn ") {
                let mut parts = Vec::new();
                for (at, piece) in template.split(['[', ']']).enumerate() {
                    let inner = self.turn_parts(piece, file);
                    match at % 2 {
                        0 => parts.extend(inner),
                        _ => parts.push(TurnPart::Optional(inner)),
                    }
                }
                texts.push(parts);
            } else if let Some(name) = it.value.strip_prefix("hold ") {
                hold = self.input(&called(program, file, name), Source::Game, &[]);
            }
        }
        if texts.is_empty() {
            return None;
        }
        let Some(hold) = hold else {
            let relation = "that keeps a turn open (`.meta san \"hold RELATION\"`)".into();
            self.faults.push(Fault::Missing { relation });
            return None;
        };
        Some(TurnWords { texts, hold: hold.attr })
    }

    /// The parts of the text of a turn under way.
    fn turn_parts(&mut self, template: &str, file: u16) -> Vec<TurnPart> {
        let program = self.program;
        let mut parts = Vec::new();
        for piece in template.split_inclusive(['{', '}']) {
            if let Some(name) = piece.strip_suffix('}') {
                let (name, is_list) = (name.trim_end_matches(','), name.ends_with(','));
                let name = called(program, file, name);
                let Some(rel) = program.relation_known(&name) else {
                    self.faults.push(Fault::Missing { relation: name });
                    continue;
                };
                if !program.row_texts.contains_key(&rel) {
                    self.faults.push(Fault::Shape {
                        relation: name,
                        expected: "a relation whose rows have a text, `.decl ... text \"...\"`"
                            .into(),
                        found: "without one".into(),
                    });
                }
                parts.push(if is_list { TurnPart::List(rel) } else { TurnPart::Rows(rel) });
            } else {
                let text = piece.strip_suffix('{').unwrap_or(piece);
                parts.push(TurnPart::Text(text.to_owned()));
            }
        }
        parts.retain(|it| *it != TurnPart::Text(String::new()));
        parts
    }

    /// `.meta fen "wall SIGN=RELATION"`: a flag of squares, written on the board as the sign.
    pub(super) fn walls(&mut self) -> Option<Walls> {
        let program = self.program;
        let (line, file) = fen_lines_by_file(program).find(|it| it.0.starts_with("wall "))?;
        let (sign, name) = line["wall ".len()..].split_once('=').unwrap_or((line, ""));
        let mut signs = sign.chars();
        let is_sign = |it: &char| it.is_ascii_punctuation() && !"/[]()".contains(*it);
        let (Some(sign), None) = (signs.next().filter(is_sign), signs.next()) else {
            self.faults.push(Fault::Shape {
                relation: format!("the wall {name}"),
                expected: "one sign of punctuation, but no `/` and no bracket".into(),
                found: format!("{sign:?}"),
            });
            return None;
        };
        let fact = self.of_members(&called(program, file, name), &[Slot::Square])?;
        Some(Walls { sign, fact })
    }

    /// `.meta fen "counters RELATION"`: a number per side; with `+` before the relation they are written
    /// `+1+0`.
    pub(super) fn counters(&mut self) -> Option<Counters> {
        let program = self.program;
        let (line, file) = fen_lines_by_file(program).find(|it| it.0.starts_with("counters "))?;
        let name = &line["counters ".len()..];
        let bare = name.strip_prefix('+');
        let fact = self
            .of_members(&called(program, file, bare.unwrap_or(name)), &[Slot::Side, Slot::Int])?;
        Some(Counters { fact, signed: bare.is_some() })
    }

    /// An input of sides or squares, `input ... of DOMAIN`.
    fn of_members(&mut self, name: &str, slots: &[Slot]) -> Option<Fact> {
        let rel = self.find(name, Source::Rules, slots)?;
        let relation = self.program.relation(rel);
        let attr = match relation.role {
            Role::Input(input) => Some(input.attr()),
            _ => None,
        };
        let Some(attr) = attr.filter(|it| self.program.schema.attribute(*it).of.is_some()) else {
            let columns = relation.columns.iter().map(|it| self.type_name(it.ty));
            self.faults.push(Fault::Shape {
                relation: name.to_owned(),
                expected: "an input of a domain's members (`input ... of DOMAIN attr NAME`)".into(),
                found: describe(source_of(&relation.role), columns),
            });
            return None;
        };
        Some(Fact { rel, attr })
    }
}

/// Whether a text that a template has itself, outside look-ups and columns, is of some form.
fn says(parts: &[TemplatePart], is: impl Fn(&str) -> bool + Copy) -> bool {
    parts.iter().any(|it| match it {
        TemplatePart::Text(text) => is(text),
        TemplatePart::Optional(all) => says(all, is),
        _ => false,
    })
}
