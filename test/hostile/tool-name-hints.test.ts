import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calling, leaf } from "../support/nested.ts";
import { openKernel, openPolicy } from "../support/kernel.ts";

// A caller tries names. A hint names no tool and no version that the same caller does not find in `kernel.list({ caller })`.

const names = ["secret_project_x", "secret_project_y", "public_notes", "public_note", "payroll"] as const;
const guesses = fc.oneof(
  fc.constantFrom(...names).map((name) => `${name.slice(0, -2)}${name.at(-1)}`),
  fc.constantFrom(...names).map((name) => name.slice(0, 6)),
  fc.constantFrom("zzzzzzzzzzzz", "s", "", "secret"),
);

async function openTools(hidden: readonly string[], ungranted: readonly string[]) {
  const { kernel } = await openKernel({
    policy: {
      ...openPolicy,
      grants: [
        { tool: "program", capability: { kind: "tool.call", tools: ["*"] } },
        ...names
          .filter((name) => !ungranted.includes(name))
          .map((tool) => ({ tool, capability: { kind: "kv.read", keys: ["*"] } }) as const),
      ],
      rules: hidden.map((tool) => ({
        id: `hide-${tool}`,
        effect: "deny" as const,
        when: { tool: [tool], caller: ["guest"] },
        reason: "hidden",
      })),
    },
  });
  for (const name of names)
    for (const version of ["1.0.0", "1.7.0"])
      expect(
        kernel.registerTrusted(
          leaf(name, () => 1, { version, capabilities: [{ kind: "kv.read", keys: ["*"] }], effects: ["kv.read"] }),
        ),
      ).toMatchObject({ ok: true });
  kernel.registerTrusted(
    calling("program", async (input, { tools }) => JSON.stringify(await tools.call((input as { name: string }).name))),
  );
  return kernel;
}

describe("a hint at a name", () => {
  it("names no tool that the caller cannot call, whichever way it asks", () =>
    fc.assert(
      fc.asyncProperty(
        fc.subarray([...names]),
        fc.subarray([...names]),
        guesses,
        fc.constantFrom("guest", "staff"),
        async (hidden, ungranted, guess, caller) => {
          const kernel = await openTools(hidden, ungranted);
          const listed = kernel.list({ caller }).map(({ manifest }) => manifest.name);
          const within = await kernel.call("program", { name: guess }, { caller });
          const said = [
            (await kernel.call(guess, {}, { caller })) as object,
            await kernel.preview(guess, {}, { caller }),
            within.ok ? { said: within.data } : within,
          ];
          const unlisted = names.filter((name) => !listed.includes(name) && name !== guess);
          for (const name of unlisted) expect(JSON.stringify(said)).not.toMatch(new RegExp(`\\b${name}\\b`));
          await kernel.close();
        },
      ),
      { numRuns: 60 },
    ));

  it("names no version of a tool that the caller cannot call", async () => {
    const kernel = await openTools(["payroll"], []);
    for (const version of ["9.x", "not a version"]) {
      const guest = await kernel.call("payroll", {}, { caller: "guest", version });
      expect(JSON.stringify(guest)).not.toMatch(/1\.[07]\.0/);
    }
    const staff = await kernel.call("payroll", {}, { caller: "staff", version: "9.x" });
    expect(staff).toMatchObject({ error: { details: { nearest: ["1.7.0", "1.0.0"] } } });
  });

  it("still names the nearest tool that the caller can call", async () => {
    const kernel = await openTools(["secret_project_x"], []);
    const unknown = await kernel.call("secret_projct", {}, { caller: "guest" });
    expect(unknown).toMatchObject({ error: { hint: "Did you mean secret_project_y?" } });
  });
});
