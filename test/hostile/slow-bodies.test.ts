import { once } from "node:events";
import { request } from "node:http";
import { createKernel } from "@keyhole/kernel";
import { exposeInspector } from "@keyhole/worker-host/node";
import { afterEach, expect, it, vi } from "vitest";
import { openApprovalPage } from "../../packages/keyhole/templates/mcp/src/approvals.ts";

// A client announces a body and does not send it.

interface Served {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  close(): void | Promise<void>;
}

async function inspector(): Promise<Served> {
  const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
  const { address, token, close } = await exposeInspector(kernel, { origins: ["http://127.0.0.1:8700"] });
  return { url: `${address}/v1/mode`, headers: { authorization: `Bearer ${token}` }, close };
}

afterEach(() => vi.useRealTimers());

it.each<[string, string, () => Promise<Served>]>([
  ["an inspector", "PUT", inspector],
  ["the approval page of a template", "POST", openApprovalPage],
])("%s ends the connection of a %s after ten seconds", async (_, method, serve) => {
  const { url, headers = {}, close } = await serve();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const sent = request(url, { method, headers: { ...headers, "content-length": "100" }, agent: false });
  const gone = once(sent, "error");
  sent.write("x");
  await vi.waitUntil(() => vi.getTimerCount() > 0, { interval: 1 });
  vi.advanceTimersByTime(10_000);
  expect(await gone).toMatchObject([{ code: "ECONNRESET" }]);
  await close();
});
