//! Declarations of actions, as part of the parser: their parts, and further parts of actions that other files
//! declare.
//!
//! Deliberately absent: the meaning of the parts (`check`).

use super::action::Legality;
use super::ast::{ActionDecl, GivenDecl, Item, MoreDecl, Name, RelationKind};
use super::lexer::Kind;
use super::syntax::{Parsed, Parser, Parts};

impl<'t> Parser<'t, '_> {
    pub(super) fn action(&mut self) -> Parsed<Item<'t>> {
        self.next();
        let name = self.ident("the name of an action")?;
        if self.eat(Kind::Extend) {
            self.subject = Some(name.text);
            let decl = self.action_parts()?;
            return Ok(Item::More(Box::new(MoreDecl { name, decl })));
        }
        let columns = self.columns(name)?;
        let kind = RelationKind::Action(self.action_parts()?);
        Ok(Item::Relation(self.relation(name, columns, kind)))
    }

    fn action_parts(&mut self) -> Parsed<ActionDecl<'t>> {
        const OPTIONS: [&str; 12] = [
            "as",
            "pseudo_legal",
            "tries",
            "simulates",
            "refusals",
            "legality",
            "until",
            "given",
            "rank",
            "uci",
            "san",
            "also",
        ];
        let (mut action, mut parts) = (ActionDecl::default(), Parts::new());
        while let Some(option) = self.option(&OPTIONS)? {
            match option {
                "given" | "also" => {}
                // `tries` is the earlier word.
                "tries" => self.once("action", "pseudo_legal", &mut parts)?,
                _ => self.once("action", option, &mut parts)?,
            }
            match option {
                "as" => action.like = Some(self.reference("the name of an action")?),
                "rank" => action.rank = Some(self.number()?),
                "pseudo_legal" | "tries" => {
                    action.pseudo_legal = Some(self.reference("the name of a relation")?)
                }
                "simulates" => action.simulates = Some(self.reference("the name of a relation")?),
                "refusals" => action.refusals = Some(self.reference("the name of a relation")?),
                "legality" => action.legality = Some(self.legality()?),
                "until" => action.until = Some(self.reference("the name of a stage")?),
                "given" => action.given.push(self.given()?),
                "also" => action.also.push(self.text("the template, in double quotes")?),
                "uci" => action.uci = Some(self.text("the template, in double quotes")?),
                _ => action.san = Some(self.text("the template, in double quotes")?),
            }
        }
        Ok(action)
    }

    fn given(&mut self) -> Parsed<GivenDecl<'t>> {
        let name = self.ident("the name of an argument")?;
        self.expect(Kind::Colon, "`:` and its type")?;
        let ty = self.reference("the type of the argument")?;
        self.expect(Kind::Eq, "`=` and the default")?;
        let default = self.default_value()?;
        let from = self.eat_word("from");
        let from = from.then(|| self.reference("the name of a relation")).transpose()?;
        Ok(GivenDecl { name, ty, default, from })
    }

    fn legality(&mut self) -> Parsed<(Legality, Name<'t>)> {
        let word = self.name_of(self.peek());
        match self.option(&["rules", "simulate", "never"])? {
            Some("rules") => Ok((Legality::Rules, word)),
            Some("simulate") => Ok((Legality::Simulate, word)),
            Some(_) => Ok((Legality::Never, word)),
            None => self.expected("`rules`, `simulate` or `never`"),
        }
    }
}
