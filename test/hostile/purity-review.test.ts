import { systemClock, type ToolPackage } from "@keyhole/kernel";
import { verifyPure } from "@keyhole/kernel/replay";
import { nodeHost } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toolOf } from "../support/kernel.ts";
import { packed } from "../support/module-host.ts";
import { registered } from "../support/registered.ts";

function packaged(body: string, before = ""): ToolPackage {
  const code = `${before} export default { code: { execute(input, context) { ${body} } } };`;
  return packed(
    toolOf(() => null),
    code,
  );
}

describe("a tool that says it is pure, in an isolate that a session shares", () => {
  let host: ReturnType<typeof nodeHost>;
  beforeAll(() => {
    host = nodeHost();
  });
  afterAll(() => host.close());
  const check = (tool: ToolPackage, runs = 2) =>
    verifyPure({ host, tool: registered(tool), inputs: [{ n: 1 }], runs, clock: systemClock, timeoutMs: 60_000 });

  it.each<[string, ToolPackage]>([
    ["counts its calls", packaged("return count++;", "let count = 0;")],
    ["remembers what it heard", packaged("const before = last; last = input.n; return before;", "let last = 0;")],
    [
      "counts only where the clock stands as in every call",
      packaged("return Date.now() === 0 ? count++ : 0;", "let count = 0;"),
    ],
    [
      "knows calls by ids that are none of a kernel",
      packaged('return context.callId.includes("-7") ? context.callId : 0;'),
    ],
    ["knows sessions by them", packaged("return context.sessionId.length === 36 ? context.sessionId : 0;")],
    ["fails every second time", packaged("if (count++ % 2) throw new Error(); return 1;", "let count = 0;")],
  ])("and %s is found", async (_, tool) => {
    // prettier-ignore
    expect(await check(tool)).toMatchObject({ ok: false, kind: "varies", input: 0 });
  });

  it("and keeps no memory that shows is believed, also where it fails each time", async () => {
    expect(await check(packaged("count++; return input.n * 2;", "let count = 0;"))).toEqual({ ok: true, runs: 2 });
    expect(await check(packaged('throw new Error("always");'))).toEqual({ ok: true, runs: 2 });
  });
});
