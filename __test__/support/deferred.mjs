// A promise that the test settles itself: how a test holds a callback open without waiting for time to pass.
export function deferred() {
  const handle = {};
  handle.promise = new Promise((resolve, reject) => {
    handle.resolve = resolve;
    handle.reject = reject;
  });
  return handle;
}
