//! What the next model call should see.

use std::sync::Arc;

use super::{Memory, Operation, Problem, Stage};
use crate::error::Result;
use crate::message::{ArchivedMessage, Message, Role};
use crate::model::{RetrieveInput, Retrieved};
use crate::recall::{self, Vector};
use crate::render::{self, Headings, MemoryBlock};
use crate::state::{Archive, Session};
use crate::text::Text;
use crate::tokens::{self, MediaCosts, Tokenizer};

/// What a context is asked for. Every figure has been checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextRequest {
    /// What to recall for; without it the content of the last user message in the window.
    pub query: Option<Text>,
    /// Whether to leave recall out.
    pub skip_recall: bool,
    /// In place of the configured number of messages.
    pub top_k: Option<f64>,
    /// In place of the configured least score.
    pub min_score: Option<f64>,
}

/// A recalled message.
#[derive(Clone, Debug, PartialEq)]
pub enum Recalled {
    /// Found by the library's own search, with its score.
    Archived(ArchivedMessage, f64),
    /// Found by the app's retriever.
    Retrieved(Retrieved),
}

impl Recalled {
    fn message(&self) -> &Message {
        match self {
            Self::Archived(message, _) => &message.stored.message,
            Self::Retrieved(retrieved) => &retrieved.message,
        }
    }

    /// Its tokens, the overhead per message included. Recalled messages are quoted: their media are not sent.
    pub fn tokens(&self, costs: &MediaCosts) -> f64 {
        match self {
            Self::Archived(message, _) => quoted_tokens(message, costs),
            Self::Retrieved(retrieved) => retrieved.tokens,
        }
    }
}

/// Everything the next model call should see.
#[derive(Debug)]
pub struct Context {
    /// The session.
    pub session: Arc<Session>,
    /// What was recalled, oldest first.
    pub recalled: Vec<Recalled>,
    /// The tokens of what was recalled.
    pub recalled_tokens: f64,
    /// The memory block for the system prompt.
    pub system: Text,
    /// The lines of the facts alone, for counting.
    pub facts: Text,
    /// How the parts of it are counted.
    pub tokenizer: Tokenizer,
    /// What went wrong without failing the call.
    pub problem: Option<Problem>,
}

impl Memory {
    pub(super) async fn build_context(
        &self,
        operation: &Operation,
        id: &Text,
        request: ContextRequest,
    ) -> Result<Context> {
        let functions = self.config.functions;
        let may_recall = !request.skip_recall && (functions.embed || functions.retrieve);
        let (session, archive) = if may_recall {
            let (loaded, archive) = self.load_whole(operation, id).await?;
            (loaded.session, archive)
        } else {
            (self.load(operation, id).await?.session, Arc::default())
        };
        let mut recalled = Vec::new();
        let mut problem = None;
        let query = request.query.clone().or_else(|| last_user_content(&session)).unwrap_or_default();
        if may_recall && !archive.messages.is_empty() && !query.is_empty() {
            (recalled, problem) = self.recall(operation, &session, archive, query, &request).await?;
        }
        let messages: Vec<&Message> = recalled.iter().map(Recalled::message).collect();
        let block = MemoryBlock { summary: session.summary.as_slice(), facts: &session.facts, recalled: &messages };
        let system = render::render_memory(&block, &Headings::default());
        let facts = render::render_facts(&session.facts);
        let recalled_tokens = recalled.iter().fold(0.0, |sum, it| sum + it.tokens(&self.config.media_costs));
        let tokenizer = self.config.tokenizer;
        Ok(Context { session, recalled, recalled_tokens, system, facts, tokenizer, problem })
    }

    async fn recall(
        &self,
        operation: &Operation,
        session: &Session,
        archive: Arc<Archive>,
        query: Text,
        request: &ContextRequest,
    ) -> Result<(Vec<Recalled>, Option<Problem>)> {
        let top_k = request.top_k.unwrap_or(self.config.recall_top_k);
        let min_score = request.min_score.unwrap_or(self.config.recall_min_score);
        let max_tokens = self.config.recall_max_tokens;
        let mut embedding: Option<Arc<Vector>> = None;
        if self.config.functions.embed {
            match self.model.embed(operation, vec![query.clone()]).await {
                Ok(vectors) => embedding = vectors.into_iter().next().flatten(),
                // The window and the summary are at hand; an embedder that is down must not take them away.
                Err(error) => return Ok((Vec::new(), Some(Problem { stage: Stage::Embed, error }))),
            }
        }
        if self.config.functions.retrieve {
            let session_id = session.id.clone();
            let input = RetrieveInput { session_id, query, top_k, min_score, archive, embedding };
            let hits = self.model.retrieve(operation, input).await?;
            let hits = recall::fit(hits, max_tokens, |hit| hit.tokens, |hit| hit.id);
            return Ok((hits.into_iter().map(Recalled::Retrieved).collect(), None));
        }
        let Some(embedding) = embedding else { return Ok((Vec::new(), None)) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked not to be negative")]
        let hits = recall::nearest(&archive, &embedding, top_k as usize, min_score);
        let costs = &self.config.media_costs;
        let hits = recall::fit_archived(&archive, hits, max_tokens, |message| quoted_tokens(message, costs));
        Ok((hits.into_iter().map(|(message, score)| Recalled::Archived(message.clone(), score)).collect(), None))
    }
}

fn quoted_tokens(message: &ArchivedMessage, costs: &MediaCosts) -> f64 {
    (message.stored.tokens - tokens::media_tokens(&message.stored.message, costs)).max(0.0)
}

fn last_user_content(session: &Session) -> Option<Text> {
    let last = session.recent.iter().rev().find(|stored| stored.message.role == Role::User)?;
    Some(last.message.content.clone())
}
