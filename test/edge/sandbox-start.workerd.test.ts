import { edgeHost, type IsolateLoader } from "@keyhole/edge";
import type { RegisteredTool } from "@keyhole/kernel";
import { expect, it } from "vitest";

const tool = {
  id: "text@1.0.0",
  manifest: { source: "module", bounds: {} },
  body: { source: "module", code: "" },
} as unknown as RegisteredTool;

const gone = (): Promise<never> => Promise.reject(new Error("the sandbox is gone"));

it.each<[string, IsolateLoader["ping"]]>([
  ["cannot be reached", gone],
  ["does not answer", () => new Promise(() => {})],
])("a sandbox that %s until the start deadline is reported with that deadline", async (_, ping) => {
  const host = edgeHost({
    loader: { load: gone, call: gone, close: async () => {}, holds: gone, ping },
    startTimeoutMs: 100,
  });
  await expect(host.open(tool)).rejects.toMatchObject({
    code: "ISOLATE_LOST",
    message: "The sandbox in which tools run did not answer within 100 ms.",
  });
});
