import { readFileSync } from "node:fs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AgentRun, type RunKernel, type RunOptions, type RunPart } from "@keyhole/agents/agent-run";
import { verifyChain } from "@keyhole/kernel";
import { type LanguageModel, type ModelMessage, streamText } from "ai";
import { afterAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer, type Turn } from "./model-server.ts";
import { answer } from "./programs/run-an-agent.ts";
import { openWorld } from "./world.ts";

const servers: ModelServer[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

const formats = {
  "an OpenAI-compatible endpoint": (baseURL: string): LanguageModel =>
    createOpenAICompatible({ name: "local", baseURL, apiKey: "none", includeUsage: true })("m"),
  "an Anthropic endpoint": (baseURL: string): LanguageModel => createAnthropic({ baseURL, apiKey: "none" })("m"),
} as const;

type Options = Partial<Omit<RunOptions<ModelMessage>, "ask" | "kernel">>;

async function runOf(
  { kernel }: { readonly kernel: RunKernel },
  turns: readonly Turn[],
  options: Options = {},
  format: keyof typeof formats = "an OpenAI-compatible endpoint",
): Promise<{ readonly run: AgentRun<ModelMessage>; readonly server: ModelServer }> {
  const server = await startModelServer(turns);
  servers.push(server);
  const model = formats[format](server.url);
  const run = new AgentRun<ModelMessage>({
    kernel,
    caller: "agent",
    ...options,
    ask: (request) => streamText({ model, maxRetries: 0, ...request }),
  });
  return { run, server };
}

async function turn(run: AgentRun<ModelMessage>, content = "go", onPart: (part: RunPart) => void = () => {}) {
  const parts: RunPart[] = [];
  for await (const part of run.send({ role: "user", content })) {
    parts.push(part);
    onPart(part);
  }
  return {
    parts,
    text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
    answers: parts.flatMap((part) => (part.type === "answer" ? [part.answer.ok ? "ok" : part.answer.error.code] : [])),
    refused: parts.flatMap((part) => (part.type === "refused" ? [part.tool] : [])),
    end: parts.at(-1),
  };
}

const add = (id: string) => ({ id, name: "add", arguments: '{"a":1,"b":2}' });

describe.each(Object.keys(formats) as (keyof typeof formats)[])("an agent of %s", (format) => {
  it("calls tools side by side, is told of malformed calls, and is one session, one trace and one chain", async () => {
    const world = await openWorld("allow");
    const calls = [
      add("1"),
      { id: "2", name: "add", arguments: '{"a":"one"}' },
      { id: "3", name: "save_note", arguments: "{}" },
      { id: "4", name: "add", arguments: '{"a":1,' },
      { id: "5", name: "nothing_of_this_name", arguments: "{}" },
      { id: "6", name: "locked", arguments: "{}" },
    ];
    const { run, server } = await runOf(world, [calls, [add("7")], "All done."], {}, format);
    const { text, answers, refused, end } = await turn(run);
    expect(text).toBe("All done.");
    expect(answers).toEqual(["ok", "INVALID_INPUT", "ok", "ok"]);
    expect(refused.toSorted()).toEqual(["add", "locked", "nothing_of_this_name"]);
    expect(end).toEqual({ type: "end", end: "answered" });
    expect(run.spent).toMatchObject({ calls: 4 });
    expect(JSON.stringify(server.bodies.at(-1)?.messages)).toMatch(/"is_error":true|Invalid|not valid/i);

    const events = (await world.kernel.audit.read()).filter(({ callId }) => callId !== null);
    expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set([run.sessionId]));
    const trace = run.traceparent.slice(0, 35);
    expect(events.map(({ traceparent }) => traceparent?.slice(0, 35))).toEqual(events.map(() => trace));
    const invoked = events.filter(({ type }) => type === "call.invoked");
    expect(invoked.map(({ payload }) => (payload as { correlationId?: unknown }).correlationId)).toEqual([
      "1",
      "2",
      "3",
      "7",
    ]);
    expect(verifyChain(await world.kernel.audit.read())).toMatchObject({ ok: true });
    expect(await turn(run)).toMatchObject({ text: "done", end: { end: "answered" } });
    expect(server.bodies.at(-1)?.messages.length).toBeGreaterThan(6);
  });
});

describe("a run", () => {
  it("ends at its budget of calls: what is over it is refused as data, and the next turn does not begin", async () => {
    const { run } = await runOf(await openWorld(), [[add("1"), add("2"), add("3")]], { budget: { calls: 2 } });
    expect(await turn(run)).toMatchObject({ answers: ["ok", "ok", "BOUNDS_EXCEEDED"], end: { end: "calls" } });
    expect(await turn(run)).toMatchObject({ parts: [{ type: "end", end: "calls" }] });
    expect(run.spent.calls).toBe(2);
  });

  it("ends at its budget of tokens after the step that passed it, and at the most steps", async () => {
    const turns = Array.from({ length: 9 }, (_, index) => [add(String(index))]);
    const format = "an Anthropic endpoint";
    const spender = await runOf(await openWorld(), turns, { budget: { tokens: 3 } }, format);
    expect(await turn(spender.run)).toMatchObject({ answers: ["ok", "ok"], end: { end: "tokens" } });
    expect(spender.run.spent).toMatchObject({ tokens: 4, calls: 2 });
    const walker = await runOf(await openWorld(), turns, { steps: 3 });
    expect(await turn(walker.run)).toMatchObject({ answers: ["ok", "ok", "ok"], end: { end: "steps" } });
  });

  it("ends an answer that has no end at its budget of tokens, though nobody reports them", async () => {
    const { run } = await runOf(await openWorld(), [{ fault: "endless" }], { budget: { tokens: 10 } });
    const { text, end } = await turn(run);
    expect(end).toMatchObject({ end: "tokens" });
    expect(text.length).toBeLessThan(1_000);
  });

  it("stops an endpoint that is silent", async () => {
    const { run } = await runOf(await openWorld(), [{ fault: "silent" }, "Here again."]);
    setTimeout(() => run.stop(), 50);
    expect(await turn(run)).toMatchObject({ end: { end: "stopped" } });
    expect(await turn(run)).toMatchObject({ text: "Here again.", end: { end: "answered" } });
  });

  it("stops a call that runs, and takes the next turn", async () => {
    const { run } = await runOf(await openWorld(), [[{ id: "1", name: "patient", arguments: "{}" }], "Here again."]);
    const onPart = ({ type }: RunPart): void => void (type === "call" && setTimeout(() => run.stop(), 50));
    expect(await turn(run, "go", onPart)).toMatchObject({ end: { end: "stopped" } });
    expect(await turn(run, "and now?")).toMatchObject({ text: "Here again.", end: { end: "answered" } });
  });

  it("ends with the first call that LOCKDOWN denies", async () => {
    const { kernel } = await openWorld("allow");
    const locking: RunKernel = {
      list: (filter) => kernel.list(filter),
      preview: (tool, input, given) => kernel.preview(tool, input, given),
      async call(tool, input, given) {
        const result = await kernel.call(tool, input, given);
        await kernel.setMode("LOCKDOWN", "A test.");
        return result;
      },
    };
    const turns: readonly Turn[] = [[add("1")], [{ id: "2", name: "save_note", arguments: "{}" }], "never said"];
    const { run, server } = await runOf({ kernel: locking }, turns);
    expect(await turn(run)).toMatchObject({ text: "", end: { end: "lockdown" } });
    expect(server.bodies).toHaveLength(2);
  });

  it("says that the model could not be reached, and refuses a second turn at a time", async () => {
    const { run, server } = await runOf(await openWorld(), []);
    const first = run.send({ role: "user", content: "go" });
    await first.next();
    await expect(run.send({ role: "user", content: "go" }).next()).rejects.toThrow("A turn is under way");
    await first.return(undefined);
    server.close();
    const { end } = await turn(run);
    expect(end).toMatchObject({ type: "end", end: "failed" });
  });

  it("does not read further than its reader", async () => {
    const { run } = await runOf(await openWorld(), [[add("1")], "done"]);
    for await (const part of run.send({ role: "user", content: "go" })) if (part.type === "call") break;
    expect(await turn(run)).toMatchObject({ end: { end: "answered" } });
  });
});

it("the page on it has a program that works, in fewer than 60 lines", async () => {
  const page = readFileSync(new URL("../../../docs/how-to/run-an-agent.md", import.meta.url), "utf8");
  const program = readFileSync(new URL("programs/run-an-agent.ts", import.meta.url), "utf8");
  expect(page).toContain(`\`\`\`ts program\n${program}\`\`\``);
  expect(page.split("\n").length).toBeLessThan(60);
  const server = await startModelServer([[{ id: "1", name: "word_count", arguments: '{"text":"one two"}' }], "done"]);
  servers.push(server);
  expect(await answer(formats["an OpenAI-compatible endpoint"](server.url), "go")).toBe("done");
  expect(JSON.stringify(server.bodies.at(-1))).toMatch(/words\W+2\b/);
});
