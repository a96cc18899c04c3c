//! What can go wrong, as one type.
//!
//! An [`Error`] says what kind of failure it is, for code that decides, and where, for the person who reads it. Bad
//! arguments of the JavaScript API never get this far: the facade refuses them before a promise exists.

use std::fmt;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure: its kind, a sentence that names the field, option or file, and what caused it.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of failure. [`ErrorKind::code`] is what JavaScript sees as `error.code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Occurs when a function that takes whole values (a renderer, a prompt) is given one of the wrong shape.
    InvalidArgument,
    /// Occurs when stored or imported state is not a session of this library.
    InvalidState,
    /// Occurs when a callback of a session calls that same session and would wait for itself.
    Reentrant,
    /// Occurs when the app's summarizer returns nothing to replace the folded messages with.
    SummaryEmpty,
    /// Occurs when an app's function returns a value of the wrong shape.
    CallbackResult,
    /// Occurs when an app's function throws. The number finds the thrown object again on the JavaScript side.
    Callback(u64),
    /// Occurs when a store cannot read or write.
    Store,
    /// Occurs when a store is used after it was closed.
    Closed,
    /// Occurs when another writer changed the session every time this one tried to commit.
    Conflict,
    /// Occurs when the library itself is at fault: a panic, or a part that went away.
    Internal,
}

impl ErrorKind {
    /// The stable code of this kind.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidArgument => "ERR_MEMORYLINE_INVALID_ARGUMENT",
            Self::InvalidState => "ERR_MEMORYLINE_INVALID_STATE",
            Self::Reentrant => "ERR_MEMORYLINE_REENTRANT",
            Self::SummaryEmpty => "ERR_MEMORYLINE_SUMMARY_EMPTY",
            Self::CallbackResult => "ERR_MEMORYLINE_CALLBACK_RESULT",
            Self::Callback(_) => "ERR_MEMORYLINE_CALLBACK",
            Self::Store => "ERR_MEMORYLINE_STORE",
            Self::Closed => "ERR_MEMORYLINE_CLOSED",
            Self::Conflict => "ERR_MEMORYLINE_CONFLICT",
            Self::Internal => "ERR_MEMORYLINE_INTERNAL",
        }
    }

    /// Whether JavaScript sees a `TypeError` rather than an `Error`.
    pub const fn is_type_error(self) -> bool {
        matches!(self, Self::InvalidArgument | Self::InvalidState | Self::CallbackResult)
    }
}

impl Error {
    /// A failure of `kind`; `message` is a lower-case sentence without the library's name and without a final dot.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), source: None }))
    }

    /// The same failure, with what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
}

/// `memoryline: ` and the message, followed by the chain of causes.
impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "memoryline: {}", self.0.message)?;
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            write!(formatter, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_carries_the_causes() {
        let error = Error::new(ErrorKind::Store, "cannot open `a.db`").with_source("disk is full");
        assert_eq!(error.to_string(), "memoryline: cannot open `a.db`: disk is full");
        assert_eq!(error.kind().code(), "ERR_MEMORYLINE_STORE");
    }
}
