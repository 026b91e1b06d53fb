import { BodyReader } from "@keyhole/kernel/foreign";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bodyLimits, readBody } from "../../packages/edge/src/app/body.ts";
import { readInput } from "../../packages/bus/src/serve/request.ts";
import { readJson as readMcp } from "../../packages/mcp/src/server/read-json.ts";
import { readJson as readEdge } from "../../packages/worker-host/src/edge/wire.ts";

// What is in the body of a transport is counted in its text: a parser builds all of it before anybody can count.

afterEach(() => vi.restoreAllMocks());

const { maxDepth: depth, maxTopMembers: topMembers, maxMembers: members, maxNodes: values } = bodyLimits;

const inObject = (count: number): string =>
  `{"input":{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}}`;
/** Two in each: so many objects with one would be too many values. */
const inManyObjects = (count: number): string =>
  `[${`{"a":1,"b":1},`.repeat(count >> 1)}{${count % 2 === 0 ? "" : '"a":1'}}]`;
const inArray = (count: number): string => `[${"1,".repeat(count - 1)}1]`;
/** As long as a text that can hold too many members. */
const nested = (count: number): string => "[".repeat(count) + " ".repeat(4 * members) + "]".repeat(count);

/** Texts at each limit, and one past it. */
const shapes: readonly [what: string, atLimit: string, past: string][] = [
  ["members of one object", inObject(members - 1), inObject(members)],
  ["members of many objects", inManyObjects(members), inManyObjects(members + 1)],
  ["items of an array", inArray(values - 1), inArray(values + 1)],
  ["arrays within each other", nested(depth), nested(depth + 1)],
];

const request = (body: string): Request =>
  new Request("http://edge.test/", { method: "POST", headers: { "content-type": "application/json" }, body });

const bodies = new BodyReader();

/** Whether each transport took the text. */
const transports = {
  edge: (text: string) =>
    readBody(request(text), () => true, { bodies, subject: "desk" }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "INVALID_REQUEST" });
      return false;
    }),
  mcp: async (text: string) => (await readMcp(bodies, "desk", request(text), text.length)).ok,
  "the playground's edge": async (text: string) => {
    try {
      readEdge(text);
      return true;
    } catch {
      return false;
    }
  },
};

describe("an envelope of the edge", () => {
  const { edge } = transports;

  it("has few members, whatever it holds", async () => {
    expect(await edge(inObject(topMembers).slice('{"input":'.length, -1))).toBe(true);
    const parse = vi.spyOn(JSON, "parse");
    expect(await edge(inObject(topMembers + 1).slice('{"input":'.length, -1))).toBe(false);
    expect(parse).not.toHaveBeenCalled();
  });
});

describe.each(Object.entries(transports))("a body of %s", (_, takes) => {
  it.each(shapes)("is not parsed with one too many %s", async (_what, atLimit, past) => {
    expect(await takes(atLimit)).toBe(true);
    const parse = vi.spyOn(JSON, "parse");
    expect(await takes(past)).toBe(false);
    expect(parse).not.toHaveBeenCalled();
  });
});

it.each([
  ["a name twice at the top", '{"a":1,"a":2}'],
  ["a name twice below", '{"input":[{"a":1,"b":{},"a":1}]}'],
  ["a name twice in another spelling", String.raw`{"method":"ping","\u006dethod":"tools/call"}`],
  ["a number of 19 digits", '{"input":{"id":1917043659912705296}}'],
  ["a number without end", '{"input":[-1e400]}'],
])("what two readers take as two values is refused by each transport: %s", async (_, text) => {
  const { edge, mcp } = transports;
  const bus = readInput({ body: new TextEncoder().encode(text) }) !== undefined;
  expect({ edge: await edge(text), mcp: await mcp(text), bus }).toEqual({ edge: false, mcp: false, bus: false });
});
