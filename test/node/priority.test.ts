import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { createKernel } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import bystander from "keyhole:../contract/tools/bystander.ts";
import subject from "keyhole:../contract/tools/subject.ts";
import { openPolicy } from "../support/kernel.ts";

const own = process.platform === "linux" ? getPriority() : 0;

/** Of this process, in the eyes of the system: what its isolates add to its own niceness. Elsewhere than on Linux a thread has none. */
function niceness(): readonly number[] {
  if (process.platform !== "linux") return [];
  const tasks = readdirSync("/proc/self/task");
  const stats = tasks.map((id) => readFileSync(`/proc/self/task/${id}/stat`, "utf8"));
  // The name is in brackets; niceness is the 17th field behind it.
  return stats
    .filter((stat) => stat.includes("(keyhole "))
    .map((stat) => Number(stat.split(") ")[1]?.split(" ")[16]) - own)
    .toSorted((a, b) => a - b);
}

it.each([
  ["as it is", [subject.hash, bystander.hash]],
  ["in the interpreter", []],
] as const)(
  "a thread that computes for long is served after others, and no other thread is: %s",
  async (_, trusted) => {
    const host = nodeHost({ trusted });
    const kernel = await createKernel({ host, policy: openPolicy });
    kernel.register(subject);
    kernel.register(bystander);
    const cancel = new AbortController();
    const begin = (deed: string) =>
      kernel.call("subject", { deed }, { sessionId: deed, signal: cancel.signal, bounds: { timeoutMs: 120_000 } });

    const waiting = begin("hang");
    expect(await kernel.call("bystander", { message: "x" })).toMatchObject({ ok: true });
    const computing = begin("loop");
    await expect.poll(niceness).toEqual(process.platform === "linux" ? [0, 0, 5] : []);
    expect(await kernel.call("bystander", { message: "x" })).toMatchObject({ ok: true });

    cancel.abort();
    await Promise.all([waiting, computing]);
    await kernel.close();
    await host.close();
  },
);
