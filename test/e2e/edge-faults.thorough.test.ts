import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";

/* Faults of the world around an edge that npm start runs: each has its own answer. */

/** A small file system of its own, which only root can make. */
const disk = mkdtempSync(join(tmpdir(), "keyhole-edge-disk-"));
const hasDisk = ((): boolean => {
  if (process.platform !== "linux") return false;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
afterAll(() => {
  if (hasDisk) execFileSync("umount", ["-l", disk]);
  rmSync(disk, { recursive: true, force: true });
});

const filler = join(disk, "filler");
function fill(): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, new Uint8Array(bavail * bsize));
}

const headers = { authorization: "Bearer own-token", "content-type": "application/json" };

async function answerOf(own: OwnEdge, path: string, init: RequestInit = {}): Promise<readonly [number, unknown]> {
  const response = await fetch(own.edge.url + path, init);
  const body = (await response.json()) as { readonly code?: string; readonly causes?: readonly { code: string }[] };
  return [response.status, body.code ?? body.causes?.map(({ code }) => code)];
}

describe.skipIf(!hasDisk)("an edge whose disk is full", () => {
  let own: OwnEdge;
  afterAll(() => own?.edge.stop());
  const call = (): Promise<readonly [number, unknown]> =>
    answerOf(own, "/v1/tools/echo/calls", {
      method: "POST",
      headers,
      body: JSON.stringify({ input: { message: "" } }),
    });

  it("answers AUDIT_UNAVAILABLE, is not ready, and serves when there is room again, without a restart", async () => {
    own = await startOwnEdge(join(disk, "state"));
    expect(await call()).toEqual([200, undefined]);
    fill();
    // Before any call: readiness finds out by itself, within the time for which its last answer stands.
    await expect.poll(() => answerOf(own, "/healthz")).toEqual([503, ["AUDIT_UNAVAILABLE"]]);
    // It asks for more room than the events of one call take, and an object that starts again finds a little.
    const seen = new Set<string>();
    for (let i = 0; i < 60; i++) seen.add((await call()).join(" "));
    expect([...seen].toSorted()).toEqual(["200 ", "503 AUDIT_UNAVAILABLE"].slice(seen.size === 1 ? 1 : 0));
    const { kernel } = own.edge.pids;
    rmSync(filler);
    await expect.poll(call).toEqual([200, undefined]);
    expect(await answerOf(own, "/healthz")).toEqual([200, undefined]);
    expect(own.edge.pids.kernel).toBe(kernel);
  });
});

describe("an edge with slow senders", () => {
  let own: OwnEdge;
  afterAll(() => own?.edge.stop());

  /** What the edge answers to a body that begins and then comes so often, a byte at a time; `undefined`: never. */
  function slow(everyMs: number | undefined): Promise<string> {
    const { hostname, port } = new URL(own.edge.url);
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname);
      let said = "";
      const timer = everyMs === undefined ? undefined : setInterval(() => socket.write(" "), everyMs);
      socket.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (said.includes("}")) socket.destroy();
      });
      socket
        .on("error", () => {})
        .on("close", () => {
          clearInterval(timer);
          resolve(said);
        });
      const lines = Object.entries({ host: "edge", ...headers, "content-length": 1_000 }).map((each) =>
        each.join(": "),
      );
      socket.write(`POST /v1/tools/echo/calls HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n{`);
    });
  }

  it("answers each with 408, and serves others meanwhile", async () => {
    own = await startOwnEdge();
    const all = Array.from({ length: 200 }, (_, i) => slow(i % 2 === 0 ? undefined : 1_000));
    let ended = false;
    const answers = Promise.all(all).finally(() => (ended = true));
    const statuses = new Set<number>();
    while (!ended) statuses.add(await own.call("echo", { message: "meanwhile" }));
    expect([...statuses]).toEqual([200]);
    const codes = (await answers).map((said) => /^HTTP\/1\.1 (\d+)[^]*"code":"(\w+)"/.exec(said)?.slice(1));
    expect(codes.filter((code) => code?.join(" ") !== "408 BODY_TIMEOUT")).toEqual([]);
  });
});
