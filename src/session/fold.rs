//! The app's part of a fold: summary, facts and vectors for the messages that leave the window.

use std::sync::Arc;

use super::{Memory, Operation, Problem, Stage};
use crate::error::{Error, ErrorKind, Result};
use crate::facts::{self, Fact, FactChange, FactInput, Source};
use crate::message::{ArchivedMessage, StoredMessage};
use crate::model::ExtractFactsInput;
use crate::recall::Vector;
use crate::state::{Folded, Session};
use crate::summary::{self, SummarizeInput};
use crate::text::Text;

/// What the app's functions made of a fold, ready to be committed.
///
/// It is kept while a commit is tried again: the model is asked anew only when what it was asked about has changed.
#[derive(Debug)]
pub(super) struct PreparedFold {
    pub(super) folded: Folded,
    previous_summary: Text,
    compaction: u64,
    fact_inputs: Vec<FactInput>,
    at: f64,
}

impl PreparedFold {
    /// The extracted facts as changes of `facts`.
    pub(super) fn fact_changes(&self, facts: &[Fact]) -> Vec<FactChange> {
        facts::merge(facts, &self.fact_inputs, Source::Extracted, self.at)
    }

    fn is_for(&self, session: &Session, messages: &[Arc<StoredMessage>]) -> bool {
        let same = |(archived, stored): (&ArchivedMessage, &Arc<StoredMessage>)| archived.stored == *stored;
        self.previous_summary == session.summary
            && self.compaction == session.compactions + 1
            && self.folded.messages.len() == messages.len()
            && self.folded.messages.iter().zip(messages).all(same)
    }
}

impl Memory {
    /// Asks the app's functions about the first `count` messages of the window that `appended` has joined.
    pub(super) async fn prepare(
        &self,
        operation: &Operation,
        session: &Arc<Session>,
        appended: &[Arc<StoredMessage>],
        count: usize,
        earlier: Option<PreparedFold>,
    ) -> Result<PreparedFold, Problem> {
        let messages: Vec<Arc<StoredMessage>> = session.recent.iter().chain(appended).take(count).cloned().collect();
        if let Some(earlier) = earlier.filter(|earlier| earlier.is_for(session, &messages)) {
            return Ok(earlier);
        }
        let summary = self.summarize(operation, session, &messages).await.map_err(Problem::at(Stage::Summarize))?;
        let mut fact_inputs = Vec::new();
        if self.config.functions.extract_facts {
            let (messages, facts, summary) = (messages.clone(), session.facts.clone(), summary.clone());
            let input = ExtractFactsInput { messages, facts, summary };
            fact_inputs = self.model.extract_facts(operation, input).await.map_err(Problem::at(Stage::ExtractFacts))?;
        }
        let mut embeddings = Vec::new();
        if self.config.functions.embed {
            embeddings = self.embed(operation, &messages).await.map_err(Problem::at(Stage::Embed))?;
        }
        let at = self.model.now(operation).await.map_err(Problem::at(Stage::Summarize))?;
        let compaction = session.compactions + 1;
        embeddings.resize(messages.len(), None);
        let archived = messages.into_iter().zip(embeddings);
        let archived = archived.map(|(stored, embedding)| ArchivedMessage { stored, compaction, embedding });
        Ok(PreparedFold {
            folded: Folded { messages: archived.collect(), summary },
            previous_summary: session.summary.clone(),
            compaction,
            fact_inputs,
            at,
        })
    }

    /// A vector for each message, as far as the embedder gives them. Blank texts are not sent: there is nothing to
    /// find in them, and hosted embedders refuse a whole batch for one.
    async fn embed(&self, operation: &Operation, messages: &[Arc<StoredMessage>]) -> Result<Vec<Option<Arc<Vector>>>> {
        let texts = messages.iter().map(|stored| stored.message.text());
        let texts: Vec<Option<Text>> =
            texts.map(|text| (!text.as_slice().is_blank()).then(|| text.into_owned())).collect();
        let sent: Vec<Text> = texts.iter().flatten().cloned().collect();
        if sent.is_empty() {
            return Ok(Vec::new());
        }
        let mut vectors = self.model.embed(operation, sent).await?.into_iter();
        Ok(texts.iter().map(|text| text.as_ref().and_then(|_| vectors.next().flatten())).collect())
    }

    async fn summarize(
        &self,
        operation: &Operation,
        session: &Session,
        messages: &[Arc<StoredMessage>],
    ) -> Result<Text> {
        let max_tokens = self.config.summary_max_tokens;
        if !self.config.functions.summarize {
            let said = messages.iter().map(|stored| &stored.message);
            return Ok(summary::extractive(session.summary.as_slice(), said, max_tokens));
        }
        let input = SummarizeInput {
            previous_summary: session.summary.clone(),
            messages: messages.to_vec(),
            facts: session.facts.clone(),
            max_tokens,
        };
        let summary = self.model.summarize(operation, input).await?.as_slice().trim().to_text();
        if summary.is_empty() && !self.config.accept_empty_summary {
            // Taking it would lose what was said: the folded messages leave the prompt, and so would the summary.
            return Err(Error::new(
                ErrorKind::SummaryEmpty,
                format!(
                    "summarize returned no text for {} messages of session `{}`, so nothing was folded",
                    messages.len(),
                    session.id
                ),
            ));
        }
        Ok(summary)
    }
}

impl Problem {
    fn at(stage: Stage) -> impl FnOnce(Error) -> Self {
        move |error| Self { stage, error }
    }
}
