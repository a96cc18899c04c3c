//! The state of a session: what a store keeps, and the one way it changes.
//!
//! A session is two values. The [`Session`] is what every turn reads: the window, the summary, the facts and the
//! counters. The [`Archive`] is everything that was folded out, which only recall and exports read. A store can
//! therefore hold the first ready and fetch the second when it is asked for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::facts::{Fact, FactChange};
use crate::json::{Loose, Members, Number, keep_member, member};
use crate::message::{ArchivedMessage, StoredMessage, whole_number};
use crate::text::Text;

/// The version of the state's JSON shape.
pub const STATE_VERSION: u32 = 1;

/// The members that every complete state has, beside its version and id.
pub const STATE_PARTS: [&str; 8] =
    ["recent", "archive", "summary", "facts", "seq", "compactions", "createdAt", "updatedAt"];

/// What every turn of a session reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// The app's name for the session.
    pub id: Text,
    /// The window: the latest messages, oldest first.
    pub recent: VecDeque<Arc<StoredMessage>>,
    /// What was said in everything folded so far.
    pub summary: Text,
    /// Pinned and extracted facts, oldest first.
    pub facts: Vec<Fact>,
    /// The number of the last message that was added.
    pub seq: u64,
    /// How many folds there were.
    pub compactions: u64,
    /// When the session was first used, in milliseconds since 1970.
    pub created_at: Loose<Number>,
    /// When it was last changed, in milliseconds since 1970.
    pub updated_at: Loose<Number>,
    /// Members of imported state that this version does not know.
    pub other: Members,
    window_tokens: Sum,
}

/// Everything that was folded out of the window and is still kept, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Archive {
    /// The messages.
    pub messages: VecDeque<ArchivedMessage>,
}

/// A change of a session, to be committed as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Messages that join the window at its end.
    pub appended: Vec<Arc<StoredMessage>>,
    /// What leaves the window, after `appended` joined it.
    pub fold: Option<Folded>,
    /// Facts that are set or removed, in order.
    pub facts: Vec<FactChange>,
    /// The time of the change, in milliseconds since 1970.
    pub at: f64,
    /// How many archived messages are kept at most.
    pub archive_max: usize,
}

/// A fold that is ready to be committed.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// The messages that leave the front of the window, in order.
    pub messages: Vec<ArchivedMessage>,
    /// The summary that replaces the one before.
    pub summary: Text,
}

impl Session {
    /// A session without any message.
    pub fn new(id: Text, created_at: f64) -> Self {
        Self {
            id,
            recent: VecDeque::new(),
            summary: Text::new(),
            facts: Vec::new(),
            seq: 0,
            compactions: 0,
            created_at: Loose::Usual(Number(created_at)),
            updated_at: Loose::Usual(Number(created_at)),
            other: Members::new(),
            window_tokens: Sum::default(),
        }
    }

    /// The tokens of the window.
    pub fn window_tokens(&self) -> f64 {
        if self.window_tokens.exact {
            return self.window_tokens.total;
        }
        self.recent.iter().fold(0.0, |sum, stored| sum + stored.tokens)
    }

    /// Appends one message to the window, for stores that read a session row by row.
    pub fn push(&mut self, stored: Arc<StoredMessage>) {
        self.window_tokens.add(stored.tokens);
        self.recent.push_back(stored);
    }

    /// Applies a committed change. The archive's part is [`Archive::apply`].
    pub fn apply(&mut self, change: &Change) {
        for stored in &change.appended {
            self.seq = self.seq.max(stored.id);
            self.push(Arc::clone(stored));
        }
        if let Some(fold) = &change.fold {
            self.compactions += 1;
            for gone in self.recent.drain(..fold.messages.len().min(self.recent.len())) {
                self.window_tokens.take(gone.tokens);
            }
            self.summary = fold.summary.clone();
        }
        for fact in &change.facts {
            fact.apply(&mut self.facts);
        }
        self.updated_at = Loose::Usual(Number(change.at));
    }
}

impl Archive {
    /// Applies a committed change: appends what was folded and drops the oldest beyond the limit.
    pub fn apply(&mut self, change: &Change) {
        if let Some(fold) = &change.fold {
            self.messages.extend(fold.messages.iter().cloned());
            self.messages.drain(..self.messages.len().saturating_sub(change.archive_max));
        }
    }
}

/// A running sum that is exact as long as all terms are whole numbers, and otherwise says that it is not.
#[derive(Clone, Copy, Debug)]
struct Sum {
    total: f64,
    exact: bool,
}

impl Default for Sum {
    fn default() -> Self {
        Self { total: 0.0, exact: true }
    }
}

/// How a sum was reached does not tell two sessions apart.
impl PartialEq for Sum {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Sum {
    fn add(&mut self, term: f64) {
        self.total += term;
        self.exact &= Number(term).is_safe_integer() && Number(self.total).is_safe_integer();
    }

    fn take(&mut self, term: f64) {
        self.total -= term;
    }
}

/// The state in its JSON shape: what `state()` and `export` give and `import` takes.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// The part that every turn reads.
    pub session: &'a Session,
    /// The rest.
    pub archive: &'a Archive,
}

impl Serialize for State<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let session = self.session;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &STATE_VERSION)?;
        map.serialize_entry("id", &session.id)?;
        map.serialize_entry("recent", &Slice(|| session.recent.iter().map(|stored| &**stored)))?;
        map.serialize_entry("archive", &Slice(|| self.archive.messages.iter()))?;
        map.serialize_entry("summary", &session.summary)?;
        map.serialize_entry("facts", &session.facts)?;
        map.serialize_entry("seq", &session.seq)?;
        map.serialize_entry("compactions", &session.compactions)?;
        map.serialize_entry("createdAt", &session.created_at)?;
        map.serialize_entry("updatedAt", &session.updated_at)?;
        for (key, value) in &session.other {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// A JSON list of what an iterator gives, without collecting it.
pub(crate) struct Slice<F>(pub(crate) F);

impl<F, I> Serialize for Slice<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// An owned state, as read from JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedState {
    /// The part that every turn reads.
    pub session: Session,
    /// The rest.
    pub archive: Archive,
}

impl OwnedState {
    /// The same state, borrowed.
    pub fn as_state(&self) -> State<'_> {
        State { session: &self.session, archive: &self.archive }
    }
}

impl<'de> Deserialize<'de> for OwnedState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StateVisitor;

        fn need<T, E: de::Error>(value: Option<T>, field: &'static str) -> Result<T, E> {
            value.ok_or_else(|| E::missing_field(field))
        }

        impl<'de> Visitor<'de> for StateVisitor {
            type Value = OwnedState;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a session state")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OwnedState, A::Error> {
                let mut session = Session::new(Text::new(), 0.0);
                let mut archive = None;
                let mut recent: Option<Vec<StoredMessage>> = None;
                let (mut id, mut summary, mut facts) = (None, None, None);
                let (mut seq, mut compactions) = (None, None);
                let (mut created_at, mut updated_at) = (None, None);
                while let Some(key) = map.next_key::<Text>()? {
                    match key.as_str().unwrap_or_default() {
                        "version" => drop(map.next_value::<de::IgnoredAny>()?),
                        "id" => id = Some(member(&mut map, "id")?),
                        "recent" => recent = Some(member(&mut map, "recent")?),
                        "archive" => archive = Some(Archive { messages: member(&mut map, "archive")? }),
                        "summary" => summary = Some(member(&mut map, "summary")?),
                        "facts" => facts = Some(member(&mut map, "facts")?),
                        "seq" => seq = Some(whole_number(member(&mut map, "seq")?, "seq")?),
                        "compactions" => {
                            compactions = Some(whole_number(member(&mut map, "compactions")?, "compactions")?);
                        }
                        "createdAt" => created_at = Some(member(&mut map, "createdAt")?),
                        "updatedAt" => updated_at = Some(member(&mut map, "updatedAt")?),
                        _ => keep_member(&mut session.other, key, map.next_value()?)?,
                    }
                }
                session.id = need(id, "id")?;
                need(recent, "recent")?.into_iter().for_each(|stored| session.push(Arc::new(stored)));
                let archive = need(archive, "archive")?;
                session.summary = need(summary, "summary")?;
                session.facts = need(facts, "facts")?;
                session.seq = need(seq, "seq")?;
                session.compactions = need(compactions, "compactions")?;
                session.created_at = need(created_at, "createdAt")?;
                session.updated_at = need(updated_at, "updatedAt")?;
                Ok(OwnedState { session, archive })
            }
        }

        deserializer.deserialize_map(StateVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_json;

    const STATE: &str = concat!(
        r#"{"version":1,"id":"a","recent":[{"role":"user","content":"hi","id":2,"at":5,"tokens":4.5}],"#,
        r#""archive":[{"role":"user","content":"yo","id":1,"at":4,"tokens":5,"compaction":1}],"summary":"s","#,
        r#""facts":[{"key":"k","value":"v","source":"pinned","at":1}],"seq":2,"compactions":1,"#,
        r#""createdAt":1,"updatedAt":5,"later":[1]}"#
    );

    #[test]
    fn state_prints_as_it_was_read() {
        let state: OwnedState = serde_json::from_str(STATE).unwrap();
        assert_eq!(to_json(&state.as_state()), STATE);
        assert!((state.session.window_tokens() - 4.5).abs() < f64::EPSILON);
    }

    #[test]
    fn a_state_that_could_not_be_printed_again_is_not_read() {
        let half = r#""\ud800":1,"#;
        for place in [r#""later""#, r#""tokens":4.5"#, r#""compaction":1"#, r#""source":"pinned""#] {
            let broken = STATE.replacen(place, &format!("{half}{place}"), 1);
            let error = serde_json::from_str::<OwnedState>(&broken).unwrap_err();
            assert!(error.to_string().contains("half a character"), "{error}");
        }
    }

    #[test]
    fn a_wrong_part_is_named() {
        for (right, wrong, name) in [
            (r#""summary":"s""#, r#""summary":null"#, "`summary`"),
            (r#""facts":["#, r#""facts":[5,"#, "`facts`"),
            (r#""tokens":4.5"#, r#""tokens":"4""#, "`recent`: `tokens`"),
            (r#""compaction":1"#, r#""compaction":1.5"#, "`archive`: `compaction`"),
        ] {
            let error = serde_json::from_str::<OwnedState>(&STATE.replacen(right, wrong, 1)).unwrap_err();
            assert!(crate::json::reason(&error).starts_with(name), "{error}");
        }
    }

    #[test]
    fn a_missing_part_is_named() {
        for part in STATE_PARTS.into_iter().chain(["id"]) {
            let state = STATE.replacen(&format!("\"{part}\""), "\"gone\"", 1);
            let error = serde_json::from_str::<OwnedState>(&state).unwrap_err();
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
}
