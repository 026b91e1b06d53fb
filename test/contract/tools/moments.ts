import { defineTool } from "@keyhole/kernel/tool";

/** Shows every clock and every chance that a hardened tool can get at, in every guise. */
export default defineTool({
  name: "moments",
  version: "1.0.0",
  description: "Shows what it sees of time, chance and place.",
  determinism: "nondeterministic",
  capabilities: [
    { kind: "clock", optional: true },
    { kind: "random", optional: true },
  ],
  input: { type: "object" },
  output: { kind: "json" },
  execute: (_, { now, random }) => {
    const at = new Date();
    const realm = globalThis as Readonly<Record<string, unknown>>;
    return {
      time: {
        date: at.toISOString(),
        called: Date(),
        now: Date.now(),
        constructed: new (Date.prototype.constructor as DateConstructor)().getTime(),
        context: now(),
      },
      chance: [Math.random(), Math.random(), random(), random()],
      place: {
        text: [at.toLocaleString("de-DE"), (1234.5).toLocaleString("de-DE"), "I".toLocaleLowerCase("tr")],
        offset: at.getTimezoneOffset(),
        sorted: ["b", "a", "z", "ä"].toSorted((a, b) => a.localeCompare(b)),
      },
      gone: ["performance", "crypto", "WeakRef", "navigator", "Intl", "Temporal"].filter(
        (name) => realm[name] !== undefined,
      ),
    };
  },
});
