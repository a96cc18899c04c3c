//! The app's functions and the app's own store, as the core's traits.

use std::sync::Arc;

use serde::Serialize;

use super::bridge::{Answer, Shared, read_clock_here};
use super::convert::{Reply, public, without_vectors};
use crate::error::{Error, ErrorKind, Result};
use crate::facts::{Fact, FactInput};
use crate::json::{Json, Number, to_json};
use crate::message::{ArchivedMessage, Message, StoredMessage};
use crate::model::{ExtractFactsInput, Model, ModelFuture, RetrieveInput, Retrieved};
use crate::recall::Vector;
use crate::session::Operation;
use crate::state::Archive;
use crate::store::{Snapshot, StoreFuture};
use crate::summary::SummarizeInput;
use crate::text::Text;

/// The functions among the options of a memory.
pub(super) struct AppModel {
    pub(super) shared: Arc<Shared>,
    /// Whether the app has a clock of its own; else time goes on from the moment of the call.
    pub(super) has_clock: bool,
}

/// A store of the app: any object with `load`, `save` and `delete`.
pub(super) struct AppStore {
    pub(super) shared: Arc<Shared>,
}

impl AppModel {
    async fn ask(&self, operation: &Operation, option: &'static str, input: &impl Serialize) -> Result<Answer> {
        self.shared.call(operation, option, to_json(input), None).await
    }
}

/// The facade answers each option in one form; anything else is a fault of the library.
fn unexpected(option: &str, answer: &Answer) -> Error {
    Error::new(ErrorKind::Internal, format!("the facade answered {option} with {answer:?}"))
}

fn unreadable(option: &str, error: serde_json::Error) -> Error {
    Error::new(ErrorKind::CallbackResult, format!("{option} returned what cannot be read")).with_source(error)
}

impl Model for AppModel {
    fn now<'a>(&'a self, operation: &'a Operation) -> ModelFuture<'a, f64> {
        if !self.has_clock {
            return Box::pin(std::future::ready(Ok(operation.now())));
        }
        if let Some(time) = read_clock_here() {
            return Box::pin(std::future::ready(time));
        }
        Box::pin(async move {
            match self.shared.call(operation, "clock", String::new(), None).await? {
                Answer::Number(time) => Ok(time),
                other => Err(unexpected("clock", &other)),
            }
        })
    }

    fn summarize<'a>(
        &'a self,
        operation: &'a Operation,
        input: SummarizeInput<Arc<StoredMessage>>,
    ) -> ModelFuture<'a, Text> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Input<'a> {
            previous_summary: &'a Text,
            messages: Vec<&'a Message>,
            facts: &'a [Fact],
            max_tokens: Number,
        }
        Box::pin(async move {
            let input = Input {
                previous_summary: &input.previous_summary,
                messages: public(input.messages.iter()),
                facts: &input.facts,
                max_tokens: Number(input.max_tokens),
            };
            match self.ask(operation, "summarize", &input).await? {
                Answer::Text(summary) => Ok(summary),
                other => Err(unexpected("summarize", &other)),
            }
        })
    }

    fn extract_facts<'a>(
        &'a self,
        operation: &'a Operation,
        input: ExtractFactsInput,
    ) -> ModelFuture<'a, Vec<FactInput>> {
        #[derive(Serialize)]
        struct Input<'a> {
            messages: Vec<&'a Message>,
            facts: &'a [Fact],
            summary: &'a Text,
        }
        Box::pin(async move {
            let ExtractFactsInput { messages, facts, summary } = &input;
            let input = Input { messages: public(messages.iter()), facts, summary };
            match self.ask(operation, "extractFacts", &input).await? {
                Answer::Json(json) => serde_json::from_str(&json).map_err(|error| unreadable("extractFacts", error)),
                other => Err(unexpected("extractFacts", &other)),
            }
        })
    }

    fn embed<'a>(&'a self, operation: &'a Operation, texts: Vec<Text>) -> ModelFuture<'a, Vec<Option<Arc<Vector>>>> {
        Box::pin(async move {
            match self.ask(operation, "embed", &texts).await? {
                Answer::Vectors(vectors) => Ok(vectors),
                other => Err(unexpected("embed", &other)),
            }
        })
    }

    fn retrieve<'a>(&'a self, operation: &'a Operation, input: RetrieveInput) -> ModelFuture<'a, Vec<Retrieved>> {
        // Without the archive: most retrievers have an index of their own, so it crosses only when it is read.
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Input<'a> {
            session_id: &'a Text,
            query: &'a Text,
            top_k: Number,
            min_score: Number,
            #[serde(skip_serializing_if = "Option::is_none")]
            embedding: Option<&'a Vector>,
        }
        #[derive(serde::Deserialize)]
        struct Hit {
            id: Option<f64>,
            tokens: Option<f64>,
            message: Message,
        }
        Box::pin(async move {
            let archive: Arc<Archive> = Arc::clone(&input.archive);
            let payload = to_json(&Input {
                session_id: &input.session_id,
                query: &input.query,
                top_k: Number(input.top_k),
                min_score: Number(input.min_score),
                embedding: input.embedding.as_deref(),
            });
            let answer = self.shared.call(operation, "retrieve", payload, Some(archive)).await?;
            let Answer::Json(json) = answer else { return Err(unexpected("retrieve", &answer)) };
            let hits: Vec<Hit> = serde_json::from_str(&json).map_err(|error| unreadable("retrieve", error))?;
            let hits = hits.into_iter().enumerate().map(|(index, hit)| Retrieved {
                index,
                id: hit.id.unwrap_or(f64::NAN),
                tokens: hit.tokens.unwrap_or(f64::NAN),
                message: hit.message,
            });
            Ok(hits.collect())
        })
    }

    fn on_archive<'a>(
        &'a self,
        operation: &'a Operation,
        session_id: Text,
        messages: Vec<ArchivedMessage>,
    ) -> ModelFuture<'a, ()> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Input<'a> {
            session_id: &'a Text,
            messages: &'a [ArchivedMessage],
        }
        Box::pin(async move {
            let (messages, vectors) = without_vectors(&messages.iter().collect::<Vec<_>>());
            let json = to_json(&Input { session_id: &session_id, messages: &messages });
            let input = Reply::with_vectors(json, vectors);
            self.shared.call(operation, "onArchive", input, None).await.map(|_| ())
        })
    }
}

impl Snapshot for AppStore {
    fn load<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, Option<Json>> {
        Box::pin(async move {
            match self.shared.call(operation, "store.load", to_json(id), None).await? {
                Answer::Nothing => Ok(None),
                Answer::Json(json) => Json::new(json)
                    .map(Some)
                    .ok_or_else(|| Error::new(ErrorKind::Internal, "the facade loaded a state that is not JSON")),
                other => Err(unexpected("store.load", &other)),
            }
        })
    }

    fn save<'a>(&'a self, operation: &'a Operation, _: &'a Text, state: Json) -> StoreFuture<'a, ()> {
        Box::pin(
            async move { self.shared.call(operation, "store.save", state.as_str().to_owned(), None).await.map(|_| ()) },
        )
    }

    fn delete<'a>(&'a self, operation: &'a Operation, id: &'a Text) -> StoreFuture<'a, ()> {
        Box::pin(async move { self.shared.call(operation, "store.delete", to_json(id), None).await.map(|_| ()) })
    }
}
