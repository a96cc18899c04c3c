//! What is `SQLite`'s own, beside the contract that all stores share.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use super::*;
use crate::facts::{Fact, FactChange, Source};
use crate::json::{Json, Loose, Members, Number, to_json};
use crate::message::{ArchivedMessage, Message, Role, StoredMessage};
use crate::recall::Vector;
use crate::state::{Folded, Session, State};
use crate::store::contract::{self, block_on};

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("memoryline-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(path: &str) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default()).unwrap()
}

/// A connection that is not the store's, to look at the rows or to stand in the way.
fn outsider(path: &str) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}

fn count(path: &str, table: &str) -> i64 {
    outsider(path).query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

fn message(id: u64, content: impl Into<Text>) -> Arc<StoredMessage> {
    let mut message = Message::new(Role::User, content);
    message.at = Some(Loose::Usual(Number(5.0)));
    Arc::new(StoredMessage { message, id, tokens: 2.0 })
}

fn appending(content: impl Into<Text>) -> Change {
    Change { appended: vec![message(1, content)], fold: None, facts: Vec::new(), at: 6.0, archive_max: 100 }
}

fn fact(key: &str, value: &str) -> Fact {
    Fact {
        key: key.into(),
        value: value.into(),
        source: Source::Extracted,
        at: Loose::Usual(Number(6.0)),
        other: Members::new(),
    }
}

fn base(store: &SqliteStore, id: &Text) -> Loaded {
    block_on(store.load(&Operation::detached(), id)).unwrap().unwrap_or_else(|| Loaded {
        session: Arc::new(Session::new(id.clone(), 1.0)),
        archive: None,
        revision: None,
    })
}

fn commit(store: &SqliteStore, id: &Text, change: Change) -> Result<Commit> {
    block_on(store.commit(&Operation::detached(), base(store, id), change))
}

/// Folds `count` messages, each with a vector.
fn fold(store: &SqliteStore, id: &Text, count: usize, summary: &str, archive_max: usize) {
    let base = base(store, id);
    let messages = base.session.recent.iter().take(count).map(|stored| ArchivedMessage {
        stored: Arc::clone(stored),
        compaction: base.session.compactions + 1,
        embedding: Some(Arc::new(Vector::from_f64(&[0.5, 1.0]))),
    });
    let fold = Folded { messages: messages.collect(), summary: summary.into() };
    let facts = vec![FactChange::Set(fact("k", summary)), FactChange::Remove("gone".into())];
    let change = Change { appended: Vec::new(), fold: Some(fold), facts, at: 7.0, archive_max };
    assert_eq!(block_on(store.commit(&Operation::detached(), base, change)).unwrap(), Commit::Done);
}

fn export(store: &SqliteStore, id: &Text) -> Option<String> {
    block_on(store.export(&Operation::detached(), id)).unwrap().map(|exported| match exported {
        Exported::State(session, archive) => to_json(&State { session: &session, archive: &archive }),
        Exported::Incomplete(json) => json.as_str().to_owned(),
    })
}

/// Polls a future once, as the JavaScript thread does before it hands it on.
fn poll_once<T>(future: &mut StoreFuture<'_, T>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
}

fn check_contract(durability: Durability) {
    let folder = Folder::new();
    let files = AtomicUsize::new(0);
    contract::check(&|| {
        let path = folder.file(&format!("{}.db", files.fetch_add(1, Ordering::Relaxed)));
        let options = SqliteOptions { durability, ..SqliteOptions::default() };
        let store = || Arc::new(SqliteStore::open(&path, options).unwrap()) as Arc<dyn Store>;
        (store(), store())
    });
}

#[test]
fn keeps_the_contract() {
    check_contract(Durability::Normal);
}

#[test]
fn keeps_the_contract_when_every_write_waits_for_the_disk() {
    check_contract(Durability::Full);
}

#[test]
fn keeps_the_contract_in_memory() {
    contract::check(&|| {
        let store = Arc::new(open(":memory:"));
        (Arc::clone(&store) as Arc<dyn Store>, store)
    });
}

#[track_caller]
fn check_refused(path: &str, expect: &str) {
    let before = std::fs::read(path).ok();
    let error = SqliteStore::open(path, SqliteOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store);
    assert_eq!(error.to_string(), format!("memoryline: cannot open `{path}`: {expect}"));
    assert_eq!(std::fs::read(path).ok(), before, "a file that is refused is not touched");
}

#[test]
fn files_that_are_not_ours_are_refused() {
    let folder = Folder::new();
    check_refused("", "the path is empty");
    let missing = folder.file("missing/a.db");
    check_refused(&missing, &format!("unable to open database file: {missing}"));
    let text = folder.file("text");
    std::fs::write(&text, "not a database, but long enough to be taken for one. ".repeat(20)).unwrap();
    check_refused(&text, "file is not a database");
    let stranger = folder.file("stranger.db");
    outsider(&stranger).execute_batch("CREATE TABLE theirs (a)").unwrap();
    check_refused(&stranger, "it is the database of another application (application id 0, not 1835363692)");
    outsider(&stranger).execute_batch("PRAGMA application_id = 77; DROP TABLE theirs").unwrap();
    check_refused(&stranger, "it is the database of another application (application id 77, not 1835363692)");
}

#[test]
fn a_newer_schema_is_refused() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    open(&path).close();
    outsider(&path).execute_batch("PRAGMA user_version = 7").unwrap();
    check_refused(&path, "its schema version is 7 and this release knows versions up to 1");
}

#[test]
fn a_path_is_only_a_path() {
    let folder = Folder::new();
    let path = folder.file("file:a.db?mode=memory");
    open(&path).close();
    assert!(Path::new(&path).exists());
}

#[test]
fn a_file_opened_again_gives_the_same_state() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let id = Text::from("a");
    let store = open(&path);
    for round in 0..5 {
        commit(&store, &id, appending(format!("m{round}"))).unwrap();
        commit(&store, &id, appending("more")).unwrap();
        fold(&store, &id, 1, &format!("s{round}"), 3);
    }
    let expect = export(&store, &id);
    drop(store);
    assert!(!Path::new(&format!("{path}-wal")).exists(), "the last to close brings the log into the file");
    let store = open(&path);
    let loaded = base(&store, &id);
    let archive = block_on(store.archive(&Operation::detached(), &loaded)).unwrap();
    assert_eq!(Some(to_json(&State { session: &loaded.session, archive: &archive })), expect);
    assert_eq!(export(&store, &id), expect);
    assert_eq!(archive.messages.len(), 3);
}

#[test]
fn ids_come_in_the_order_of_making() {
    let store = open(":memory:");
    let operation = Operation::detached();
    let lone = Text::from_utf16(&[0xD800]);
    let ids = [Text::from("b"), lone.clone(), Text::from("a"), Text::from("b")];
    for id in &ids {
        let json = Json::new(format!(r#"{{"version":1,"id":{}}}"#, to_json(id))).unwrap();
        block_on(store.replace(&operation, id, Imported::from_json(json))).unwrap();
    }
    assert_eq!(block_on(store.ids()).unwrap(), [Text::from("b"), lone.clone(), Text::from("a")]);
    block_on(store.delete(&operation, &lone)).unwrap();
    commit(&store, &lone, appending("x")).unwrap();
    assert_eq!(block_on(store.ids()).unwrap(), [Text::from("b"), Text::from("a"), lone]);
}

type MessageRow = (i64, i64, String, String, Vec<u8>, i64, i64);

#[test]
fn rows_are_readable_and_keep_their_lineage() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let store = open(&path);
    let id = Text::from("a");
    let mut first = appending("héllo");
    first.appended.extend([message(2, Text::from_utf16(&[0xD800])), message(3, "m3"), message(4, "m4")]);
    first.facts = vec![FactChange::Set(fact("gone", "x"))];
    commit(&store, &id, first).unwrap();
    // Whatever a fold does, the rows of messages are not written again.
    outsider(&path)
        .execute_batch("CREATE TRIGGER still BEFORE UPDATE ON messages BEGIN SELECT RAISE(FAIL, 'rewritten'); END")
        .unwrap();
    fold(&store, &id, 2, "first", 100);
    fold(&store, &id, 1, "second", 100);
    let connection = outsider(&path);
    let mut statement = connection
        .prepare("SELECT session, position, role, typeof(content), CAST(content AS BLOB), at, tokens FROM messages")
        .unwrap();
    let rows: Vec<MessageRow> =
        statement.query_map([], |row| row.try_into()).unwrap().collect::<rusqlite::Result<_>>().unwrap();
    let row = |position, kind: &str, bytes: &[u8]| (1, position, "user".into(), kind.into(), bytes.to_vec(), 5, 2);
    assert_eq!(
        rows,
        [
            row(0, "text", "héllo".as_bytes()),
            row(1, "blob", &[0xED, 0xA0, 0x80]),
            row(2, "text", b"m3"),
            row(3, "text", b"m4")
        ]
    );
    let mut statement = connection
        .prepare("SELECT message_start, message_end, compaction, at, summary, facts FROM folds ORDER BY place")
        .unwrap();
    let folds: Vec<(i64, i64, i64, i64, String, String)> =
        statement.query_map([], |row| row.try_into()).unwrap().collect::<rusqlite::Result<_>>().unwrap();
    let fact = |value: &str| format!(r#"{{"key":"k","value":"{value}","source":"extracted","at":6}}"#);
    let first = format!(
        r#"[{{"key":"k","before":null,"after":{}}},{{"key":"gone","before":{},"after":null}}]"#,
        fact("first"),
        r#"{"key":"gone","value":"x","source":"extracted","at":6}"#
    );
    let second = format!(
        r#"[{{"key":"k","before":{},"after":{}}},{{"key":"gone","before":null,"after":null}}]"#,
        fact("first"),
        fact("second")
    );
    assert_eq!(folds, [(0, 2, 1, 7, "first".into(), first), (2, 3, 2, 7, "second".into(), second)]);
    let vectors: Vec<(i64, String, Vec<u8>)> = connection
        .prepare("SELECT place & 4294967295, format, numbers FROM vectors")
        .unwrap()
        .query_map([], |row| row.try_into())
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert_eq!(vectors.len(), 3);
    assert_eq!(vectors[2], (2, "f32".into(), vec![0, 0, 0, 0x3F, 0, 0, 0x80, 0x3F]));
}

#[test]
fn what_is_trimmed_or_deleted_leaves_no_row() {
    const TABLES: [&str; 5] = ["sessions", "messages", "vectors", "facts", "folds"];
    let folder = Folder::new();
    let path = folder.file("a.db");
    let store = open(&path);
    let (a, b) = (Text::from("a"), Text::from("b"));
    for id in [&a, &b] {
        for round in 0..6 {
            commit(&store, id, appending("m")).unwrap();
            commit(&store, id, appending("m")).unwrap();
            fold(&store, id, 2, &format!("s{round}"), 3);
        }
    }
    let counts = || TABLES.map(|table| count(&path, table));
    // Three folds each: the last two hold the three messages, the one before is the summary they began with.
    assert_eq!(counts(), [2, 6, 6, 2, 6]);
    let starts = "SELECT archive_start, window_start, window_end FROM sessions WHERE id = 'a'";
    let starts: (i64, i64, i64) = outsider(&path).query_row(starts, [], |row| row.try_into()).unwrap();
    assert_eq!(starts, (9, 12, 12));
    commit(&store, &a, appending("m")).unwrap();
    fold(&store, &a, 1, "none kept", 0);
    assert_eq!(counts(), [2, 3, 3, 2, 4]);
    assert_eq!(base(&store, &a).session.summary, "none kept");
    block_on(store.delete(&Operation::detached(), &b)).unwrap();
    assert_eq!(counts(), [1, 0, 0, 1, 1]);
    block_on(store.delete(&Operation::detached(), &a)).unwrap();
    assert_eq!(counts(), [0; 5]);
}

#[test]
fn a_session_is_loaded_without_its_archive() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let id = Text::from("a");
    let store = open(&path);
    commit(&store, &id, appending("m1")).unwrap();
    commit(&store, &id, appending("m2")).unwrap();
    fold(&store, &id, 1, "s", 100);
    drop(store);
    // A row that cannot be read: whoever reads it says so.
    outsider(&path).execute_batch("UPDATE messages SET role = 'nobody' WHERE position = 0").unwrap();
    let store = open(&path);
    let loaded = base(&store, &id);
    assert_eq!(loaded.session.summary, "s");
    assert!(loaded.archive.is_none());
    let error = block_on(store.archive(&Operation::detached(), &loaded)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store);
    assert!(error.to_string().starts_with(&format!("memoryline: cannot read `{path}`: ")), "{error}");
    assert_eq!(commit(&store, &id, appending("m3")).unwrap(), Commit::Done);
}

#[test]
fn a_session_in_use_is_not_read_again() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let id = Text::from("a");
    let store = open(&path);
    commit(&store, &id, appending("m1")).unwrap();
    commit(&store, &id, appending("m2")).unwrap();
    // Whoever read these rows would fail. The row of the session is as it was.
    outsider(&path).execute_batch("UPDATE messages SET role = 'nobody'").unwrap();
    assert_eq!(commit(&store, &id, appending("m3")).unwrap(), Commit::Done);
    assert_eq!(base(&store, &id).session.recent.len(), 3);
    let other = open(&path);
    assert_eq!(block_on(other.load(&Operation::detached(), &id)).unwrap_err().kind(), ErrorKind::Store);
}

/// Queues one write per session while the file is locked, so that they share a transaction, and gives the outcomes.
fn write_together(path: &str, contents: &[&str]) -> Vec<Result<Commit>> {
    let store = open(path);
    let operation = Operation::detached();
    let bases: Vec<_> =
        (0..contents.len()).map(|number| base(&store, &Text::from(format!("s{number}").as_str()))).collect();
    let lock = outsider(path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut writes: Vec<_> = bases
        .into_iter()
        .zip(contents)
        .map(|(base, content)| store.commit(&operation, base, appending(*content)))
        .collect();
    writes.iter_mut().for_each(poll_once);
    lock.execute_batch("COMMIT").unwrap();
    writes.into_iter().map(block_on).collect()
}

#[track_caller]
fn check_one_fails(how: &str) {
    let folder = Folder::new();
    let path = folder.file("a.db");
    open(&path).close();
    outsider(&path)
        .execute_batch(&format!(
            "CREATE TRIGGER no BEFORE INSERT ON messages WHEN NEW.content = 'bad'
             BEGIN SELECT RAISE({how}, 'not this one'); END"
        ))
        .unwrap();
    let outcomes = write_together(&path, &["first", "good", "bad", "good"]);
    for (number, outcome) in outcomes.into_iter().enumerate() {
        if number == 2 {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Store);
            assert_eq!(error.to_string(), format!("memoryline: cannot write `{path}`: not this one"));
        } else {
            assert_eq!(outcome.unwrap(), Commit::Done);
        }
    }
    let store = open(&path);
    let ids: Vec<_> = block_on(store.ids()).unwrap();
    assert_eq!(ids, ["s0", "s1", "s3"]);
    assert_eq!(count(&path, "messages"), 3);
    assert_eq!(commit(&store, &"s2".into(), appending("good")).unwrap(), Commit::Done);
}

#[test]
fn one_failing_write_does_not_fail_the_others() {
    check_one_fails("ABORT");
    check_one_fails("FAIL");
    // As a full disk does: the whole transaction is gone.
    check_one_fails("ROLLBACK");
}

#[test]
fn a_file_that_stays_locked_is_an_error_and_nothing_more() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let id = Text::from("a");
    let store = SqliteStore::open(&path, SqliteOptions { busy_timeout_ms: 0, ..SqliteOptions::default() }).unwrap();
    commit(&store, &id, appending("m1")).unwrap();
    let before = export(&store, &id);
    let lock = outsider(&path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = commit(&store, &id, appending("m2")).unwrap_err();
    assert_eq!(error.to_string(), format!("memoryline: cannot write `{path}`: database is locked"));
    assert_eq!(export(&store, &id), before, "reading goes on");
    lock.execute_batch("COMMIT").unwrap();
    assert_eq!(commit(&store, &id, appending("m2")).unwrap(), Commit::Done);
}

#[test]
fn what_was_accepted_is_written_before_closing() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    let store = open(&path);
    let operation = Operation::detached();
    let ids: Vec<_> = (0..20).map(|number| Text::from(format!("s{number}").as_str())).collect();
    let bases: Vec<_> = ids.iter().map(|id| base(&store, id)).collect();
    // Nothing gets through meanwhile, so that there is something left to do when the store closes.
    let lock = outsider(&path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut writes: Vec<_> = bases.into_iter().map(|base| store.commit(&operation, base, appending("m"))).collect();
    writes.iter_mut().for_each(poll_once);
    // One that nobody waits for is written as well.
    drop(writes.pop());
    lock.execute_batch("COMMIT").unwrap();
    store.close();
    store.close();
    for write in writes {
        assert_eq!(block_on(write).unwrap(), Commit::Done);
    }
    assert_eq!(count(&path, "messages"), 20);
}

#[test]
fn a_closed_store_says_so() {
    let folder = Folder::new();
    for path in [":memory:", &folder.file("a.db")] {
        let store = open(path);
        let (operation, id) = (Operation::detached(), Text::from("a"));
        let base = base(&store, &id);
        let late = store.load(&operation, &id);
        store.close();
        let closed = |error: Error| assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        closed(block_on(late).unwrap_err());
        closed(block_on(store.load(&operation, &id)).unwrap_err());
        closed(block_on(store.export(&operation, &id)).unwrap_err());
        closed(block_on(store.ids()).unwrap_err());
        closed(block_on(store.commit(&operation, base, appending("m"))).unwrap_err());
        closed(block_on(store.delete(&operation, &id)).unwrap_err());
        let incomplete = Imported::Incomplete(Json::new("{}".to_owned()).unwrap());
        closed(block_on(store.replace(&operation, &id, incomplete)).unwrap_err());
    }
}

#[test]
fn a_store_may_be_dropped_with_work_under_way() {
    let folder = Folder::new();
    let path = folder.file("a.db");
    for _ in 0..20 {
        let store = open(&path);
        let id = Text::from("a");
        let base = base(&store, &id);
        let operation = Operation::detached();
        let mut write = store.commit(&operation, base, appending("m"));
        let _ = write.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(write);
    }
    assert_eq!(count(&path, "messages"), 20);
}

#[test]
fn many_may_open_a_fresh_file_at_once() {
    let folder = Folder::new();
    for round in 0..20 {
        let path = folder.file(&format!("{round}.db"));
        let start = Barrier::new(8);
        thread::scope(|scope| {
            for number in 0..8 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    let store = open(path);
                    let id = Text::from(format!("s{number}").as_str());
                    assert_eq!(commit(&store, &id, appending("m")).unwrap(), Commit::Done);
                });
            }
        });
        assert_eq!(count(&path, "sessions"), 8);
    }
}

const CHILD_FILE: &str = "MEMORYLINE_TEST_FILE";

/// What each of the eight processes of the next test does.
fn be_one_process_of_eight(path: &str) {
    let name = std::process::id().to_string();
    let store = open(path);
    for number in 0..25 {
        for id in ["shared", &name] {
            while commit(&store, &id.into(), appending(format!("{name}:{number}"))).unwrap() == Commit::Conflict {}
        }
    }
}

#[test]
fn eight_processes_open_a_fresh_file() {
    if let Ok(path) = std::env::var(CHILD_FILE) {
        return be_one_process_of_eight(&path);
    }
    let folder = Folder::new();
    let path = folder.file("a.db");
    let children: Vec<_> = (0..8)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "store::sqlite::tests::eight_processes_open_a_fresh_file"])
                .env(CHILD_FILE, &path)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let names: Vec<_> = children.iter().map(|child| child.id().to_string()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let store = open(&path);
    let contents = |id: &str| {
        let session = base(&store, &id.into()).session;
        session.recent.iter().map(|stored| stored.message.content.to_string()).collect::<Vec<_>>()
    };
    let shared = contents("shared");
    assert_eq!(shared.len(), 200);
    for name in names {
        let own: Vec<_> = (0..25).map(|number| format!("{name}:{number}")).collect();
        assert_eq!(contents(&name), own);
        let in_shared: Vec<_> = shared.iter().filter(|it| it.starts_with(&format!("{name}:"))).cloned().collect();
        assert_eq!(in_shared, own);
    }
    let sound: String = outsider(&path).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}
