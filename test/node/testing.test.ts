import { blake3Hash, createKernel, type Kernel, type PolicyDocument, type ToolPackage } from "@keyhole/kernel";
import { recordingHost, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { FakeClock, replayFixture, scriptedApprover, settle } from "@keyhole/kernel/testing";
import { nodeHost } from "@keyhole/worker-host/node";
import { memoryBrokers } from "@keyhole/worker-host/testing";
import { afterEach, describe, expect, it } from "vitest";
import saveNote from "keyhole:../../packages/keyhole/templates/any/tools/save-note.ts";
import wordCount from "keyhole:../../packages/keyhole/templates/any/tools/word-count.ts";
import httpFetch from "keyhole:../../packages/worker-host/src/tools/http-fetch.ts";

const open: Kernel[] = [];
afterEach(async () => {
  for (const kernel of open.splice(0)) await kernel.close();
});

const policy: PolicyDocument = {
  version: "1",
  posture: "standard",
  grants: [
    { tool: "save_note", capability: { kind: "fs.write", paths: ["notes/**"] } },
    { tool: "http_fetch", capability: { kind: "net.read", hosts: ["example.com"], paths: ["/"] } },
  ],
};

async function kernelWith(options: Parameters<typeof createKernel>[0]): Promise<Kernel> {
  const kernel = await createKernel({ policy, ...options });
  open.push(kernel);
  for (const tool of [saveNote, wordCount, httpFetch] as readonly ToolPackage[])
    expect(kernel.register(tool)).toMatchObject({ ok: true });
  return kernel;
}

const note = { path: "notes/todo.txt", text: "Water the plants." };

describe("memoryBrokers", () => {
  it("hold what tools write, and what the test put there", async () => {
    const memory = await memoryBrokers({ files: { "notes/old.txt": "Before." } });
    const { approver } = scriptedApprover("allow");
    const kernel = await kernelWith({ host: nodeHost(), brokers: memory.brokers, approver });
    expect(await kernel.call("save_note", note)).toMatchObject({ ok: true });
    expect(await memory.file("notes/todo.txt")).toBe("Water the plants.");
    expect(await memory.file("notes/old.txt")).toBe("Before.");
    expect(await memory.file("notes/gone.txt")).toBe(undefined);
  });

  it("answer requests in place of the network, under the grants", async () => {
    const memory = await memoryBrokers({
      fetch: () => new Response("A page.", { headers: { "content-type": "text/plain" } }),
    });
    const kernel = await kernelWith({ host: nodeHost(), brokers: memory.brokers });
    expect(await kernel.call("http_fetch", { url: "https://example.com/" })).toMatchObject({ ok: true });
    const refused = await kernel.call("http_fetch", { url: "https://example.org/" });
    expect(refused).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(memory.requests).toEqual(["GET https://example.com/"]);
  });

  it("refuse a file that stands where a folder is", async () => {
    await expect(memoryBrokers({ files: { a: "", "a/b": "" } })).rejects.toThrow("a/b cannot be stored: is-file.");
  });
});

describe("scriptedApprover", () => {
  it("answers in order, keeps the questions, and denies what is not in the script", async () => {
    const script = scriptedApprover("allow", ({ input }) => ((input as typeof note).text === "" ? "deny" : "allow"));
    const kernel = await kernelWith({ host: nodeHost(), approver: script.approver });
    expect(script.left).toBe(2);
    expect(await kernel.call("save_note", note)).toMatchObject({ ok: true });
    expect(await kernel.call("save_note", { ...note, text: "" })).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    const third = await kernel.call("save_note", note);
    expect(third).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect(JSON.stringify(third)).toContain("The script has no answer to question 3.");
    expect(script.asked.map(({ tool }) => tool)).toEqual(Array(3).fill("save_note@1.0.0"));
    expect(script.left).toBe(0);
  });
});

describe("FakeClock", () => {
  it("lets an approval expire without a wait", async () => {
    const clock = new FakeClock();
    const asked = Promise.withResolvers<void>();
    const approver = (): Promise<never> => (asked.resolve(), new Promise(() => {}));
    const kernel = await kernelWith({ host: nodeHost(), clock, approver });
    const calling = kernel.call("save_note", note);
    await asked.promise;
    await settle();
    await clock.advance(3_600_000);
    expect(await calling).toMatchObject({ ok: false, error: { code: "APPROVAL_EXPIRED" } });
  });
});

describe("replayFixture", () => {
  async function recorded(): Promise<string> {
    const entries: RunEntry[] = [];
    const host = recordingHost(nodeHost(), (entry) => entries.push(entry));
    const kernel = await kernelWith({ host, approver: scriptedApprover("allow").approver });
    await kernel.call("save_note", note);
    await kernel.call("word_count", { text: "Water the plants." });
    return writeRun({ entries });
  }

  it("executes the tools against the recorded answers, and names the first difference of a changed one", async () => {
    const run = await recorded();
    expect(await replayFixture({ run, host: nodeHost(), tools: [saveNote, wordCount] })).toBe(2);
    const changed = { ...wordCount, code: String(wordCount.code).replace(/words:(?!\{)/, "words:1+") };
    expect(changed.code).not.toBe(wordCount.code);
    const { packageHash } = await import("@keyhole/kernel");
    const pkg = { ...changed, hash: packageHash(changed.manifest, changed.code, blake3Hash)! } as ToolPackage;
    const replaying = replayFixture({ run, host: nodeHost(), tools: [saveNote, pkg] });
    await expect(replaying).rejects.toThrow(/The tool returned another value\. At \/.*words/);
  });

  it("refuses a run that was cut", async () => {
    const run = (await recorded()).split("\n").slice(0, -2).join("\n");
    await expect(replayFixture({ run, host: nodeHost(), tools: [] })).rejects.toThrow(
      /^The run is unreadable: line \d+: /,
    );
  });
});
