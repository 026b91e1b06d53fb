import { createKernel, defineTool, type Kernel, type PolicyDocument } from "@keyhole/kernel";

const anything = { type: "object" } as const;
const common = { version: "1.0.0", input: anything, output: { kind: "json" } } as const;

/** One tool per outcome. They are trusted: what is tested is the way between a framework and the kernel. */
const tools = [
  defineTool({
    ...common,
    name: "add",
    description: "Adds two numbers.",
    input: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
      additionalProperties: false,
    },
    execute: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
  }),
  defineTool({ ...common, name: "save_note", description: "Saves.", tier: 2, execute: () => ({ saved: true }) }),
  defineTool({ ...common, name: "locked", description: "Never runs.", execute: () => "ran" }),
  defineTool({
    ...common,
    name: "broken",
    description: "Throws.",
    execute: () => {
      throw new Error("disk on fire");
    },
  }),
  defineTool({
    ...common,
    name: "endless",
    description: "Hangs.",
    bounds: { timeoutMs: 50 },
    execute: () => new Promise<null>(() => {}),
  }),
  defineTool({
    ...common,
    name: "patient",
    description: "Waits until it is cancelled.",
    execute: (_, { signal, progress }) =>
      new Promise<null>((_, reject) => {
        progress({ done: 1, total: 2 });
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      }),
  }),
  defineTool({
    ...common,
    name: "steps",
    description: "Reports progress.",
    execute: (_, { progress }) => {
      for (const done of [1, 2, 3]) progress({ done, total: 3 });
      return { done: 3 };
    },
  }),
  defineTool({
    ...common,
    name: "picture",
    description: "Draws a dot.",
    output: { kind: "binary", mediaType: "image/png" },
    execute: () => Uint8Array.of(137, 80, 78, 71),
  }),
  defineTool({
    ...common,
    name: "long",
    description: "Writes a lot.",
    output: { kind: "text" },
    execute: () => "é".repeat(50_000),
  }),
];

const policy: PolicyDocument = {
  version: "1",
  posture: "standard",
  rules: [{ id: "closed", effect: "deny", reason: "Nobody calls it.", when: { tool: ["locked"] } }],
};

export interface World {
  readonly kernel: Kernel;
  /** Types of the events of the calls so far. */
  log(): Promise<readonly string[]>;
  /** Digests of all outputs so far. */
  hashes(): Promise<readonly unknown[]>;
}

/** @param answer what the kernel's own approver says, where a framework has no approvals */
export async function openWorld(answer?: "allow" | "deny"): Promise<World> {
  const kernel = await createKernel({
    policy,
    ...(answer && {
      approver: async () =>
        answer === "allow"
          ? { answer, scope: "once" as const, approver: "ann" }
          : { answer, approver: "ann", reason: "Not today." },
    }),
  });
  for (const tool of tools) {
    const registered = kernel.registerTrusted(tool);
    if (!registered.ok) throw new Error(registered.error.message);
  }
  const events = async () => (await kernel.audit.read()).filter(({ callId }) => callId !== null);
  return {
    kernel,
    log: async () => (await events()).map(({ type }) => type),
    hashes: async () =>
      (await events()).flatMap(({ type, payload }) =>
        type === "tool.completed" ? [(payload as { outputHash: unknown }).outputHash] : [],
      ),
  };
}
