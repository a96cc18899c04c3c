//! The core does not know Node: it builds, runs and is tested without it.

#![expect(clippy::expect_used, reason = "a test that cannot read the sources has failed")]

use std::fs;
use std::path::{Path, PathBuf};

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
    files
}

/// The code of a file, without comments: these may speak of what the code may not use.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source file");
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_alphanumeric() || it == '_'))
}

#[test]
fn napi_appears_under_src_node_alone() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let node = source.join("node");
    let files = rust_files(&source);
    let (inside, outside): (Vec<_>, Vec<_>) = files.iter().partition(|path| path.starts_with(&node));
    assert!(inside.iter().any(|path| words(&code(path)).any(|word| word == "napi")), "the test sees what it looks for");
    assert!(outside.len() > 20, "the test reads the core");
    for path in outside {
        let code = code(path);
        let found = words(&code).find(|word| word.starts_with("napi"));
        assert_eq!(found, None, "{} uses napi", path.display());
    }
}

#[test]
fn the_core_reads_no_clock_and_no_environment() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let store = source.join("store");
    for path in rust_files(&source).iter().filter(|path| !path.starts_with(&store)) {
        let code = code(path);
        for forbidden in ["SystemTime::now", "std::env", "std::fs", "println!", "eprintln!"] {
            assert!(!code.contains(forbidden), "{} uses {forbidden}", path.display());
        }
    }
}
