//! Sessions, snapshots and saves against a plain ordered map.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use rulemate::internals::facts::{
    AttrId, AttrType, Attribute, BOOL, Delta, Document, Domain, EntityId, Fact, FactError, GAME,
    NEXT_ENTITY, SaveError, Schema, Session, Shape, Snapshot, Value, to_json,
};

const CAP: u16 = 48;

/// One attribute of every type: integer, truth value, square, entity, reference.
fn schema() -> Arc<Schema> {
    let mut schema = Schema::new();
    let square = Domain { name: "Square".into(), shape: Shape::Grid { files: 8, ranks: 8 } };
    let square = schema.add_domain(square);
    let entity = Domain { name: "Entity".into(), shape: Shape::Entities { cap: CAP } };
    let entity = schema.add_domain(entity);
    let types = [
        ("points", AttrType::Int),
        ("active", AttrType::Member(BOOL)),
        ("position", AttrType::Member(square)),
        ("owner", AttrType::Entity),
        ("target", AttrType::Member(entity)),
    ];
    for (name, ty) in types {
        schema.add_attribute(attribute(name, ty, None)).expect("no clash");
    }
    Arc::new(schema)
}

fn attribute(name: &str, ty: AttrType, default: Option<i64>) -> Attribute {
    Attribute { name: name.into(), ty, of: None, default, doc: String::new() }
}

fn value(attr: AttrId, seed: i64) -> Value {
    match attr.0 {
        1 => Value::Int(if seed % 5 == 0 { seed << 40 } else { seed }),
        2 => Value::Bool(seed % 2 == 0),
        3 => Value::Member(seed.rem_euclid(64) as u16),
        _ => Value::Entity(EntityId(seed.rem_euclid(i64::from(CAP)) as u32)),
    }
}

#[derive(Debug, Clone)]
enum Step {
    Insert(u32, u16, i64),
    Retract(u32, u16),
    Create,
    Remove(u32),
    Mark,
    Rollback,
    Commit,
    Keep,
    Restore(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let (entity, attr) = (0..u32::from(CAP), 1..6u16);
    prop_oneof![
        10 => (entity.clone(), attr.clone(), any::<i32>())
            .prop_map(|(e, a, v)| Step::Insert(e, a, i64::from(v))),
        4 => (entity.clone(), attr).prop_map(|(e, a)| Step::Retract(e, a)),
        2 => Just(Step::Create),
        1 => entity.prop_map(Step::Remove),
        3 => Just(Step::Mark),
        3 => Just(Step::Rollback),
        1 => Just(Step::Commit),
        2 => Just(Step::Keep),
        1 => any::<usize>().prop_map(Step::Restore),
    ]
}

/// The facts as the obvious structure has them.
type Model = BTreeMap<(EntityId, AttrId), Value>;

fn facts_of(model: &Model) -> Vec<Fact> {
    let fact = |(&(entity, attr), value): (_, &Value)| Fact { entity, attr, value: value.clone() };
    model.iter().map(fact).collect()
}

/// The hash of a session that got to the same facts in another order.
fn fresh_hash(schema: &Arc<Schema>, model: &Model) -> u64 {
    let mut session = Session::new(Arc::clone(schema));
    for (&(entity, attr), value) in model.iter().rev() {
        session.insert(entity, attr, value.clone()).expect("a value that was accepted before");
    }
    session.hash()
}

/// Ids that no fact mentions are given from the counter on, then the lowest first.
fn create(session: &mut Session, model: &mut Model) {
    let Some(Value::Int(counter)) = model.get(&(GAME, NEXT_ENTITY)).cloned() else {
        panic!("there is a counter")
    };
    let counter = counter as u32;
    let mentioned = |id: u32| {
        let id = EntityId(id);
        id == GAME || model.iter().any(|(key, it)| key.0 == id || *it == Value::Entity(id))
    };
    let free: Vec<u32> =
        (counter..u32::from(CAP)).chain(1..counter).filter(|it| !mentioned(*it)).collect();
    assert_eq!(session.room() as usize, free.len());
    let next = session.ids().next(u32::MAX);
    let in_a_row = free.iter().zip(free.first().copied().unwrap_or(0)..).filter(|it| *it.0 == it.1);
    assert_eq!(next.ids.len(), in_a_row.count());
    assert!(next.ids.zip(&free).all(|(id, free)| id == *free));
    assert_eq!(next.is_lasting, free.first() == Some(&counter));
    let hash = session.hash();
    match free.first() {
        Some(&id) => {
            assert_eq!(session.create(), EntityId(id));
            let next = Value::Int(i64::from(counter.max(id + 1)));
            model.insert((GAME, NEXT_ENTITY), next);
        }
        None => {
            assert!(session.check_entity(session.clone().create()).is_err());
            assert_eq!(session.hash(), hash);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_session_is_an_ordered_map_with_undo(steps in prop::collection::vec(step(), 1..80)) {
        let schema = schema();
        let mut session = Session::new(Arc::clone(&schema));
        let mut model = Model::from([((GAME, NEXT_ENTITY), Value::Int(1))]);
        let mut marks = Vec::new();
        let mut kept: Vec<(Snapshot, Model)> = vec![(Snapshot::new(&session), model.clone())];
        // The point that the newest snapshot can be continued from, until a rollback crosses it.
        let mut since = Some(session.mark());
        for step in steps {
            match step {
                Step::Insert(entity, attr, seed) => {
                    let (entity, attr) = (EntityId(entity), AttrId(attr));
                    let value = value(attr, seed);
                    let old = session.insert(entity, attr, value.clone()).expect("valid");
                    prop_assert_eq!(old, model.insert((entity, attr), value));
                }
                Step::Retract(entity, attr) => {
                    let (entity, attr) = (EntityId(entity), AttrId(attr));
                    prop_assert_eq!(session.retract(entity, attr), model.remove(&(entity, attr)));
                }
                Step::Create => create(&mut session, &mut model),
                Step::Remove(entity) => {
                    session.remove(EntityId(entity));
                    model.retain(|(it, attr), _| it.0 != entity || *attr == NEXT_ENTITY);
                }
                Step::Mark => marks.push((session.mark(), model.clone(), session.hash())),
                Step::Rollback => if let Some((mark, earlier, hash)) = marks.pop() {
                    session.rollback(mark);
                    model = earlier;
                    prop_assert_eq!(session.hash(), hash);
                    since = None;
                },
                Step::Commit => {
                    session.commit();
                    marks.clear();
                    since = None;
                }
                Step::Keep => {
                    let snapshot = match (since, kept.last()) {
                        (Some(mark), Some((last, _))) => {
                            let mut next = last.clone();
                            next.follow(&Delta::since(&session, mark));
                            next
                        }
                        _ => Snapshot::new(&session),
                    };
                    kept.push((snapshot, model.clone()));
                    since = Some(session.mark());
                }
                Step::Restore(at) => {
                    let (snapshot, earlier) = &kept[at % kept.len()];
                    for change in session.changes_to(snapshot) {
                        session.set_raw(change.entity, change.attr, change.new);
                    }
                    model = earlier.clone();
                }
            }
            prop_assert_eq!(session.all_facts(), facts_of(&model));
            prop_assert_eq!(session.hash(), fresh_hash(&schema, &model));
        }
        for (snapshot, model) in &kept {
            prop_assert_eq!(snapshot.all_facts(), facts_of(model));
            prop_assert_eq!(snapshot.hash(), fresh_hash(&schema, model));
        }
    }

    #[test]
    fn a_save_comes_back_byte_for_byte(values in prop::collection::vec((0..u32::from(CAP), 1..6u16, any::<i32>()), 0..60)) {
        let schema = schema();
        let mut session = Session::new(Arc::clone(&schema));
        for _ in 0..CAP {
            session.create();
        }
        for (entity, attr, seed) in values {
            let attr = AttrId(attr);
            session.insert(EntityId(entity), attr, value(attr, i64::from(seed))).expect("valid");
        }
        let text = to_json(&session);
        let back = Document::parse(&text).and_then(|it| it.session(&schema)).expect("our own save");
        prop_assert_eq!(back.all_facts(), session.all_facts());
        prop_assert_eq!(back.hash(), session.hash());
        prop_assert_eq!(to_json(&back), text);
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let mut session = Session::new(schema());
    let hash = session.hash();
    let square = session.schema().attribute_named("position").expect("declared");
    let owner = session.schema().attribute_named("owner").expect("declared");
    let refused = [
        (
            EntityId(1),
            square,
            Value::Int(3),
            "attribute position takes a member of Square, not an integer",
        ),
        (EntityId(1), square, Value::Member(64), "Square has no member number 64"),
        (
            EntityId(4_000_000_000),
            square,
            Value::Member(0),
            "there is no entity 4000000000: ids end before 48",
        ),
        (
            EntityId(1),
            owner,
            Value::Entity(EntityId(48)),
            "there is no entity 48: ids end before 48",
        ),
    ];
    for (entity, attr, value, message) in refused {
        let error: FactError = session.insert(entity, attr, value).expect_err(message);
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(session.hash(), hash);
    assert_eq!(session.all_facts().len(), 1);
}

#[test]
fn the_counter_survives_the_removal_of_the_game_entity() {
    let mut session = Session::new(schema());
    let first = session.create();
    session.remove(GAME);
    assert_ne!(session.create(), first);
}

#[test]
fn one_default_is_enough_and_two_must_agree() {
    let mut schema = Schema::new();
    let declare =
        |schema: &mut Schema, default| schema.add_attribute(attribute("n", AttrType::Int, default));
    let id = declare(&mut schema, None).expect("new");
    assert_eq!(declare(&mut schema, Some(1)), Ok(id));
    assert_eq!(declare(&mut schema, None), Ok(id));
    assert_eq!(schema.attribute(id).default, Some(1));
    assert!(declare(&mut schema, Some(2)).is_err());
}

/// What a broken save is refused with.
#[test]
fn broken_saves_name_the_fact() {
    let fact = |it: &str| format!("{{\"version\":1,\"facts\":[\n{it}\n]}}");
    let cases = [
        ("{".to_string(), "line 1, column 1: EOF while parsing an object"),
        (
            "{\"version\":2,\"facts\":7}".into(),
            "a list of facts has version 1, but this has version 2",
        ),
        (
            fact(r#"{"entity":1,"attribute":"points","value":1.5}"#),
            "line 2, column 44: invalid type: floating point `1.5`, expected an integer, true or false, a name, or {\"entity\": number}",
        ),
        (
            fact(r#"{"entity":1,"attribute":"position","value":{"square":3}}"#),
            "line 2, column 55: a reference has one field, entity",
        ),
        (
            fact(r#"{"entity":1,"attribute":"point","value":1}"#),
            "fact 1: there is no attribute point; did you mean points?",
        ),
        (
            fact(r#"{"entity":1,"attribute":"position","value":"e9"}"#),
            "fact 1: Square has no member e9; did you mean e1?",
        ),
        (
            fact(r#"{"entity":1,"attribute":"points","value":"e4"}"#),
            "fact 1: attribute points takes an integer, not \"e4\"",
        ),
        (
            fact(r#"{"entity":1,"attribute":"active","value":1}"#),
            "fact 1: attribute active takes true or false, not an integer",
        ),
        (
            fact(r#"{"entity":99,"attribute":"points","value":1}"#),
            "fact 1: there is no entity 99: ids end before 48",
        ),
        (
            fact(r#"{"entity":1,"attribute":"points","value":1}"#),
            "the entity counter is missing: entity 0 needs the attribute next_entity",
        ),
        (
            fact(
                "{\"entity\":0,\"attribute\":\"next_entity\",\"value\":1},\n{\"entity\":1,\"attribute\":\"points\",\"value\":1}",
            ),
            "the entity counter is 1: it must be above every entity with facts, the last of which is 1, and 48 at most",
        ),
        (
            fact(r#"{"entity":0,"attribute":"next_entity","value":49}"#),
            "the entity counter is 49: it must be above every entity with facts, the last of which is 0, and 48 at most",
        ),
        (
            "{\" at line 3\":2,\"version\":1,\"facts\":[]}".into(),
            "line 1, column 13: unknown field ` at line 3`, expected `version` or `facts`",
        ),
        (
            fact(r#"{"entity":2,"attribute":"next_entity","value":1}"#),
            "fact 1: only entity 0 has the attribute next_entity",
        ),
        (
            fact(
                "{\"entity\":1,\"attribute\":\"points\",\"value\":1},\n{\"entity\":1,\"attribute\":\"points\",\"value\":1}",
            ),
            "fact 2: entity 1 has two values of points",
        ),
    ];
    for (text, message) in cases {
        let read: Result<Session, SaveError> =
            Document::parse(&text).and_then(|it| it.session(&schema()));
        assert_eq!(read.expect_err(message).to_string(), message, "{text}");
    }
}

/// A save with some letters cut, doubled, swapped or put in: it is refused, or what it says is a
/// session whose own save reads back the same.
#[test]
fn damaged_saves_are_read_or_refused() {
    let schema = schema();
    let mut session = Session::new(Arc::clone(&schema));
    for entity in 1..4 {
        let id = session.create();
        for attr in 1..schema.attributes().len() as u16 {
            session.insert(id, AttrId(attr), value(AttrId(attr), entity)).expect("valid");
        }
    }
    let text = to_json(&session);
    proptest!(|(damages in crate::damage::damages())| {
        let text = crate::damage::damaged(&text, &damages);
        match Document::parse(&text).and_then(|it| it.session(&schema)) {
            Ok(read) => {
                let again = to_json(&read);
                let twice = Document::parse(&again).and_then(|it| it.session(&schema));
                prop_assert_eq!(twice.map(|it| to_json(&it)), Ok(again));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    });
}
