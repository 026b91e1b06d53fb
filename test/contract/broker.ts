import type { Broker, BrokerReply, CapabilityRequest } from "@keyhole/kernel";
import { filesBroker, type FileStore } from "@keyhole/worker-host/brokers/files";
import { beforeEach, describe, expect, it } from "vitest";
import { openSession, type SessionOptions } from "../brokers/session.ts";

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);

/** What every file store must do, whatever is behind it. `open` gives an empty one. */
export function filesContract(name: string, open: () => FileStore | Promise<FileStore>): void {
  describe(`files on ${name}`, () => {
    let broker: Broker;
    beforeEach(async () => {
      broker = filesBroker(await open());
    });

    const ask = (
      operation: string,
      path: string,
      body?: Uint8Array,
      options?: SessionOptions,
    ): Promise<BrokerReply> => {
      const kind = operation === "write" || operation === "remove" ? "fs.write" : "fs.read";
      const request: CapabilityRequest = { kind, operation, arguments: { path }, ...(body && { body }) };
      return broker.serve(request, openSession(options));
    };
    const write = (path: string, content: string) => ask("write", path, bytes(content));
    const put = async (path: string, content: string): Promise<void> =>
      expect(await write(path, content)).toEqual({ ok: true, value: null });
    const codeOf = (reply: BrokerReply): string => (reply.ok ? "ok" : reply.error.code);

    it("gives back what was written, byte by byte", async () => {
      const all = Uint8Array.from({ length: 256 }, (_, i) => i);
      expect(await ask("write", "a/b.bin", all)).toEqual({ ok: true, value: null });
      const reply = await ask("read", "a/b.bin");
      expect(reply.ok && [...reply.body!]).toEqual([...all]);
    });

    it("keeps an empty file", async () => {
      await put("empty", "");
      const reply = await ask("read", "empty");
      expect(reply.ok && reply.body!.byteLength).toBe(0);
      expect(await ask("stat", "empty")).toEqual({ ok: true, value: { name: "empty", kind: "file", byteLength: 0 } });
    });

    it("replaces a file, also by a shorter one", async () => {
      await put("a", "a long text");
      await put("a", "short");
      const reply = await ask("read", "a");
      expect(reply.ok && text(reply.body)).toBe("short");
    });

    it("holds no reference to what it was given or gave", async () => {
      const given = bytes("before");
      await ask("write", "a", given);
      given.fill(0);
      const first = await ask("read", "a");
      if (first.ok) first.body!.fill(0);
      const second = await ask("read", "a");
      expect(second.ok && text(second.body)).toBe("before");
    });

    it("lists a folder sorted by name, with sizes, and nothing below it", async () => {
      for (const path of ["notes/b.txt", "notes/a.txt", "notes/deep/er/c.txt", "other/x"]) await put(path, path);
      expect(await ask("list", "notes")).toEqual({
        ok: true,
        value: {
          entries: [
            { name: "a.txt", kind: "file", byteLength: 11 },
            { name: "b.txt", kind: "file", byteLength: 11 },
            { name: "deep", kind: "directory", byteLength: 0 },
          ],
          leftOut: 0,
        },
      });
      const root = await ask("list", "");
      expect(root.ok && root.value).toMatchObject({ entries: [{ name: "notes" }, { name: "other" }], leftOut: 0 });
    });

    it("has a root that is there before anything is in it", async () => {
      expect(await ask("list", "")).toEqual({ ok: true, value: { entries: [], leftOut: 0 } });
      expect(await ask("stat", "")).toEqual({ ok: true, value: { name: "", kind: "directory", byteLength: 0 } });
    });

    it("says what a path is", async () => {
      await put("folder/file", "four");
      expect(await ask("stat", "folder/file")).toEqual({
        ok: true,
        value: { name: "file", kind: "file", byteLength: 4 },
      });
      expect(await ask("stat", "folder")).toEqual({
        ok: true,
        value: { name: "folder", kind: "directory", byteLength: 0 },
      });
    });

    it("removes a file, and with the last file its folders", async () => {
      await put("x/y/a", "1");
      await put("x/b", "2");
      expect(await ask("remove", "x/y/a")).toEqual({ ok: true, value: null });
      expect(codeOf(await ask("read", "x/y/a"))).toBe("NOT_FOUND");
      expect(codeOf(await ask("stat", "x/y"))).toBe("NOT_FOUND");
      expect(codeOf(await ask("stat", "x"))).toBe("ok");
      await ask("remove", "x/b");
      expect(await ask("list", "")).toEqual({ ok: true, value: { entries: [], leftOut: 0 } });
    });

    it.each(["read", "list", "stat", "remove"])("answers that nothing is there: %s", async (operation) => {
      const reply = await ask(operation, "no/such");
      expect(reply).toMatchObject({ ok: false, error: { code: "NOT_FOUND", message: '"no/such" does not exist.' } });
    });

    it("does not take a folder for a file", async () => {
      await put("folder/file", "1");
      for (const operation of ["read", "remove"]) {
        expect(await ask(operation, "folder")).toMatchObject({
          ok: false,
          error: { code: "NOT_FOUND", message: '"folder" is a folder.' },
        });
      }
      expect(await write("folder", "2")).toMatchObject({ ok: false, error: { message: '"folder" is a folder.' } });
    });

    it("does not take a file for a folder", async () => {
      await put("file", "1");
      const message = (path: string) => ({
        ok: false,
        error: { code: "NOT_FOUND", message: `"${path}" is a file, or is below one.` },
      });
      expect(await ask("list", "file")).toMatchObject(message("file"));
      expect(await write("file/below", "2")).toMatchObject(message("file/below"));
      for (const operation of ["read", "stat", "remove", "list"])
        expect(await ask(operation, "file/below")).toMatchObject(message("file/below"));
      const reply = await ask("read", "file");
      expect(reply.ok && text(reply.body)).toBe("1");
    });

    it("takes names of every script, the longest ones, and those that only look like patterns", async () => {
      const names = [
        "données à lire.txt",
        "文件/资料.txt",
        "a*b?c",
        "[x]",
        "emoji-👩‍💻",
        "#1",
        "a&b=c+d",
        "~",
        "n".repeat(255),
      ];
      for (const [index, path] of names.entries()) await put(path, String(index));
      for (const [index, path] of names.entries()) {
        const reply = await ask("read", path);
        expect(reply.ok && text(reply.body), path).toBe(String(index));
      }
      const listed = await ask("list", "");
      expect(listed.ok && (listed.value as { entries: { name: string }[] }).entries.map((entry) => entry.name)).toEqual(
        names.map((path) => path.split("/")[0]!).sort(),
      );
    });

    it("tells names apart that differ in case, or refuses the second", async () => {
      await put("Name", "upper");
      const second = await write("name", "lower");
      const first = await ask("read", "Name");
      expect(first.ok && text(first.body)).toBe("upper");
      if (!second.ok) expect(second.error.code).toBe("CAPABILITY_DENIED");
    });

    it("bounds a file at the grant's size and not one byte later", async () => {
      expect(codeOf(await ask("write", "a", bytes("12345"), { limit: 5 }))).toBe("ok");
      expect(codeOf(await ask("write", "b", bytes("123456"), { limit: 5 }))).toBe("BOUNDS_EXCEEDED");
      expect(codeOf(await ask("read", "a", undefined, { limit: 5 }))).toBe("ok");
      const refused = await ask("read", "a", undefined, { limit: 4 });
      expect(refused).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
      expect(codeOf(await ask("stat", "b"))).toBe("NOT_FOUND");
    });

    it("asks the grant again with the size that it found", async () => {
      await put("a", "12345");
      const options = { grants: [{ kind: "fs.read", paths: ["a"], fileBytes: 4 }] } as const satisfies SessionOptions;
      expect(codeOf(await ask("read", "a", undefined, options))).toBe("CAPABILITY_DENIED");
    });

    it("does nothing for a call that has ended", async () => {
      const options = { signal: AbortSignal.abort() };
      expect(codeOf(await ask("write", "a", bytes("1"), options))).toBe("CANCELLED");
      expect(codeOf(await ask("read", "a"))).toBe("NOT_FOUND");
    });

    it("ends many changes at once with one whole file", async () => {
      const contents = Array.from({ length: 20 }, (_, i) => String(i).padStart(1_000, "x"));
      await Promise.all(contents.map((content) => write("a/b/c", content)));
      await Promise.all([ask("remove", "a/b/c"), write("a/b/d", "kept"), ask("remove", "a/b/none")]);
      const reply = await ask("read", "a/b/d");
      expect(reply.ok && text(reply.body)).toBe("kept");
      expect(codeOf(await ask("stat", "a/b/c"))).toBe("NOT_FOUND");
    });

    it.each([
      ["read", { path: 1 }],
      ["read", {}],
      ["read", { path: "" }],
      ["remove", { path: "" }],
      ["write", { path: "a" }],
      ["read", { path: "../a" }],
      ["open", { path: "a" }],
      ["toString", { path: "a" }],
      ["__proto__", { path: "a" }],
    ] as const)("refuses %s of %j before anything is touched", async (operation, args) => {
      const kind = operation === "write" || operation === "remove" ? "fs.write" : "fs.read";
      const request: CapabilityRequest = { kind, operation, arguments: args };
      expect(broker.needs(request)).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
      expect(await broker.serve(request, openSession())).toMatchObject({
        ok: false,
        error: { code: "INVALID_REQUEST" },
      });
    });

    it("does not let an operation pass under the other kind", () => {
      expect(broker.needs({ kind: "fs.read", operation: "remove", arguments: { path: "a" } })).toMatchObject({
        ok: false,
      });
      expect(broker.needs({ kind: "fs.write", operation: "read", arguments: { path: "a" } })).toMatchObject({
        ok: false,
      });
    });

    it("says what a request needs", () => {
      expect(
        broker.needs({ kind: "fs.write", operation: "write", arguments: { path: "a/b" }, body: bytes("123") }),
      ).toEqual({
        ok: true,
        needs: [{ kind: "fs.write", path: "a/b", bytes: 3 }],
      });
      expect(broker.needs({ kind: "fs.read", operation: "list", arguments: { path: "" } })).toEqual({
        ok: true,
        needs: [{ kind: "fs.read", path: "" }],
      });
    });
  });
}
