import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEvent, CallFailure, CallResult, PolicyDocument } from "@keyhole/kernel";
import { inject } from "vitest";
import { allScopes, type Edge, startEdge } from "../../../scripts/serve/edge.mjs";
import { freePorts } from "../../../scripts/serve/ports.mjs";
import { untilBuilt } from "../playground/site.ts";

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

/** Starts the edge as `npm start` does, from a copy of the kernel's Worker with the tools of the tests. */
export async function startTestEdge(
  policy: PolicyDocument,
  origins: readonly string[] = ["http://127.0.0.1:1"],
): Promise<TestEdge> {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-e2e-"));
  const [built] = await Promise.all([fetch(`${inject("built")}/test-edge`), untilBuilt()]);
  const answer = await built.text();
  if (!built.ok) throw new Error(answer);
  cpSync(answer, folder, { recursive: true });
  const config = join(folder, "wrangler.toml");
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
