import { checkPackage, type IsolateCall, type IsolateOutcome } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import subject from "../contract/tools/subject-package.ts";
import { testEngine } from "../wasm/engine.ts";

const FUEL = 50_000_000;
/** More than the fuel lasts for, and far less than for ever. */
const work = "for (let i = 0; i < 3e6; i++);";

async function run(body: string): Promise<IsolateOutcome> {
  const host = interpreterHost({ engine: await testEngine() });
  const checked = checkPackage(subject);
  if (!checked.ok) throw new Error(checked.error.message);
  const code = `export default { code: { async execute() { ${body} } } }`;
  const isolate = await host.open({ ...checked.value, body: { source: "module", code } });
  const call: IsolateCall = {
    callId: "call-000001",
    sessionId: "session",
    inputText: "null",
    outputKind: "json",
    outputBytes: 100_000,
    seed: "5eed".repeat(16),
    nowMs: 1_700_000_000_000,
    fuel: FUEL,
    memoryBytes: 67_108_864,
    real: [],
  };
  const port = {
    signal: new AbortController().signal,
    request: async () => ({ ok: true, value: null }) as const,
    log: () => {},
    progress: () => {},
    used: () => {},
  };
  return isolate.call(call, port);
}

describe("a program that works while the host reads its values pays for it, or does not get to", () => {
  it.each([
    ["by itself", `${work} done = true`],
    [
      "in an encoding that is an object",
      `const d = new TextDecoder(); d.encoding = { toString() { ${work} done = true; return "utf-8" } };
       try { d.decode(new Uint8Array(1)) } catch {}`,
    ],
    [
      "in a text that is made well-formed",
      `String.prototype.toWellFormed = () => ({ toString() { ${work} done = true; return "a" } });
       try { new TextEncoder().encode("a") } catch {}`,
    ],
    [
      "in the setter of an error's message",
      `Object.defineProperty(Error.prototype, "message", { set() { ${work} done = true } });
       try { new TextDecoder("x-none") } catch {}`,
    ],
    [
      "in the stack of an error",
      `try { Error.prepareStackTrace = () => { ${work} done = true; return "" } } catch {}
       try { new TextDecoder("x-none") } catch {}`,
    ],
  ])("%s", async (_, body) => {
    const outcome = await run(`let done = false; ${body}; return done`);
    if (outcome.kind !== "out-of-fuel")
      expect(outcome).toMatchObject({ kind: "returned", output: { form: "json", text: "false" } });
  });
});
