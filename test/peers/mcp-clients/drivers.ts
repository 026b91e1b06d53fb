import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMCPClient } from "@ai-sdk/mcp";
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** A result of `tools/call`, as far as these tests read it. */
export interface Result {
  readonly content?: readonly object[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number) => void;
}

export interface Connected {
  list(): Promise<readonly string[]>;
  call(name: string, args: object, options?: CallOptions): Promise<Result>;
  close(): Promise<unknown>;
}

export interface Foreign {
  readonly connect: (url: string, token: string) => Promise<Connected>;
  /** Whether a caller of it is told of progress. */
  readonly hasProgress: boolean;
  /** Whether a caller of it is given the whole result, and not its structured content alone. */
  readonly isWhole: boolean;
  /** Whether the call ends at the server when the client's user ends it. A program of 2025-11-25 that is killed says nothing, and its call ends at its deadline. */
  readonly cancels: boolean;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** The client of the SDK 2.x. */
function official(mode: "auto" | "legacy" | { readonly pin: string }): Foreign["connect"] {
  return async (url, token) => {
    const client = new NewClient({ name: "matrix", version: "1.0.0" }, { versionNegotiation: { mode } });
    await client.connect(new NewTransport(new URL(url), { requestInit: { headers: bearer(token) } }));
    return {
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name, args, { signal, onProgress } = {}) =>
        client.callTool(
          { name, arguments: { ...args } },
          { ...(signal && { signal }), ...(onProgress && { onprogress: ({ progress }) => onProgress(progress) }) },
        ),
      close: () => client.close(),
    };
  };
}

const sdkOne: Foreign["connect"] = async (url, token) => {
  const client = new OldClient({ name: "matrix", version: "1.0.0" });
  const transport = new OldTransport(new URL(url), { requestInit: { headers: bearer(token) } });
  await client.connect(transport as Parameters<OldClient["connect"]>[0]);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, { signal, onProgress } = {}) =>
      (await client.callTool({ name, arguments: { ...args } }, undefined, {
        ...(signal && { signal }),
        ...(onProgress && { onprogress: ({ progress }) => onProgress(progress) }),
      })) as Result,
    close: () => client.close(),
  };
};

const aiSdk: Foreign["connect"] = async (url, token) => {
  const client = await createMCPClient({ transport: { type: "http", url, headers: bearer(token) } });
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, { signal } = {}) =>
      (await client.callTool({ name, arguments: { ...args }, ...(signal && { options: { signal } }) })) as Result,
    close: () => client.close(),
  };
};

const { resolve } = createRequire(import.meta.url);

/** Runs a program of a package, and gives what it printed. Its exit code can tell of a result that is an error. */
function printed(file: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  return new Promise((done, fail) => {
    const options = { signal, env: { PATH: String(process.env["PATH"]), HOME: "/nonexistent" } };
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) => {
      if (stdout.trim() === "") fail(error ?? new Error(stderr));
      else done(stdout);
    });
  });
}

function inspector(era: "legacy" | "modern"): Foreign["connect"] {
  const file = join(
    dirname(resolve("@modelcontextprotocol/inspector/package.json")),
    "clients/launcher/build/index.js",
  );
  return async (url, token) => {
    const words = ["--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "--quiet"];
    const header = ["--header", `Authorization: Bearer ${token}`];
    const said = async (more: readonly string[], signal?: AbortSignal): Promise<unknown> =>
      (JSON.parse(await printed(file, [...words, ...more, ...header], signal)) as { readonly result: unknown }).result;
    return {
      async list() {
        const answer = (await said(["--method", "tools/list"])) as {
          readonly tools: readonly { readonly name: string }[];
        };
        return answer.tools.map(({ name }) => name);
      },
      async call(name, args, { signal } = {}) {
        const call = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)];
        return (await said(call, signal)) as Result;
      },
      close: async () => {},
    };
  };
}

const mcporter: Foreign["connect"] = async (url, token) => {
  const file = fileURLToPath(new URL("node_modules/mcporter/dist/cli.js", import.meta.url));
  const server = ["--http-url", url, "--allow-http", "--name", "keyhole", "--no-oauth"];
  const header = ["--header", `Authorization=Bearer ${token}`];
  return {
    async list() {
      const text = await printed(file, ["list", ...server, ...header, "--json"]);
      const answer = JSON.parse(text) as { readonly tools: readonly { readonly name: string }[] };
      return answer.tools.map(({ name }) => name);
    },
    async call(name, args, { signal } = {}) {
      const call = ["call", ...server, ...header, "--tool", name, "--args", JSON.stringify(args), "--output", "json"];
      const said = JSON.parse(await printed(file, call, signal)) as Result;
      return said.content ? said : { structuredContent: said };
    },
    close: async () => {},
  };
};

export const clients: Readonly<Record<string, Foreign>> = {
  "client 2.4, auto": { connect: official("auto"), hasProgress: true, isWhole: true, cancels: true },
  "client 2.4, pinned to 2026-07-28": {
    connect: official({ pin: "2026-07-28" }),
    hasProgress: true,
    isWhole: true,
    cancels: true,
  },
  "client 2.4, 2025-11-25": { connect: official("legacy"), hasProgress: true, isWhole: true, cancels: true },
  "SDK 1.32": { connect: sdkOne, hasProgress: true, isWhole: true, cancels: true },
  "@ai-sdk/mcp": { connect: aiSdk, hasProgress: false, isWhole: true, cancels: true },
  "Inspector, 2026-07-28": { connect: inspector("modern"), hasProgress: false, isWhole: true, cancels: true },
  "Inspector, 2025-11-25": { connect: inspector("legacy"), hasProgress: false, isWhole: true, cancels: false },
  mcporter: { connect: mcporter, hasProgress: false, isWhole: false, cancels: false },
};
