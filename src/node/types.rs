//! The shapes that cross the boundary, and nothing else.

use napi::bindgen_prelude::{Either, Either3, Either4, Float64Array, Uint32Array, Utf16String};
use napi_derive::napi;

/// The checked options of a memory. Figures are the documented options of the same names.
#[napi(object)]
pub struct CoreOptions {
    pub max_tokens: f64,
    pub target_tokens: f64,
    pub keep_recent: f64,
    pub align_to_user: bool,
    pub summary_max_tokens: f64,
    /// The encoding by which tokens are counted exactly; without it they are estimated.
    pub encoding: Option<String>,
    pub per_message_overhead: f64,
    pub image_tokens: Option<Either<f64, String>>,
    pub file_tokens: Option<Either<f64, String>>,
    pub audio_tokens: Option<Either<f64, String>>,
    pub recall_top_k: f64,
    pub recall_min_score: f64,
    pub recall_max_tokens: f64,
    pub archive_max: f64,
    /// `compaction.onError: 'defer'`.
    pub defer_failed_folds: bool,
    /// The summarizer is the extractive one, counting with the app's own count.
    pub accept_empty_summary: bool,
    pub has_summarize: bool,
    pub has_extract_facts: bool,
    pub has_embed: bool,
    pub has_retrieve: bool,
    pub has_on_archive: bool,
    pub has_clock: bool,
}

/// A failure, for the facade to make a JavaScript error of.
#[napi(object)]
#[derive(Clone, Debug)]
pub struct Failure {
    /// The stable code.
    pub code: String,
    /// The whole message.
    pub message: String,
    /// Whether it is a `TypeError`.
    pub type_error: bool,
    /// The number under which the facade keeps the object that a function of the app threw.
    pub thrown: Option<f64>,
}

/// JSON together with vectors that belong into it. Printing and parsing numbers is most of what a vector would cost.
#[napi(object)]
pub struct WithVectors {
    pub json: String,
    /// How many numbers each vector has; 0 for a message without one.
    pub widths: Uint32Array,
    /// The numbers of all vectors, one after the other.
    pub numbers: Float64Array,
}

/// What the facade is told: JSON, JSON with vectors, or a failure.
pub type Payload = Either3<String, WithVectors, Failure>;

/// An answer that is there at once: as a payload. A number stands for an operation under way.
pub type Started = Either4<String, f64, WithVectors, Failure>;

/// The answer of a pure function whose argument can be of the wrong shape: JSON or a failure.
pub type Answered = Either<String, Failure>;

/// A string. UTF-16 only when it holds a lone surrogate, since UTF-8 crosses faster.
pub type JsText = Either<String, Utf16String>;

/// What the app's clock gives: the time, or the number under which the facade keeps what it threw.
#[napi(object)]
#[derive(Debug)]
pub struct ClockFailure {
    pub thrown: f64,
}

/// The range of a tool group.
#[napi(object)]
#[derive(Debug)]
pub struct GroupRange {
    pub start: u32,
    pub end: u32,
}

/// Options of a SQLite store.
#[napi(object)]
#[derive(Debug)]
pub struct SqliteCoreOptions {
    /// `durability: 'full'`.
    pub full_durability: bool,
    pub busy_timeout_ms: u32,
}
