import { hold, type Probe } from "./probes.ts";

/** One call per export that only Node runs. */
export const nodeProbes: Readonly<Record<string, Probe>> = {
  async "@keyhole/worker-host/node"() {
    const { nodeHost } = await import("@keyhole/worker-host/node");
    const { echo } = await import("@keyhole/worker-host/tools");
    const { createKernel } = await import("@keyhole/kernel");
    const kernel = await createKernel({ host: nodeHost(), policy: { version: "1", posture: "standard" } });
    hold(kernel.register(echo).ok, "the package was refused");
    const result = await kernel.call("echo", { message: "hello" });
    hold(result.ok, "the call has no result");
    await kernel.close();
  },
  async "@keyhole/worker-host/node/file-sink"() {
    const { fileSink } = await import("@keyhole/worker-host/node/file-sink");
    const { createKernel } = await import("@keyhole/kernel");
    const { mkdtempSync, readFileSync, rmSync } = await import("node:fs");
    const { tmpdir } = await import("node:os");
    const { join } = await import("node:path");
    const folder = mkdtempSync(join(tmpdir(), "keyhole-sink-"));
    const sink = fileSink(join(folder, "log.jsonl"));
    const kernel = await createKernel({ sink });
    await kernel.call("nothing", {});
    await kernel.close();
    await sink.close();
    hold(readFileSync(join(folder, "log.jsonl"), "utf8").includes("TOOL_NOT_FOUND"), "the call is not in the log");
    rmSync(folder, { recursive: true });
  },
  async "@keyhole/mcp/node"() {
    const { anyone } = await import("@keyhole/mcp");
    const { serveMcpHttp } = await import("@keyhole/mcp/node");
    const { createKernel } = await import("@keyhole/kernel");
    const kernel = await createKernel();
    const server = await serveMcpHttp(kernel, { authenticate: anyone({ caller: "probe" }) });
    hold((await fetch(server.url)).status === 405, "the server does not answer");
    await server.close();
    await kernel.close();
  },
  async "@keyhole/edge/dev"() {
    const { startEdge } = await import("@keyhole/edge/dev");
    await startEdge({ config: "no-such-wrangler.toml", port: 1 }).then(
      () => hold(false, "an edge without a configuration started"),
      (error: unknown) => hold(String(error).includes("no-such-wrangler.toml"), String(error)),
    );
  },
  async "@keyhole/worker-host/node/operations"() {
    const { operationsCatalogue } = await import("@keyhole/worker-host/node/operations");
    const { policy: policyOf } = await import("@keyhole/kernel");
    hold(policyOf((await operationsCatalogue()).policy).ok, "the policy was refused");
  },
  async "@keyhole/worker-host/node/browser"() {
    const { browserBroker } = await import("@keyhole/worker-host/node/browser");
    const request = { kind: "browser.page", operation: "open", arguments: { url: "file:///etc/passwd" } };
    hold(!(await browserBroker().needs(request)).ok, "a file is a page");
  },
  async "@keyhole/worker-host/node/config"() {
    const { loadConfig } = await import("@keyhole/worker-host/node/config");
    hold(!(await loadConfig("no-such-file.json")).ok, "a file that is not there was read");
  },
  async "@keyhole/worker-host/node/terminal"() {
    const { plain } = await import("@keyhole/worker-host/node/terminal");
    hold(plain("a\u202e") === "a\\u202e", "a character is shown as it is");
  },
  async "@keyhole/worker-host/node/policy-text"() {
    const { parsePolicyText } = await import("@keyhole/worker-host/node/policy-text");
    hold(parsePolicyText("version: '1'\nposture: standard").ok, "the policy is not read");
  },
  async keyhole() {
    const { packTool } = await import("keyhole");
    await packTool("no-such-tool.ts").then(
      () => hold(false, "a file that is not there was packed"),
      (error: unknown) => hold(String(error).includes("There is no file no-such-tool.ts."), String(error)),
    );
  },
  async "keyhole/vite"() {
    const { keyhole } = await import("keyhole/vite");
    hold(keyhole().name === "keyhole", "there is no plugin");
  },
  async "keyhole/rollup"() {
    const { keyhole } = await import("keyhole/rollup");
    hold(keyhole().name === "keyhole", "there is no plugin");
  },
  async "keyhole/esbuild"() {
    const { keyhole } = await import("keyhole/esbuild");
    hold(keyhole().name === "keyhole", "there is no plugin");
  },
  async "keyhole/webpack"() {
    const { keyhole } = await import("keyhole/webpack");
    hold(typeof keyhole().apply === "function", "there is no plugin");
  },
};
