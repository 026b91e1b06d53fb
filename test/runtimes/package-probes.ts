import { hold, type Probe } from "./probes.ts";

/** A kernel whose tools nobody lists. */
const noTools = { list: () => [], call: () => Promise.reject(new Error()), preview: () => Promise.reject(new Error()) };

/** Of the packages beside the kernel and its hosts. */
export const keyholeProbes: Readonly<Record<string, Probe>> = {
  async "@keyhole/agents/webmcp"() {
    const { exposeToPage } = await import("@keyhole/agents/webmcp");
    const { tools } = await exposeToPage(noTools, { modelContext: { registerTool: () => {} } });
    hold(tools.length === 0, "there are tools");
  },
  async "@keyhole/bus"() {
    const { channelBus, memoryBus } = await import("@keyhole/bus");
    const channel = new MessageChannel();
    hold(typeof channelBus(channel.port1).publish === "function", "there is no bus over a channel");
    channel.port1.close();
    const connection = memoryBus().connect();
    const heard: string[] = [];
    connection.subscribe("a.*", ({ subject }) => void heard.push(subject));
    connection.publish("a.b", { headers: new Map(), body: new Uint8Array() });
    await Promise.resolve();
    hold(heard.length === 1, "the message did not arrive");
  },
  async "@keyhole/agents/agent-run"() {
    const { AgentRun } = await import("@keyhole/agents/agent-run");
    const ask = (): never => {
      throw new Error("not asked");
    };
    const run = new AgentRun({ kernel: noTools, ask });
    run.stop();
    hold(typeof run.send === "function", "there is no run");
  },
  async "@keyhole/agents/ai-sdk"() {
    const { aiSdkTools } = await import("@keyhole/agents/ai-sdk");
    hold(Object.keys((await aiSdkTools(noTools)).tools).length === 0, "there are tools");
  },
  async "@keyhole/agents/anthropic"() {
    const { anthropicTools } = await import("@keyhole/agents/anthropic");
    hold((await anthropicTools(noTools)).length === 0, "there are tools");
  },
  async "@keyhole/agents/cloudflare-codemode"() {
    const { codemodeExecutor } = await import("@keyhole/agents/cloudflare-codemode");
    const { error } = await codemodeExecutor(noTools).execute("() => 1", { gone: () => 1 });
    hold(error?.includes("gone") === true, "an unknown function was taken");
  },
  async "@keyhole/agents/code-mode"() {
    const { codeMode } = await import("@keyhole/agents/code-mode");
    const kernel = codeMode(noTools);
    hold((await kernel.preview("list_tools", {})).decision === "allow", "the list is refused");
  },
  async "@keyhole/agents/page-tools"() {
    const { pageToolsSource } = await import("@keyhole/agents/page-tools");
    const kernel = { registerTrusted: () => ({ ok: false }) as never, unregister: async () => true };
    const source = await pageToolsSource(kernel, { modelContext: { getTools: () => [], executeTool: async () => 1 } });
    hold(source.tools.size === 0, "there are tools");
  },
  async "@keyhole/agents/policy-client"() {
    const { policyClient } = await import("@keyhole/agents/policy-client");
    const { decision } = await policyClient(noTools).evaluate<{ decision: string }>("other", {});
    hold(decision === "deny", "an unknown path was allowed");
  },
  async "@keyhole/agents/prompt-api"() {
    const { promptApiTools } = await import("@keyhole/agents/prompt-api");
    hold((await promptApiTools(noTools)).length === 0, "there are tools");
  },
  async "@keyhole/agents/langchain"() {
    const { langChainTools } = await import("@keyhole/agents/langchain");
    hold((await langChainTools(noTools, () => 1)).length === 0, "there are tools");
  },
  async "@keyhole/agents/openai"() {
    const { openAiTools } = await import("@keyhole/agents/openai");
    hold((await openAiTools(noTools)).length === 0, "there are tools");
  },
  async "@keyhole/agents/openai-agents"() {
    const { openAiAgentsTools } = await import("@keyhole/agents/openai-agents");
    hold((await openAiAgentsTools(noTools)).length === 0, "there are tools");
  },
  async "keyhole/packer"() {
    const { mapFiles, Packer } = await import("keyhole/packer");
    const esbuild = { version: "0.0.0", build: () => Promise.reject(new Error("asked")) };
    const engine = () => Promise.reject(new Error("not asked"));
    const packer = new Packer({ esbuild, files: mapFiles(new Map([["/a.ts", "export {};"]])), engine });
    const error: unknown = await packer.pack("/a.ts").then(() => undefined, String);
    hold(error === "BundleError: asked", String(error));
  },
};
