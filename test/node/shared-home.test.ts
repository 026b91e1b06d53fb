import { readFileSync } from "node:fs";
import { join } from "node:path";
import { lines, verifyAudit } from "@keyhole/kernel/audit";
import { describe, expect, it } from "vitest";
import { closeAfterEach } from "../mcp/support.ts";
import { called, daily, decide, homeFolder, noInjection, start } from "./shared-home.ts";

/* One home, and each client with a process of its own: the limits of the policy hold over all of them, one after the other and side by side. */

closeAfterEach();

describe("a home", () => {
  it("counts the calls of clients side by side as one, also when the first is killed, and those of the next start", async () => {
    const refused = "POLICY_DENIED: At most so many a day.";
    const home = homeFolder(daily);
    const [a, b] = [await start(home), await start(home)];
    const calls = [await called(a, "pid"), await called(b, "pid"), await called(a, "pid"), await called(b, "pid")];
    expect(calls).toEqual(["ran", "ran", refused, refused]);
    process.kill(a.pid, "SIGKILL");
    // The second opens the log, and its client notices nothing.
    const holder = (): string => readFileSync(join(home, "audit.jsonl.pid"), "utf8");
    await expect.poll(holder, { timeout: 60_000 }).toBe(`${b.pid}\n`);
    expect([await called(b, "pid"), await called(b, "env")]).toEqual([refused, "ran"]);
    await b.client.close();
    const c = await start(home);
    expect(await called(c, "pid")).toBe(refused);
    await c.client.close();
    const log = readFileSync(join(home, "audit.jsonl"));
    expect(await verifyAudit(lines([log]))).toMatchObject({ verdict: "unvouched" });
    expect(log.toString().match(/"type":"tool.started"/g)).toHaveLength(3);
  });

  it("keeps labels over starts, but for a session of another name, and refuses a start with another policy", async () => {
    const refused = "POLICY_DENIED: The session read untrusted text.";
    const home = homeFolder(noInjection);
    const a = await start(home);
    expect([await called(a, "env"), await called(a, "pid")]).toEqual(["ran", refused]);
    const b = await start(home, "--session", "new");
    expect(await called(b, "pid")).toBe("ran");
    decide(home);
    await expect(start(home)).rejects.toThrow(`Process ${a.pid} serves this home with another policy.json.`);
    decide(home, noInjection);
    await a.client.close();
    await b.client.close();
    const c = await start(home);
    expect(await called(c, "pid")).toBe(refused);
  });
});
