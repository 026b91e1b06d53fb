import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrokerReply, CapabilityRequest } from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { nodeStore } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSession } from "../brokers/session.ts";
import { mayPass } from "./paths-grammar.ts";
import { hostilePaths } from "./paths-table.ts";

const secret = "a secret that no tool may see";
const base = realpathSync(mkdtempSync(join(tmpdir(), "keyhole-paths-")));
const root = join(base, "root");
const beyond = join(base, "beyond");

/** Everything below the base but the root, with contents: what must stay as it is. */
function stateBeyond(folder = base): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (path === root) return [];
    return entry.isDirectory()
      ? [path, ...stateBeyond(path)]
      : [path, entry.isFile() ? readFileSync(path, "utf8") : ""];
  });
}

beforeAll(() => {
  mkdirSync(root);
  mkdirSync(beyond);
  mkdirSync(join(base, "etc"));
  for (const path of ["secret.txt", "a", "etc/passwd", "beyond/secret.txt"]) writeFileSync(join(base, path), secret);
});
afterAll(() => rmSync(base, { recursive: true }));

const operations = ["read", "write", "list", "stat", "remove"] as const;

function requestOf(operation: (typeof operations)[number], path: string): CapabilityRequest {
  const writes = operation === "write" || operation === "remove";
  return {
    kind: writes ? "fs.write" : "fs.read",
    operation,
    arguments: { path },
    ...(operation === "write" && { body: new TextEncoder().encode("overwritten") }),
  };
}

const bodyOf = (reply: BrokerReply): string => new TextDecoder().decode(reply.ok ? reply.body : undefined);

const rows = Object.entries(hostilePaths).flatMap(([group, paths]) =>
  paths.map((path) => [group, path.replaceAll("ROOT", base)] as const),
);

it("has a table that is large enough", () =>
  expect(new Set(rows.map(([, path]) => path)).size).toBeGreaterThanOrEqual(200));

describe.each([
  ["memory", () => memoryStore()],
  ["the file system", () => nodeStore(root)],
] as const)("on %s", (_, open) => {
  it.each(Object.keys(hostilePaths))("no operation takes paths that %s", async (group) => {
    const before = stateBeyond();
    const broker = filesBroker(open());
    for (const [, path] of rows.filter(([each]) => each === group)) {
      for (const operation of operations) {
        // The root itself can be listed.
        if (path === "" && (operation === "list" || operation === "stat")) continue;
        const request = requestOf(operation, path);
        // An escape is a name as it is, and no store decodes it.
        if (mayPass(path)) {
          await broker.serve(request, openSession());
          continue;
        }
        const label = `${operation} ${JSON.stringify(path.slice(0, 80))}`;
        expect(broker.needs(request), label).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
        const reply = await broker.serve(request, openSession());
        expect(reply, label).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
      }
    }
    expect(stateBeyond()).toEqual(before);
    expect(readdirSync(root)).toEqual([]);
  });
});

describe("links in the file system", () => {
  beforeEach(() => {
    rmSync(root, { recursive: true });
    mkdirSync(join(root, "real"), { recursive: true });
    writeFileSync(join(root, "real/file"), "inside");
    symlinkSync(beyond, join(root, "folder-out"));
    symlinkSync(join(beyond, "secret.txt"), join(root, "file-out"));
    symlinkSync("../beyond", join(root, "relative-out"));
    symlinkSync(base, join(root, "real/base"));
    symlinkSync("/", join(root, "slash"));
    symlinkSync("/proc/self", join(root, "proc"));
    symlinkSync(join(base, "new-outside"), join(root, "dangling"));
    symlinkSync("loop", join(root, "loop"));
    symlinkSync("real", join(root, "folder-in"));
    symlinkSync("real/file", join(root, "file-in"));
    symlinkSync(".", join(root, "self"));
  });

  const linked = [
    "folder-out",
    "folder-out/secret.txt",
    "folder-out/new",
    "file-out",
    "relative-out/secret.txt",
    "real/base/secret.txt",
    "real/base/etc/passwd",
    "real/base/root/real/file",
    "slash/etc/passwd",
    "slash/etc",
    "slash/tmp",
    "proc/environ",
    "proc/root/etc/passwd",
    "proc/cwd/package.json",
    "dangling",
    "dangling/a",
    "loop",
    "loop/a",
    "folder-in",
    "folder-in/file",
    "folder-in/new",
    "file-in",
    "self/real/file",
    "self/self/real/file",
    "self/folder-out/secret.txt",
  ];

  it.each(linked)("are followed by nothing: %s", async (path) => {
    const before = stateBeyond();
    const broker = filesBroker(nodeStore(root));
    for (const operation of operations) {
      const reply = await broker.serve(requestOf(operation, path), openSession());
      expect(reply.ok, operation).toBe(false);
      expect(JSON.stringify(reply)).not.toContain(base);
    }
    expect(stateBeyond()).toEqual(before);
    expect(readFileSync(join(root, "real/file"), "utf8")).toBe("inside");
    expect(existsSync(join(root, "real/new"))).toBe(false);
  });

  it("are not listed", async () => {
    const broker = filesBroker(nodeStore(root));
    expect(await broker.serve(requestOf("list", ""), openSession())).toMatchObject({
      ok: true,
      value: { entries: [{ name: "real" }], leftOut: expect.any(Number) as number },
    });
    expect(await broker.serve(requestOf("list", "real"), openSession())).toMatchObject({
      ok: true,
      value: { entries: [{ name: "file" }] },
    });
  });

  it("may lead to the root itself", async () => {
    symlinkSync(root, join(base, "way-to-root"));
    const reply = await filesBroker(nodeStore(join(base, "way-to-root"))).serve(
      requestOf("read", "real/file"),
      openSession(),
    );
    expect(bodyOf(reply)).toBe("inside");
    rmSync(join(base, "way-to-root"));
  });

  it("that are hard are files: a write gives the name a file of its own", async () => {
    linkSync(join(beyond, "secret.txt"), join(root, "hard"));
    expect(await filesBroker(nodeStore(root)).serve(requestOf("write", "hard"), openSession())).toMatchObject({
      ok: true,
    });
    expect(readFileSync(join(beyond, "secret.txt"), "utf8")).toBe(secret);
  });
});

describe("what is neither file nor folder", () => {
  it("a pipe holds nobody up", async () => {
    const fifo = join(root, "pipe");
    expect(spawnSync("sh", ["-c", `mkfifo "${fifo}"`]).status).toBe(0);
    const broker = filesBroker(nodeStore(root));
    for (const operation of operations)
      expect(await broker.serve(requestOf(operation, "pipe"), openSession())).toMatchObject({ ok: false });
    expect(statSync(fifo).isFIFO()).toBe(true);
    rmSync(fifo);
  });
});

describe("races", () => {
  it("a folder that turns into a link and back gives no secret away, and takes no write", async () => {
    rmSync(root, { recursive: true });
    mkdirSync(join(root, "real"), { recursive: true });
    writeFileSync(join(root, "real/secret.txt"), "inside");
    const before = stateBeyond();
    // A process of its own, so that the swaps fall between the steps of the store.
    const script = `cd "${root}" && for i in $(seq 1 400); do mv real kept && ln -s "${beyond}" real && rm real && mv kept real; done`;
    const swapping = Promise.withResolvers<void>();
    const { spawn } = await import("node:child_process");
    spawn("sh", ["-c", script], { stdio: "ignore" }).once("exit", () => swapping.resolve());
    let isSwapping = true;
    void swapping.promise.then(() => (isSwapping = false));

    const broker = filesBroker(nodeStore(root));
    let served = 0;
    while (isSwapping) {
      const read = await broker.serve(requestOf("read", "real/secret.txt"), openSession());
      expect(bodyOf(read)).not.toContain(secret);
      const write = await broker.serve(requestOf("write", "real/other.txt"), openSession());
      served += Number(read.ok) + Number(write.ok);
    }
    expect(stateBeyond()).toEqual(before);
    expect(served).toBeGreaterThan(0);
  });

  it("many writers leave one whole file and no drafts", async () => {
    rmSync(root, { recursive: true });
    mkdirSync(root);
    const stores = [filesBroker(nodeStore(root)), filesBroker(nodeStore(root))];
    const contents = Array.from({ length: 40 }, (_, i) => String.fromCharCode(65 + (i % 26)).repeat(20_000));
    const write = (content: string, at: number) =>
      stores[at % 2]!.serve({ ...requestOf("write", "file"), body: new TextEncoder().encode(content) }, openSession());
    const reads = Array.from({ length: 40 }, () => stores[0]!.serve(requestOf("read", "file"), openSession()));
    const replies = await Promise.all([...contents.map(write), ...reads]);
    for (const reply of replies.slice(contents.length)) if (reply.ok) expect(contents).toContain(bodyOf(reply));
    expect(contents).toContain(readFileSync(join(root, "file"), "utf8"));
    expect(readdirSync(root)).toEqual(["file"]);
  });
});
