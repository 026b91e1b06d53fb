import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../../scripts/serve/ports.mjs";
import { startWorker, untilAnswering, type Worker } from "../../../scripts/serve/wrangler.mjs";
import { readPage } from "../../docs/markdown.ts";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";
import { root } from "../../support/sources.ts";

/* A Worker of one's own, with the files that docs/edge.md shows, outside of this repository. */

const run = promisify(execFile);

const { blocks } = readPage("docs/edge.md");
const shown = (holds: string): string => {
  const block = blocks.find(({ text }) => text.includes(holds));
  if (block === undefined) throw new Error(`docs/edge.md shows no ${holds}`);
  return block.text;
};

const greet = `import { defineTool } from "@keyhole/kernel/tool";
export default defineTool({
  name: "greet", version: "1.0.0", description: "Greets.",
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: false },
  output: { kind: "text" }, execute: ({ name }) => \`Hello, \${name}!\`,
});
`;

const plain = shown("export class KernelObject extends Configured");
const wrangler = shown('main = "dist/worker.js"');
/** Where there are no dynamic Workers tools run in the interpreter, as a section of the page shows it. */
const interpreter = {
  "worker.ts": `import { builtEngine } from "@keyhole/worker-host/wasm/interpreter";
import quickJs from "keyhole:quickjs-wasi/quickjs.wasm?metered";
${plain.replace("tools: [", "engine: builtEngine(quickJs), tools: [")}`,
  "wrangler.toml": wrangler.replace('[[worker_loaders]]\nbinding = "LOADER"\n', ""),
};

afterAll(removePackedApps);

describe.each([
  ["in dynamic Workers", { "worker.ts": plain, "wrangler.toml": wrangler }],
  ["in the interpreter", interpreter],
])("an edge of one's own, with its tools %s", (_, files) => {
  let worker: Worker;
  beforeAll(async () => {
    const app = packedApp({ ...files, "vite.config.ts": shown("// vite.config.ts"), "greet.ts": greet });
    await run(process.execPath, [join(root, "node_modules/vite/bin/vite.js"), "build"], { cwd: app });
    const [port = 0] = await freePorts(1);
    const token = createHash("sha256").update("token").digest("hex");
    const vars = { KEYHOLE_TOKENS: JSON.stringify({ [token]: { subject: "a", scopes: ["tools:call"] } }) };
    const state = join(app, "state");
    worker = startWorker({ config: join(app, "wrangler.toml"), port, state, scratch: join(app, "scratch"), vars });
    await untilAnswering(worker, "The edge", "/livez");
  });
  afterAll(() => worker.process.stop());

  it("serves a call of its own tool", async () => {
    const response = await fetch(`${worker.url}/v1/tools/greet/calls`, {
      method: "POST",
      headers: { authorization: "Bearer token", "content-type": "application/json" },
      body: JSON.stringify({ input: { name: "Ada" } }),
    });
    expect(await response.json()).toMatchObject({ ok: true, data: "Hello, Ada!" });
  });
});
