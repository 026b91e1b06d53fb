import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AuditEvent, CallFailure, CallResult, PolicyDocument } from "@keyhole/kernel";
import { createBuilder } from "vite";
import { allScopes, type Edge, startEdge } from "../../../scripts/serve/edge.mjs";
import { freePorts } from "../../../scripts/serve/ports.mjs";
import { untilBuilt } from "../playground/site.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

export interface TestEdge {
  readonly edge: Edge;
  /** Sends a request with the token. */
  send(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  call(
    tool: string,
    input: unknown,
    options?: object,
  ): Promise<{ readonly status: number; readonly result: CallResult }>;
  events(): Promise<AuditEvent[]>;
  stop(): Promise<void>;
}

/** Builds the kernel's Worker with the tools of the tests into a folder of its own, and starts the edge as `npm start` does. */
export async function startTestEdge(
  policy: PolicyDocument,
  origins: readonly string[] = ["http://127.0.0.1:1"],
): Promise<TestEdge> {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-e2e-"));
  const [config] = await Promise.all([buildInto(folder), untilBuilt()]);
  const [port = 0] = await freePorts(1);
  const tokens = {
    "e2e-token": { subject: "tester", scopes: allScopes },
    "neighbours-token": { subject: "neighbour", scopes: allScopes, tenant: "neighbour" },
  };
  const edge = await startEdge({ port, tokens, policy, config, origins });

  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(edge.url + path, {
      ...init,
      headers: { authorization: "Bearer e2e-token", ...(init.headers as Record<string, string>) },
    });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    send(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  return {
    edge,
    send,
    post,
    async call(tool, input, options = {}) {
      const response = await post(`/v1/tools/${tool}/calls`, { input, ...options });
      const body = (await response.json()) as CallResult | { readonly result: CallFailure };
      return { status: response.status, result: "result" in body ? body.result : body };
    },
    async events() {
      const events: AuditEvent[] = [];
      for (;;) {
        const page = (await (await send(`/v1/audit?from=${events.length}&limit=1000`)).json()) as {
          readonly events: AuditEvent[];
        };
        if (page.events.length === 0) return events;
        events.push(...page.events);
      }
    },
    async stop() {
      await edge.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function buildInto(folder: string): Promise<string> {
  const builder = await createBuilder({
    configFile: join(root, "vite.config.ts"),
    logLevel: "error",
    environments: {
      edge: {
        build: {
          outDir: folder,
          sourcemap: false,
          rolldownOptions: { input: { worker: join(root, "test/e2e/edge/worker.ts") } },
        },
      },
    },
  });
  await builder.build(builder.environments["edge"]!);
  const config = readFileSync(join(root, "wrangler.toml"), "utf8");
  const path = join(folder, "wrangler.toml");
  writeFileSync(path, config.replace("packages/edge/build/worker.js", "worker.js"));
  return path;
}
