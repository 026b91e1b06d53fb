import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { memoryKv } from "@keyhole/worker-host/brokers/kv";
import { nodeKv } from "@keyhole/worker-host/node";
import { afterAll, describe, expect, it } from "vitest";
import { kvContract } from "../contract/kv.ts";

const root = mkdtempSync(join(tmpdir(), "keyhole-kv-"));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
kvContract("memory", () => memoryKv());
kvContract("a file", () => nodeKv(join(root, `${files++}.kv`)));

describe("the file of values", () => {
  const file = (): string => join(root, `${files++}.kv`);

  it("keeps its values for the next process", async () => {
    const path = file();
    const first = nodeKv(path);
    await first.put("a", new Uint8Array([1, 2, 3]));
    first.close();
    expect(await nodeKv(path).get("a", 10)).toEqual({ ok: true, value: new Uint8Array([1, 2, 3]) });
  });

  it("is shared by two that have it open", async () => {
    const path = file();
    const [one, two] = [nodeKv(path), nodeKv(path)];
    await one.put("a", new Uint8Array([1]));
    expect(await two.get("a", 10)).toEqual({ ok: true, value: new Uint8Array([1]) });
  });

  it("is full at its bound, keeps what it has, and takes again what fits", async () => {
    const store = nodeKv(file(), { totalBytes: 200_000 });
    expect(await store.put("a", new Uint8Array(100_000).fill(1))).toMatchObject({ ok: true });
    expect(await store.put("b", new Uint8Array(100_000))).toEqual({ ok: false, fault: "no-space" });
    expect(await store.put("a", new Uint8Array(190_000))).toEqual({ ok: false, fault: "no-space" });
    expect(await store.get("a", 200_000)).toEqual({ ok: true, value: new Uint8Array(100_000).fill(1) });
    await store.delete("a");
    expect(await store.put("b", new Uint8Array(100_000))).toMatchObject({ ok: true });
  });

  it("finds out when it is opened that it is something else", () => {
    const path = file();
    writeFileSync(path, "not a database, and long enough to be looked at: ".repeat(100));
    expect(() => nodeKv(path)).toThrow("file is not a database");
    expect(() => nodeKv(join(root, "no", "such", "folder"))).toThrow("unable to open database file");
  });

  it("is broken when its content is, and says nothing else", async () => {
    const path = file();
    const store = nodeKv(path);
    for (let i = 0; i < 100; i++) await store.put(`key-${i}`, new Uint8Array(5_000).fill(i));
    store.close();
    const content = readFileSync(path);
    content.fill(0xaa, 8_192);
    writeFileSync(path, content);
    const damaged = nodeKv(path);
    expect(await damaged.get("key-50", 1 << 20)).toEqual({ ok: false, fault: "broken" });
    expect(await damaged.list("", 10)).toEqual({ ok: false, fault: "broken" });
  });

  it("holds, after a kill at any moment, what was last said to be kept, or the one after, whole", async () => {
    const path = file();
    for (const lines of [3, 20]) {
      const writer = spawn(
        process.execPath,
        ["--conditions=keyhole-source", join(import.meta.dirname, "kv-writer.ts"), path],
        {
          stdio: ["ignore", "pipe", "inherit"],
        },
      );
      let last = 0;
      const ended = once(writer, "close");
      createInterface(writer.stdout).on("line", (line) => {
        last = Number(line);
        if (last === lines) writer.kill("SIGKILL");
      });
      // All that it wrote has been read by then, also what came after the kill was asked for.
      await ended;
      expect(last).toBeGreaterThanOrEqual(lines);
      const store = nodeKv(path);
      const read = await store.get("value", 1 << 20);
      if (!read.ok) throw new Error(read.fault);
      const [round] = read.value;
      expect([last % 251, (last + 1) % 251]).toContain(round);
      expect(read.value.every((byte) => byte === round)).toBe(true);
      expect(read.value.length).toBe(50_000);
      store.close();
    }
  });
});

it("memory is bounded in bytes and keys, and gives back what is deleted", async () => {
  const store = memoryKv({ totalBytes: 10, keyCount: 2 });
  expect(await store.put("a", new Uint8Array(6))).toMatchObject({ ok: true });
  expect(await store.put("b", new Uint8Array(5))).toEqual({ ok: false, fault: "no-space" });
  expect(await store.put("b", new Uint8Array(4))).toMatchObject({ ok: true });
  expect(await store.put("c", new Uint8Array(0))).toEqual({ ok: false, fault: "no-space" });
  await store.delete("a");
  expect(await store.put("c", new Uint8Array(6))).toMatchObject({ ok: true });
});
