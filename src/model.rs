//! The functions that belong to the app: its model, its embedder, its index, its clock.
//!
//! The core calls them through [`Model`] and knows nothing of where they run. Every method is given the operation
//! that needs it, so that whoever implements it can find the caller again. Nothing of a store is locked meanwhile.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::error::Result;
use crate::facts::{Fact, FactInput};
use crate::message::{ArchivedMessage, Message, StoredMessage};
use crate::recall::Vector;
use crate::session::Operation;
use crate::state::Archive;
use crate::summary::SummarizeInput;
use crate::text::Text;

/// What a function of the app gives: a future that may be ready at once.
pub type ModelFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Which functions the app has given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one yes or no per function, each independent of the others")]
pub struct Functions {
    /// A summarizer. Without it the extractive summary is used.
    pub summarize: bool,
    /// A fact extractor.
    pub extract_facts: bool,
    /// An embedder.
    pub embed: bool,
    /// A retriever, in place of the scan over the archive.
    pub retrieve: bool,
    /// A listener for folded messages.
    pub on_archive: bool,
}

/// What a fact extractor is given.
#[derive(Clone, Debug)]
pub struct ExtractFactsInput {
    /// The messages that leave the window, oldest first.
    pub messages: Vec<Arc<StoredMessage>>,
    /// The facts as they stand.
    pub facts: Vec<Fact>,
    /// The summary that this fold has just made.
    pub summary: Text,
}

/// What a retriever is given.
#[derive(Clone, Debug)]
pub struct RetrieveInput {
    /// The session that is asked.
    pub session_id: Text,
    /// What is asked.
    pub query: Text,
    /// How many messages are wanted at most.
    pub top_k: f64,
    /// The least score that is wanted.
    pub min_score: f64,
    /// The session's archive.
    pub archive: Arc<Archive>,
    /// The vector of the query, when there is an embedder and it gave one.
    pub embedding: Option<Arc<Vector>>,
}

/// A message that a retriever found. It may come from anywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrieved {
    /// Its place in the retriever's answer.
    pub index: usize,
    /// Its id, by which the found messages are put in order.
    pub id: f64,
    /// Its tokens.
    pub tokens: f64,
    /// What it says.
    pub message: Message,
}

/// The app's functions. Those that [`Functions`] does not name are never called.
pub trait Model: Send + Sync {
    /// The time, in milliseconds since 1970.
    fn now<'a>(&'a self, operation: &'a Operation) -> ModelFuture<'a, f64>;

    /// A summary of everything so far.
    fn summarize<'a>(
        &'a self,
        operation: &'a Operation,
        input: SummarizeInput<Arc<StoredMessage>>,
    ) -> ModelFuture<'a, Text>;

    /// The facts in some messages.
    fn extract_facts<'a>(
        &'a self,
        operation: &'a Operation,
        input: ExtractFactsInput,
    ) -> ModelFuture<'a, Vec<FactInput>>;

    /// A vector for each text; texts without one are `None`.
    fn embed<'a>(&'a self, operation: &'a Operation, texts: Vec<Text>) -> ModelFuture<'a, Vec<Option<Arc<Vector>>>>;

    /// Messages that fit a query, best first.
    fn retrieve<'a>(&'a self, operation: &'a Operation, input: RetrieveInput) -> ModelFuture<'a, Vec<Retrieved>>;

    /// Tells the app what a fold moved to the archive, once, after it was committed.
    fn on_archive<'a>(
        &'a self,
        operation: &'a Operation,
        session_id: Text,
        messages: Vec<ArchivedMessage>,
    ) -> ModelFuture<'a, ()>;
}
