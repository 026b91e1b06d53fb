import type { Need } from "../../capability/capability.ts";
import type { RuleErrorCode } from "../decision/arguments.ts";
import { type DecisionInput, holdsAll } from "../decision/condition.ts";
import type { RuleExample } from "./policy.ts";
import type { LoadedRule } from "../decision/rule.ts";

/** The first example that turns out otherwise, as a place in the rule and a sentence. */
export function failingExample(loaded: LoadedRule): { readonly path: string; readonly message: string } | undefined {
  const { match = [], notMatch = [] } = loaded.rule.examples ?? {};
  for (const [name, examples, expected] of [
    ["match", match, true],
    ["notMatch", notMatch, false],
  ] as const) {
    for (const [index, example] of examples.entries()) {
      const actual = tryExample(loaded, example);
      if (actual === expected) continue;
      const what =
        typeof actual === "string" ? `fails with ${actual} on it` : actual ? "matches it" : "does not match it";
      return { path: `/examples/${name}/${index}`, message: `The rule ${loaded.rule.id} ${what}.` };
    }
  }
  return undefined;
}

function tryExample(loaded: LoadedRule, example: RuleExample): boolean | RuleErrorCode {
  const input = inputOf(example);
  const truth = holdsAll(loaded.tests, input);
  if (truth !== true) return truth;
  if (loaded.concerns) return loaded.concerns(needOf(example));
  if (!loaded.count) return true;
  const amount = loaded.count.read ? loaded.count.read(input.input) : 1;
  return typeof amount === "number" && amount >= 0 ? loaded.count.holds(example.count ?? 0, amount) : "NOT_A_NUMBER";
}

function inputOf(example: RuleExample): DecisionInput {
  const { tool = "example", version = "1.0.0", category, tier = 0, risk, effects = [], capability } = example;
  return {
    manifest: {
      name: tool,
      version,
      tier,
      effects,
      ...(category !== undefined && { category }),
      ...(risk && { risk }),
    },
    caller: example.caller ?? "anonymous",
    sessionId: example.session ?? "example",
    mode: example.mode ?? "NORMAL",
    input: example.arguments ?? {},
    inputBytes: 0,
    granted: capability ? [capability] : [],
    nowMs: Date.parse(example.time ?? "2026-01-01T00:00:00Z"),
    labels: example.labels ?? [],
  };
}

function needOf(example: RuleExample): Need {
  const { capability, host, path, method = "GET", command, database, key, calls, secret } = example;
  if (command !== undefined) return { kind: "process.spawn", command, args: [] };
  if (database !== undefined)
    return capability === "db.write"
      ? { kind: "db.write", database, statements: ["update"] }
      : { kind: "db.read", database, statements: ["select"] };
  if (key !== undefined) return { kind: capability === "kv.write" ? "kv.write" : "kv.read", key };
  if (calls !== undefined) return { kind: "tool.call", tool: calls };
  if (secret !== undefined) return { kind: "secret.use", name: secret, host: host ?? "example.com" };
  if (host !== undefined || capability?.startsWith("net.")) {
    const kind = capability === "net.write" ? "net.write" : "net.read";
    return { kind, method, host: host ?? "example.com", port: 443, path: path ?? "/" };
  }
  return { kind: capability === "fs.write" ? "fs.write" : "fs.read", path: path ?? "" };
}
