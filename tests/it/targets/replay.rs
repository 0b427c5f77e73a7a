//! The corpora of the fuzzer and what it has found, once each: `fuzz/corpus/TARGET` and
//! `fuzz/found/TARGET`.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::{Path, PathBuf};

    use crate::targets::TARGETS;

    fn inputs(kind: &str, target: &str) -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(kind).join(target);
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = files.map(|it| it.path()).collect();
        files.sort();
        files
    }

    #[test]
    fn the_corpora_of_the_fuzzer_pass() {
        for (target, run) in TARGETS {
            let corpus = inputs("corpus", target);
            assert!(corpus.len() >= 4, "fuzz/corpus/{target} has {} inputs", corpus.len());
            for path in corpus.into_iter().chain(inputs("found", target)) {
                let input = fs::read(&path).unwrap();
                let ran = catch_unwind(AssertUnwindSafe(|| run(&input)));
                assert!(ran.is_ok(), "{}", path.display());
            }
        }
    }

    #[test]
    fn every_target_is_built_for_the_fuzzer() {
        let read =
            |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
        let manifest = read("fuzz/Cargo.toml").unwrap();
        for (target, _) in TARGETS {
            assert!(manifest.contains(&format!("path = \"targets/{target}.rs\"")), "{target}");
            let text = read(&format!("fuzz/targets/{target}.rs")).unwrap();
            assert!(text.contains(&format!("run(\"{target}\", ")), "{target}");
        }
        let bins = manifest.matches("[[bin]]").count();
        assert_eq!(bins, TARGETS.len(), "fuzz/Cargo.toml has another number of targets");
    }

    #[test]
    fn the_corpora_are_small() {
        let bytes: u64 = TARGETS
            .iter()
            .flat_map(|it| [inputs("corpus", it.0), inputs("found", it.0)].concat())
            .map(|it| fs::metadata(it).unwrap().len())
            .sum();
        assert!(bytes < 1_000_000, "{bytes} bytes");
    }
}
