//! What keeps play civil, and the store small: chats that are switched off, accounts that block each other, reports
//! and accounts that are closed, games that are forgotten.

use axum::http::StatusCode;
use rulemate::internals::server::Config;
use rulemate::internals::server::store::open;
use serde_json::{Value, json};

use super::accounts::{account, ask, refused};
use super::api::{Server, hosted, run};
use super::store::Folder;
use crate::cli::rulemate;

/// A name of blanks could not be seen. A refusal to join names the seats, and no words that only a new game takes.
#[test]
fn a_blank_name_is_none_and_seats_are_named() {
    hosted("blank-name", Config::default(), async |server| {
        let (id, _) = server.make(json!({ "game": "chess", "seat": "white", "name": "  " })).await;
        let join = format!("/api/v1/games/{id}/join");
        let random = server.post(&join, "", json!({ "seat": "random" })).await;
        refused(&random, 422, "no_such_seat");
        let message = random.1["message"].as_str().unwrap();
        assert!(message.ends_with("a seat is white, black"), "{message}");
        let (status, _) = server.post(&join, "", json!({ "name": "" })).await;
        assert_eq!(status, StatusCode::OK);
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!(state["seats"], json!(["Anonymous", "Anonymous"]));
    });
}

#[test]
fn a_chat_that_is_switched_off_stays_off() {
    let folder = Folder::new("hush");
    run(async {
        let server = Server::start(&folder, Config::default());
        let options = json!({ "game": "chess", "seat": "white", "chat": true });
        let (id, white) = server.make(options).await;
        let act = async |server: &Server, token: &str, act: &str, body: Value| {
            server.post(&format!("/api/v1/games/{id}/{act}"), token, body).await
        };
        let (_, joined) = act(&server, "", "join", json!({})).await;
        let black = joined["token"].as_str().unwrap().to_owned();
        let rude = json!({ "text": "something rude" });
        assert_eq!(act(&server, &black, "chat", rude.clone()).await.0, StatusCode::OK);
        let nothing = json!({ "text": " " });
        refused(&act(&server, &black, "chat", nothing).await, 400, "missing_field");
        refused(&act(&server, "", "hush", json!({})).await, 401, "token_missing");
        assert_eq!(act(&server, &white, "hush", json!({ "id": "1" })).await.0, StatusCode::OK);
        server.stop();
        let server = Server::start(&folder, Config::default());
        for token in [&white, &black] {
            refused(&act(&server, token, "chat", rude.clone()).await, 409, "chat_off");
        }
        refused(&act(&server, &black, "hush", json!({})).await, 409, "chat_off");
        let again = act(&server, &white, "hush", json!({ "id": "1" })).await;
        assert_eq!(again.0, StatusCode::OK, "a repetition is answered: {}", again.1);
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!(state["chat"], false);
        // The game goes on, and so it is in the next one.
        assert_eq!(server.play(&id, &white, "e2e4").await.0, StatusCode::OK);
        act(&server, &black, "resign", json!({})).await;
        act(&server, &black, "rematch", json!({})).await;
        let (_, next) = act(&server, &white, "rematch", json!({})).await;
        let next = next["game"].as_str().unwrap();
        let (_, state) = server.get(&format!("/api/v1/games/{next}")).await;
        assert_eq!(state["chat"], false);
        server.stop();
    });
}

#[test]
fn a_blocked_player_can_play_with_others() {
    hosted("blocked", Config::default(), async |server| {
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "Ben").await);
        let block = async |name: &str| {
            server.post("/api/v1/account/blocks", &ann, json!({ "name": name })).await
        };
        refused(&block("nobody-here").await, 404, "no_such_user");
        refused(&block("Ann").await, 409, "own_account");
        for _ in 0..2 {
            assert_eq!(block("BEN").await.1, json!(["ben"]));
        }
        let options = json!({ "game": "chess", "seat": "white" });
        let (_, made) = server.post("/api/v1/games", &ann, options).await;
        let id = made["id"].as_str().unwrap();
        let join = format!("/api/v1/games/{id}/join");
        refused(&server.post(&join, &ben, json!({})).await, 403, "blocked");
        let accept = format!("/api/challenge/{id}/accept");
        let answer = server.post(&accept, &ben, json!({})).await;
        assert_eq!((answer.0.as_u16(), answer.1["code"].as_str()), (400, Some("blocked")));
        let answer = server.post("/api/challenge/ann", &ben, json!({})).await;
        assert_eq!((answer.0.as_u16(), answer.1["code"].as_str()), (400, Some("blocked")));
        // The other way round nothing stands in the way, and nothing does when it is over.
        assert_eq!(server.post("/api/challenge/ben", &ann, json!({})).await.0, StatusCode::OK);
        let (_, left) = ask(server, "DELETE", "/api/v1/account/blocks/ben", &ann).await;
        assert_eq!(left, json!([]));
        assert_eq!(server.post(&join, &ben, json!({})).await.0, StatusCode::OK);
    });
}

#[test]
fn reports_are_read_by_the_operator_who_closes_accounts() {
    let folder = Folder::new("reports");
    let url = folder.url();
    let moderate = |more: &[&str]| {
        let told = rulemate(&[&["moderate", "--json", "--store", &url][..], more].concat());
        assert_eq!(told.code, 0, "{}", told.err);
        serde_json::from_str::<Value>(&told.out).unwrap()
    };
    run(async {
        let server = Server::start(&folder, Config::default());
        let (ann, codes) = account(&server, "ann").await;
        let (id, _) = server.make(json!({ "game": "chess", "seat": "white" })).await;
        let report = format!("/api/v1/games/{id}/report");
        for text in ["", " \n", &"x".repeat(501)] {
            refused(&server.post(&report, "", json!({ "text": text })).await, 400, "bad_report");
        }
        let none = server.post("/api/v1/games/none/report", "", json!({ "text": "x" })).await;
        refused(&none, 404, "no_such_game");
        // The last report of each counts, and is one line.
        for (token, text) in [(&ann[..], "rude"), ("", "a guest is rude"), (&ann, "very\nrude")] {
            let answer = server.post(&report, token, json!({ "text": text })).await;
            assert_eq!(answer, (StatusCode::OK, json!({ "ok": true })));
        }
        let found = moderate(&[])["reports"].clone();
        let texts: Vec<&str> =
            found.as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["very rude", "a guest is rude"], "{found}");
        assert_eq!(
            (&found[0]["by"], &found[1]["by"], &found[0]["game"]),
            (&json!("ann"), &Value::Null, &json!(id))
        );
        assert_eq!(moderate(&["--done", &id])["done"], 2);
        assert_eq!(moderate(&["--done", &id])["reports"], json!([]));
        // A closed account is closed at once, while the server runs.
        assert_eq!(ask(&server, "GET", "/api/v1/account", &ann).await.0, StatusCode::OK);
        moderate(&["--close", "Ann"]);
        refused(&ask(&server, "GET", "/api/v1/account", &ann).await, 401, "account_gone");
        let login = json!({ "name": "ann", "code": codes[0] });
        refused(&server.post("/api/v1/login", "", login).await, 401, "code_wrong");
        let taken = server.post("/api/v1/accounts", "", json!({ "name": "ann" })).await;
        refused(&taken, 409, "name_taken");
        let (ben, _) = account(&server, "ben").await;
        let (status, asked) = server.post("/api/challenge/ann", &ben, json!({})).await;
        assert_eq!((status.as_u16(), &asked["code"]), (400, &json!("account_closed")), "{asked}");
        server.stop();
    });
    // What was done before a mistake is told.
    let wrong = rulemate(&["moderate", "--store", &url, "--close", "ann", "--close", "nobody"]);
    assert!(wrong.code != 0 && wrong.err.contains("no account nobody"), "{}", wrong.err);
    assert_eq!(wrong.out, "ann is closed\n");
    let nowhere = format!("{url}.none");
    let wrong = rulemate(&["moderate", "--store", &nowhere]);
    assert!(wrong.code != 0 && wrong.err.contains("there is no store"), "{}", wrong.err);
    // A file may be called after a database; and a password is not shown.
    let wrong = rulemate(&["moderate", "--store", "postgres-none.db"]);
    assert!(wrong.code != 0 && wrong.err.contains("there is no store"), "{}", wrong.err);
    let wrong = rulemate(&["moderate", "--store", "mysql://me:secret@host/games"]);
    assert!(wrong.code != 0 && !wrong.err.contains("secret"), "{}", wrong.err);
    assert_eq!(open(&url).unwrap().check().unwrap().faults, Vec::<String>::new());
}

#[test]
fn old_games_are_forgotten_and_young_ones_stay() {
    let folder = Folder::new("prune");
    let url = folder.url();
    let (old, young) = ("old-game", "young-game");
    let day = 24 * 60 * 60 * 1000;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = u64::try_from(now.as_millis()).unwrap();
    {
        let mut store = open(&url).unwrap();
        for (game, at) in [(old, now - 40 * day), (young, now - 20 * day)] {
            let mut append = super::store::append(game, 0, &["an event"]);
            append.summary.updated = at;
            assert_eq!(store.append(&[append]).unwrap(), [Ok(())]);
        }
    }
    let prune = |more: &[&str]| rulemate(&[&["prune", "--store", &url][..], more].concat());
    for days in ["0", "-1", "x", "40000"] {
        assert_ne!(prune(&["--days", days]).code, 0);
    }
    assert!(prune(&["--days", "30", "--dry-run"]).out.contains("in 1 game for 30 days"));
    assert_eq!(open(&url).unwrap().games().unwrap(), [old, young]);
    let told: Value = serde_json::from_str(&prune(&["--days", "30", "--json"]).out).unwrap();
    assert_eq!(told, json!({ "games": 1, "forgotten": true }));
    let mut store = open(&url).unwrap();
    assert_eq!(store.games().unwrap(), [young]);
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
    assert!(prune(&["--days", "30"]).out.contains("0 games are forgotten"));
}
