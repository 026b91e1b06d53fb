import { readFileSync } from "node:fs";
import { join } from "node:path";
import { lines, verifyAudit } from "@keyhole/kernel/audit";
import { expect, it } from "vitest";
import { closeAfterEach } from "../mcp/support.ts";
import { called, daily, homeFolder, start } from "./shared-home.ts";

closeAfterEach();

it("a home counts no call twice and none too few, while its holder is killed again and again among calls", async () => {
  const [clients, most, rounds] = [4, 10, 4];
  const home = homeFolder({ ...daily, when: { ...daily.when, count: { windowMs: 86_400_000, moreThan: most } } });
  const open = await Promise.all(Array.from({ length: clients }, () => start(home)));
  const holder = (): number => Number(readFileSync(join(home, "audit.jsonl.pid"), "utf8"));
  const said: string[] = [];
  let killed = 0;
  for (let round = 0; round < rounds; round++) {
    await expect.poll(holder, { timeout: 60_000 }).not.toBe(killed);
    const calls = open.map((each) => called(each, "pid").catch(() => "lost"));
    if (round < clients - 1) {
      await Promise.race(calls);
      killed = holder();
      process.kill(killed, "SIGKILL");
    }
    said.push(...(await Promise.all(calls)));
  }
  const last = await start(home);
  for (let i = 0; i <= most; i++) said.push(await called(last, "pid"));
  expect(said.at(-1)).toBe("POLICY_DENIED: At most so many a day.");
  const log = readFileSync(join(home, "audit.jsonl"));
  expect(await verifyAudit(lines([log]))).toMatchObject({ verdict: "unvouched" });
  const started = log.toString().match(/"type":"tool.started"/g)?.length ?? 0;
  expect(started).toBeLessThanOrEqual(most);
  expect(said.filter((each) => each === "ran").length).toBeLessThanOrEqual(started);
});
