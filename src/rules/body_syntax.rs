//! Bodies of rules, reactions and aggregates, as part of the parser: their literals, with atoms and comparisons.
//!
//! Deliberately absent: expressions (`expression`).

use super::ast::{Atom, Compare, Expr, Literal};
use super::lexer::Kind;
use super::mistake;
use super::operator::Op;
use super::source::Span;
use super::syntax::{Parsed, Parser};

impl<'t> Parser<'t, '_> {
    pub(super) fn atom(&mut self, what: &str) -> Parsed<Atom<'t>> {
        let name = self.reference(what)?;
        if !self.at(Kind::Open) {
            return self.fail(mistake::no_parentheses(name.text, name.span));
        }
        self.next();
        let args = self.exprs(Kind::Close)?;
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(Atom { name, was: None, args, span: self.since(name.span) })
    }

    pub(super) fn exprs(&mut self, until: Kind) -> Parsed<Vec<Expr<'t>>> {
        if self.at(until) { Ok(Vec::new()) } else { self.list(Self::expr) }
    }

    pub(super) fn body(&mut self) -> Parsed<Vec<Literal<'t>>> {
        self.list(Self::literal)
    }

    fn literal(&mut self) -> Parsed<Literal<'t>> {
        let token = self.peek();
        if self.eat(Kind::Not) {
            return Ok(Literal::Atom { atom: self.negated(token.span)?, negated: true });
        }
        if self.is_was() {
            return Ok(Literal::Atom { atom: self.was()?, negated: false });
        }
        if token.is_name() && self.tokens.second().kind == Kind::Open {
            let atom = self.atom("a relation")?;
            return Ok(Literal::Atom { atom, negated: false });
        }
        if self.is_lone_name() {
            let name = self.tokens.text_of(token.span);
            return self.fail(mistake::no_parentheses(name, token.span));
        }
        if token.kind == Kind::Ident && self.is_word("not") && self.tokens.second().is_name() {
            return self.fail(mistake::spelt_negation(token.span));
        }
        let lhs = self.expr()?;
        let Some(op) = self.comparison() else {
            return self.expected("a comparison: `=`, `!=`, `<`, `<=`, `>` or `>=`");
        };
        let rhs = self.expr()?;
        Ok(Literal::Compare(Compare { lhs, op, rhs, span: self.since(token.span) }))
    }

    /// The atom after `!`, which was just taken.
    fn negated(&mut self, sign: Span) -> Parsed<Atom<'t>> {
        if self.is_was() {
            return self.was();
        }
        let (next, second) = (self.peek(), self.tokens.second().kind);
        let name = self.tokens.text_of(next.span);
        // After `!` no expression is allowed, so any word after a name shows that it lacks its parentheses.
        let is_lone = matches!(second, Kind::Comma | Kind::Dot | Kind::CloseBrace | Kind::Ident);
        if is_lone && next.is_name() && name != "_" {
            return self.fail(mistake::no_parentheses(name, next.span));
        }
        if !next.is_name() || second != Kind::Open {
            return self.fail(mistake::negated_expression(sign));
        }
        self.atom("a relation")
    }

    /// Whether a name comes next that is a whole literal, so that it must be an atom without its parentheses: right after
    /// it the literal ends, at `,`, `.`, `}`, `because` or `do`.
    fn is_lone_name(&self) -> bool {
        let (name, second) = (self.peek(), self.tokens.second());
        let ends = match second.kind {
            Kind::Comma | Kind::Dot | Kind::CloseBrace => true,
            Kind::Ident => matches!(self.tokens.text_of(second.span), "because" | "do"),
            _ => false,
        };
        ends && name.is_name() && self.tokens.text_of(name.span) != "_"
    }

    /// Whether `was` and the name of a relation come next.
    fn is_was(&self) -> bool {
        self.is_word("was") && self.tokens.second().is_name()
    }

    /// `was` and an atom: a row as it was before the action.
    fn was(&mut self) -> Parsed<Atom<'t>> {
        let start = self.next().span;
        let atom = self.atom("a relation")?;
        Ok(Atom { was: Some(start), span: self.since(start), ..atom })
    }

    fn comparison(&mut self) -> Option<Op> {
        let op = match self.peek().kind {
            Kind::Eq => Op::Eq,
            Kind::Ne => Op::Ne,
            Kind::Lt => Op::Lt,
            Kind::Le => Op::Le,
            Kind::Gt => Op::Gt,
            Kind::Ge => Op::Ge,
            _ => return None,
        };
        self.next();
        Some(op)
    }
}
