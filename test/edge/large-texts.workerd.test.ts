import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { type IsolateOutcome, limits, type RegisteredTool } from "@keyhole/kernel";
import { afterAll, describe, expect, it } from "vitest";
import { callWith, moduleOf, quietPort, toolText } from "../browser/open.ts";
import { mostPacketBytes, packed } from "../../packages/edge/src/isolate/packet.ts";
import { bindings } from "./bindings.ts";

/* RPC carries 32 MiB, and a text as UTF-16 where one character is above U+00FF. The bounds of a call count UTF-8. */

const host = edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false });
afterAll(() => host.close());

const most = limits.wholeOutputBytes;

async function run(body: string, more: Parameters<typeof callWith>[1] = {}, port = quietPort): Promise<IsolateOutcome> {
  const isolate = await host.open(moduleOf(toolText(body)));
  try {
    return await isolate.call(callWith({}, { outputKind: "text", outputBytes: most, ...more }), port);
  } finally {
    isolate.terminate("the test is over");
  }
}

const textOf = (outcome: IsolateOutcome): string =>
  outcome.kind === "returned" && outcome.output.form === "text" ? outcome.output.text : JSON.stringify(outcome);

describe("a text with a character above U+00FF", () => {
  it("crosses in the largest output", async () => {
    const text = textOf(await run(`return "€" + "a".repeat(${most - 3});`));
    expect([text.length, text.slice(0, 2), text.at(-1)]).toEqual([most - 2, "€a", "a"]);
  });

  it("one byte larger is too large", async () => {
    expect(await run(`return "€" + "a".repeat(${most - 2});`)).toEqual({
      kind: "too-large",
      what: "output",
      limit: most,
      unchecked: expect.stringMatching(/^"€a{400,}/),
    });
  });

  it("crosses in the answer to a request", async () => {
    const value = `€${"a".repeat(17_000_000)}`;
    const port = { ...quietPort, request: async () => ({ ok: true, value }) as const };
    const ask = `const { value } = await context.request({ kind: "x.y", operation: "z", arguments: {} }); return value.slice(0, 3) + value.length;`;
    expect(textOf(await run(ask, {}, port))).toBe("€aa17000001");
  });

  it("crosses in the largest input", async () => {
    const inputText = JSON.stringify(`€${"a".repeat(limits.inputBytes - 5)}`);
    expect(textOf(await run(`return input.slice(0, 2) + input.length;`, { inputText }))).toBe(
      `€a${limits.inputBytes - 4}`,
    );
  });
});

describe("an answer to a request", () => {
  const ask = `const given = await context.request({ kind: "x.y", operation: "z", arguments: {} }).catch(({ code }) => code);
    return typeof given === "string" ? given : given.value.slice(0, 2) + given.value.length + " " + given.body.length;`;

  it.each([
    [0, "€a2000 "],
    [1, "BOUNDS_EXCEEDED"],
  ])("of the most bytes that RPC carries, and %i more", async (more, expected) => {
    const reply = (length: number) =>
      ({ ok: true, value: `€${"a".repeat(1_999)}`, body: new Uint8Array(length) }) as const;
    const { json, parts } = packed(reply(0));
    const around = parts.reduce((sum, { byteLength }) => sum + byteLength + 64, json.byteLength);
    const length = mostPacketBytes - around + more;
    const outcome = await run(ask, {}, { ...quietPort, request: async () => reply(length) });
    expect(textOf(outcome)).toBe(more === 0 ? `${expected}${length}` : expected);
  });
});

it("limits of commands that no message holds are refused", () => {
  const loader = new IsolateRegistry(bindings.LOADER);
  for (const commandLimits of [{ stdinBytes: most }, { stdoutBytes: most - 1, stderrBytes: 1 }])
    expect(() => edgeHost({ loader, commandLimits })).not.toThrow();
  for (const commandLimits of [{ stdinBytes: most + 1 }, { stdoutBytes: most, stderrBytes: 1 }])
    expect(() => edgeHost({ loader, commandLimits })).toThrow("at most 25165824 bytes");
});

/** A command with so many bytes of data. */
function commandOf(dataBytes: number): Uint8Array<ArrayBuffer> {
  const number = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...number(value >>> 7)]);
  const section = (id: number, ...content: number[]): number[] => [id, ...number(content.length), ...content];
  const named = (name: string, ...rest: number[]): number[] => [
    name.length,
    ...new TextEncoder().encode(name),
    ...rest,
  ];
  const data = [1, 0, 0x41, 0, 0x0b, ...number(dataBytes)];
  const head = [
    0,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, 1, 0x60, 0, 0),
    ...section(3, 1, 0),
    ...section(5, 1, 0, ...number(Math.ceil(dataBytes / 65_536))),
    ...section(7, 2, ...named("memory", 2, 0), ...named("_start", 0, 0)),
    ...section(10, 1, 2, 0, 0x0b),
    11,
    ...number(data.length + dataBytes),
    ...data,
  ];
  const module = new Uint8Array(head.length + dataBytes);
  module.set(head);
  return module;
}

it("a module that no message holds is refused when it is registered", () => {
  const check = (dataBytes: number) =>
    host.check?.({
      manifest: { name: "large", source: "wasm", bounds: {} },
      body: { source: "wasm", code: commandOf(dataBytes) },
    } as unknown as RegisteredTool);
  expect(check(mostPacketBytes - 1_000)).toBeUndefined();
  expect(check(mostPacketBytes)).toMatchObject({ path: "/code", message: expect.stringContaining("32 MiB") });
});
