//! Conversation memory for LLM apps and agents.
//!
//! A conversation outgrows the model's context window. This crate keeps the latest turns verbatim under a token
//! budget, folds older ones into a running summary through the app's own model call, keeps durable facts, finds
//! earlier messages again, and renders requests that providers accept.
//!
//! The modules, in reading order: [`text`] and [`json`] are the values, [`message`] and [`state`] what a session is
//! made of. The pure rooms decide and compute without I/O: [`tokens`], [`tools`], [`fold`], [`facts`], [`summary`],
//! [`recall`], [`render`]. [`store`] keeps sessions, [`model`] is the app's own functions, and [`session`] is the one
//! flow that brings them together. The Node.js addon is a thin layer over it, behind the feature `node`.

pub mod content;
pub mod error;
pub mod facts;
pub mod fold;
pub mod json;
pub mod message;
pub mod model;
#[cfg(feature = "node")]
mod node;
pub mod recall;
pub mod render;
pub mod session;
pub mod state;
pub mod store;
pub mod summary;
pub mod text;
pub mod tokens;
pub mod tools;

pub use error::{Error, ErrorKind, Result};
