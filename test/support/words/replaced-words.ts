/** Words that this project does not use, and its term for each: one term for one thing, as `docs/vocabulary.md` has it. */
export const replacedWords: readonly (readonly [words: RegExp, term: string])[] = [
  [/\b(?:somebody|anybody|nobody|whoever)\b/i, "the role: caller, author, approver, operator"],
  [/\bwhatever\b/i, "every, or the noun"],
  [/\bputs? into bytes\b/i, "serialize"],
  [/\bputs? aside\b/i, "suspend, or quarantine"],
  [/\b(?:goes|go) on\b/i, "continue"],
  [/\bunder way\b/i, "in progress"],
  [/\bany more\b/i, "no longer"],
  [/\b(?:one|as a) whole\b/i, "buffered, or complete"],
  [/\bcame of it\b/i, "the outcome"],
  [/\bis told\b/i, "receives"],
  [/\bstandstill\b/i, "deadlock"],
  [/\bturns? of the queue\b/i, "microtask"],
  [/\bcall line\b/i, "RPC channel"],
  [/\bthe call around\b/i, "the parent call"],
  [/\bhand(?:s|ed) over\b/i, "transfer"],
  [/\bbreaks? off\b/i, "fail"],
];

/** Subjects that name nothing. */
export const emptySubject: RegExp =
  /^(?:what|who|whom|whose|whoever|whatever|nobody|anybody|somebody|one that|those that)\b(?!.*\?)/i;

/** Replaced words and empty subjects in a sentence, each as it stands. */
export function replacedIn(sentence: string): readonly string[] {
  const found = replacedWords.flatMap(([words]) => words.exec(sentence)?.[0] ?? []);
  return [...found, ...(emptySubject.exec(sentence) ?? [])];
}
