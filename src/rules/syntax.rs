//! The parser: recursive descent that continues after a mistake.
//!
//! A mistake abandons one directive, clause or reaction; reading goes on after the next period, at
//! the next directive, or at the next word in the first column. Deliberately absent: names and
//! types, which `check` settles.

use super::ast::{
    Alias, Atom, Clause, ColumnDecl, DefaultValue, DomainDecl, Effect, Expr, ExprKind, File,
    InputDecl, InputKind, Item, Literal, Member, Name, Number, Reaction, RelationDecl,
    RelationKind, Shape, StageDecl, StagesDecl, TrialDecl, names_of,
};
use super::diagnostic::Diagnostic;
use super::input::Until;
use super::lexer::{Kind, Token, Tokens};
use super::limits::{self, LimitError};
use super::mistake;
use super::source::Span;

const DIRECTIVES: [&str; 14] = [
    ".domain",
    ".input",
    ".static",
    ".decl",
    ".action",
    ".stages",
    ".stage",
    ".event",
    ".trial",
    ".repetition",
    ".export",
    ".alias",
    ".meta",
    ".plan",
];

const EFFECTS: [&str; 14] = [
    "set", "retract", "remove", "forget", "inherit", "spawn", "raise", "pass", "stop", "emit",
    "note", "veto", "rewind", "call",
];

/// An item was abandoned; the reason has been reported.
pub(super) struct Abandoned;

pub(super) type Parsed<T> = Result<T, Abandoned>;

/// The parts of a declaration that may be there once, and their places.
pub(super) type Parts = Vec<(&'static str, Span)>;

/// Reads one source. Mistakes are added to `found`.
pub(super) fn parse<'t>(source: u16, text: &'t str, found: &mut Vec<Diagnostic>) -> File<'t> {
    let tokens = Tokens::new(source, text, found);
    let mut parser = Parser { tokens, found, depth: 0, subject: None };
    let mut file = File::default();
    while parser.peek().kind != Kind::End {
        parser.subject = None;
        parser.depth = 0;
        let before = parser.peek().span.start;
        match parser.item() {
            Ok(item) => file.items.push(item),
            Err(Abandoned) => {
                file.broken.extend(parser.subject);
                parser.recover(before);
            }
        }
    }
    file
}

pub(super) struct Parser<'t, 'd> {
    pub(super) tokens: Tokens<'t>,
    pub(super) found: &'d mut Vec<Diagnostic>,
    /// Number of open parentheses and braces, and operators of the current expression.
    pub(super) depth: usize,
    /// The name that the current item declares or concludes.
    pub(super) subject: Option<&'t str>,
}

impl<'t> Parser<'t, '_> {
    pub(super) fn peek(&self) -> Token {
        self.tokens.peek()
    }

    pub(super) fn at(&self, kind: Kind) -> bool {
        self.peek().kind == kind
    }

    pub(super) fn next(&mut self) -> Token {
        self.tokens.next()
    }

    /// Takes the next token if it is of that kind.
    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let is_there = self.at(kind);
        if is_there {
            self.next();
        }
        is_there
    }

    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        self.found.push(diagnostic);
        Err(Abandoned)
    }

    /// Abandons the item because something else is expected here. If the next token is on another line, the item
    /// seems to have ended before it.
    pub(super) fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let token = self.peek();
        match token.kind == Kind::End || token.first {
            true => self.abandon(mistake::ends_early(what, self.tokens.last().span)),
            false => self.unexpected(what),
        }
    }

    /// Abandons the item because of its next token.
    fn unexpected<T>(&mut self, what: &str) -> Parsed<T> {
        let span = self.peek().span;
        self.abandon(mistake::expected(what, self.tokens.text_of(span), span))
    }

    /// Abandons the item at the next token. If that is text that is not a token, the lexer has reported it already.
    fn abandon<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        let token = self.peek();
        if token.kind == Kind::Bad {
            return Err(Abandoned);
        }
        let is_after_remainder = self.tokens.remainder_line() == Some(token.span.line);
        self.fail(match is_after_remainder {
            true => mistake::after_remainder(diagnostic),
            false => diagnostic,
        })
    }

    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Parsed<Token> {
        if self.at(kind) { Ok(self.next()) } else { self.expected(what) }
    }

    pub(super) fn name_of(&self, token: Token) -> Name<'t> {
        Name { text: self.tokens.text_of(token.span), span: token.span }
    }

    pub(super) fn ident(&mut self, what: &str) -> Parsed<Name<'t>> {
        let token = self.expect(Kind::Ident, what)?;
        Ok(self.name_of(token))
    }

    /// A name that is declared somewhere: `hp`, or in full `bank::gold`.
    pub(super) fn reference(&mut self, what: &str) -> Parsed<Name<'t>> {
        match self.at(Kind::Path) {
            true => {
                let token = self.next();
                Ok(self.name_of(token))
            }
            false => self.ident(what),
        }
    }

    /// The span from a token to the one taken last.
    pub(super) fn since(&self, start: Span) -> Span {
        Span { end: self.tokens.last().span.end.max(start.end), ..start }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.at(Kind::Ident) && self.tokens.text_of(self.peek().span) == word
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.next();
        }
        is_there
    }

    /// One or more items with commas between them.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(Kind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub(super) fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > limits::DEPTH {
            let span = self.peek().span;
            return self.fail(mistake::limit(LimitError::Depth, span));
        }
        Ok(())
    }

    /// Skips the rest of an abandoned item that begins at `before`.
    fn recover(&mut self, before: u32) {
        loop {
            let token = self.peek();
            let moved = token.span.start > before;
            match token.kind {
                Kind::End => return,
                Kind::Directive if moved => return,
                Kind::Ident | Kind::Path if moved && token.flush => return,
                _ => {}
            }
            if self.next().kind == Kind::Dot {
                return;
            }
        }
    }

    // --- items -----------------------------------------------------------------------------------

    fn item(&mut self) -> Parsed<Item<'t>> {
        let token = self.peek();
        if token.kind != Kind::Directive {
            return self.clause_or_reaction();
        }
        match self.tokens.text_of(token.span) {
            ".domain" => self.domain().map(Item::Domain),
            ".input" => self.input().map(Item::Relation),
            ".static" | ".decl" => self.declaration().map(Item::Relation),
            ".action" => self.action(),
            ".stages" => self.stages().map(Item::Stages),
            ".stage" => self.stage().map(Item::Stage),
            ".event" => self.event().map(Item::Event),
            ".trial" => self.trial().map(|it| Item::Trial(Box::new(it))),
            ".repetition" => self.repetition(),
            ".export" => self.export(),
            ".alias" => self.alias().map(Item::Alias),
            ".meta" => self.meta(),
            ".plan" => self.fail(mistake::stray_plan(token.span)),
            other => {
                let named = Some(self.tokens.second()).filter(|it| it.is_name());
                self.subject = named.map(|it| self.tokens.text_of(it.span));
                self.fail(mistake::unknown_directive(other, &DIRECTIVES, token.span))
            }
        }
    }

    fn domain(&mut self) -> Parsed<DomainDecl<'t>> {
        self.next();
        let name = self.reference("the name of a domain")?;
        self.subject = Some(name.text);
        if name.text.contains("::") && !self.at(Kind::Extend) {
            return self.expected("`+= { members }`");
        }
        let shape = if self.eat_word("grid") {
            Shape::Grid(self.number()?, self.number()?)
        } else if self.eat_word("entities") {
            Shape::Entities(self.number()?)
        } else if self.eat(Kind::Extend) {
            Shape::Extend(self.members()?)
        } else if self.at(Kind::OpenBrace) {
            Shape::Members(self.members()?)
        } else {
            return self
                .expected("`{ members }`, `+= { members }`, `grid FILES RANKS` or `entities CAP`");
        };
        Ok(DomainDecl { name, shape })
    }

    fn members(&mut self) -> Parsed<Vec<Member<'t>>> {
        self.expect(Kind::OpenBrace, "`{` and the members")?;
        let mut members = Vec::new();
        while !self.at(Kind::CloseBrace) {
            let name = self.hyphenated("a member's name")?;
            members.push(Member { name, words: self.sentence() });
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::CloseBrace, "`,` or `}`")?;
        Ok(members)
    }

    /// `half-open`, `2nd-half`: words and numbers without blanks between them, joined by hyphens or, after a number,
    /// by nothing.
    fn hyphenated(&mut self, what: &str) -> Parsed<Name<'t>> {
        if self.at(Kind::Quoted) {
            let token = self.next();
            return self.fail(mistake::quoted_member(self.tokens.text_of(token.span), token.span));
        }
        let number = self.at(Kind::Int).then(|| self.next().span);
        let mut span = match number {
            Some(span) => span,
            None => self.expect(Kind::Ident, what)?.span,
        };
        loop {
            let (hyphen, word) = (self.peek(), self.tokens.second());
            let joined = hyphen.kind == Kind::Minus
                && matches!(word.kind, Kind::Ident | Kind::Int)
                && hyphen.span.start == span.end
                && word.span.start == hyphen.span.end;
            let glued =
                matches!(hyphen.kind, Kind::Ident | Kind::Int) && hyphen.span.start == span.end;
            if joined {
                self.next();
            } else if !glued {
                break;
            }
            span.end = self.next().span.end;
        }
        Ok(Name { text: self.tokens.text_of(span), span })
    }

    pub(super) fn number(&mut self) -> Parsed<Number> {
        let start = self.peek().span;
        let negative = self.eat(Kind::Minus);
        let token = self.expect(Kind::Int, "a number")?;
        let digits = self.tokens.text_of(token.span);
        let span = self.since(start);
        let value = if negative { format!("-{digits}").parse() } else { digits.parse() };
        match value {
            Ok(value) if value != i64::MIN => Ok(Number { value, span }),
            _ => self.fail(mistake::number_out_of_range(self.tokens.text_of(span), span)),
        }
    }

    pub(super) fn text(&mut self, what: &str) -> Parsed<Name<'t>> {
        self.expect(Kind::Text, what)?;
        Ok(self.unquoted())
    }

    /// The text token taken last, without its quotes.
    pub(super) fn unquoted(&self) -> Name<'t> {
        let mut span = self.tokens.last().span;
        let whole = self.tokens.text_of(span);
        span.start += 1;
        if whole.len() > 1 && whole.ends_with('"') {
            span.end -= 1;
        }
        Name { text: self.tokens.text_of(span), span }
    }

    fn sentence(&mut self) -> Option<Name<'t>> {
        self.eat(Kind::Text).then(|| self.unquoted())
    }

    /// A declaration, by its end: the sentence, and perhaps `else` and the sentence for the absence of a row.
    pub(super) fn relation(
        &mut self,
        name: Name<'t>,
        columns: Vec<ColumnDecl<'t>>,
        kind: RelationKind<'t>,
    ) -> RelationDecl<'t> {
        let sentence = self.sentence();
        let has_denial = sentence.is_some() && self.tokens.second().kind == Kind::Text;
        let denial = if has_denial && self.eat_word("else") { self.sentence() } else { None };
        RelationDecl { name, columns, kind, sentence, denial }
    }

    /// The name and the columns after a directive.
    fn head(&mut self, what: &str) -> Parsed<(Name<'t>, Vec<ColumnDecl<'t>>)> {
        self.next();
        let name = self.ident(what)?;
        let columns = self.columns(name)?;
        Ok((name, columns))
    }

    pub(super) fn columns(&mut self, name: Name<'t>) -> Parsed<Vec<ColumnDecl<'t>>> {
        self.subject = Some(name.text);
        self.expect(Kind::Open, "`(` and the columns")?;
        let mut columns = Vec::new();
        while !self.at(Kind::Close) {
            let word = self.ident("a column `name: Type`")?;
            columns.push(if self.eat(Kind::Colon) {
                ColumnDecl { name: Some(word), ty: self.reference("the type of the column")? }
            } else {
                ColumnDecl { name: None, ty: word }
            });
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(columns)
    }

    /// Takes the next word if it is an option of the current declaration and does not begin the next clause. Another
    /// word on the same line is a mistake.
    pub(super) fn option(&mut self, known: &[&'static str]) -> Parsed<Option<&'static str>> {
        let token = self.peek();
        if token.kind != Kind::Ident {
            return Ok(None);
        }
        let word = self.tokens.text_of(token.span);
        let begins_clause = token.first && self.tokens.second().kind == Kind::Open;
        if let Some(&option) = known.iter().find(|it| **it == word)
            && !begins_clause
        {
            self.next();
            return Ok(Some(option));
        }
        if token.first {
            return Ok(None);
        }
        self.fail(mistake::unknown_option(word, known, token.span))
    }

    /// Notes that the option that was just read is a part of the declaration. A second one is a mistake. `of` is what is
    /// declared: `action`, `relation` or `trial`.
    pub(super) fn once(&mut self, of: &str, part: &'static str, parts: &mut Parts) -> Parsed<()> {
        let span = self.tokens.last().span;
        if let Some(&(_, first)) = parts.iter().find(|it| it.0 == part) {
            return self.fail(mistake::part_twice(of, part, span, first));
        }
        parts.push((part, span));
        Ok(())
    }

    fn declaration(&mut self) -> Parsed<RelationDecl<'t>> {
        let is_static = self.tokens.text_of(self.peek().span) == ".static";
        let (name, columns) = self.head("the name of a relation")?;
        let (mut key, mut open, mut text) = (false, false, None);
        let mut parts = Parts::new();
        let known: &[&str] = if is_static { &["key", "open"] } else { &["key", "open", "text"] };
        while let Some(option) = self.option(known)? {
            match option {
                "key" => key = true,
                "open" => open = true,
                _ => {
                    self.once("relation", option, &mut parts)?;
                    text = Some(self.text("the template of its rows, in double quotes")?);
                }
            }
        }
        let kind = match is_static {
            true => RelationKind::Static { key, open },
            false => RelationKind::Derived { key, open, text },
        };
        Ok(self.relation(name, columns, kind))
    }

    fn input(&mut self) -> Parsed<RelationDecl<'t>> {
        let (name, columns) = self.head("the name of a relation")?;
        let (kind, of) = match self.option(&["key", "flag", "game", "of", "list"])? {
            Some("key") => (InputKind::Key, None),
            Some("flag") => (InputKind::Flag, None),
            Some("game") => (InputKind::Game, None),
            Some("list") => (InputKind::List, None),
            Some(_) => {
                (InputKind::Of, Some(self.reference("the domain whose members have the facts")?))
            }
            None => return self.expected("`key`, `flag`, `game`, `list` or `of DOMAIN`"),
        };
        if self.option(&["attr"])?.is_none() {
            return self.expected("`attr` and the attribute's name");
        }
        let attr = if self.at(Kind::Text) {
            self.text("the attribute's name")?
        } else {
            self.hyphenated("the attribute's name")?
        };
        let (mut lasting, mut until) = (false, None);
        while let Some(option) = self.option(match until {
            None => &["lasting", "until"],
            Some(_) => &["lasting"],
        })? {
            match option {
                "lasting" => lasting = true,
                _ => until = Some(self.until()?),
            }
        }
        let default = self.eat(Kind::Eq).then(|| self.default_value()).transpose()?;
        let mut more = Vec::new();
        while kind == InputKind::List && self.eat(Kind::Plus) {
            more.push(self.hyphenated("a member of the list")?);
        }
        let kind = RelationKind::Input(InputDecl { kind, of, attr, lasting, until, default, more });
        Ok(self.relation(name, columns, kind))
    }

    fn until(&mut self) -> Parsed<(Until, Span)> {
        let start = self.tokens.last().span;
        let until = match self.option(&["turn", "action"])? {
            Some("turn") => Until::Turn,
            Some(_) => Until::Action,
            None => return self.expected("`turn` or `action`"),
        };
        Ok((until, self.since(start)))
    }

    pub(super) fn default_value(&mut self) -> Parsed<DefaultValue<'t>> {
        match self.peek().kind {
            Kind::Int | Kind::Minus => self.number().map(DefaultValue::Number),
            Kind::Quoted => {
                let token = self.next();
                Ok(DefaultValue::Member(self.constant(token)))
            }
            _ => self
                .hyphenated("the default: a number or a member's name")
                .map(DefaultValue::Member),
        }
    }

    fn stages(&mut self) -> Parsed<StagesDecl<'t>> {
        let start = self.next().span;
        let names = self.list(|it| it.ident("the name of a stage"))?;
        let default = self.option(&["default"])?;
        let default = default.map(|_| self.reference("the stage of reactions that name none"));
        let default = default.transpose()?;
        Ok(StagesDecl { names, default, span: self.since(start) })
    }

    fn stage(&mut self) -> Parsed<StageDecl<'t>> {
        self.next();
        let name = self.ident("the name of a stage")?;
        if self.option(&["after"])?.is_none() {
            return self.expected("`after` and the stage that it follows");
        }
        let after = self.reference("the stage that it follows")?;
        let before = self.option(&["before"])?;
        let before = before.map(|_| self.reference("the stage that follows it")).transpose()?;
        Ok(StageDecl { name, after, before })
    }

    fn event(&mut self) -> Parsed<RelationDecl<'t>> {
        let (name, columns) = self.head("the name of an event")?;
        let kind = RelationKind::Derived { key: false, open: false, text: None };
        Ok(self.relation(name, columns, kind))
    }

    fn trial(&mut self) -> Parsed<TrialDecl<'t>> {
        let start = self.peek().span;
        let (name, columns) = self.head("the name of a trial")?;
        if self.option(&["of"])?.is_none() {
            return self.expected("`of` and the action that is played out");
        }
        let action = self.reference("the name of an action")?;
        let (mut from, mut body) = (None, Vec::new());
        let mut parts = Parts::new();
        while let Some(option) = self.option(&["from", "where"])? {
            self.once("trial", option, &mut parts)?;
            match option {
                "from" => from = Some(self.reference("the name of a relation")?),
                _ => body = self.body()?,
            }
        }
        let span = self.since(start);
        let kind = RelationKind::Derived { key: false, open: false, text: None };
        let relation = self.relation(name, columns, kind);
        let condition = trial_reaction(&relation, body, span);
        Ok(TrialDecl { relation, action, from, condition, span })
    }

    fn repetition(&mut self) -> Parsed<Item<'t>> {
        self.next();
        self.list(|it| it.reference("the name of a relation")).map(Item::Repetition)
    }

    fn export(&mut self) -> Parsed<Item<'t>> {
        self.next();
        let names =
            |it: &mut Self| it.ident("the name of a relation, an event, a stage or a domain");
        self.list(names).map(Item::Export)
    }

    fn alias(&mut self) -> Parsed<Alias<'t>> {
        self.next();
        let old = self.ident("the earlier name of a relation")?;
        self.expect(Kind::Eq, "`=` and what the relation is called")?;
        let new = self.ident("the name of a relation")?;
        Ok(Alias { old, new })
    }

    fn meta(&mut self) -> Parsed<Item<'t>> {
        let start = self.next().span;
        let key = self.hyphenated("a key")?;
        let value = self.text("the value, in double quotes")?;
        Ok(Item::Meta { key, value, span: self.since(start) })
    }

    // --- clauses and reactions -------------------------------------------------------------------

    fn clause_or_reaction(&mut self) -> Parsed<Item<'t>> {
        let start = self.peek().span;
        if self.is_word("on") && self.tokens.second().is_name() {
            return self.reaction().map(Item::Reaction);
        }
        if self.at(Kind::Not) {
            return self.fail(mistake::negated_head(start));
        }
        if !self.peek().is_name() {
            return self.unexpected("a directive, a rule or a reaction");
        }
        self.subject = Some(self.tokens.text_of(self.peek().span));
        let head = self.atom("a rule")?;
        let body = if self.eat(Kind::If) { self.body()? } else { Vec::new() };
        let has_because = !body.is_empty() && self.eat_word("because");
        let because = has_because.then(|| self.text("the reason, in double quotes")).transpose()?;
        self.period(if body.is_empty() { "`:-` or `.`" } else { "`,` or `.`" })?;
        let span = self.since(start);
        let plan = self.plan()?;
        Ok(Item::Clause(Clause { head, body, because, plan, span }))
    }

    /// The variables that `.plan` names after a rule.
    fn plan(&mut self) -> Parsed<Vec<Name<'t>>> {
        let token = self.peek();
        if token.kind != Kind::Directive || self.tokens.text_of(token.span) != ".plan" {
            return Ok(Vec::new());
        }
        self.next();
        self.list(|it| it.ident("a variable of the rule"))
    }

    fn period(&mut self, expected: &str) -> Parsed<()> {
        if self.eat(Kind::Dot) {
            return Ok(());
        }
        if self.at(Kind::If) {
            let span = self.peek().span;
            return self.fail(mistake::second_if(span));
        }
        self.expected(expected)
    }

    fn reaction(&mut self) -> Parsed<Reaction<'t>> {
        let start = self.next().span;
        let any = self.is_word("any") && self.tokens.second().kind != Kind::Open;
        let event = if any {
            self.next();
            None
        } else {
            Some(self.atom("an action or an event")?)
        };
        let stage =
            self.eat_word("in").then(|| self.reference("the name of a stage")).transpose()?;
        let body = if self.eat_word("when") { self.body()? } else { Vec::new() };
        if !self.eat_word("do") {
            return self.expected(if body.is_empty() {
                "`in`, `when` or `do`"
            } else {
                "`,` or `do`"
            });
        }
        let effects = self.list(Self::effect)?;
        if effects.len() > limits::EFFECTS {
            let span = self.since(start);
            return self.fail(mistake::limit(LimitError::Effects(effects.len()), span));
        }
        self.period("`,` or `.`")?;
        Ok(Reaction { event, stage, body, effects, span: self.since(start) })
    }

    fn effect(&mut self) -> Parsed<Effect<'t>> {
        let token = self.peek();
        if token.kind != Kind::Ident {
            return self.expected("an effect: `set`, `retract`, `remove`, `raise` or another");
        }
        let word = self.tokens.text_of(token.span);
        if !EFFECTS.contains(&word) {
            return self.fail(mistake::unknown_effect(word, &EFFECTS, token.span));
        }
        self.next();
        match word {
            "set" => self.atom("the fact to set").map(Effect::Set),
            "retract" => self.atom("the fact to retract").map(Effect::Retract),
            "remove" => self.expr().map(Effect::Remove),
            "forget" => {
                let preset = self.ident("a variable for the preset")?;
                let of = self.eat_word("of");
                let of = of.then(|| self.ident("a variable for what the facts are about"));
                let of = of.transpose()?;
                Ok(Effect::Forget { preset, of })
            }
            "inherit" => {
                let to = self.ident("the variable that inherits")?;
                if !self.eat_word("from") {
                    return self.expected("`from` and the variable that it inherits from");
                }
                let from = self.ident("the variable that it inherits from")?;
                Ok(Effect::Inherit { to, from })
            }
            "spawn" => self.ident("a variable for the new entity").map(Effect::Spawn),
            "raise" => self.atom("the event to raise").map(Effect::Raise),
            "pass" => self.atom("the event with its new arguments").map(Effect::Pass),
            "emit" => self.atom("the event to show").map(Effect::Emit),
            "veto" => self.text("the reason, in double quotes").map(Effect::Veto),
            "note" => self.text("the note, in double quotes").map(Effect::Note),
            "rewind" => self.expr().map(Effect::Rewind),
            "call" => self.call(),
            _ => Ok(Effect::Stop(token.span)),
        }
    }

    fn call(&mut self) -> Parsed<Effect<'t>> {
        let name = self.ident("the name of what is called")?;
        if !self.eat(Kind::Open) {
            return self.fail(mistake::no_parentheses(name.text, name.span));
        }
        let mut args = Vec::new();
        while !self.at(Kind::Close) {
            if !args.is_empty() {
                self.expect(Kind::Comma, "`,` or `)`")?;
            }
            args.push(self.ident("a variable")?);
        }
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(Effect::Call { name, args })
    }
}

/// The condition of a trial, as a reaction: the columns that its body names are the parameters.
fn trial_reaction<'t>(
    relation: &RelationDecl<'t>,
    body: Vec<Literal<'t>>,
    span: Span,
) -> Reaction<'t> {
    let mut named = Vec::new();
    names_of(&body, &mut named);
    let param = |it: &ColumnDecl<'t>| {
        let known = it.name.filter(|it| named.contains(&it.text));
        let kind = known.map_or(ExprKind::Wild, |it| ExprKind::Var(it.text));
        Expr { kind, span: it.name.unwrap_or(it.ty).span }
    };
    let (name, args) = (relation.name, relation.columns.iter().map(param).collect());
    let event = Some(Atom { name, was: None, args, span: name.span });
    // Only the body counts: a reaction must have an effect, but this one is never carried out.
    Reaction { event, stage: None, body, effects: vec![Effect::Stop(name.span)], span }
}
