import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";

/** Members of the context of a tool, and of a definition, with what they mean. */
const words = [
  ["fetch", "Under the grants net.read and net.write. Give it a URL."],
  ["files", "read, write, list, stat, remove: under fs.read and fs.write."],
  ["kv", "get, put, delete, list: under kv.read and kv.write."],
  ["db", "db(name).query(sql, params): under db.read and db.write."],
  ["tools", "Other tools, under tool.call."],
  ["secret", "A stand-in for a secret, which the broker replaces: under secret.use."],
  ["spawn", "A command without a shell, under process.spawn."],
  ["log", "A line of the log of this call."],
  ["progress", "How far the call is."],
  ["signal", "Aborts when the caller cancels."],
  ["now", "Milliseconds since the epoch, as this call sees them."],
  ["random", "From the seed of the call."],
  ["body", "The caller's stream of bytes."],
  ["callId", "The id of this call."],
  ["sessionId", "The session of this call."],
] as const;

const definition = [
  ["name", "Lower case, digits and _."],
  ["version", "A version, as 1.0.0."],
  ["description", "What a model reads."],
  ["tier", "0 harmless to 4 dangerous."],
  ["effects", "Kinds of access that can be used."],
  ["determinism", "pure, seeded, external or nondeterministic."],
  ["capabilities", "What the tool can ask for. Nothing is granted by it."],
  ["bounds", "timeoutMs, memoryBytes, outputBytes, fuel."],
  ["input", "JSON Schema."],
  ["output", '{ kind: "json" }, "text", "binary" or "stream".'],
  ["execute", "(input, context) => output"],
  ["check", "Returns a sentence to refuse an input."],
] as const;

/** Behind `context.` the members of the context alone; elsewhere those of both. */
export function completeContext(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/[\w$]*/);
  if (word === null || (word.from === word.to && !context.explicit)) {
    if (context.matchBefore(/\b(?:context|ctx)\.\w*/) === null) return null;
  }
  const isMember = context.matchBefore(/\b(?:context|ctx)\.\w*/) !== null;
  const offered = isMember ? words : [...words, ...definition];
  return {
    from: word?.from ?? context.pos,
    options: offered.map(([label, info]) => ({ label, info, type: "property" })),
    validFor: /^[\w$]*$/,
  };
}
