//! The one flow: wait for the turn, load, append, fold if need be, commit.
//!
//! [`Memory`] is what an app configures once; every method takes the id of a session. Operations on one session run
//! one after the other in the order of their calls. Each plans its change on the state that it loaded, calls the
//! app's functions with nothing locked in the store, and commits once. A failure anywhere before the commit changes
//! nothing; a commit that another writer overtook is planned again on the new state.

mod context;
mod fold;
mod operation;
mod queue;

use std::sync::Arc;

pub use context::{Context, ContextRequest, Recalled};
pub use operation::{Activity, Operation};

use self::fold::PreparedFold;
use self::queue::Queue;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::{self, Fact, FactChange, FactInput, Source};
use crate::fold::Policy;
use crate::json::{Json, Loose, Number};
use crate::message::{Message, StoredMessage};
use crate::model::{Functions, Model};
use crate::state::{Archive, Change, Session};
use crate::store::{Commit, Exported, Imported, Loaded, Store};
use crate::text::Text;
use crate::tokens::{self, MediaCosts, Tokenizer};

/// How often a commit that another writer overtook is planned again.
///
/// Each round loses only to a writer that succeeded, so this many rounds are lost only under a storm of them.
const ATTEMPTS: usize = 64;

/// What is longer than this, in bytes, is not counted on the thread of the caller.
const LONG: usize = 64 * 1024;

/// What an app configures. Every figure has been checked by whoever fills this in.
#[derive(Clone, Debug)]
pub struct Config {
    /// When to fold and how far.
    pub policy: Policy,
    /// The wish for the length of a summary, in tokens.
    pub summary_max_tokens: f64,
    /// How the texts of messages, and of the memory block, are counted, unless the app counts itself.
    pub tokenizer: Tokenizer,
    /// Tokens charged per message on top of its text.
    pub per_message_overhead: f64,
    /// What pictures, files and sound cost.
    pub media_costs: MediaCosts,
    /// How many messages recall brings back at most.
    pub recall_top_k: f64,
    /// The least cosine that counts as related.
    pub recall_min_score: f64,
    /// How many tokens recalled messages may have together.
    pub recall_max_tokens: f64,
    /// How many archived messages a session keeps.
    pub archive_max: usize,
    /// Whether a fold that fails is left for the next turn instead of failing the call.
    pub defer_failed_folds: bool,
    /// Whether the summarizer may return nothing: it is the extractive one, and nothing was said.
    pub accept_empty_summary: bool,
    /// Which functions the app has given.
    pub functions: Functions,
}

/// The steps at which a function of the app can fail without failing the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The summary of a fold.
    Summarize,
    /// The facts of a fold.
    ExtractFacts,
    /// The vectors of a fold or of a query.
    Embed,
    /// The listener for folded messages.
    OnArchive,
}

impl Stage {
    /// The name of the option whose function failed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Summarize => "summarize",
            Self::ExtractFacts => "extractFacts",
            Self::Embed => "embed",
            Self::OnArchive => "onArchive",
        }
    }
}

/// A failure that the call survived.
#[derive(Debug)]
pub struct Problem {
    /// Where it happened.
    pub stage: Stage,
    /// What happened.
    pub error: Error,
}

/// A message to be stored.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The message.
    pub message: Message,
    /// The tokens of its text, when the app counts itself; without the overhead per message.
    pub text_tokens: Option<f64>,
}

/// What became of an `add` or a `compact`.
#[derive(Debug)]
pub struct Outcome {
    /// How many messages were added.
    pub added: usize,
    /// How many were folded.
    pub folded: usize,
    /// The summary as it stands now.
    pub summary: Text,
    /// The facts as they stand now.
    pub facts: Vec<Fact>,
    /// What went wrong without failing the call.
    pub problem: Option<Problem>,
}

/// Conversation memory: one configuration over one store.
pub struct Memory {
    config: Config,
    store: Arc<dyn Store>,
    model: Arc<dyn Model>,
    queue: Arc<Queue>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Memory").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Memory {
    /// A memory over `store` that calls the app through `model`.
    pub fn new(config: Config, store: Arc<dyn Store>, model: Arc<dyn Model>) -> Self {
        Self { config, store, model, queue: Arc::new(Queue::default()) }
    }

    /// Appends messages and folds the window when it is over budget.
    ///
    /// # Errors
    ///
    /// What the store or a function of the app fails with. Nothing is stored then, except when the listener for
    /// folded messages fails, which is told after the commit.
    pub async fn add(&self, operation: &Operation, id: &Text, incoming: Vec<Incoming>) -> Result<Outcome> {
        self.queue.turn(id, operation).await?;
        if incoming.iter().any(|incoming| self.is_long(incoming)) {
            // The first steps of an operation can be taken on the caller's own thread, which must not stand still.
            tokio::task::yield_now().await;
        }
        if incoming.is_empty() {
            let Session { summary, facts, .. } = Arc::unwrap_or_clone(self.load(operation, id).await?.session);
            return Ok(Outcome { added: 0, folded: 0, summary, facts, problem: None });
        }
        self.append_and_fold(operation, id, &incoming, false).await
    }

    /// Folds the window when it is over budget, or with `force` everything but the recent messages.
    ///
    /// # Errors
    ///
    /// As for [`Memory::add`].
    pub async fn compact(&self, operation: &Operation, id: &Text, force: bool) -> Result<Outcome> {
        self.queue.turn(id, operation).await?;
        self.append_and_fold(operation, id, &[], force).await
    }

    /// Whether counting a message takes long: exactly a long text, or media, whose bytes say what they cost.
    fn is_long(&self, incoming: &Incoming) -> bool {
        let Message { content, details, .. } = &incoming.message;
        let is_counted = incoming.text_tokens.is_none() && self.config.tokenizer != Tokenizer::Estimate;
        let parts = details.as_ref().and_then(|details| details.parts.as_ref());
        (is_counted && content.as_bytes().len() > LONG) || parts.is_some_and(|parts| parts.as_str().len() > LONG)
    }

    async fn append_and_fold(
        &self,
        operation: &Operation,
        id: &Text,
        incoming: &[Incoming],
        force: bool,
    ) -> Result<Outcome> {
        let mut now = None;
        let mut prepared: Option<PreparedFold> = None;
        let added = incoming.len();
        for _ in 0..ATTEMPTS {
            let base = self.load(operation, id).await?;
            let at = match now {
                Some(at) => at,
                None => *now.insert(self.model.now(operation).await?),
            };
            let appended = self.number(incoming, base.session.seq, at);
            let mut problem = None;
            let planned = self.plan(&base.session, &appended, force);
            let fold = if planned == 0 {
                None
            } else {
                match self.prepare(operation, &base.session, &appended, planned, prepared.take()).await {
                    Ok(fold) => Some(&*prepared.insert(fold)),
                    Err(failed) if self.config.defer_failed_folds => {
                        problem = Some(failed);
                        None
                    }
                    Err(failed) => return Err(failed.error),
                }
            };
            let folded = fold.map_or(0, |fold| fold.folded.messages.len());
            let facts = fold.map(|fold| fold.fact_changes(&base.session.facts)).unwrap_or_default();
            let mut outcome = Outcome {
                added,
                folded,
                summary: fold.map_or(&base.session.summary, |fold| &fold.folded.summary).clone(),
                facts: base.session.facts.clone(),
                problem,
            };
            for change in &facts {
                change.apply(&mut outcome.facts);
            }
            if added == 0 && folded == 0 {
                return Ok(outcome);
            }
            let archived = fold.map(|fold| fold.folded.messages.clone()).filter(|_| self.config.functions.on_archive);
            let change = self.change(appended, fold.map(|fold| fold.folded.clone()), facts, at);
            if self.store.commit(operation, base, change).await? == Commit::Conflict {
                continue;
            }
            if let Some(archived) = archived
                && let Err(error) = self.model.on_archive(operation, id.clone(), archived).await
            {
                if !self.config.defer_failed_folds {
                    return Err(error);
                }
                outcome.problem = Some(Problem { stage: Stage::OnArchive, error });
            }
            return Ok(outcome);
        }
        Err(overtaken(id))
    }

    /// Sets facts that extraction never changes, and gives all facts.
    ///
    /// # Errors
    ///
    /// What the store fails with.
    pub async fn pin(&self, operation: &Operation, id: &Text, inputs: &[FactInput]) -> Result<Vec<Fact>> {
        self.queue.turn(id, operation).await?;
        let mut now = None;
        for _ in 0..ATTEMPTS {
            let base = self.load(operation, id).await?;
            let at = match now {
                Some(at) => at,
                None => *now.insert(self.model.now(operation).await?),
            };
            let changes = facts::merge(&base.session.facts, inputs, Source::Pinned, at);
            let mut facts = base.session.facts.clone();
            for change in &changes {
                change.apply(&mut facts);
            }
            let change = self.change(Vec::new(), None, changes, at);
            if self.store.commit(operation, base, change).await? == Commit::Done {
                return Ok(facts);
            }
        }
        Err(overtaken(id))
    }

    /// Removes a fact, wherever it comes from, and says whether there was one.
    ///
    /// # Errors
    ///
    /// What the store fails with.
    pub async fn unpin(&self, operation: &Operation, id: &Text, key: &Text) -> Result<bool> {
        self.queue.turn(id, operation).await?;
        let key = facts::normalize_key(key.as_slice());
        for _ in 0..ATTEMPTS {
            let base = self.load(operation, id).await?;
            if base.session.facts.iter().all(|fact| fact.key != key) {
                return Ok(false);
            }
            let at = self.model.now(operation).await?;
            let change = self.change(Vec::new(), None, vec![FactChange::Remove(key.clone())], at);
            if self.store.commit(operation, base, change).await? == Commit::Done {
                return Ok(true);
            }
        }
        Err(overtaken(id))
    }

    /// The part of the session that every turn reads. An unknown session is an empty one.
    ///
    /// # Errors
    ///
    /// What the store fails with.
    pub async fn session(&self, operation: &Operation, id: &Text) -> Result<Arc<Session>> {
        self.queue.turn(id, operation).await?;
        Ok(self.load(operation, id).await?.session)
    }

    /// The whole state of the session. An unknown session is an empty one.
    ///
    /// # Errors
    ///
    /// What the store fails with.
    pub async fn state(&self, operation: &Operation, id: &Text) -> Result<(Arc<Session>, Arc<Archive>)> {
        self.queue.turn(id, operation).await?;
        let (loaded, archive) = self.load_whole(operation, id).await?;
        Ok((loaded.session, archive))
    }

    /// Everything the next model call should see.
    ///
    /// # Errors
    ///
    /// What the store or the retriever fails with. A failing embedder only leaves recall out.
    pub async fn context(&self, operation: &Operation, id: &Text, request: ContextRequest) -> Result<Context> {
        self.queue.turn(id, operation).await?;
        self.build_context(operation, id, request).await
    }

    /// Removes the session with everything that belongs to it.
    ///
    /// # Errors
    ///
    /// What the store fails with.
    pub async fn forget(&self, operation: &Operation, id: &Text) -> Result<()> {
        self.queue.turn(id, operation).await?;
        self.store.delete(operation, id).await
    }

    /// Everything the store holds of the session, unchecked. `None` when there is nothing.
    ///
    /// # Errors
    ///
    /// What the store fails with.
    pub async fn export(&self, operation: &Operation, id: &Text) -> Result<Option<Exported>> {
        self.queue.turn(id, operation).await?;
        self.store.export(operation, id).await
    }

    /// Puts a state in the place of the session with its id.
    ///
    /// # Errors
    ///
    /// What the store fails with.
    pub async fn import(&self, operation: &Operation, id: &Text, state: Json) -> Result<()> {
        self.queue.turn(id, operation).await?;
        self.store.replace(operation, id, Imported::from_json(state)).await
    }

    /// The session as the store has it, or an empty one made at this moment.
    async fn load(&self, operation: &Operation, id: &Text) -> Result<Loaded> {
        if let Some(loaded) = self.store.load(operation, id).await? {
            return Ok(loaded);
        }
        let session = Arc::new(Session::new(id.clone(), self.model.now(operation).await?));
        Ok(Loaded { session, archive: Some(Arc::default()), revision: None })
    }

    /// The session together with its archive, of one and the same revision.
    async fn load_whole(&self, operation: &Operation, id: &Text) -> Result<(Loaded, Arc<Archive>)> {
        for _ in 0..ATTEMPTS {
            let loaded = self.load(operation, id).await?;
            if let Some(archive) = &loaded.archive {
                let archive = Arc::clone(archive);
                return Ok((loaded, archive));
            }
            match self.store.archive(operation, &loaded).await {
                Ok(archive) => return Ok((loaded, archive)),
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Err(overtaken(id))
    }

    fn number(&self, incoming: &[Incoming], seq: u64, now: f64) -> Vec<Arc<StoredMessage>> {
        let numbered = incoming.iter().zip(seq + 1..).map(|(incoming, id)| {
            let mut message = incoming.message.clone();
            message.at.get_or_insert(Loose::Usual(Number(now)));
            let counted =
                incoming.text_tokens.unwrap_or_else(|| self.config.tokenizer.count(message.text().as_slice()));
            let media = tokens::media_tokens(&message, &self.config.media_costs);
            Arc::new(StoredMessage { message, id, tokens: counted + media + self.config.per_message_overhead })
        });
        numbered.collect()
    }

    /// How many messages to fold once `appended` has joined the window.
    fn plan(&self, session: &Session, appended: &[Arc<StoredMessage>], force: bool) -> usize {
        let policy = &self.config.policy;
        let total = appended.iter().fold(session.window_tokens(), |sum, stored| sum + stored.tokens);
        if !force && !policy.is_over(total) {
            return 0;
        }
        let window: Vec<&StoredMessage> = session.recent.iter().chain(appended).map(|stored| &**stored).collect();
        policy.plan(&window, total, force)
    }

    fn change(
        &self,
        appended: Vec<Arc<StoredMessage>>,
        fold: Option<crate::state::Folded>,
        facts: Vec<FactChange>,
        at: f64,
    ) -> Change {
        Change { appended, fold, facts, at, archive_max: self.config.archive_max }
    }
}

fn overtaken(id: &Text) -> Error {
    Error::new(ErrorKind::Conflict, format!("session `{id}` was changed by other writers {ATTEMPTS} times in a row"))
}
