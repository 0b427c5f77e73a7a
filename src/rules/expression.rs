//! Expressions and aggregates, as part of the parser.
//!
//! Deliberately absent: where an aggregate may stand; `check` settles that.

use super::ast::{Aggregate, Expr, ExprKind, Name};
use super::lexer::{Kind, Token};
use super::mistake;
use super::operator::{Arith, Fold};
use super::source::Span;
use super::syntax::{Parsed, Parser};

impl<'t> Parser<'t, '_> {
    /// An expression. Each operator adds to its depth, since operators of a chain group to the left.
    pub(super) fn expr(&mut self) -> Parsed<Expr<'t>> {
        let depth = self.depth;
        let expr = self.sum();
        self.depth = depth;
        expr
    }

    fn sum(&mut self) -> Parsed<Expr<'t>> {
        let mut lhs = self.product()?;
        loop {
            let op = match self.peek().kind {
                Kind::Plus => Arith::Add,
                Kind::Minus => Arith::Sub,
                _ => return Ok(lhs),
            };
            self.next();
            self.deeper()?;
            let rhs = self.product()?;
            lhs = binary(op, lhs, rhs);
        }
    }

    fn product(&mut self) -> Parsed<Expr<'t>> {
        let mut lhs = self.primary()?;
        loop {
            let remainder = self.tokens.remainder_follows(self.found);
            let op = match self.peek().kind {
                Kind::Star => Arith::Mul,
                Kind::Slash => Arith::Div,
                Kind::Percent if remainder => Arith::Mod,
                _ => return Ok(lhs),
            };
            self.next();
            self.deeper()?;
            let rhs = self.primary()?;
            lhs = binary(op, lhs, rhs);
        }
    }

    fn primary(&mut self) -> Parsed<Expr<'t>> {
        let token = self.peek();
        let kind = match token.kind {
            Kind::Ident => return self.word(),
            Kind::Int => ExprKind::Int(self.number()?.value),
            Kind::Quoted => {
                self.next();
                ExprKind::Const(self.constant(token).text)
            }
            Kind::Text => {
                self.next();
                ExprKind::Text(self.unquoted().text)
            }
            Kind::Minus if self.tokens.second().kind == Kind::Int => {
                ExprKind::Int(self.number()?.value)
            }
            Kind::Minus => {
                self.next();
                self.deeper()?;
                let zero = Expr { kind: ExprKind::Int(0), span: token.span };
                let operand = self.primary()?;
                ExprKind::Binary(Arith::Sub, Box::new(zero), Box::new(operand))
            }
            Kind::Open => return self.parenthesis(),
            _ => return self.expected("a variable, a constant, a number or `(`"),
        };
        Ok(Expr { kind, span: self.since(token.span) })
    }

    pub(super) fn constant(&self, token: Token) -> Name<'t> {
        let mut span = token.span;
        span.start += 1;
        Name { text: self.tokens.text_of(span), span: token.span }
    }

    /// `( expr )`, or several as the results of a fold.
    fn parenthesis(&mut self) -> Parsed<Expr<'t>> {
        let start = self.next().span;
        let depth = self.depth;
        self.deeper()?;
        let mut exprs = self.list(Self::sum)?;
        self.expect(Kind::Close, "`)`")?;
        self.depth = depth;
        let span = self.since(start);
        if exprs.len() == 1 {
            let only = exprs.swap_remove(0);
            return Ok(Expr { span, ..only });
        }
        Ok(Expr { kind: ExprKind::Tuple(exprs), span })
    }

    /// A variable, the wildcard or an aggregate.
    fn word(&mut self) -> Parsed<Expr<'t>> {
        let token = self.next();
        let name = self.name_of(token);
        if self.at(Kind::OpenBrace) {
            return self.aggregate(name);
        }
        if self.at(Kind::Open) {
            return self.fail(mistake::call_in_expression(name.text, name.span));
        }
        let kind = if name.text == "_" { ExprKind::Wild } else { ExprKind::Var(name.text) };
        Ok(Expr { kind, span: name.span })
    }

    fn aggregate(&mut self, name: Name<'t>) -> Parsed<Expr<'t>> {
        let fold = match name.text {
            "count" => Fold::Count,
            "sum" => Fold::Sum,
            "min" => Fold::Min,
            "max" => Fold::Max,
            other => return self.fail(mistake::unknown_fold(other, name.span)),
        };
        self.next();
        let depth = self.depth;
        self.deeper()?;
        let mut exprs = Vec::new();
        if fold != Fold::Count {
            exprs = self.exprs(Kind::Colon)?;
            if exprs.is_empty() || !self.eat(Kind::Colon) {
                return self
                    .expected("the folded expression and `:`, as in `min { n : score(p, n) }`");
            }
        }
        let body = self.body()?;
        self.expect(Kind::CloseBrace, "`,` or `}`")?;
        self.depth = depth;
        let span = self.since(name.span);
        let aggregate = Aggregate { fold, exprs, body, span };
        Ok(Expr { kind: ExprKind::Aggregate(Box::new(aggregate)), span })
    }
}

fn binary<'t>(op: Arith, lhs: Expr<'t>, rhs: Expr<'t>) -> Expr<'t> {
    let span = Span { end: rhs.span.end, ..lhs.span };
    Expr { kind: ExprKind::Binary(op, Box::new(lhs), Box::new(rhs)), span }
}
