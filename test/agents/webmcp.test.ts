import { exposeToPage, type WebMcpTool } from "@keyhole/agents/webmcp";
import { pageToolsSource } from "@keyhole/agents/page-tools";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

async function exposed(output: unknown, more: Record<string, unknown> = {}) {
  const { kernel } = await openKernel();
  kernel.registerTrusted(toolOf(() => output, more));
  const tools: WebMcpTool[] = [];
  const signals: AbortSignal[] = [];
  const registerTool = (tool: WebMcpTool, { signal }: { readonly signal: AbortSignal }): void => {
    tools.push(tool);
    signals.push(signal);
  };
  return { kernel, tools, signals, page: await exposeToPage(kernel, { modelContext: { registerTool } }) };
}

describe("the tools of a page", () => {
  it.each<[string, unknown, Record<string, unknown>, unknown]>([
    ["JSON as data", { a: 1 }, {}, { a: 1 }],
    ["a text as text", "x", { output: { kind: "text" } }, "x"],
    ["an error as data", 1n, {}, { error: expect.objectContaining({ code: "NOT_NORMALIZABLE" }) }],
  ])("give %s", async (_, output, more, expected) => {
    const { tools } = await exposed(output, more);
    expect(await tools[0]!.execute({})).toEqual(expected);
    expect(await tools[0]!.execute("{}")).toEqual(expected);
  });

  it("are refused where the page has no model context", async () => {
    const { kernel } = await openKernel();
    await expect(exposeToPage(kernel)).rejects.toThrow("Got no document.modelContext, expected one.");
  });

  it("are all taken away when the browser refuses one", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { name: "a" }));
    kernel.registerTrusted(toolOf(() => 1, { name: "b" }));
    const signals: AbortSignal[] = [];
    const registerTool = ({ name }: WebMcpTool, { signal }: { readonly signal: AbortSignal }): void => {
      if (name === "b") throw new Error("full");
      signals.push(signal);
    };
    await expect(exposeToPage(kernel, { modelContext: { registerTool } })).rejects.toThrow("full");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("stay the kernel's own when a second exposure is refused, until the first is closed", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { name: "pay" }));
    const listed: WebMcpTool[] = [];
    const modelContext = { registerTool: (tool: WebMcpTool) => void listed.push(tool), getTools: () => listed };
    const first = await exposeToPage(kernel, { modelContext });
    const { length } = listed;
    await expect(exposeToPage(kernel, { modelContext })).rejects.toThrow(
      "Close that one, or expose all tools at once.",
    );
    expect(listed).toHaveLength(length);
    const source = await pageToolsSource(kernel, { modelContext });
    expect(source.tools.size).toBe(0);
    first.close();
    first.close();
    await exposeToPage(kernel, { modelContext });
    await source.refresh();
    expect(source.tools.size).toBe(0);
  });

  it("are taken away once they are closed, and their calls are cancelled", async () => {
    const { tools, signals, page } = await exposed(1);
    page.close();
    expect(signals[0]!.aborted).toBe(true);
    expect(await tools[0]!.execute({})).toMatchObject({ error: { code: "CANCELLED" } });
  });
});
