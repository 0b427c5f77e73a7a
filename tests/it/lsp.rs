//! `rulemate lsp` as an editor sees it: messages over pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A server with an editor's end of its pipes.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Editor {
    fn start(cache: &Path) -> Self {
        Self::start_with([("XDG_CACHE_HOME", cache)])
    }

    fn start_with<'p>(folders: impl IntoIterator<Item = (&'static str, &'p Path)>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rulemate"))
            .arg("lsp")
            .envs(folders)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut editor = Self { child, input, output, asked: 0 };
        let ready = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(ready["capabilities"]["definitionProvider"], true, "{ready}");
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it reads");
        self.input.flush().expect("it reads");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The next message.
    fn hear(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("it writes");
            match line.trim().split_once(": ") {
                Some(("Content-Length", count)) => length = count.parse().expect("a number"),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).expect("a whole message");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// The whole answer to a question.
    fn answer(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let answer = self.hear();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.answer(method, params)["result"].clone()
    }

    /// Puts a text into a file that is open, and returns what is wrong with it.
    fn open(&mut self, path: &Path, text: &str) -> Vec<Value> {
        let document = json!({
            "uri": uri(path), "languageId": "rulemate", "version": 1, "text": text
        });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.wrong(path)
    }

    fn change(&mut self, path: &Path, text: &str) -> Vec<Value> {
        let document = json!({ "uri": uri(path), "version": 2 });
        let changes = json!([{ "text": text }]);
        let change = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", change);
        self.wrong(path)
    }

    fn wrong(&mut self, path: &Path) -> Vec<Value> {
        loop {
            let told = self.hear();
            if told["method"] == "textDocument/publishDiagnostics"
                && told["params"]["uri"] == uri(path)
            {
                return told["params"]["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    /// A question about a place in a file.
    fn about(&mut self, method: &str, path: &Path, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        let at = json!({ "textDocument": { "uri": uri(path) }, "position": position });
        self.ask(&format!("textDocument/{method}"), at)
    }

    fn leave(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        drop(self.input);
        assert!(self.child.wait().expect("it ends").success());
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Copies of the package's files that another build left are not this build's.
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("what an earlier run left");
    }
    std::fs::create_dir_all(&folder).expect("a folder for scratch");
    folder
}

const PRESET: &str = ".meta preset \"lazy\"\n.domain Preset += { lazy }\n.meta family \"chess\"\n\
    .decl dozes(piece: Entity) \"{piece} dozes\"\n\
    dozes(p) :- atacks(p, _).\n";

#[test]
fn editors_are_told_of_mistakes_meanings_and_places() {
    let folder = folder("lsp");
    let preset = folder.join("lazy.dl");
    std::fs::write(&preset, PRESET).expect("scratch");
    let mut editor = Editor::start(&folder);
    let wrong = editor.open(&preset, PRESET);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!(wrong[0]["code"], "E201");
    let start = json!({ "line": 4, "character": 12 });
    assert_eq!(wrong[0]["range"]["start"], start, "{wrong:?}");
    assert!(wrong[0]["message"].as_str().is_some_and(|it| it.contains("attacks")), "{wrong:?}");
    // Nothing is known of a program that was never whole.
    assert_eq!(editor.about("hover", &preset, 4, 1), Value::Null);
    let mended = PRESET.replace("atacks", "attacks");
    assert_eq!(editor.change(&preset, &mended), Vec::<Value>::new());
    // Of a relation of the file, and of one of the package.
    let own = editor.about("definition", &preset, 4, 2);
    assert_eq!((&own["uri"], &own["range"]["start"]["line"]), (&uri(&preset).into(), &3.into()));
    let hover = editor.about("hover", &preset, 4, 14);
    let hover = hover["contents"]["value"].as_str().expect("Markdown");
    assert!(hover.contains("attacks(piece: Entity, to: Square)"), "{hover}");
    assert!(hover.contains("rules/chess/attack.dl:"), "{hover}");
    let theirs = editor.about("definition", &preset, 4, 14);
    let path = theirs["uri"].as_str().and_then(|it| it.strip_prefix("file://")).expect("a file");
    let text = std::fs::read_to_string(path).expect("a copy of the file of the package");
    let line = theirs["range"]["start"]["line"].as_u64().expect("a line");
    let line = text.lines().nth(line as usize).expect("a line of the file");
    assert!(line.starts_with(".decl attacks("), "{line}");
    let rules = editor.about("implementation", &preset, 4, 14);
    assert!(rules.as_array().is_some_and(|it| it.len() >= 2), "{rules}");
    let names = editor.about("completion", &preset, 4, 13);
    let names = names.as_array().expect("a list");
    assert!(
        names.iter().any(|it| it["label"] == "dozes" && it["detail"] == "dozes(piece: Entity)")
    );
    // A later mistake leaves what was known.
    let broken = mended.replace("attacks(p, _)", "attacks(p)");
    assert_eq!(editor.change(&preset, &broken).len(), 1);
    assert!(editor.about("hover", &preset, 4, 1).is_object());
    // What is not offered is an error, and the server goes on.
    let answer = editor.answer("textDocument/rename", json!({}));
    assert!(answer["error"]["message"].as_str().is_some_and(|it| it.contains("not offered")));
    let answer = editor.answer("textDocument/hover", json!({}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    editor.leave();
}

#[test]
fn an_empty_variable_for_the_cache_counts_as_unset() {
    let home = folder("lsp-home");
    let preset = home.join("lazy.dl");
    let text = PRESET.replace("atacks", "attacks");
    std::fs::write(&preset, &text).expect("scratch");
    let mut editor = Editor::start_with([("XDG_CACHE_HOME", Path::new("")), ("HOME", &home)]);
    assert_eq!(editor.open(&preset, &text), Vec::<Value>::new());
    let theirs = editor.about("definition", &preset, 4, 14);
    let cache = uri(&home.join(".cache/rulemate"));
    assert!(theirs["uri"].as_str().is_some_and(|it| it.starts_with(&cache)), "{theirs}");
    editor.leave();
}

/// A member is not taken for the relation of its name; domains, stages of presets and earlier names of relations have a
/// meaning.
#[test]
fn editors_are_told_of_members_domains_stages_and_earlier_names() {
    let folder = folder("lsp-names");
    let preset = folder.join("lazy.dl");
    let text = ".meta preset \"lazy\"\n.domain Preset += { lazy }\n.meta family \"chess\"\n\
        .stage doze after capture before wound\n\
        .decl queen(piece: Entity) \"{piece} is a lazy queen\"\n\
        queen(p) :- kind(p, 'queen), active('lazy, _), no_marcher(p).\n\
        .input dozes(piece: Entity) flag attr lazy_dozes \"{piece} dozes\"\n\
        on any in doze when queen(p) do set dozes(p).\n";
    std::fs::write(&preset, text).expect("scratch");
    let mut editor = Editor::start(&folder);
    assert_eq!(editor.open(&preset, text), Vec::<Value>::new());
    for (line, at, expected) in [
        (5, "queen(p)", "a lazy queen"),
        (5, "queen)", "`queen`: a member of `Kind`"),
        (5, "no_marcher", "not_pawn_like(piece: Entity)"),
        (7, "doze when", "`doze`: a stage of reactions"),
        (1, "Preset", "`Preset`: a domain\n\n"),
        (4, "Entity", "`Entity`: a domain\n\nentities, at most "),
    ] {
        let character = text.lines().nth(line).and_then(|it| it.find(at)).expect("in the text");
        let hover = editor.about("hover", &preset, line as u32, character as u32);
        let hover = hover["contents"]["value"].as_str().unwrap_or_default();
        assert!(hover.contains(expected), "{at}: {hover}");
    }
    let names = editor.about("completion", &preset, 7, 10);
    let names = names.as_array().expect("a list");
    for stage in ["doze", "wound"] {
        let is_it = |it: &Value| it["label"] == stage && it["detail"] == "stage";
        assert!(names.iter().any(is_it), "{stage}");
    }
    editor.leave();
}

/// A file is checked with those that are open beside it, as they are in the editor.
#[test]
fn files_are_checked_with_their_neighbours() {
    let folder = folder("lsp-two");
    let (preset, game) = (folder.join("lazy.dl"), folder.join("naps.dl"));
    let mended = PRESET.replace("atacks", "attacks");
    std::fs::write(&preset, &mended).expect("scratch");
    let text = ".meta game \"naps\"\n.meta title \"Naps\"\n.meta layout \"orthodox\"\n\
        .meta use \"lazy\"\n";
    std::fs::write(&game, text).expect("scratch");
    // A file that cannot be read does not hide the others.
    std::fs::write(folder.join("broken.dl"), [0xFF]).expect("scratch");
    let mut editor = Editor::start(&folder);
    assert_eq!(editor.open(&game, text), Vec::<Value>::new());
    // Not saved: the game's program has the mistake.
    editor.open(&preset, &mended.replace("lazy", "idle"));
    let wrong = editor.wrong(&game);
    assert!(wrong[0]["message"].as_str().is_some_and(|it| it.contains("lazy")), "{wrong:?}");
    // Closed without saving: the text on disk counts again.
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri(&preset) } }));
    assert_eq!(editor.wrong(&game), Vec::<Value>::new());
    editor.leave();
}

/// A module is checked with the first file that includes it, and then, when the editor is silent, with the others.
#[test]
fn a_module_is_checked_with_all_files_that_include_it() {
    let folder = folder("lsp-module");
    let module = folder.join("nap.dl");
    let text = ".meta module \"nap\"\n.meta family \"chess\"\n\
        .decl naps(piece: Entity) open \"{piece} naps\"\n";
    std::fs::write(&module, text).expect("scratch");
    for (name, rule) in [("first", "naps(p) :- own(p)."), ("second", "naps(p) :- no_such(p).")] {
        let text = format!(
            ".meta preset \"{name}\"\n.meta family \"chess\"\n.meta include \"nap.dl\"\n\
             .domain Preset += {{ {name} }}\n{rule}\n"
        );
        std::fs::write(folder.join(format!("{name}.dl")), text).expect("scratch");
    }
    let mut editor = Editor::start(&folder);
    assert_eq!(editor.open(&module, text), Vec::<Value>::new());
    let wrong = editor.wrong(&module);
    let message = wrong[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("second.dl:5: ") && message.contains("no_such"), "{wrong:?}");
    editor.leave();
}
