import { type CallResult, createKernel, type Kernel } from "@keyhole/kernel";
import { browserHost } from "@keyhole/worker-host/browser";
import { builtinTools } from "@keyhole/worker-host/tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canary as canaryOrigin } from "./canary.ts";
import { expectSoundLog } from "../support/kernel.ts";

const canary = new URL(canaryOrigin);

describe("the browser host's own brokers, asked from inside an isolate", () => {
  let kernel: Kernel;
  beforeAll(async () => {
    const served = { kind: "net.read", hosts: [canary.hostname], ports: [Number(canary.port)] };
    kernel = await createKernel({
      host: await browserHost(),
      approver: async () => ({ answer: "allow", scope: "once", approver: "tester" }),
      policy: {
        version: "1",
        posture: "permissive",
        grants: [
          { tool: "http_fetch", capability: served },
          { tool: "write_file", capability: { kind: "fs.write", paths: ["drafts/**"] } },
          { tool: "read_file", capability: { kind: "fs.read", paths: ["drafts/**"] } },
          { tool: "delete_file", capability: { kind: "fs.write", paths: ["drafts/**"] } },
        ],
      },
    });
    for (const tool of builtinTools) kernel.register(tool);
  });
  afterAll(async () => {
    await expectSoundLog(kernel);
    await kernel.close();
  });

  const codeOf = (result: CallResult): string => (result.ok ? "OK" : result.error.code);

  it("fetch from a host that was granted", async () => {
    const result = await kernel.call("http_fetch", { url: new URL("/brokered/page", canary).href });
    expect(result).toMatchObject({
      ok: true,
      data: { status: 200, body: "/**/" },
      effects: ["net.read"],
      meta: { networkRequests: 1 },
    });
    const hits = (await (await fetch(new URL("/hits/brokered", canary))).json()) as string[];
    expect(hits).toEqual(["GET /brokered/page"]);
  });

  it("refuse every other host, readably", async () => {
    const result = await kernel.call("http_fetch", { url: "https://other.example/secret" });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("other.example") },
    });
  });

  it("keep files in the origin private file system", async () => {
    const path = "drafts/letter.txt";
    expect(codeOf(await kernel.call("write_file", { path, content: "Dear all" }))).toBe("OK");
    expect(await kernel.call("read_file", { path })).toMatchObject({ ok: true, data: { content: "Dear all" } });
    expect(codeOf(await kernel.call("delete_file", { path }))).toBe("OK");
    expect(codeOf(await kernel.call("read_file", { path }))).toBe("TOOL_ERROR");
    expect(codeOf(await kernel.call("read_file", { path: "private/key" }))).toBe("CAPABILITY_DENIED");
  });
});
