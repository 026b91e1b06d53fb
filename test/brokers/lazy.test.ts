import type { Broker, CapabilityRequest, ToolContext } from "@keyhole/kernel";
import { fsRead, fsWrite, kvRead, kvWrite } from "@keyhole/kernel/families";
import { expect, it } from "vitest";
import { lazyBroker } from "../../packages/worker-host/src/brokers/lazy.ts";
import { granting, openKernel, toolOf } from "../support/kernel.ts";

const files = [fsRead, fsWrite];
const values = [kvRead, kvWrite];

/** Serves anything, and notes what it served. */
function notingBroker(families: Broker["families"], served: string[]): Broker {
  return {
    families,
    needs: ({ kind, arguments: { path, key } }) =>
      kind === "kv.write"
        ? { ok: true, needs: [{ kind, key: String(key), bytes: 1 }] }
        : { ok: true, needs: [{ kind: "fs.read", path: String(path) }] },
    async serve({ kind, arguments: { path, key } }) {
      served.push(`${kind} ${String(path ?? key)}`);
      return { ok: true, value: { found: true }, body: new Uint8Array(1) };
    },
  };
}

async function callWith(brokers: readonly Broker[], execute: (context: ToolContext) => unknown) {
  const policy = granting({ kind: "fs.read", paths: ["**"] }, { kind: "kv.write", keys: ["a/"] });
  const { kernel } = await openKernel({ policy, brokers });
  const capabilities = [
    { kind: "fs.read", paths: ["**"] },
    { kind: "kv.write", keys: ["a/"] },
  ];
  const more = { capabilities, effects: ["fs.read", "kv.write"], determinism: "external" };
  kernel.registerTrusted(toolOf(async (_: never, context: ToolContext) => (await execute(context), null), more));
  return kernel.call("subject", {});
}

it("loads its code with the first request, once", async () => {
  const served: string[] = [];
  let loads = 0;
  const broker = lazyBroker(files, async () => {
    loads++;
    return notingBroker(files, served);
  });
  expect(loads).toBe(0);
  const result = await callWith([broker], async (context) => {
    await Promise.all([context.files.read("one"), context.files.read("two")]);
    await context.files.read("three");
  });
  expect(result).toMatchObject({ ok: true });
  expect([loads, served]).toEqual([1, ["fs.read one", "fs.read two", "fs.read three"]]);
});

it("keeps requests behind it in their order while it loads", async () => {
  const served: string[] = [];
  const loading = Promise.withResolvers<Broker>();
  const eager = notingBroker(values, served);
  const result = await callWith([lazyBroker(files, () => loading.promise), eager], async (context) => {
    const asked = [context.files.read("one"), context.kv.put("a/two", "2"), context.files.read("three")];
    setTimeout(() => loading.resolve(notingBroker(files, served)));
    await Promise.all(asked);
  });
  expect(result).toMatchObject({ ok: true });
  expect(served).toEqual(["fs.read one", "kv.write a/two", "fs.read three"]);
});

it("refuses a request whose code cannot be loaded, and tries again with the next one", async () => {
  const served: string[] = [];
  let loads = 0;
  const broker = lazyBroker(files, async () => {
    if (++loads === 1) throw new TypeError("Failed to fetch dynamically imported module");
    return notingBroker(files, served);
  });
  const request: CapabilityRequest = { kind: "fs.read", operation: "read", arguments: { path: "one" } };
  expect(await broker.needs(request)).toMatchObject({
    ok: false,
    error: { code: "UNAVAILABLE", hint: "Try again later." },
  });
  expect(await broker.needs(request)).toMatchObject({ ok: true });
});
