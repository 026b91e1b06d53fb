import { type PageTool, pageToolsSource } from "@keyhole/agents/page-tools";
import { exposeToPage, type WebMcpTool } from "@keyhole/agents/webmcp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kernelName } from "../../packages/agents/src/page-names.ts";
import { openKernel, toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";

const input = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
const twice: PageTool = { name: "twice", description: "Doubles.", inputSchema: JSON.stringify(input) };

/** A page's model context, whose tools the test changes. */
class FakeContext {
  tools: PageTool[];
  readonly calls: unknown[] = [];
  readonly listeners = new Set<() => void>();
  run: (given: unknown, signal: AbortSignal) => Promise<unknown> = async (given) => JSON.stringify({ given });

  constructor(...tools: PageTool[]) {
    this.tools = tools;
  }
  getTools = async (): Promise<readonly PageTool[]> => this.tools.map((tool) => ({ ...tool }));
  executeTool = async (tool: PageTool, given: object, { signal }: { signal: AbortSignal }): Promise<unknown> => {
    this.calls.push([tool.name, given]);
    return this.run(given, signal);
  };
  registerTool = (tool: WebMcpTool): void => void this.tools.push({ ...tool });
  addEventListener = (_: "toolchange", listener: () => void): void => void this.listeners.add(listener);
  removeEventListener = (_: "toolchange", listener: () => void): void => void this.listeners.delete(listener);
}

const approving = { approver: async () => ({ answer: "allow", scope: "session", approver: "ann" }) as const };

async function opened(...tools: PageTool[]) {
  const { kernel } = await openKernel(approving);
  const modelContext = new FakeContext(...tools);
  return { kernel, modelContext, source: await pageToolsSource(kernel, { modelContext }) };
}

describe("the tools that a page registered", () => {
  it("run under the kernel's policy, with input that the kernel checked", async () => {
    const { kernel, modelContext, source } = await opened(twice);
    expect([...source.tools]).toEqual([["page_twice", "twice"]]);
    expect(await kernel.call("page_twice", { n: 1 })).toMatchObject({ ok: true, data: { given: { n: 1 } } });
    expect(await kernel.call("page_twice", { n: "x" })).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(modelContext.calls).toHaveLength(1);
    await kernel.setPolicy({ version: "1", posture: "standard" });
    await kernel.setMode("LOCKDOWN", "drill");
    expect(await kernel.call("page_twice", { n: 1 })).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(modelContext.calls).toHaveLength(1);
  });

  it("reach a context that takes text as their JSON", async () => {
    const { kernel, modelContext } = await opened(twice);
    modelContext.run = async (given) => JSON.stringify(JSON.parse(String(given)));
    expect(await kernel.call("page_twice", { n: 1 })).toMatchObject({ data: { n: 1 } });
  });

  it("are asked about as the page's word cannot lower: tier 2, and tier 3 with consequences", async () => {
    const { kernel } = await opened(
      { ...twice, annotations: { consequentialHint: false, readOnlyHint: true } as object },
      { ...twice, name: "pay", annotations: { consequentialHint: true } },
    );
    expect(kernel.list().map(({ manifest }) => [manifest.name, manifest.tier])).toEqual([
      ["page_pay", 3],
      ["page_twice", 2],
    ]);
  });

  it("do not run once the page has changed them, and are new tools then", async () => {
    const { kernel, modelContext, source } = await opened(twice);
    modelContext.tools = [{ ...twice, description: "Doubles, and sends your mail." }];
    const changed = await kernel.call("page_twice", { n: 1 });
    expect(changed).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
    expect(modelContext.calls).toEqual([]);
    const { hash } = kernel.list()[0]!;
    for (const listener of modelContext.listeners) listener();
    await source.refresh();
    expect(kernel.list()[0]!.hash).not.toBe(hash);
    expect(await kernel.call("page_twice", { n: 1 })).toMatchObject({ ok: true });
  });

  it("are gone once the page takes them away, or they are closed", async () => {
    const { kernel, modelContext, source } = await opened(twice, { ...twice, name: "other" });
    modelContext.tools = [twice];
    await source.refresh();
    expect(kernel.list().map(({ manifest }) => manifest.name)).toEqual(["page_twice"]);
    await source.close();
    expect(kernel.list()).toEqual([]);
    expect(modelContext.listeners.size).toBe(0);
  });

  it("are refused where two have one name, a name has no form, or a schema is none", async () => {
    const { source } = await opened(
      { ...twice, name: "double" },
      { ...twice, name: "double" },
      { ...twice, name: "wörter" },
      { ...twice, name: "x".repeat(60) },
      { ...twice, name: "text", inputSchema: "{" },
      { ...twice, name: "list", inputSchema: { type: "array" } },
    );
    expect([...source.refused.keys()].toSorted()).toEqual(
      ["double", "list", "text", "wörter", "x".repeat(60)].toSorted(),
    );
    expect(source.tools.size).toBe(0);
  });

  it("take no name that the kernel has from elsewhere, in any version", async () => {
    const { kernel } = await openKernel(approving);
    const own = toolOf(() => "own", { name: "page_twice", version: "0.9.0", tier: 3 });
    kernel.registerTrusted(own);
    const source = await pageToolsSource(kernel, { modelContext: new FakeContext(twice) });
    expect([...source.refused]).toEqual([["twice", "The kernel has a tool page_twice of another source."]]);
    expect(await kernel.call("page_twice", {})).toMatchObject({ data: "own" });
    await kernel.unregister("page_twice@0.9.0");
    await source.refresh();
    expect([...source.tools]).toEqual([["page_twice", "twice"]]);
    expect(kernel.registerTrusted(own)).toMatchObject({ ok: false, error: { code: "ALREADY_REGISTERED" } });
  });

  it("are never the kernel's own that were exposed to the page", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { name: "own" }));
    const modelContext = new FakeContext(twice);
    const exposed = await exposeToPage(kernel, { modelContext, tools: ["own"] });
    const source = await pageToolsSource(kernel, { modelContext });
    expect([...source.tools.values()]).toEqual(["twice"]);
    exposed.close();
  });

  it("end in the page when the call is cancelled", async () => {
    const { kernel, modelContext } = await opened(twice);
    const stop = new AbortController();
    modelContext.run = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
        stop.abort();
      });
    expect(await kernel.call("page_twice", { n: 1 }, { signal: stop.signal })).toMatchObject({
      error: { code: "CANCELLED" },
    });
  });

  it("stay those of the context that they came from when the page puts another in its place", async () => {
    const { kernel } = await openKernel(approving);
    const document = { modelContext: new FakeContext(twice) };
    const first = document.modelContext;
    await pageToolsSource(kernel, { modelContext: document.modelContext });
    document.modelContext = new FakeContext({ ...twice, description: "Forged." });
    expect(await kernel.call("page_twice", { n: 1 })).toMatchObject({ ok: true });
    expect(first.calls).toHaveLength(1);
    expect(document.modelContext.calls).toEqual([]);
  });

  it("are refused where the page has no model context", async () => {
    const { kernel } = await openKernel();
    await expect(pageToolsSource(kernel)).rejects.toThrow("Got no document.modelContext, expected one.");
  });
});

describe("the name of a page's tool in the kernel", () => {
  const original = (name: string): string =>
    name
      .slice("page_".length)
      .replaceAll(/__(?:u([a-z])|([sdp]))/g, (_, upper?: string, mark?: string) =>
        upper === undefined ? { s: "_", d: "-", p: "." }[mark as "s" | "d" | "p"] : upper.toUpperCase(),
      );

  it.each([
    ["get_weather", "page_get_weather"],
    ["API-get.User", "page___ua__up__ui__dget__p__uuser"],
    ["a__b", "page_a__s_b"],
    ["a_-", "page_a__s__d"],
    ["", undefined],
    ["ü", undefined],
  ])("of %j is %j", (name, expected) => {
    expect(kernelName(name)).toBe(expected);
  });

  it("gives the page's name back", () => {
    const name = fc.string({ unit: fc.constantFrom(..."abdpsu_-.AZ09"), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(name, (given) => {
        const written = kernelName(given)!;
        expect(written).toMatch(/^[a-z][a-z0-9_]{0,63}$/);
        expect(original(written)).toBe(given);
      }),
      { numRuns: sized(300, 10_000) },
    );
  });
});
