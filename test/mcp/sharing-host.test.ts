import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Unusable } from "../../packages/keyhole/src/command/io.ts";
import { closeInOrder } from "../../packages/keyhole/src/command/run/logged-kernel.ts";
import { addressOf } from "../../packages/keyhole/src/command/share/address.ts";
import { digestsOf } from "../../packages/keyhole/src/command/share/hello.ts";
import { SharingHost } from "../../packages/keyhole/src/command/share/host.ts";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "keyhole-host-"))));
afterAll(() => rmSync(folder, { recursive: true }));

const homeOf = (name: string): string => {
  const home = join(folder, name);
  mkdirSync(home);
  return home;
};
const placeOf = (home: string) => ({ folder: home, log: join(home, "audit.jsonl") });

describe("the socket of a home", () => {
  it("is the same by each link to the home, another one for another log, and in a folder of its owner alone", async () => {
    const home = homeOf("linked");
    mkdirSync(join(home, "run"), { mode: 0o777 });
    symlinkSync(home, join(folder, "link"));
    const address = await addressOf(placeOf(home));
    expect(await addressOf(placeOf(join(folder, "link")))).toBe(address);
    expect(await addressOf({ folder: home, log: join(home, "other.jsonl") })).not.toBe(address);
    expect(statSync(join(home, "run")).mode & 0o777).toBe(0o700);
  });

  it("is refused where a file or a link stands in place of its folder, and absent where the system takes no such path", async () => {
    const [file, link] = [homeOf("file"), homeOf("to")];
    writeFileSync(join(file, "run"), "");
    symlinkSync(folder, join(link, "run"));
    for (const home of [file, link])
      await expect(addressOf(placeOf(home))).rejects.toThrow("is no folder of this user");
    expect(await addressOf(placeOf(homeOf("long".repeat(30))))).toBeUndefined();
  });
});

describe("the process that has the log open", () => {
  const parts = digestsOf({ server: ["node"], "policy.json": { version: "1" } });
  const hello = { caller: "editor", session: "home", parts };

  /** What it answers to the first bytes of a client, and the callers that it served. */
  async function said(first: string): Promise<{ readonly answer: string; readonly callers: readonly string[] }> {
    const callers: string[] = [];
    const host = new SharingHost(
      {
        connect({ output } = { input: process.stdin, output: process.stdout }, { caller }, onEnd) {
          callers.push(caller);
          output.write("served\n");
          onEnd();
          return { close: async () => {} };
        },
        openCalls: async () => 0,
        close: async () => {},
      },
      parts,
    );
    const address = (await addressOf(placeOf(folder)))!;
    writeFileSync(address, "left behind by a process that was killed");
    await host.listen(address);
    expect(statSync(address).mode & 0o777).toBe(0o600);
    const socket = connect(address);
    socket.end(first);
    const answer = await text(socket).catch(() => "");
    await host.close();
    return { answer, callers };
  }

  it("serves a client of the same parts under the client's own name", async () => {
    const { answer, callers } = await said(`${JSON.stringify(hello)}\n`);
    expect([answer, callers]).toEqual([`{"ok":true,"pid":${process.pid}}\nserved\n`, ["editor"]]);
  });

  it.each<[string, object, string]>([
    ["policy", { ...hello, parts: { ...parts, "policy.json": "0" } }, "policy.json"],
    ["member", { ...hello, parts: { ...parts, more: "0" } }, "more"],
    ["number of members", { ...hello, parts: { server: parts["server"] } }, "policy.json"],
  ])("names the part where a client has another %s", async (_, other, part) => {
    const { answer, callers } = await said(`${JSON.stringify(other)}\n`);
    expect([JSON.parse(answer), callers]).toEqual([{ ok: false, pid: process.pid, part }, []]);
  });

  it.each<[string, string]>([
    ["nothing", ""],
    ["no line", JSON.stringify(hello)],
    ["no JSON", "GET / HTTP/1.1\n"],
    ["no object", "[]\n"],
    ["no caller", `${JSON.stringify({ ...hello, caller: 1 })}\n`],
    ["an endless line", "x".repeat(200_000)],
  ])("serves no client that begins with %s", async (_, first) => {
    expect(await said(first)).toEqual({ answer: "", callers: [] });
  });
});

it("the end of a kernel takes each step, and says the first fault with its cause", async () => {
  const ended: string[] = [];
  const full = new Error("The audit log cannot be written.", { cause: new Error("ENOSPC") });
  const end = closeInOrder(
    async () => void ended.push("desk"),
    () => Promise.reject(full),
    () => undefined,
    async () => {
      ended.push("sink");
      throw new Error("second");
    },
  );
  await expect(end).rejects.toThrow(new Unusable("The audit log cannot be written. ENOSPC"));
  expect(ended).toEqual(["desk", "sink"]);
});
