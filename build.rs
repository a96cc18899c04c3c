//! Link settings for the Node.js addon; nothing to do for the core alone.

fn main() {
    #[cfg(feature = "node")]
    napi_build::setup();
}
