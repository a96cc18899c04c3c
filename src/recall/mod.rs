//! Finding earlier messages again.

mod scan;
mod vector;

pub use scan::{Hit, cosine, fit, fit_archived, nearest};
pub use vector::{Numbers, Vector};
