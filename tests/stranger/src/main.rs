//! Plays, asks why, saves, and goes on from the save: what the head of the crate's documentation shows.

use rulemate::prelude::*;

fn main() -> Result<(), Error> {
    let mut catalogue = Catalogue::embedded()?;
    let text = r#"
.meta preset "lazy-bishops"
.meta description "bishops attack and do not move"
.domain Preset += { lazy-bishops }
immobile(p) :- active('lazy-bishops, c), color(p, c), kind(p, 'bishop).
"#;
    catalogue.add(Source { path: "lazy-bishops.dl".into(), text: text.into() })?;
    let rules = catalogue.load("chess", &["lazy-bishops:black"])?;
    let mut game = rules.start(None)?;
    for text in ["e4", "d5", "Bb5+"] {
        game.play_text(text)?;
    }
    let refused = game.play_text("Bd7").map(|_| ()).expect_err("bishops are lazy");
    println!("refused: {refused}");
    let told = game.explain_fact("in_check()", Limits::default())?;
    println!("{}", told.summary);
    assert!(told.holds && game.tree(&told.finding).contains("rules/chess/"));

    let bytes = Save::of(&game, &rules, Content::default())?.write(Form::Json);
    let (save, _) = Save::read(&bytes, "chess")?;
    let mut again = save.restore(&catalogue, RulesFrom::Here)?.game;
    again.play_text("c6")?;
    println!("{}", again.fen());
    assert_eq!(again.history().len(), game.history().len() + 1);
    Ok(())
}
