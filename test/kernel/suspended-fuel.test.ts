import type { IsolateHost } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { expect, it } from "vitest";
import { begin, bytesOf, packageOf, slowFiles, suspendingKernel } from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });

const reads = { effects: ["fs.read"], capabilities: [{ kind: "fs.read", paths: ["**"] }] };
const calls = { kind: "tool.call", tools: ["*"] };
const burning = packageOf(
  "burning",
  `let x = 0; for (let k = 0; k < 20000; k++) x += k; if (input.path) await context.files.read(input.path); return x;`,
  reads,
);
const codes = `const codeOf = (path) =>
  context.tools.call("burning", path ? { path } : {}).then((r) => (r.ok ? "ok" : r.error.code), ({ code }) => code);`;
const inTurn = packageOf(
  "in_turn",
  `${codes} const one = await codeOf(); await context.files.read("a"); return [one, await codeOf(), await codeOf()];`,
  { ...reads, capabilities: [...reads.capabilities, calls] },
);
const atOnce = packageOf(
  "at_once",
  `${codes} return Promise.all([codeOf("a"), context.files.read("b").then(() => codeOf())]);`,
  {
    ...reads,
    capabilities: [...reads.capabilities, calls],
  },
);
const deeper = packageOf("deeper", `return (await context.tools.call("in_turn", {})).data;`, { capabilities: [calls] });
const tools = [burning, inTurn, atOnce, deeper];

it.each(["in_turn", "at_once", "deeper"])(
  "the calls within %s have the same fuel with and without suspensions",
  async (name) => {
    const whole = await suspendingKernel(await host(), { tools, files: await slowFiles(true) });
    const { fuelUsed = 0 } = (await whole.kernel.call("burning", {})).meta;
    const bounds = { fuel: Math.floor(fuelUsed * 1.5) };
    const expected = await whole.kernel.call(name, {}, { bounds });
    expect(JSON.stringify(expected)).toMatch(/"ok".*"(?:OUT_OF_FUEL|BOUNDS_EXCEEDED)"/);

    const first = await suspendingKernel(await host(), { tools });
    const call = await begin(first.kernel, name, {}, { bounds });
    const asked = name === "at_once" ? ["read a", "read b"] : ["read a"];
    await first.files.untilAsked(...asked);
    const bytes = await bytesOf(first.kernel, call);
    // Once more before anything happened: the rest comes along again.
    const second = await suspendingKernel(await host(), { tools });
    const resumed = second.kernel.resume(bytes);
    await second.files.untilAsked(...asked);
    const again = await bytesOf(second.kernel, { callId: call.callId, result: resumed });
    const third = await suspendingKernel(await host(), { tools });
    third.files.answer("read b");
    const ended = third.kernel.resume(again);
    await third.files.untilAsked(...asked);
    third.files.open();
    const result = await ended;
    expect(result.ok && result.data).toEqual(expected.ok && expected.data);
    await Promise.all([whole, first, second, third].map(({ kernel }) => kernel.close()));
  },
);
