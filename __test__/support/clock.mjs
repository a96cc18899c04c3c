// A clock that a test can predict: each call gives the next value, and `calls` says how often it was asked.
export function createClock(start = 1000, step = 1) {
  const clock = () => start + step * clock.calls++;
  clock.calls = 0;
  return clock;
}
