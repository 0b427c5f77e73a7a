//! The notation that files declare by lines `.meta fen "..."` and `.meta san "..."`: further fields, marks
//! next to letters, walls, counters, stacks, the text of a turn; with the relations that the lines name.

use crate::facts::{BOOL, Shape};
use crate::rules::{Input, RelId, Role, Span, TemplatePart, Type};

use super::finder::{
    About, AttrInput, Counters, CountersForm, Fault, Field, Finder, Mark, Origin, Slot, TurnPart,
    TurnWords, Walls,
};
use super::meta_lines::{fen_lines_of, full_name, placed_fen_lines};

/// Maximum number of fields of a FEN that are always a dash.
const DASHES: usize = 8;

/// What may be a sign on the board. There are fewer than 32, so a word of bits holds the marks of a piece.
const SIGN: &str = "one sign of punctuation other than `/`, `,`, `=` and brackets";

/// The text as a sign on the board, if it may be one.
fn sign_of(text: &str) -> Option<char> {
    let mut signs = text.chars();
    let sign = signs.next().filter(|it| it.is_ascii_punctuation() && !"/,=[](){}".contains(*it))?;
    signs.next().is_none().then_some(sign)
}

impl Finder<'_> {
    /// `.meta fen "KEY=RELATION"`: an attribute of the game, of pieces or of a domain's members, by the relation that
    /// reads it. `?KEY=RELATION` leaves an attribute of the game or of members out while it has its default value. Files
    /// that need the same field may each declare it.
    pub(super) fn fields(&mut self) -> Vec<Field> {
        let program = self.program;
        let mut fields: Vec<Field> = Vec::new();
        for (line, at) in placed_fen_lines(program) {
            self.line = Some(at);
            let Some((key, name)) = line.split_once('=') else { continue };
            let (key, is_quiet) = key.strip_prefix('?').map_or((key, false), |it| (it, true));
            if key.is_empty() || key.contains(' ') {
                continue;
            }
            let name = full_name(program, at, name);
            let Some(field) = self.field(key, &name, is_quiet) else { continue };
            match fields.iter_mut().find(|it| it.key == key) {
                None => fields.push(Field { files: vec![at.source], ..field }),
                Some(known) if known.input == field.input => known.files.push(at.source),
                Some(known) => self.report_conflict(
                    &format!("the field {key}"),
                    known.input.rel,
                    field.input.rel,
                ),
            }
        }
        fields
    }

    /// The text as a sign on the board; notes a fault if it may not be one.
    fn sign(&mut self, what: &str, text: &str) -> Option<char> {
        let sign = sign_of(text);
        if sign.is_none() {
            self.report_shape(what, SIGN, &format!("{text:?}"));
        }
        sign
    }

    /// Notes that a word or sign of the notation is declared for two relations.
    fn report_conflict(&mut self, what: &str, first: RelId, second: RelId) {
        let name = |it| self.program.relation(it).name.as_str();
        self.report_taken(what, name(first), name(second));
    }

    /// Notes that a word or sign of the notation is declared in two forms.
    fn report_taken(&mut self, what: &str, first: &str, second: &str) {
        let [what, first, second] = [what, first, second].map(str::to_owned);
        self.note(Fault::Taken { what, first, second });
    }

    /// Notes that two lines differ in what a word or sign of the notation is declared for: in the relation, or else in
    /// the form.
    fn report_difference(
        &mut self,
        what: &str,
        (known, known_form): (AttrInput, String),
        (found, found_form): (AttrInput, String),
    ) {
        if known != found {
            self.report_conflict(what, known.rel, found.rel);
        } else if known_form != found_form {
            self.report_taken(what, &known_form, &found_form);
        }
    }

    /// The meaning of a word after one more line about it: `known` by the lines before, `found` by this one. Notes a
    /// conflict if they differ; `rel` gives the relation to report.
    pub(super) fn agreed<T: Copy + PartialEq>(
        &mut self,
        what: &str,
        known: Option<T>,
        found: Option<T>,
        rel: impl Fn(T) -> RelId,
    ) -> Option<T> {
        if let (Some(known), Some(found)) = (known, found)
            && known != found
        {
            self.report_conflict(what, rel(known), rel(found));
        }
        known.or(found)
    }

    /// The field of a line; notes a fault if a FEN cannot have it.
    fn field(&mut self, key: &str, name: &str, is_quiet: bool) -> Option<Field> {
        let program = self.program;
        let Some(rel) = program.relation_known(name) else {
            self.note(Fault::Missing { relation: name.to_owned() });
            return None;
        };
        let relation = program.relation(rel);
        let last = relation.columns.last().map(|it| it.ty);
        let truth = Some(Type::Domain(BOOL));
        let (attr, ty, about) = match relation.role {
            Role::Input(Input::Key(attr)) => (Some(attr), last, About::Pieces),
            Role::Input(Input::Flag(attr)) => (Some(attr), truth, About::Pieces),
            Role::Input(Input::Game(attr)) => (Some(attr), last, About::Game),
            Role::Input(Input::GameFlag(attr)) => (Some(attr), truth, About::Game),
            _ => (None, None, About::Game),
        };
        let field = attr.zip(ty).map(|(attr, ty)| {
            let about = program.schema.attribute(attr).of.map_or(about, About::Members);
            let (key, input) = (key.to_owned(), AttrInput { rel, attr });
            Field { key, input, ty, about, is_quiet, files: Vec::new() }
        });
        let field = field.filter(|it| self.can_be_written(it));
        if field.is_none() {
            let expected = "an attribute of the game, of pieces or of a domain's members, whose values are \
                            numbers or members of a domain; only an attribute of the game may have pieces as \
                            values, and none of pieces a `?` before its key";
            self.report_shape(name, expected, &self.in_words(rel));
        }
        field
    }

    /// Whether a FEN can have a field.
    fn can_be_written(&mut self, field: &Field) -> bool {
        let program = self.program;
        let is_about_pieces = field.about == About::Pieces;
        // A value that is a piece is written as its square. Only fields of the game are read in this form.
        let has_values = match field.ty {
            Type::Int => true,
            Type::Text => false,
            Type::Domain(domain) => {
                field.about == About::Game
                    || !matches!(program.schema.domain(domain).shape, Shape::Entities { .. })
            }
        };
        let first = program.relation(field.input.rel).columns.first();
        let has_owners = !is_about_pieces || first.is_some_and(|it| self.fits(Slot::Entity, it.ty));
        has_values && has_owners && !(field.is_quiet && is_about_pieces)
    }

    /// `.meta fen "dashes N"`: the number of fields after the side to move that are always a dash. Files that need the
    /// same number may each declare it.
    pub(super) fn dashes(&mut self) -> usize {
        let program = self.program;
        let mut lines = fen_lines_of(program, "dashes");
        let Some((number, at)) = lines.next() else { return 0 };
        self.line = Some(at);
        if let Some((other, _)) = lines.find(|it| it.0 != number) {
            self.report_taken("the word dashes", number, other);
        }
        let found: Option<usize> = number.parse().ok().filter(|it| *it <= DASHES);
        if found.is_none() {
            let expected = format!("a number up to {DASHES}");
            self.report_shape("the number of dashes", &expected, &format!("{number:?}"));
        }
        found.unwrap_or_default()
    }

    /// `.meta fen "mark SIGN=RELATION"`: a flag of pieces, as a sign after the letter; `prefix SIGN=RELATION`
    /// puts it before. Files that need the same mark may each declare it.
    pub(super) fn marks(&mut self) -> Vec<Mark> {
        let program = self.program;
        let read = |(line, at): (&str, Span)| {
            let (word, rest) = line.split_once(' ')?;
            let (sign, name) = rest.split_once('=')?;
            let is_prefix = word == "prefix";
            let name = full_name(program, at, name);
            (is_prefix || word == "mark").then(|| (is_prefix, sign.to_owned(), name, at))
        };
        let mut marks: Vec<Mark> = Vec::new();
        for (is_prefix, sign, name, at) in placed_fen_lines(program).filter_map(read) {
            self.line = Some(at);
            let Some(sign) = self.sign(&format!("the mark {name}"), &sign) else { continue };
            let Some(input) = self.input(&name, Origin::Flag, &[Slot::Entity]) else { continue };
            let placed = |it| format!("{name} {} a letter", if it { "before" } else { "after" });
            match marks.iter().find(|it| it.sign == sign) {
                None => marks.push(Mark { sign, is_prefix, input }),
                Some(known) => self.report_difference(
                    &format!("the mark {sign}"),
                    (known.input, placed(known.is_prefix)),
                    (input, placed(is_prefix)),
                ),
            }
        }
        marks
    }

    /// `.meta fen "stack RELATION"`: a square may hold several pieces, written in the order of the numbers that
    /// the relation gives to their kinds.
    pub(super) fn stack(&mut self) -> Option<RelId> {
        let program = self.program;
        let mut found = None;
        for (name, at) in fen_lines_of(program, "stack") {
            self.line = Some(at);
            let name = full_name(program, at, name);
            let rel = self.find(&name, Origin::Any, &[Slot::Kind, Slot::Int]);
            found = self.agreed("the word stack", found, rel, |it| it);
        }
        found
    }

    /// `.meta fen "turn {RELATION}:{RELATION}"`: the text of a turn under way in a FEN, from relations whose rows have a
    /// text, with the text between them.
    pub(super) fn turn_text(&mut self) -> Option<Vec<TurnPart>> {
        let program = self.program;
        let mut lines = fen_lines_of(program, "turn");
        let (template, at) = lines.next()?;
        let parts = self.turn_parts(template, at);
        if let Some((other, _)) = lines.find(|it| self.turn_parts(it.0, it.1) != parts) {
            self.report_taken("the word turn", template, other);
        }
        let texts = parts.iter().filter_map(|it| match it {
            TurnPart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let signs: String = texts.collect();
        let mut of_rows = parts.iter().filter_map(|it| match it {
            TurnPart::Rows(rel) | TurnPart::List(rel) => program.row_texts.get(rel),
            _ => None,
        });
        let is_unclear = |it: &str| it.contains(['=', ' ']);
        if !signs.contains(':')
            || is_unclear(&signs)
            || of_rows.any(|it| has_text(&it.0, is_unclear))
        {
            self.note(Fault::TurnText { template: template.to_owned() });
        }
        Some(parts)
    }

    /// How SAN writes a whole turn as one word: by lines `.meta san "turn [{RELATION}<]{RELATION,}"`, the templates in
    /// order of preference, and `.meta san "hold RELATION"`, the flag of the game that keeps the turn open meanwhile.
    pub(super) fn turn_words(&mut self) -> Option<TurnWords> {
        let program = self.program;
        let mut texts = Vec::new();
        let mut hold: Option<AttrInput> = None;
        for it in program.meta.iter().filter(|it| it.key == "san") {
            self.line = Some(it.span);
            if let Some(template) = it.value.strip_prefix("turn ") {
                let mut parts = Vec::new();
                for (at, piece) in template.split(['[', ']']).enumerate() {
                    let inner = self.turn_parts(piece, it.span);
                    match at % 2 {
                        0 => parts.extend(inner),
                        _ => parts.push(TurnPart::Optional(inner)),
                    }
                }
                texts.push(parts);
            } else if let Some(name) = it.value.strip_prefix("hold ") {
                let found = self.input(&full_name(program, it.span, name), Origin::Game, &[]);
                hold = self.agreed("the word hold", hold, found, |it| it.rel);
            }
        }
        if texts.is_empty() {
            return None;
        }
        let Some(hold) = hold else {
            let relation = "that keeps a turn open (`.meta san \"hold RELATION\"`)".into();
            self.note(Fault::Missing { relation });
            return None;
        };
        Some(TurnWords { texts, hold: hold.attr })
    }

    /// The parts of a template for the text of a turn: of one under way in a FEN, or of a whole one in SAN.
    fn turn_parts(&mut self, template: &str, line: Span) -> Vec<TurnPart> {
        let program = self.program;
        self.line = Some(line);
        let mut parts = Vec::new();
        for piece in template.split_inclusive(['{', '}']) {
            if let Some(name) = piece.strip_suffix('}') {
                let (name, is_list) = (name.trim_end_matches(','), name.ends_with(','));
                let name = full_name(program, line, name);
                let Some(rel) = program.relation_known(&name) else {
                    self.note(Fault::Missing { relation: name });
                    continue;
                };
                if !program.row_texts.contains_key(&rel) {
                    let expected = "declared with one, `.decl ... text \"...\"`";
                    self.report_shape(&name, expected, "without a text for its rows");
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

    /// `.meta fen "wall SIGN=RELATION"`: a flag of squares, written on the board as the sign, which may not be a mark of
    /// pieces.
    pub(super) fn walls(&mut self, marks: &[Mark]) -> Option<Walls> {
        let program = self.program;
        let mut found: Option<Walls> = None;
        for (rest, at) in fen_lines_of(program, "wall") {
            self.line = Some(at);
            let (sign, name) = rest.split_once('=').unwrap_or((rest, ""));
            let Some(sign) = self.sign("the sign of walls", sign) else { continue };
            let name = full_name(program, at, name);
            let Some(input) = self.of_members(&name, &[Slot::Square]) else { continue };
            if let Some(mark) = marks.iter().find(|it| it.sign == sign) {
                self.report_conflict(&format!("the sign {sign}"), mark.input.rel, input.rel);
            }
            let known = *found.get_or_insert(Walls { sign, input });
            let signed = |sign| format!("{name} as {sign}");
            self.report_difference(
                "the word wall",
                (known.input, signed(known.sign)),
                (input, signed(sign)),
            );
        }
        found
    }

    /// `.meta fen "counters RELATION"`: a number per side; with `+` before the relation they are written
    /// `+1+0`.
    pub(super) fn counters(&mut self) -> Option<Counters> {
        let program = self.program;
        let mut found: Option<Counters> = None;
        for (name, at) in fen_lines_of(program, "counters") {
            self.line = Some(at);
            let (name, form) = match name.strip_prefix('+') {
                Some(name) => (name, CountersForm::Signed),
                None => (name, CountersForm::Plain),
            };
            let name = full_name(program, at, name);
            let Some(input) = self.of_members(&name, &[Slot::Side, Slot::Int]) else { continue };
            let known = *found.get_or_insert(Counters { input, form });
            let written = |form| match form {
                CountersForm::Plain => format!("{name} without +"),
                CountersForm::Signed => format!("+{name}"),
            };
            self.report_difference(
                "the word counters",
                (known.input, written(known.form)),
                (input, written(form)),
            );
        }
        found
    }

    /// An input of sides or squares, `input ... of DOMAIN`.
    fn of_members(&mut self, name: &str, slots: &[Slot]) -> Option<AttrInput> {
        let rel = self.find(name, Origin::Any, slots)?;
        let attr = match self.program.relation(rel).role {
            Role::Input(input) => Some(input.attr()),
            _ => None,
        };
        let Some(attr) = attr.filter(|it| self.program.schema.is_of_members(*it)) else {
            let expected = "an input of a domain's members (`input ... of DOMAIN attr NAME`)";
            self.report_shape(name, expected, &self.in_words(rel));
            return None;
        };
        Some(AttrInput { rel, attr })
    }
}

/// Whether any of the texts that a template has between its columns and look-ups is such a one.
fn has_text(parts: &[TemplatePart], is_such: impl Fn(&str) -> bool + Copy) -> bool {
    parts.iter().any(|it| match it {
        TemplatePart::Text(text) => is_such(text),
        TemplatePart::Optional(all) => has_text(all, is_such),
        _ => false,
    })
}
