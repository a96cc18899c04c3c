//! The Node.js addon: values in, values out, nothing decided here.
//!
//! The hand-written facade (`index.js`) is the only caller. It has checked all arguments, so what arrives has the
//! shape that is written here. Calls that need no function of the app and no disk are answered at once; the others
//! get a number, and the answer comes through the doorbell (see [`bridge`]).

#![expect(clippy::needless_pass_by_value, reason = "napi hands over owned values")]
#![cfg_attr(test, allow(dead_code, reason = "napi registers nothing in a test build"))]
#![expect(unreachable_pub, reason = "napi exports what is public here to JavaScript, past the crate's own visibility")]
#![expect(missing_debug_implementations, reason = "classes for JavaScript, which Rust never prints")]
#![expect(clippy::struct_excessive_bools, reason = "one switch per option of the app")]

mod bridge;
mod convert;
mod functions;
mod memory;
mod model;
mod stores;
mod types;
