//! Corrections of vector files (`verify --corrections FILE`): values that are believed wrong, each with the value
//! expected instead, the conflict that it belongs to, and the reason.
//!
//! A correction is applied to the JSON of a vector file before rows are read from it. A row counts as corrected
//! for a conflict only if its question or its expected answer is another one without the corrections of that conflict.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::question::Row;
use crate::cli::output::{read_text, trouble, trouble_with};
use crate::presets::GameEntry;

/// One value of a vector file that is believed wrong.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Correction {
    /// The kind of the vector file.
    kind: String,
    /// The games by whose rules the value is wrong, by name or alias.
    games: Vec<String>,
    /// Fields that identify the row in its file.
    row: Map<String, Value>,
    /// Where in the row the value is: a JSON pointer (`/perft_turns/2`).
    field: String,
    /// The value in the file; null if it is missing.
    told: Value,
    expected: Value,
    /// The id of the disagreement that the correction belongs to (`O08`), which may take several corrections.
    conflict: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    corrections: Vec<Correction>,
}

/// The corrections of some files, each with its place.
#[derive(Debug, Default)]
pub(super) struct Corrections(Vec<(String, Correction)>);

const FIX: &str = "see tests/data/vectors/cotulenh/corrections.json for a file that is well-formed";

impl Corrections {
    /// Reads the corrections from these files.
    ///
    /// # Errors
    /// A file cannot be read, or an entry is incomplete.
    pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let mut all = Vec::new();
        for path in paths {
            let file: File = serde_json::from_str(&read_text(path)?)
                .map_err(|why| trouble_with(path, why, FIX))?;
            for (number, correction) in (1..).zip(file.corrections) {
                let place = format!("{}: correction {number}", path.display());
                let required = [
                    (correction.conflict.trim().is_empty(), "conflict"),
                    (correction.reason.trim().is_empty(), "reason"),
                    (correction.row.is_empty(), "row"),
                    (correction.games.is_empty(), "games"),
                ];
                if let Some((_, field)) = required.into_iter().find(|it| it.0) {
                    return Err(trouble(format!("{place} has an empty `{field}`"), FIX));
                }
                all.push((place, correction));
            }
        }
        Ok(Self(all))
    }

    /// The conflicts that affect files of a kind under a game.
    pub(super) fn conflicts(&self, kind: &str, game: &GameEntry) -> BTreeSet<&str> {
        self.of(kind, game).map(|(_, it)| it.conflict.as_str()).collect()
    }

    fn of(&self, kind: &str, game: &GameEntry) -> impl Iterator<Item = &(String, Correction)> {
        let applies =
            move |it: &Correction| it.kind == kind && it.games.iter().any(|it| game.is_called(it));
        self.0.iter().filter(move |it| applies(&it.1))
    }

    /// The text of a vector file with all corrections, except those of one conflict. Rows that the file does
    /// not have are skipped: it may be a part of another file.
    ///
    /// # Errors
    /// The file is not JSON or has another value than a correction states, or a correction fits several rows or names a
    /// field that its row does not have.
    pub(super) fn applied(
        &self,
        path: &Path,
        text: &str,
        (kind, game): (&str, &GameEntry),
        except: Option<&str>,
    ) -> anyhow::Result<String> {
        let mut file: Value =
            serde_json::from_str(text).map_err(|why| trouble_with(path, why, FIX))?;
        for (place, correction) in self.of(kind, game) {
            if except != Some(correction.conflict.as_str()) {
                correction.apply(&mut file).map_err(|(cause, fix)| {
                    trouble(format!("{place}, for {}: {cause}", path.display()), fix)
                })?;
            }
        }
        Ok(file.to_string())
    }
}

impl Correction {
    fn is_about(&self, row: &Value) -> bool {
        self.row.iter().all(|(key, value)| row.get(key) == Some(value))
    }

    /// Corrects the row, if the file has it. The error is a cause and its fix.
    fn apply(&self, file: &mut Value) -> Result<(), (String, &'static str)> {
        let lists = file.as_object_mut().into_iter().flatten();
        let rows = lists.filter_map(|(_, it)| it.as_array_mut()).flatten();
        let mut rows: Vec<&mut Value> = rows.filter(|it| self.is_about(it)).collect();
        let row = match rows.as_mut_slice() {
            [] => return Ok(()),
            [row] => row,
            several => {
                let cause = format!("{} rows are like its `row`", several.len());
                return Err((cause, "name more fields of the row"));
            }
        };
        let told = row.pointer(&self.field).unwrap_or(&Value::Null);
        if *told != self.told {
            let cause = format!("the file says {told} in {}, not {}", self.field, self.told);
            return Err((cause, "correct `told`, or take the correction out"));
        }
        let (parent, key) = self.field.rsplit_once('/').unwrap_or(("", &self.field));
        let slot = match row.pointer_mut(parent) {
            Some(Value::Object(fields)) => Some(fields.entry(key).or_insert(Value::Null)),
            Some(Value::Array(items)) => key.parse::<usize>().ok().and_then(|it| items.get_mut(it)),
            _ => None,
        };
        let cause = || format!("the row has no {}", self.field);
        *slot.ok_or_else(|| (cause(), "name a `field` by its JSON pointer"))? =
            self.expected.clone();
        Ok(())
    }
}

/// The indices of the rows that are not among the others.
pub(super) fn differing(rows: &[Row], others: &[Row]) -> Vec<usize> {
    let mut known: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in others {
        known.entry(&row.fen).or_default().push(row);
    }
    let is_new = |it: &&Row| !known.get(it.fen.as_str()).is_some_and(|all| all.contains(it));
    rows.iter().enumerate().filter(|it| is_new(&it.1)).map(|it| it.0).collect()
}
