// One token a word, so that a test can do the budget arithmetic in its head.
export function words(text) {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

// The options that make the budget count words and nothing else.
export function wordBudget(budget) {
  return { countTokens: words, budget: { perMessageOverhead: 0, ...budget } };
}
