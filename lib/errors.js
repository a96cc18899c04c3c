'use strict';

// Errors of the library, and the objects that functions of the app threw. The latter never cross into the addon: it
// knows them by number, and the number finds the very object again.

const thrown = new Map();
let lastThrown = 0;

/** Makes an error of the given class with a stable code. */
function makeError(ErrorClass, code, message) {
  return Object.assign(new ErrorClass(`memoryline: ${message}`), { code });
}

const invalidArgument = (message) => makeError(TypeError, 'ERR_MEMORYLINE_INVALID_ARGUMENT', message);
const invalidOption = (ErrorClass, message) => makeError(ErrorClass, 'ERR_MEMORYLINE_INVALID_OPTION', message);
const invalidState = (message) => makeError(TypeError, 'ERR_MEMORYLINE_INVALID_STATE', message);
/** For a stored text that is no JSON: what `JSON.parse` throws, with a code. */
const invalidJson = (cause) => {
  const error = makeError(SyntaxError, 'ERR_MEMORYLINE_INVALID_STATE', `what is stored is no session state: ${cause.message}`);
  return Object.assign(error, { cause });
};
const wrongResult = (option, expected) =>
  makeError(TypeError, 'ERR_MEMORYLINE_CALLBACK_RESULT', `${option} must return ${expected}`);

/** Keeps what was thrown and gives its number. */
function keepThrown(error) {
  lastThrown += 1;
  thrown.set(lastThrown, error);
  return lastThrown;
}

/** The JavaScript error for a failure that the addon reports. */
function fromFailure(failure) {
  if (failure.thrown != null) {
    const error = thrown.get(failure.thrown);
    thrown.delete(failure.thrown);
    return error;
  }
  const ErrorClass = failure.typeError ? TypeError : Error;
  return Object.assign(new ErrorClass(failure.message), { code: failure.code });
}

module.exports = { fromFailure, invalidArgument, invalidJson, invalidOption, invalidState, keepThrown, wrongResult };
