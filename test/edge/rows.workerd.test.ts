import { runInDurableObject } from "cloudflare:test";
import { kernelObject } from "@keyhole/edge";
import { echo } from "@keyhole/worker-host/tools";
import { expect, it } from "vitest";
import { identityHeader } from "../../packages/edge/src/app/gateway.ts";
import { bindings } from "./bindings.ts";

/* What a call writes into the storage of its object: each row is billed. */

const Configured = kernelObject({
  tools: [echo],
  policy: {
    version: "1",
    posture: "standard",
    labels: { told: { tools: ["echo"] } },
    rules: [{ id: "often", effect: "deny", when: { count: { windowMs: 3_600_000, moreThan: 100 } }, reason: "Often." }],
  },
});

const identity = encodeURIComponent(JSON.stringify({ subject: "a", scopes: ["tools:call"], tenant: "rows" }));

/** A storage that counts the rows that it writes. */
function counted(storage: DurableObjectStorage): {
  readonly storage: DurableObjectStorage;
  readonly rowsWritten: () => number;
} {
  const cursors: { readonly rowsWritten: number }[] = [];
  const sql = new Proxy(storage.sql, {
    get: (own, name) =>
      name === "exec"
        ? (...statement: [string]): unknown => {
            const cursor = own.exec(...statement);
            cursors.push(cursor);
            return cursor;
          }
        : Reflect.get(own, name, own),
  });
  const asItWas = (name: string | symbol): unknown => {
    const member: unknown = Reflect.get(storage, name, storage);
    return typeof member === "function" ? member.bind(storage) : member;
  };
  return {
    storage: new Proxy(storage, { get: (_, name) => (name === "sql" ? sql : asItWas(name)) }),
    rowsWritten: () => cursors.reduce((sum, each) => sum + each.rowsWritten, 0),
  };
}

it("are three at most for a plain call, with the state that it changes", async () => {
  await runInDurableObject(bindings.KERNEL.getByName("rows"), async (_, context) => {
    const { storage, rowsWritten } = counted(context.storage);
    Object.defineProperty(context, "storage", { value: storage });
    const object = new Configured(context, { ...bindings, KEYHOLE_TOKENS: "{}" });
    const rowsOf = async (sessionId: string): Promise<number> => {
      const headers = { [identityHeader]: identity, "content-type": "application/json" };
      const body = JSON.stringify({ input: { message: "x" }, sessionId, bounds: { callsPerHour: 50 } });
      const before = rowsWritten();
      const response = await object.fetch(
        new Request("https://kernel/v1/tools/echo/calls", { method: "POST", headers, body }),
      );
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
      return rowsWritten() - before;
    };
    await rowsOf("first");
    for (const sessionId of ["first", "another"]) {
      const rows = await rowsOf(sessionId);
      expect([sessionId, rows > 0, rows <= 3]).toEqual([sessionId, true, true]);
    }
    const stored = [...storage.sql.exec<{ event: string }>("SELECT event FROM audit")]
      .map(({ event }) => event)
      .join("\n");
    for (const table of ["policy.labels", "policy.counters"]) expect(stored).toContain(table);
  });
});
