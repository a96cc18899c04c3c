//! The suite that every store runs, always through two handles on the same data.
//!
//! [`check`] is the contract of [`Store`] as assertions. A store that cannot compare revisions runs
//! [`check_without_conflicts`] and writes down why.

#![expect(clippy::cast_precision_loss, reason = "the counts in these tests are small")]

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Commit, Exported, Imported, Loaded, Store};
use crate::error::{ErrorKind, Result};
use crate::facts::{Fact, FactChange, Source};
use crate::json::{Json, Loose, Members, Number, to_json};
use crate::message::{ArchivedMessage, Details, Message, Role, StoredMessage};
use crate::recall::{Numbers, Vector};
use crate::session::Operation;
use crate::state::{Archive, Change, Folded, OwnedState, Session, State};
use crate::text::Text;

/// Makes two handles on one and the same fresh, empty store.
pub(crate) type Make<'a> = &'a dyn Fn() -> (Arc<dyn Store>, Arc<dyn Store>);

/// Runs the whole suite.
pub(crate) fn check(make: Make<'_>) {
    check_values(make);
    stale_commits_conflict(&Pair::new(make));
    only_one_creates(&Pair::new(make));
    a_session_made_anew_is_another(&Pair::new(make));
    replacing_and_deleting_conflict(&Pair::new(make));
    archives_belong_to_their_revision(&Pair::new(make));
    concurrent_writers_lose_nothing(&Pair::new(make));
    readers_see_whole_changes(&Pair::new(make));
}

/// Runs the suite without the parts that need revisions to be compared, for the `reason` given.
pub(crate) fn check_without_conflicts(make: Make<'_>, reason: &str) {
    assert!(!reason.is_empty(), "leaving out a part of the contract needs a reason");
    check_values(make);
    the_last_writer_wins(&Pair::new(make));
}

fn check_values(make: Make<'_>) {
    an_unknown_session_is_nothing(&Pair::new(make));
    changes_come_back_in_order(&Pair::new(make));
    what_was_loaded_stays_as_it_was(&Pair::new(make));
    states_are_replaced_and_deleted(&Pair::new(make));
    incomplete_states_are_kept(&Pair::new(make));
    any_text_survives(&Pair::new(make));
    vectors_are_exact(&Pair::new(make));
    the_archive_has_a_limit(&Pair::new(make));
    unknown_members_are_kept(&Pair::new(make));
    facts_keep_their_order(&Pair::new(make));
    a_new_session_may_fold_at_once(&Pair::new(make));
    agrees_with_changes_applied_in_memory(make);
}

/// Drives a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Two handles, and the calls on them made plain.
struct Pair([Arc<dyn Store>; 2]);

impl Pair {
    fn new(make: Make<'_>) -> Self {
        let (first, second) = make();
        Self([first, second])
    }

    fn try_load(&self, handle: usize, id: &Text) -> Result<Option<Loaded>> {
        block_on(self.0[handle].load(&Operation::detached(), id))
    }

    fn load(&self, handle: usize, id: &Text) -> Option<Loaded> {
        self.try_load(handle, id).unwrap()
    }

    /// The session, or what a caller makes of a session that is not there.
    fn base(&self, handle: usize, id: &Text) -> Loaded {
        self.load(handle, id).unwrap_or_else(|| Loaded {
            session: Arc::new(Session::new(id.clone(), 1.0)),
            archive: None,
            revision: None,
        })
    }

    fn archive(&self, handle: usize, loaded: &Loaded) -> Result<Arc<Archive>> {
        block_on(self.0[handle].archive(&Operation::detached(), loaded))
    }

    fn commit(&self, handle: usize, base: Loaded, change: Change) -> Commit {
        block_on(self.0[handle].commit(&Operation::detached(), base, change)).unwrap()
    }

    #[track_caller]
    fn commit_now(&self, handle: usize, id: &Text, change: Change) {
        assert_eq!(self.commit(handle, self.base(handle, id), change), Commit::Done);
    }

    fn replace(&self, handle: usize, id: &Text, state: Imported) {
        block_on(self.0[handle].replace(&Operation::detached(), id, state)).unwrap();
    }

    fn delete(&self, handle: usize, id: &Text) {
        block_on(self.0[handle].delete(&Operation::detached(), id)).unwrap();
    }

    fn export(&self, handle: usize, id: &Text) -> Option<String> {
        block_on(self.0[handle].export(&Operation::detached(), id)).unwrap().map(|exported| match exported {
            Exported::State(session, archive) => print(&session, &archive),
            Exported::Incomplete(json) => json.as_str().to_owned(),
        })
    }

    fn loaded_json(&self, handle: usize, id: &Text) -> Option<String> {
        let loaded = self.load(handle, id)?;
        let archive = self.archive(handle, &loaded).unwrap();
        Some(print(&loaded.session, &archive))
    }

    /// Both handles give this state, however they are asked.
    #[track_caller]
    fn assert_is(&self, id: &Text, expect: Option<&str>) {
        for handle in [0, 1] {
            assert_eq!(self.loaded_json(handle, id).as_deref(), expect, "loaded through handle {handle}");
            assert_eq!(self.export(handle, id).as_deref(), expect, "exported through handle {handle}");
        }
    }
}

fn print(session: &Session, archive: &Archive) -> String {
    let json = serde_json::to_string(&State { session, archive }).unwrap();
    assert!(json.starts_with("{\"version\":1"));
    json
}

fn stored(id: u64, content: &str) -> Arc<StoredMessage> {
    let mut message = Message::new(Role::User, content);
    // Times that run backwards: order never comes from them.
    message.at = Some(Loose::Usual(Number(-(id as f64))));
    Arc::new(StoredMessage { message, id, tokens: 4.0 })
}

fn change() -> Change {
    Change { appended: Vec::new(), fold: None, facts: Vec::new(), at: 2.0, archive_max: usize::MAX }
}

fn appending(messages: impl IntoIterator<Item = Arc<StoredMessage>>) -> Change {
    Change { appended: messages.into_iter().collect(), ..change() }
}

/// Folds the first `count` messages of the window, as it is when `change` has appended its own.
fn folding(base: &Loaded, mut change: Change, count: usize, summary: &str) -> Change {
    let window = base.session.recent.iter().chain(&change.appended).take(count);
    let messages = window.map(|stored| ArchivedMessage {
        stored: Arc::clone(stored),
        compaction: base.session.compactions + 1,
        embedding: None,
    });
    change.fold = Some(Folded { messages: messages.collect(), summary: summary.into() });
    change
}

fn pinned(key: &str, value: &str) -> Fact {
    Fact {
        key: key.into(),
        value: value.into(),
        source: Source::Pinned,
        at: Loose::Usual(Number(3.0)),
        other: Members::new(),
    }
}

fn state(json: &str) -> Imported {
    let imported = Imported::from_json(Json::new(json.to_owned()).unwrap());
    assert!(matches!(imported, Imported::State(_)), "not a complete state: {json}");
    imported
}

fn contents(messages: impl IntoIterator<Item = impl AsRef<StoredMessage>>) -> Vec<String> {
    messages.into_iter().map(|stored| stored.as_ref().message.content.to_string()).collect()
}

fn an_unknown_session_is_nothing(pair: &Pair) {
    let id = Text::from("nobody");
    pair.assert_is(&id, None);
    pair.delete(0, &id);
    pair.assert_is(&id, None);
}

fn changes_come_back_in_order(pair: &Pair) {
    let id = Text::from("a");
    for number in 1..=6 {
        let handle = usize::from(number % 2 == 0);
        pair.commit_now(handle, &id, appending([stored(number, &format!("m{number}"))]));
    }
    let base = pair.base(1, &id);
    let fold = folding(&base, appending([stored(7, "m7"), stored(8, "m8")]), 4, "first");
    assert_eq!(pair.commit(1, base, fold), Commit::Done);
    let base = pair.base(0, &id);
    let fold = folding(&base, change(), 2, "second");
    assert_eq!(pair.commit(0, base, fold), Commit::Done);
    for handle in [0, 1] {
        let loaded = pair.load(handle, &id).unwrap();
        let archive = pair.archive(handle, &loaded).unwrap();
        assert_eq!(contents(&loaded.session.recent), ["m7", "m8"]);
        assert_eq!(
            contents(archive.messages.iter().map(|archived| &archived.stored)),
            ["m1", "m2", "m3", "m4", "m5", "m6"]
        );
        assert_eq!(archive.messages.iter().map(|archived| archived.compaction).collect::<Vec<_>>(), [1, 1, 1, 1, 2, 2]);
        assert_eq!(loaded.session.summary, "second");
        assert_eq!((loaded.session.seq, loaded.session.compactions), (8, 2));
        assert!((loaded.session.window_tokens() - 8.0).abs() < f64::EPSILON);
    }
}

fn what_was_loaded_stays_as_it_was(pair: &Pair) {
    let id = Text::from("a");
    pair.commit_now(0, &id, appending([stored(1, "m1"), stored(2, "m2")]));
    let held = pair.load(0, &id).unwrap();
    let held_archive = pair.archive(0, &held).unwrap();
    let before = print(&held.session, &held_archive);
    let base = pair.base(0, &id);
    let fold = folding(&base, appending([stored(3, "m3")]), 1, "s");
    assert_eq!(pair.commit(0, base, fold), Commit::Done);
    assert_eq!(print(&held.session, &held_archive), before);
    assert_eq!(contents(&pair.load(0, &id).unwrap().session.recent), ["m2", "m3"]);
}

const STATE_A: &str = concat!(
    r#"{"version":1,"id":"a","recent":[{"role":"user","content":"hi","id":9,"at":5,"tokens":4.5},"#,
    r#"{"role":"tool","content":"","id":2,"at":null,"tokens":1,"name":null,"toolCallId":"c"}],"#,
    r#""archive":[{"role":"assistant","content":"yo","id":9,"at":"then","tokens":5,"compaction":7,"embedding":[0.1,2]},"#,
    r#"{"role":"user","content":"yo","id":1,"at":4,"tokens":5,"compaction":7},"#,
    r#"{"role":"user","content":"yo","id":1,"at":4,"tokens":5,"compaction":3,"embedding":[]}],"summary":"s","#,
    r#""facts":[{"key":"k","value":"v","source":"pinned","at":1}],"seq":2,"compactions":1,"#,
    r#""createdAt":1,"updatedAt":null}"#
);

fn states_are_replaced_and_deleted(pair: &Pair) {
    let (a, b) = (Text::from("a"), Text::from("b"));
    let other = STATE_A.replace(r#""id":"a""#, r#""id":"b""#);
    pair.replace(0, &a, state(STATE_A));
    pair.replace(1, &b, state(&other));
    pair.assert_is(&a, Some(STATE_A));
    pair.commit_now(1, &a, appending([stored(10, "more")]));
    let base = pair.base(0, &a);
    let fold = folding(&base, change(), 2, "t");
    assert_eq!(pair.commit(0, base, fold), Commit::Done);
    assert_eq!(contents(&pair.load(1, &a).unwrap().session.recent), ["more"]);
    pair.commit_now(0, &a, appending([stored(3, "smaller id")]));
    assert_eq!(pair.load(1, &a).unwrap().session.seq, 10, "ids are never used again");
    pair.replace(1, &a, state(STATE_A));
    pair.assert_is(&a, Some(STATE_A));
    let minimal = concat!(
        r#"{"version":1,"id":"a","recent":[],"archive":[],"summary":"kept","facts":[],"seq":0,"compactions":0,"#,
        r#""createdAt":0,"updatedAt":0}"#
    );
    pair.replace(0, &a, state(minimal));
    pair.assert_is(&a, Some(minimal));
    pair.delete(0, &a);
    pair.assert_is(&a, None);
    pair.assert_is(&b, Some(&other));
}

fn incomplete_states_are_kept(pair: &Pair) {
    let id = Text::from("a");
    let json = r#"{"version":1,"id":"a","x":"\ud800"}"#;
    let incomplete = || Imported::from_json(Json::new(json.to_owned()).unwrap());
    pair.replace(0, &id, incomplete());
    for handle in [0, 1] {
        assert_eq!(pair.export(handle, &id).as_deref(), Some(json));
        let error = pair.try_load(handle, &id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidState);
        assert!(error.to_string().contains("`recent`"), "{error}");
    }
    pair.replace(1, &id, state(STATE_A));
    pair.assert_is(&id, Some(STATE_A));
    pair.replace(0, &id, incomplete());
    assert_eq!(pair.export(1, &id).as_deref(), Some(json));
    assert_eq!(pair.try_load(1, &id).unwrap_err().kind(), ErrorKind::InvalidState);
    pair.delete(1, &id);
    pair.assert_is(&id, None);
}

fn any_text_survives(pair: &Pair) {
    let texts = [
        Text::from_utf16(&[0xD800]),
        Text::from_utf16(&[0xDC00, 0xD800]),
        Text::from_utf16(&[0x61, 0xD83D, 0xDE00, 0xDFFF]),
        Text::from("\u{FFFD}"),
        Text::from("a\0b"),
        Text::from("a"),
        Text::from("\0"),
        Text::from("1"),
        Text::from("1.0"),
        Text::from("null"),
        Text::from("__proto__"),
        Text::from("A"),
        Text::from("a "),
    ];
    for (idx, text) in texts.iter().enumerate() {
        let handle = idx % 2;
        let mut message = Message::new(Role::Assistant, text.clone());
        message.at = Some(Loose::Usual(Number(0.5)));
        let calls = format!(r#"[{{"id":{0},"name":{0},"arguments":{0},"more":{0}}}]"#, to_json(text));
        message.details = Some(Box::new(Details {
            name: Some(Loose::Usual(text.clone())),
            tool_calls: Some(serde_json::from_str(&calls).unwrap()),
            tool_call_id: Some(text.clone()),
            meta: Json::new(format!(r#"{{"m":{}}}"#, to_json(text))),
            parts: Json::new(format!(r#"[{{"type":"text","text":{}}}]"#, to_json(text))),
            provider: Some(text.clone()),
            is_error: idx % 2 == 1,
            extra: Json::new(format!(r#"{{"e":{}}}"#, to_json(text))),
            other: vec![("later".into(), Json::new(to_json(text)).unwrap())],
        }));
        let mut fact = pinned("", "");
        (fact.key, fact.value) = (text.clone(), text.clone());
        fact.other = vec![("later".into(), Json::new(to_json(text)).unwrap())];
        let first = Change {
            appended: vec![Arc::new(StoredMessage { message, id: 1, tokens: 1.0 })],
            facts: vec![FactChange::Set(fact)],
            ..change()
        };
        let mut base = pair.base(handle, text);
        assert!(base.revision.is_none(), "{text:?} is not another id");
        let mut fold = folding(&base, appending([stored(2, "x")]), 1, "");
        if let Some(fold) = &mut fold.fold {
            fold.summary = text.clone();
        }
        assert_eq!(pair.commit(handle, base, first), Commit::Done);
        base = pair.base(handle, text);
        let expect = pair.loaded_json(1 - handle, text).unwrap();
        assert!(expect.contains(&to_json(text)));
        pair.assert_is(text, Some(&expect));
        fold = folding(&base, appending([stored(2, "x")]), 1, "");
        if let Some(fold) = &mut fold.fold {
            fold.summary = text.clone();
        }
        assert_eq!(pair.commit(handle, base, fold), Commit::Done);
    }
    for (idx, text) in texts.iter().enumerate() {
        let loaded = pair.load(idx % 2, text).unwrap();
        let archive = pair.archive(idx % 2, &loaded).unwrap();
        let message = &archive.messages[0].stored.message;
        let details = message.details.as_ref().unwrap();
        assert_eq!((&loaded.session.id, &loaded.session.summary), (text, text));
        assert_eq!((&message.content, &details.name), (text, &Some(Loose::Usual(text.clone()))));
        assert_eq!(details.tool_call_id.as_ref(), Some(text));
        assert_eq!(details.tool_calls.as_ref().unwrap().calls[0].name, *text);
        assert_eq!((&loaded.session.facts[0].key, &loaded.session.facts[0].value), (text, text));
    }
}

fn vectors_are_exact(pair: &Pair) {
    let id = Text::from("a");
    let vectors = [
        Vector::from_f32(Box::from([0.1_f32, -0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, 16_777_217.0])),
        Vector::from_f64(&[0.1, -0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, 9_007_199_254_740_993.0]),
        Vector::from_f32((0..1_536_u16).map(|number| f32::from(number).sin()).collect()),
        Vector::from_f32(Box::from([])),
    ];
    pair.commit_now(0, &id, appending((1..=5).map(|number| stored(number, "m"))));
    let base = pair.base(0, &id);
    let mut fold = folding(&base, change(), 5, "s");
    for (archived, vector) in fold.fold.as_mut().unwrap().messages.iter_mut().zip(&vectors) {
        archived.embedding = Some(Arc::new(vector.clone()));
    }
    assert_eq!(pair.commit(0, base, fold), Commit::Done);
    let bits = |vector: &Vector| vector.to_f64().into_iter().map(f64::to_bits).collect::<Vec<_>>();
    // JSON has no negative zero, and a store may keep JSON.
    let without_sign = |vector: &Vector| vector.to_f64().into_iter().map(|it| (it + 0.0).to_bits()).collect::<Vec<_>>();
    for handle in [0, 1] {
        let loaded = pair.load(handle, &id).unwrap();
        let archive = pair.archive(handle, &loaded).unwrap();
        for (archived, vector) in archive.messages.iter().zip(&vectors) {
            let found = archived.embedding.as_ref().unwrap();
            assert!(bits(found) == bits(vector) || bits(found) == without_sign(vector), "{found:?} is not {vector:?}");
            let is_single = |vector: &Vector| matches!(vector.numbers(), Numbers::Single(_));
            assert_eq!(is_single(found), is_single(vector));
            assert_eq!(found.squared_length().to_bits(), vector.squared_length().to_bits());
        }
        assert_eq!(archive.messages[4].embedding, None);
    }
}

fn the_archive_has_a_limit(pair: &Pair) {
    let id = Text::from("a");
    let mut next = 1;
    // Each step folds three messages under the limit, after which these are archived.
    for (limit, expect) in
        [(5, "m1 m2 m3"), (5, "m2 m3 m4 m5 m6"), (0, ""), (2, "m11 m12"), (usize::MAX, "m11 m12 m13 m14 m15")]
    {
        let base = pair.base(0, &id);
        let appended = (next..next + 3).map(|number| stored(number, &format!("m{number}")));
        let mut fold = folding(&base, appending(appended), 3, &format!("s{next}"));
        fold.archive_max = limit;
        for archived in &mut fold.fold.as_mut().unwrap().messages {
            archived.embedding = Some(Arc::new(Vector::from_f64(&[archived.stored.id as f64])));
        }
        assert_eq!(pair.commit(0, base, fold), Commit::Done);
        next += 3;
        for handle in [0, 1] {
            let loaded = pair.load(handle, &id).unwrap();
            let archive = pair.archive(handle, &loaded).unwrap();
            assert_eq!(contents(archive.messages.iter().map(|archived| &archived.stored)).join(" "), expect);
            assert!(archive.messages.iter().all(|archived| {
                archived.embedding.as_ref().unwrap().to_f64() == [archived.stored.id as f64]
                    && archived.compaction == archived.stored.id.div_ceil(3)
            }));
        }
    }
    // A limit that only becomes smaller does nothing until the next fold.
    pair.commit_now(1, &id, Change { archive_max: 0, ..appending([stored(next, "last")]) });
    let loaded = pair.load(0, &id).unwrap();
    assert_eq!(pair.archive(0, &loaded).unwrap().messages.len(), 5);
}

fn unknown_members_are_kept(pair: &Pair) {
    let id = Text::from("a");
    let json = concat!(
        r#"{"version":1,"id":"a","recent":[{"role":"user","content":"hi","id":2,"at":5,"tokens":4,"z":1.50,"b":null,"a":[]}],"#,
        r#""archive":[{"role":"user","content":"yo","id":1,"at":4,"tokens":5,"compaction":1,"later":{"b":1,"a":"\udc00"}}],"#,
        r#""summary":"","facts":[{"key":"k","value":"v","source":"extracted","at":1,"sure":0.10}],"seq":2,"compactions":1,"#,
        r#""createdAt":"1","updatedAt":[2],"zeta":1e3,"alpha":"\ud800"}"#
    );
    pair.replace(0, &id, state(json));
    pair.assert_is(&id, Some(json));
    pair.commit_now(1, &id, change());
    pair.assert_is(&id, Some(&json.replace(r#""updatedAt":[2]"#, r#""updatedAt":2"#)));
}

fn facts_keep_their_order(pair: &Pair) {
    let id = Text::from("a");
    let shown = |handle| {
        let facts = pair.load(handle, &id).unwrap().session.facts.clone();
        facts.iter().map(|fact| format!("{}={}", fact.key, fact.value)).collect::<Vec<_>>().join(" ")
    };
    let set = |key, value| FactChange::Set(pinned(key, value));
    for (facts, expect) in [
        (vec![set("c", "1"), set("a", "2"), set("b", "3")], "c=1 a=2 b=3"),
        (vec![set("a", "4"), set("d", "5"), set("d", "6")], "c=1 a=4 b=3 d=6"),
        (
            vec![FactChange::Remove("d".into()), FactChange::Remove("c".into()), FactChange::Remove("x".into())],
            "a=4 b=3",
        ),
        (vec![set("c", "7"), FactChange::Remove("a".into()), set("a", "8")], "b=3 c=7 a=8"),
    ] {
        pair.commit_now(0, &id, Change { facts, ..change() });
        assert_eq!([shown(0), shown(1)], [expect, expect]);
    }
    // An import may name a key twice: the first is the one that is set, all are removed.
    let twice = STATE_A.replace(
        r#"{"key":"k","value":"v","source":"pinned","at":1}"#,
        r#"{"key":"k","value":"v","source":"pinned","at":1},{"key":"k","value":"w","source":"pinned","at":1}"#,
    );
    pair.replace(1, &id, state(&twice));
    pair.commit_now(0, &id, Change { facts: vec![set("k", "new")], ..change() });
    assert_eq!([shown(0), shown(1)], ["k=new k=w", "k=new k=w"]);
    pair.commit_now(1, &id, Change { facts: vec![FactChange::Remove("k".into())], ..change() });
    assert_eq!([shown(0), shown(1)], ["", ""]);
}

fn a_new_session_may_fold_at_once(pair: &Pair) {
    let id = Text::from("a");
    let base = pair.base(0, &id);
    let mut fold = folding(&base, appending((1..=4).map(|number| stored(number, "m"))), 3, "s");
    fold.facts = vec![FactChange::Set(pinned("k", "v"))];
    assert_eq!(pair.commit(0, base.clone(), fold.clone()), Commit::Done);
    let (mut session, mut archive) = (Session::clone(&base.session), Archive::default());
    session.apply(&fold);
    archive.apply(&fold);
    pair.assert_is(&id, Some(&print(&session, &archive)));
}

fn stale_commits_conflict(pair: &Pair) {
    let id = Text::from("a");
    pair.commit_now(0, &id, appending([stored(1, "m1")]));
    let stale = [pair.base(0, &id), pair.base(1, &id)];
    pair.commit_now(1, &id, appending([stored(2, "m2")]));
    let expect = pair.loaded_json(0, &id).unwrap();
    for (handle, base) in stale.into_iter().enumerate() {
        let fold = folding(&base, appending([stored(2, "lost")]), 1, "lost");
        assert_eq!(pair.commit(handle, base, fold), Commit::Conflict);
        pair.assert_is(&id, Some(&expect));
    }
    pair.commit_now(0, &id, appending([stored(3, "m3")]));
    assert_eq!(contents(&pair.load(1, &id).unwrap().session.recent), ["m1", "m2", "m3"]);
}

fn only_one_creates(pair: &Pair) {
    let id = Text::from("a");
    let bases = [pair.base(0, &id), pair.base(1, &id)];
    let outcomes: Vec<_> = bases
        .into_iter()
        .enumerate()
        .map(|(handle, base)| pair.commit(handle, base, appending([stored(1, &format!("from {handle}"))])))
        .collect();
    assert_eq!(outcomes, [Commit::Done, Commit::Conflict]);
    assert_eq!(contents(&pair.load(1, &id).unwrap().session.recent), ["from 0"]);
}

fn a_session_made_anew_is_another(pair: &Pair) {
    let id = Text::from("a");
    let make = |handle| pair.commit_now(handle, &id, appending([stored(1, "m1")]));
    make(0);
    let mut old = vec![pair.base(0, &id), pair.base(1, &id)];
    for round in 0..4 {
        pair.delete(round % 2, &id);
        assert_eq!(pair.commit(1, old[0].clone(), change()), Commit::Conflict, "there is no session to change");
        pair.assert_is(&id, None);
        make(1 - round % 2);
        if round == 2 {
            pair.commit_now(1, &id, change());
        }
        let expect = pair.loaded_json(0, &id).unwrap();
        for base in &old {
            assert_eq!(pair.commit(0, base.clone(), change()), Commit::Conflict, "round {round}");
        }
        pair.assert_is(&id, Some(&expect));
        old.extend([pair.base(0, &id), pair.base(1, &id)]);
    }
    let (revisions, count) = (old.iter().map(|base| base.revision), 5);
    assert_eq!(revisions.collect::<std::collections::HashSet<_>>().len(), count);
}

fn replacing_and_deleting_conflict(pair: &Pair) {
    let id = Text::from("a");
    pair.replace(0, &id, state(STATE_A));
    let before = pair.base(1, &id);
    pair.replace(0, &id, state(STATE_A));
    assert_eq!(pair.commit(1, before.clone(), change()), Commit::Conflict);
    pair.assert_is(&id, Some(STATE_A));
    let json = Json::new(r#"{"version":1,"id":"a"}"#.to_owned()).unwrap();
    pair.replace(1, &id, Imported::from_json(json));
    assert_eq!(pair.commit(0, before.clone(), change()), Commit::Conflict);
    let fresh = Loaded { session: Arc::new(Session::new(id.clone(), 0.0)), archive: None, revision: None };
    assert_eq!(pair.commit(0, fresh, change()), Commit::Conflict, "the incomplete state is there");
    pair.delete(0, &id);
    assert_eq!(pair.commit(1, before, change()), Commit::Conflict);
    pair.assert_is(&id, None);
}

fn archives_belong_to_their_revision(pair: &Pair) {
    let id = Text::from("a");
    pair.replace(0, &id, state(STATE_A));
    let loaded = [pair.load(0, &id).unwrap(), pair.load(1, &id).unwrap()];
    let base = pair.base(0, &id);
    let fold = folding(&base, change(), 1, "s");
    assert_eq!(pair.commit(0, base, fold), Commit::Done);
    for (handle, loaded) in loaded.iter().enumerate() {
        // The one that belongs to it, or the word that it is gone: never another.
        match pair.archive(handle, loaded) {
            Ok(archive) => assert_eq!(print(&loaded.session, &archive), STATE_A),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
        }
    }
}

fn concurrent_writers_lose_nothing(pair: &Pair) {
    const THREADS: usize = 8;
    const ADDS: usize = 25;
    let ids: Vec<Text> = vec!["shared".into(), "shared too".into()];
    thread::scope(|scope| {
        for number in 0..THREADS {
            let ids = &ids;
            scope.spawn(move || {
                let handle = number % 2;
                for add in 0..ADDS {
                    let id = &ids[(number / 2) % 2];
                    loop {
                        let base = pair.base(handle, id);
                        let appended = appending([stored(base.session.seq + 1, &format!("{number}:{add}"))]);
                        let change =
                            if base.session.recent.len() > 6 { folding(&base, appended, 4, "s") } else { appended };
                        if pair.commit(handle, base, change) == Commit::Done {
                            break;
                        }
                    }
                }
            });
        }
    });
    let mut seen = Vec::new();
    for id in &ids {
        let loaded = pair.load(0, id).unwrap();
        let archive = pair.archive(0, &loaded).unwrap();
        let all = archive.messages.iter().map(|archived| &archived.stored).chain(&loaded.session.recent);
        let all: Vec<_> = all.cloned().collect();
        let numbers: Vec<_> = all.iter().map(|stored| stored.id).collect();
        assert_eq!(numbers, (1..=all.len() as u64).collect::<Vec<_>>());
        seen.extend(contents(all));
        pair.assert_is(id, Some(&print(&loaded.session, &archive)));
    }
    for number in 0..THREADS {
        let own = format!("{number}:");
        let own: Vec<_> = seen.iter().filter(|content| content.starts_with(&own)).cloned().collect();
        assert_eq!(own, (0..ADDS).map(|add| format!("{number}:{add}")).collect::<Vec<_>>());
    }
}

/// Whatever a reader meets, the parts of a change are all there or none.
fn readers_see_whole_changes(pair: &Pair) {
    const CHANGES: u64 = 60;
    let id = Text::from("a");
    let is_done = AtomicBool::new(false);
    let look = |handle: usize| {
        let Some(loaded) = pair.load(handle, &id) else { return };
        let session = &loaded.session;
        let folded = match pair.archive(handle, &loaded) {
            Ok(archive) => archive.messages.len() as u64,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Conflict);
                session.compactions
            }
        };
        assert_eq!(folded, session.compactions);
        assert_eq!(session.summary, if folded == 0 { String::new() } else { format!("s{folded}") }.as_str());
        assert_eq!(session.recent.back().map(|stored| stored.id), Some(session.seq));
        assert_eq!(session.recent.len() as u64 + folded, session.seq);
        assert_eq!(session.facts[0].value, session.seq.to_string().as_str());
    };
    thread::scope(|scope| {
        for handle in [0, 1] {
            let (look, is_done) = (&look, &is_done);
            scope.spawn(move || {
                while !is_done.load(Ordering::Acquire) {
                    look(handle);
                }
            });
        }
        // Also when an assertion below fails, the readers have to come to an end.
        let _stop = OnDrop(|| is_done.store(true, Ordering::Release));
        for number in 1..=CHANGES {
            let base = pair.base(0, &id);
            let mut next = appending([stored(number, "m")]);
            next.facts = vec![FactChange::Set(pinned("last", &number.to_string()))];
            if number > 3 {
                next = folding(&base, next, 1, &format!("s{}", base.session.compactions + 1));
            }
            assert_eq!(pair.commit(0, base, next), Commit::Done);
        }
    });
    look(1);
}

struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn the_last_writer_wins(pair: &Pair) {
    let id = Text::from("a");
    let bases = [pair.base(0, &id), pair.base(1, &id)];
    for (handle, base) in bases.into_iter().enumerate() {
        let content = format!("from {handle}");
        assert_eq!(pair.commit(handle, base, appending([stored(1, &content)])), Commit::Done);
        assert_eq!(contents(&pair.load(1 - handle, &id).unwrap().session.recent), [content]);
    }
}

/// A step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Commit { appended: Vec<Message>, fold: Option<Fold>, facts: Vec<FactChange>, archive_max: usize },
    Replace(Box<OwnedState>),
    Delete,
}

#[derive(Clone, Debug)]
struct Fold {
    share: f64,
    vectors: Vec<Option<Vector>>,
    summary: Text,
}

fn agrees_with_changes_applied_in_memory(make: Make<'_>) {
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let histories = prop::collection::vec((0usize..2, 0usize..2, steps()), 1..14);
    let outcome = runner.run(&histories, |history| {
        let pair = Pair::new(make);
        let ids = [Text::from("a"), Text::from_utf16(&[0xDC00])];
        let mut models: [Option<OwnedState>; 2] = [None, None];
        for (idx, (handle, session, step)) in history.into_iter().enumerate() {
            let (id, model) = (&ids[session], &mut models[session]);
            take_step(&pair, handle, id, step, model, idx as f64);
            // Asking both handles each time would leave no stale entry in any cache to be found.
            let expect = model.as_ref().map(|state| print(&state.session, &state.archive));
            prop_assert_eq!(pair.loaded_json(1 - handle, id), expect.clone());
            if idx % 3 == 0 {
                pair.assert_is(id, expect.as_deref());
            }
        }
        for (id, model) in ids.iter().zip(&models) {
            let expect = model.as_ref().map(|state| print(&state.session, &state.archive));
            pair.assert_is(id, expect.as_deref());
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

fn take_step(pair: &Pair, handle: usize, id: &Text, step: Step, model: &mut Option<OwnedState>, now: f64) {
    match step {
        Step::Commit { appended, fold, facts, archive_max } => {
            let base = pair.base(handle, id);
            let mut seq = base.session.seq;
            let appended = appended.into_iter().map(|message| {
                seq += 1;
                Arc::new(StoredMessage { message, id: seq, tokens: 1.5 })
            });
            let mut change = Change { appended: appended.collect(), fold: None, facts, at: now, archive_max };
            if let Some(Fold { share, vectors, summary }) = fold {
                let all = base.session.recent.len() + change.appended.len();
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
                let count = (all as f64 * share) as usize;
                change = folding(&base, change, count, "");
                if let Some(fold) = &mut change.fold {
                    fold.summary = summary;
                    for (archived, vector) in fold.messages.iter_mut().zip(vectors) {
                        archived.embedding = vector.map(Arc::new);
                    }
                }
            }
            let state = model.get_or_insert_with(|| OwnedState {
                session: Session::clone(&base.session),
                archive: Archive::default(),
            });
            state.session.apply(&change);
            state.archive.apply(&change);
            assert_eq!(pair.commit(handle, base, change), Commit::Done);
        }
        Step::Replace(mut state) => {
            state.session.id = id.clone();
            *model = Some((*state).clone());
            pair.replace(handle, id, Imported::State(state));
        }
        Step::Delete => {
            *model = None;
            pair.delete(handle, id);
        }
    }
}

fn texts() -> impl Strategy<Value = Text> {
    let units = prop_oneof![Just(0u16), 0x20u16..0x7F, any::<u16>(), 0xD800u16..0xE000];
    prop::collection::vec(units, 0..6).prop_map(|units| Text::from_utf16(&units))
}

fn jsons() -> impl Strategy<Value = Json> {
    prop::sample::select(vec!["null", "{\"b\":1.50,\"a\":\"\\ud800\"}", "[ ]", "true", "{\"\":[null]}"])
        .prop_map(|json| Json::new(json.to_owned()).unwrap())
}

fn times() -> impl Strategy<Value = Loose<Number>> {
    let numbers = prop_oneof![
        (0_i64..2_000_000_000_000).prop_map(|number| number as f64),
        any::<f64>().prop_filter("finite", |number| number.is_finite()),
        prop::sample::select(vec![9_007_199_254_740_992.0, -0.0, 1e300, 0.1])
    ];
    prop_oneof![6 => numbers.prop_map(|number| Loose::Usual(Number(number))), 1 => jsons().prop_map(Loose::Other)]
}

fn members() -> impl Strategy<Value = Members> {
    let keys = prop::sample::subsequence(vec!["later", "a", "", "Name", "\u{1F600}"], 0..3);
    prop_oneof![3 => Just(Members::new()), 1 => (keys, jsons()).prop_map(|(keys, json)| {
        keys.into_iter().map(|key| (Text::from(key), json.clone())).collect()
    })]
}

fn details() -> impl Strategy<Value = Details> {
    let names = prop_oneof![texts().prop_map(Loose::Usual), jsons().prop_map(Loose::Other)];
    let calls = prop::sample::select(vec![
        "null",
        "[]",
        r#"[{"id":"\ud800","name":"f","arguments":{"b":1,"a":2},"x":1},{"id":"","name":"","arguments":"{"}]"#,
    ]);
    let calls = calls.prop_map(|json| serde_json::from_str(json).unwrap());
    let documented =
        (prop::option::of(names), prop::option::of(calls), prop::option::of(texts()), prop::option::of(jsons()));
    let of_provider =
        (prop::option::of(jsons()), prop::option::of(texts()), any::<bool>(), prop::option::of(jsons()), members());
    (documented, of_provider).prop_map(
        |((name, tool_calls, tool_call_id, meta), (parts, provider, is_error, extra, other))| Details {
            name,
            tool_calls,
            tool_call_id,
            meta,
            parts,
            provider,
            is_error,
            extra,
            other,
        },
    )
}

fn messages() -> impl Strategy<Value = Message> {
    let roles = prop::sample::select(vec![Role::User, Role::Assistant, Role::System, Role::Tool]);
    let details = prop_oneof![2 => Just(None), 1 => details().prop_map(|details| Some(Box::new(details)))];
    (roles, texts(), times(), details).prop_map(|(role, content, at, details)| Message {
        role,
        content,
        at: Some(at),
        details,
    })
}

fn vectors() -> impl Strategy<Value = Option<Vector>> {
    let finite = |number: &f64| number.is_finite();
    let singles = prop::collection::vec(any::<f32>().prop_map(f64::from).prop_filter("finite", finite), 0..4);
    let doubles = prop::collection::vec(any::<f64>().prop_filter("finite", finite), 0..4);
    prop::option::of(prop_oneof![singles, doubles].prop_map(|numbers| Vector::from_f64(&numbers)))
}

fn facts() -> impl Strategy<Value = Fact> {
    let keys =
        prop::sample::select(vec![Text::from("a"), Text::from("b"), Text::from("c"), Text::from_utf16(&[0xD800])]);
    let sources = prop::sample::select(vec![Source::Pinned, Source::Extracted]);
    (keys, texts(), sources, times(), members()).prop_map(|(key, value, source, at, other)| Fact {
        key,
        value,
        source,
        at,
        other,
    })
}

fn fact_changes() -> impl Strategy<Value = FactChange> {
    prop_oneof![
        3 => facts().prop_map(FactChange::Set),
        1 => facts().prop_map(|fact| FactChange::Remove(fact.key))
    ]
}

fn tokens() -> impl Strategy<Value = f64> {
    prop_oneof![(0u16..500).prop_map(f64::from), 0.0..9.0]
}

fn states() -> impl Strategy<Value = OwnedState> {
    let numbered = || (messages(), 0u64..9, tokens());
    let stored = |(message, id, tokens)| Arc::new(StoredMessage { message, id, tokens });
    let archived = prop::collection::vec((numbered(), 0u64..4, vectors()), 0..6);
    let session = (texts(), prop::collection::vec(facts(), 0..4), 0u64..99, 0u64..9, times(), times(), members());
    (prop::collection::vec(numbered(), 0..5), archived, session).prop_map(
        move |(recent, archived, (summary, facts, seq, compactions, created_at, updated_at, other))| {
            let mut session = Session::new(Text::new(), 0.0);
            for message in recent {
                session.push(stored(message));
            }
            session.summary = summary;
            session.facts = facts;
            (session.seq, session.compactions) = (seq, compactions);
            (session.created_at, session.updated_at, session.other) = (created_at, updated_at, other);
            let messages: VecDeque<_> = archived
                .into_iter()
                .map(|(message, compaction, embedding)| ArchivedMessage {
                    stored: stored(message),
                    compaction,
                    embedding: embedding.map(Arc::new),
                })
                .collect();
            OwnedState { session, archive: Archive { messages } }
        },
    )
}

fn steps() -> impl Strategy<Value = Step> {
    let folds = (0.0..=1.0, prop::collection::vec(vectors(), 0..6), texts())
        .prop_map(|(share, vectors, summary)| Fold { share, vectors, summary });
    let limits = prop::sample::select(vec![0, 1, 4, 5_000, usize::MAX]);
    let commits = (
        prop::collection::vec(messages(), 0..4),
        prop::option::of(folds),
        prop::collection::vec(fact_changes(), 0..3),
        limits,
    );
    prop_oneof![
        8 => commits.prop_map(|(appended, fold, facts, archive_max)| Step::Commit { appended, fold, facts, archive_max }),
        1 => states().prop_map(|state| Step::Replace(Box::new(state))),
        1 => Just(Step::Delete)
    ]
}
