import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { nodeStore } from "@keyhole/worker-host/node";
import { afterAll, describe, expect, it } from "vitest";
import { filesContract } from "../contract/broker.ts";
import { openSession } from "./session.ts";

const root = mkdtempSync(join(tmpdir(), "keyhole-files-"));
afterAll(() => rmSync(root, { recursive: true }));

filesContract("memory", () => memoryStore());
filesContract("the file system", () => nodeStore(mkdtempSync(join(root, "store-"))));

describe("the bounds of the memory store", () => {
  const write = (broker: ReturnType<typeof filesBroker>, path: string, byteLength: number) =>
    broker.serve(
      { kind: "fs.write", operation: "write", arguments: { path }, body: new Uint8Array(byteLength) },
      openSession(),
    );

  it("counts all files together, and gives back what is replaced or removed", async () => {
    const broker = filesBroker(memoryStore({ totalBytes: 10 }));
    expect(await write(broker, "a", 6)).toMatchObject({ ok: true });
    expect(await write(broker, "b", 5)).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", message: expect.stringContaining("full") as string },
    });
    expect(await write(broker, "a", 10)).toMatchObject({ ok: true });
    await broker.serve({ kind: "fs.write", operation: "remove", arguments: { path: "a" } }, openSession());
    expect(await write(broker, "b", 10)).toMatchObject({ ok: true });
  });

  it("counts files", async () => {
    const broker = filesBroker(memoryStore({ fileCount: 1 }));
    expect(await write(broker, "a", 0)).toMatchObject({ ok: true });
    expect(await write(broker, "b", 0)).toMatchObject({ ok: false });
    expect(await write(broker, "a", 1)).toMatchObject({ ok: true });
  });
});

it("a root which is not there has no files, and the first write makes it", async () => {
  const broker = filesBroker(nodeStore(join(root, "missing", "too")));
  const read = () => broker.serve({ kind: "fs.read", operation: "read", arguments: { path: "a" } }, openSession());
  expect(await read()).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  const body = new Uint8Array(1);
  const written = broker.serve({ kind: "fs.write", operation: "write", arguments: { path: "a" }, body }, openSession());
  expect(await written).toMatchObject({ ok: true });
  expect(await read()).toMatchObject({ ok: true });
});

it("folders of the owner stay when they are empty, and those of the store go", async () => {
  const folder = join(root, "owned");
  mkdirSync(join(folder, "spool", "inbox"), { recursive: true });
  writeFileSync(join(folder, "spool", "inbox", "job"), "x");
  const store = nodeStore(folder);
  expect(await store.remove("spool/inbox/job")).toMatchObject({ ok: true });
  expect(existsSync(join(folder, "spool", "inbox"))).toBe(true);
  for (const path of ["spool/inbox/deep/er/job", "own/job"]) {
    expect(await store.write(path, new Uint8Array(1))).toMatchObject({ ok: true });
    expect(await store.remove(path)).toMatchObject({ ok: true });
  }
  expect(new Set(readdirSync(folder, { encoding: "utf8", recursive: true }))).toEqual(
    new Set(["spool", join("spool", "inbox")]),
  );
});

it("a list counts what no tool can use, and leaves it out", async () => {
  const folder = join(root, "odd");
  mkdirSync(join(folder, "sub"), { recursive: true });
  const odd = ["e\u0301.txt", "a:b", "con.txt", "trailing."];
  for (const name of ["100%.txt", "My%20File.pdf", ...odd, "half.crswap"]) writeFileSync(join(folder, name), "x");
  symlinkSync(root, join(folder, "link"));
  const broker = filesBroker(nodeStore(folder));
  const reply = await broker.serve({ kind: "fs.read", operation: "list", arguments: { path: "" } }, openSession());
  expect(reply).toMatchObject({
    ok: true,
    value: { entries: [{ name: "100%.txt" }, { name: "My%20File.pdf" }, { name: "sub" }], leftOut: odd.length + 1 },
  });
  const read = { kind: "fs.read", operation: "read", arguments: { path: "My%20File.pdf" } };
  expect(await broker.serve(read, openSession())).toMatchObject({ ok: true });
});
