import {
  createKernel,
  type IsolateHost,
  type JsonValue,
  type Kernel,
  type Tool,
  type ToolPackage,
} from "@keyhole/kernel";
import { dbBroker, type SqlDatabase } from "@keyhole/worker-host/brokers/db";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { kvBroker, type KvStore } from "@keyhole/worker-host/brokers/kv";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { fetchUrl, kvGet, kvPut, listDirectory, sqlQuery, webSearchAt } from "@keyhole/worker-host/tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registerAny } from "../support/registered.ts";
import { folderOf, never, pageAt, setup } from "./catalogue-world.ts";

export const cataloguePackages: readonly ToolPackage[] = [
  fetchUrl,
  kvGet,
  kvPut,
  listDirectory,
  sqlQuery,
  webSearchAt("https://search.example.org/search"),
];

export interface CatalogueParts {
  /** Default: the tools run in the kernel's own realm. */
  readonly host?: IsolateHost;
  readonly values: KvStore;
  /** Empty. */
  readonly database: SqlDatabase;
}

/** What the catalogue's tools give on every host, over the brokers of that host. */
export function describeCatalogue(
  name: string,
  tools: readonly (Tool<never, unknown> | ToolPackage)[],
  open: () => Promise<CatalogueParts>,
): void {
  describe(`the catalogue: ${name}`, { timeout: 30_000 }, () => {
    let kernel: Kernel;
    beforeAll(async () => {
      const { host, values, database } = await open();
      for (const [sql, kind] of setup)
        await database.run({ sql, params: [], kinds: [kind] }, { rows: 0, bytes: 0, timeMs: 20_000 }, never);
      kernel = await createKernel({
        ...(host && { host }),
        brokers: [
          filesBroker(await folderOf(25)),
          kvBroker(values),
          dbBroker({ main: database }),
          netBroker({ fetch: async (url) => pageAt(url) }),
        ],
        policy: {
          version: "1",
          posture: "permissive",
          grants: [
            { tool: "*", capability: { kind: "fs.read", paths: ["**"] } },
            { tool: "*", capability: { kind: "kv.read", keys: ["notes/"] } },
            { tool: "*", capability: { kind: "kv.write", keys: ["notes/"], valueBytes: 100 } },
            { tool: "*", capability: { kind: "db.read", databases: ["main"], rows: 3 } },
            { tool: "*", capability: { kind: "net.read", hosts: ["*.example.org", "searxng.invalid"] } },
          ],
        },
      });
      for (const tool of tools) {
        const registered = registerAny(kernel, tool);
        if (!registered.ok) throw new Error(registered.error.message);
      }
    });
    afterAll(() => kernel.close());

    const call = async (tool: string, input: JsonValue): Promise<JsonValue> => {
      const result = await kernel.call(tool, input);
      return result.ok ? (result.data as JsonValue) : { code: result.error.code, message: result.error.message };
    };
    const hashOf = async (tool: string, input: JsonValue): Promise<string> => {
      const result = await kernel.call(tool, input);
      return result.ok ? result.hash : result.error.message;
    };

    it("keeps, gives back and deletes a value", async () => {
      const key = "notes/today";
      expect(await call("kv_get", { key })).toEqual({ key, found: false, value: "", encoding: "text", byteLength: 0 });
      expect(await call("kv_put", { key, value: "grüße" })).toEqual({ key, kept: true, byteLength: 7 });
      expect(await call("kv_get", { key })).toEqual({
        key,
        found: true,
        value: "grüße",
        encoding: "text",
        byteLength: 7,
      });
      expect(await call("kv_put", { key, value: "/wA=", encoding: "base64" })).toMatchObject({ byteLength: 2 });
      expect(await call("kv_get", { key })).toMatchObject({ value: "/wA=", encoding: "base64", byteLength: 2 });
      expect(await call("kv_put", { key })).toEqual({ key, kept: false, byteLength: 0 });
      expect(await call("kv_get", { key })).toMatchObject({ found: false });
    });

    it("keeps values inside the grant's keys and size", async () => {
      expect(await call("kv_get", { key: "other" })).toMatchObject({ code: "CAPABILITY_DENIED" });
      expect(await call("kv_put", { key: "notes", value: "x" })).toMatchObject({ code: "CAPABILITY_DENIED" });
      expect(await call("kv_put", { key: "notes/a", value: "x".repeat(100) })).toMatchObject({ kept: true });
      expect(await call("kv_put", { key: "notes/a", value: "x".repeat(101) })).toMatchObject({
        code: expect.stringMatching(/CAPABILITY_DENIED|BOUNDS_EXCEEDED/) as string,
      });
      expect(await call("kv_put", { key: "notes/a\u0000", value: "x" })).toMatchObject({
        message: expect.stringContaining("control characters") as string,
      });
    });

    it("reads rows", async () => {
      const sql = "SELECT id, name, picture FROM people WHERE id <= ? ORDER BY id";
      expect(await call("sql_query", { sql, params: [2] })).toEqual({
        columns: ["id", "name", "picture"],
        rows: [
          [1, "Ada", null],
          [2, "Grüße", { base64: "AP8=" }],
        ],
      });
      expect(await hashOf("sql_query", { sql, params: [2] })).toBe(
        "blake3:14c70373d76a9bbb173dd3fa19406e5090e67a930117337daca6d5c3cbaef484",
      );
      expect(await call("sql_query", { sql, params: [9] })).toMatchObject({ code: "BOUNDS_EXCEEDED" });
      expect(await call("sql_query", { sql: "SELECT x FROM nowhere" })).toMatchObject({
        message: expect.stringContaining("no such table") as string,
      });
      expect(await call("sql_query", { sql: "SELECT 1", database: "other" })).toMatchObject({
        code: "CAPABILITY_DENIED",
      });
    });

    it.each([
      "DELETE FROM people",
      "SELECT 1; DELETE FROM people",
      "WITH a AS (SELECT 1) DELETE FROM people",
      "PRAGMA writable_schema = on",
      "ATTACH 'other.db' AS other",
      "SELECT load_extension('x')",
    ])("reads, and does nothing else: %s", async (sql) => {
      expect(await call("sql_query", { sql })).toHaveProperty("code");
      expect(await call("sql_query", { sql: "SELECT count(*) AS n FROM people" })).toMatchObject({ rows: [[4]] });
    });

    it("lists a folder in pages", async () => {
      const names: string[] = [];
      let after = "";
      for (let page = 0; page < 3; page++) {
        const listed = (await call("list_directory", { path: "many", limit: 10, after })) as unknown as {
          entries: { name: string }[];
          next?: string;
        };
        names.push(...listed.entries.map((entry) => entry.name));
        expect(listed.next).toBe(page < 2 ? names.at(-1) : undefined);
        after = listed.next ?? "";
      }
      expect(names).toEqual(Array.from({ length: 25 }, (_, i) => `file-${String(i).padStart(2, "0")}`));
    });

    it("reads a page as a person would", async () => {
      const page = await call("fetch_url", { url: "https://www.example.org/article" });
      expect(page).toEqual({
        url: "https://www.example.org/article",
        status: 200,
        mediaType: "text/html",
        title: "A & B",
        text: "WEATHER\n\nIt is warm & dry. See the forecast.\n\n * one\n * two",
        length: 59,
      });
      expect(await hashOf("fetch_url", { url: "https://www.example.org/article", links: true })).toBe(
        "blake3:fd9347aa2e164ea37c8f5c55bb5a469a652ef6cffb352839fad4aceccf8cc99e",
      );
      expect(await call("fetch_url", { url: "https://www.example.org/article", links: true })).toMatchObject({
        text: expect.stringContaining("forecast [https://www.example.org/forecast]") as string,
      });
    });

    it("reads what is no page as it is, in parts, in the encoding that it says", async () => {
      const url = "https://www.example.org/long";
      expect(await call("fetch_url", { url, maxCharacters: 100 })).toMatchObject({
        length: 250,
        next: 100,
        mediaType: "text/plain",
        title: "",
      });
      expect(await call("fetch_url", { url, start: 200, maxCharacters: 100 })).toEqual({
        url,
        status: 200,
        mediaType: "text/plain",
        title: "",
        text: "x".repeat(50),
        length: 250,
      });
      expect(await call("fetch_url", { url, start: 1_000 })).toMatchObject({ text: "", length: 250 });
      expect(await call("fetch_url", { url: "https://www.example.org/latin" })).toMatchObject({ text: "Grüße" });
      expect(await call("fetch_url", { url: "https://www.example.org/unknown-charset" })).toMatchObject({ text: "x" });
      expect(await call("fetch_url", { url: "https://www.example.org/missing" })).toMatchObject({ status: 404 });
    });

    it("refuses what is not text, what is too large, and where it may not go", async () => {
      expect(await call("fetch_url", { url: "https://www.example.org/picture" })).toMatchObject({
        code: "TOOL_ERROR",
        message: expect.stringContaining("image/png") as string,
      });
      expect(await call("fetch_url", { url: "https://www.example.org/endless" })).toMatchObject({
        code: "BOUNDS_EXCEEDED",
      });
      expect(await call("fetch_url", { url: "https://elsewhere.example.com/" })).toMatchObject({
        code: "CAPABILITY_DENIED",
      });
    });

    it.each(["deep", "unclosed", "broken", "tags"])("comes to an end with a hostile page: %s", async (path) => {
      const page = await call("fetch_url", { url: `https://www.example.org/${path}` });
      expect(page).toSatisfy(
        (result: { text?: string; code?: string }) => result.text !== undefined || result.code === "TOOL_ERROR",
      );
      expect(await call("fetch_url", { url: "https://www.example.org/latin" })).toMatchObject({ text: "Grüße" });
    });

    it("searches", async () => {
      expect(await call("web_search", { query: "weather & more", limit: 2, timeRange: "day" })).toEqual({
        results: [
          { title: "First", url: "https://a.example.com/", excerpt: "An excerpt", published: "2026-01-02" },
          { title: "", url: "https://b.example.com/", excerpt: "", published: "" },
        ],
        answers: ["42", "fine"],
      });
    });

    it.each([
      ["not JSON", "TOOL_ERROR"],
      ["not the shape", "TOOL_ERROR"],
      ["forbidden", "TOOL_ERROR"],
    ])("says that the search did not answer: %s", async (query, code) => {
      expect(await call("web_search", { query })).toMatchObject({ code });
    });
  });
}
