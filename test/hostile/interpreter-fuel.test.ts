import type { IsolateOutcome } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { testEngine } from "../wasm/engine.ts";
import { callIn, openBody } from "../wasm/run-body.ts";

const FUEL = 50_000_000;
/** More than the fuel pays for, and finite. */
const work = "for (let i = 0; i < 3e6; i++);";

async function run(body: string): Promise<IsolateOutcome> {
  const isolate = await openBody(interpreterHost({ engine: await testEngine() }), body);
  return (await callIn(isolate, { fuel: FUEL })).outcome;
}

describe("work of a program while the host reads its values", () => {
  it.each([
    ["outside any reading", `${work} done = true`],
    [
      "in an encoding that is an object",
      `const d = new TextDecoder(); d.encoding = { toString() { ${work} done = true; return "utf-8" } };
       try { d.decode(new Uint8Array(1)) } catch {}`,
    ],
    [
      "in a string that is made well-formed",
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
  ])("uses fuel or does not run: %s", async (_, body) => {
    const outcome = await run(`let done = false; ${body}; return done`);
    if (outcome.kind !== "out-of-fuel")
      expect(outcome).toMatchObject({ kind: "returned", output: { form: "json", text: "false" } });
  });
});

describe("an answer that looks like a call", () => {
  it("reaches the tool with all its members", async () => {
    const value = { inputText: "null", fuel: 5, memoryBytes: 7 };
    const isolate = await openBody(interpreterHost({ engine: await testEngine() }), 'return context.files.stat("a")');
    const { outcome } = await callIn(isolate, {}, () => ({ ok: true, value }));
    if (outcome.kind !== "returned" || outcome.output.form !== "json") throw new Error(JSON.stringify(outcome));
    expect(JSON.parse(outcome.output.text)).toEqual(value);
  });
});
