import { type Broker, createKernel, type IsolateHost, type Kernel, type ToolContext } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { nodeHost } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectSoundLog, granting, toolOf } from "../support/kernel.ts";
import { packageOf } from "../support/suspension.ts";
import { registerAny } from "../support/registered.ts";

/*
 * What a broker says is read for the log, and then it goes into an isolate. Where the second reading is another one, neither may the call hang, nor the process end.
 */

const capability = { kind: "fs.read", paths: ["**"] } as const;
const policy = granting(capability);
const parts = { effects: ["fs.read"], capabilities: [capability], determinism: "external" } as const;
const packed = packageOf("subject", `return context.files.stat("a");`, parts);
const inline = toolOf((_input, { files }: ToolContext) => files.stat("a"), parts);

/** The three ways into an isolate that Node has: by reference, by structured clone, and as text. */
let hosts: ReadonlyMap<string, IsolateHost>;
beforeAll(() => {
  hosts = new Map([
    ["a thread", nodeHost({ trusted: [packed.hash] })],
    ["an interpreter", nodeHost()],
  ]);
});
afterAll(async () => {
  for (const host of hosts.values()) await host.close();
});
const places = ["this realm", "a thread", "an interpreter"] as const;

async function kernelIn(place: (typeof places)[number], broker: Partial<Broker>): Promise<Kernel> {
  const host = hosts.get(place);
  const needs: Broker["needs"] = () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] });
  const serve: Broker["serve"] = async () => ({ ok: true, value: 1 });
  const brokers = [{ families: [fsRead], needs, serve, ...broker }];
  const kernel = await createKernel({ policy, brokers, ...(host && { host }) });
  expect(registerAny(kernel, host ? packed : inline)).toMatchObject({ ok: true });
  return kernel;
}

/** A new one for each call: what it gives the first time, and then something else. */
const answers = new Map<string, () => unknown>([
  ["a proxy", () => new Proxy({ size: 7 }, {})],
  ["a list behind a proxy", () => ({ size: 7, more: new Proxy([], {}) })],
  ["a getter that throws the second time", () => changing(7, boom)],
  ["a getter that gives a function the second time", () => changing(7, () => () => {})],
  ["a getter that gives other data the second time", () => changing(7, () => 8)],
]);

function boom(): never {
  throw new Error("It is read again.");
}

function changing(first: unknown, then: () => unknown): object {
  let reads = 0;
  return Object.defineProperty({}, "size", { enumerable: true, get: () => (reads++ === 0 ? first : then()) });
}

describe.each(places)("in %s", (place) => {
  it.each([...answers.keys()])("a broker that answers with %s is read once", async (name) => {
    const kernel = await kernelIn(place, { serve: async () => ({ ok: true, value: answers.get(name)!() as never }) });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: { size: 7 } });
    await expectSoundLog(kernel);
  });

  it.each([
    ["an object", () => ({ toString: () => "No." })],
    ["a proxy", () => new Proxy({}, {})],
    ["a function", () => () => {}],
    ["a number", () => 7],
  ])("a broker whose refusal says %s is out of order", async (_, message) => {
    const error = { code: "UNAVAILABLE", message: message() as never, hint: "" } as const;
    const kernel = await kernelIn(place, { serve: async () => ({ ok: false, error }) });
    expect(await kernel.call("subject", {})).toMatchObject(outOfOrder);
    await expectSoundLog(kernel);
  });

  it.each([
    ["a code of its own", { code: "ELSEWHERE" as never }],
    ["the name of a method as its code", { code: "toString" as never }],
    ["a list as its code", { code: ["UNAVAILABLE"] as never }],
    ["no text in place of a message", { message: 7 as never }],
  ])("a broker that refuses with %s is out of order", async (_, more) => {
    const error = { code: "UNAVAILABLE", message: "", hint: "", ...more } as const;
    for (const part of ["serve", "needs"] as const) {
      const kernel = await kernelIn(place, { [part]: () => ({ ok: false, error }) });
      expect(await kernel.call("subject", {})).toMatchObject(outOfOrder);
      await expectSoundLog(kernel);
    }
  });

  const throwing = (): never => {
    throw new Error("again", { cause: 1 });
  };
  it.each<[string, () => unknown]>([
    ["nothing", () => undefined],
    ["an error whose name throws", () => Object.defineProperty(new Error("x"), "name", { get: throwing })],
    ["an error whose name is a function", () => Object.assign(new Error("x"), { name: () => {} })],
    ["an error whose name is a symbol", () => Object.assign(new Error("x"), { name: Symbol("x") })],
    [
      "a proxy that throws at every touch",
      () => new Proxy({}, { get: throwing, getPrototypeOf: throwing, has: throwing }),
    ],
  ])("a broker that throws %s is out of order", async (_, thrown) => {
    for (const part of ["serve", "needs"] as const) {
      const kernel = await kernelIn(place, {
        [part]: () => {
          throw thrown();
        },
      });
      expect(await kernel.call("subject", {})).toMatchObject(outOfOrder);
      await expectSoundLog(kernel);
    }
  });
});

const outOfOrder = { ok: false, error: { code: "TOOL_ERROR", message: "The capability is out of order." } };
