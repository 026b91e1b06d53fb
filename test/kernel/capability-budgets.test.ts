import { type Capability, createKernel, type FilesCapability, limits, type NetCapability } from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { openKernel, toolOf } from "../support/kernel.ts";
import { calling, openCalling } from "../support/nested.ts";

/** A tool that does some requests in turn, and says how each went; all of it by policy of these grants. */
async function outcomes(
  grants: readonly Capability[],
  requests: readonly (readonly [method: string, path: string])[],
): Promise<readonly string[]> {
  const sent: string[] = [];
  const { kernel } = await openKernel({
    policy: { version: "1", posture: "permissive", grants: grants.map((each) => ({ tool: "*", capability: each })) },
    brokers: [
      netBroker({
        fetch: async (url, { method }) => {
          sent.push(`${method} ${new URL(url).pathname}`);
          return new Response("12345");
        },
      }),
    ],
  });
  kernel.registerTrusted(
    toolOf(
      async (_: never, { fetch: ask }: { readonly fetch: typeof fetch }) => {
        for (const [method, path] of requests)
          await ask(`https://example.com${path}`, { method }).catch(() => undefined);
        return null;
      },
      {
        determinism: "external",
        effects: ["net.read", "net.write"],
        capabilities: [
          { kind: "net.read", hosts: ["*"], optional: true },
          { kind: "net.write", hosts: ["*"], optional: true },
        ],
      },
    ),
  );
  await kernel.call("subject", {});
  return sent;
}

const posts = (count: number, path = "/a") => Array.from({ length: count }, () => ["POST", path] as const);
const write = (more: Partial<NetCapability> = {}): NetCapability => ({
  kind: "net.write",
  hosts: ["example.com"],
  ...more,
});
const read = (more: Partial<NetCapability> = {}): NetCapability => ({
  kind: "net.read",
  hosts: ["example.com"],
  ...more,
});

describe("the requests of a grant", () => {
  it.each<[string, readonly Capability[], number]>([
    ["alone", [write({ requests: 1 })], 1],
    ["beside a grant of another kind with more", [write({ requests: 1 }), read({ requests: 5 })], 1],
    ["beside a grant of another kind without a number", [write({ requests: 1 }), read()], 1],
    ["beside a grant of another host", [write({ requests: 1 }), write({ hosts: ["example.org"], requests: 9 })], 1],
    ["beside a grant of another path", [write({ paths: ["/a"], requests: 1 }), write({ paths: ["/b"] })], 1],
    ["add up where both cover", [write({ paths: ["/a"], requests: 1 }), write({ requests: 2 })], 3],
    ["twice the same", [write({ requests: 1 }), write({ requests: 1 })], 2],
  ])("hold %s", async (_, grants, expected) => {
    expect(await outcomes(grants, posts(6))).toHaveLength(expected);
  });
});

it("the bytes of a grant hold beside another grant", async () => {
  const grants = [write({ paths: ["/a"], bytes: 100 }), write({ paths: ["/b"] })];
  const { kernel } = await openKernel({
    policy: { version: "1", posture: "permissive", grants: grants.map((each) => ({ tool: "*", capability: each })) },
    // A request has 25 bytes; an answer and the header with its type have 41.
    brokers: [netBroker({ fetch: async () => new Response("12345") })],
  });
  kernel.registerTrusted(
    toolOf(
      async (_: never, { fetch: ask }: { readonly fetch: typeof fetch }) => {
        const seen: string[] = [];
        for (const path of ["/a", "/b", "/a", "/b"])
          seen.push(
            await ask(`https://example.com${path}`, { method: "POST" }).then(
              async (answer) => answer.text(),
              () => "refused",
            ),
          );
        return seen;
      },
      {
        determinism: "external",
        effects: ["net.write"],
        capabilities: [{ kind: "net.write", hosts: ["*"] }],
      },
    ),
  );
  expect(await kernel.call("subject", {})).toMatchObject({ data: ["12345", "12345", "refused", "12345"] });
});

describe("the totalBytes of a grant of files", () => {
  it("hold beside a grant of other files", async () => {
    const files = (more: Partial<FilesCapability>): FilesCapability => ({ kind: "fs.write", paths: ["**"], ...more });
    const { kernel } = await openKernel({
      policy: {
        version: "1",
        posture: "permissive",
        grants: [files({ paths: ["a/**"], totalBytes: 10 }), files({ paths: ["b/**"] })].map((each) => ({
          tool: "*",
          capability: each,
        })),
      },
      brokers: [filesBroker(memoryStore())],
    });
    kernel.registerTrusted(
      toolOf(
        async (
          _: never,
          { files: store }: { readonly files: { write(path: string, text: string): Promise<unknown> } },
        ) => {
          const seen: boolean[] = [];
          for (const path of ["a/1", "b/1", "a/2", "a/3", "b/2"])
            seen.push(
              await store.write(path, "123456").then(
                () => true,
                () => false,
              ),
            );
          return seen;
        },
        {
          determinism: "external",
          effects: ["fs.write"],
          capabilities: [{ kind: "fs.write", paths: ["**"] }],
        },
      ),
    );
    expect(await kernel.call("subject", {})).toMatchObject({ data: [true, true, false, false, true] });
  });
});

it("the requests of a grant hold across the runs of a call", async () => {
  const clock = new FakeClock();
  let sent = 0;
  const kernel = await createKernel({
    clock,
    policy: {
      version: "1",
      posture: "permissive",
      grants: [read({ requests: 2 }), read({ hosts: ["example.org"] })].map((each) => ({
        tool: "*",
        capability: each,
      })),
    },
    brokers: [
      netBroker({
        fetch: async () => {
          sent++;
          throw new TypeError("away");
        },
      }),
    ],
  });
  kernel.registerTrusted(
    toolOf((_: never, { fetch: ask }: { readonly fetch: typeof fetch }) => ask("https://example.com/"), {
      determinism: "external",
      effects: ["net.read"],
      idempotent: true,
      capabilities: [{ kind: "net.read", hosts: ["*"] }],
    }),
  );
  const call = kernel.call("subject", {});
  await clock.advance(limits.retryMs * 5);
  expect(await call).toMatchObject({ ok: false });
  expect(sent).toBe(2);
});

it("the requests that a caller leaves a call hold for all calls within it together", async () => {
  let sent = 0;
  const asking = (name: string, host: string) =>
    toolOf(
      async (_: never, { fetch: ask }: { readonly fetch: typeof fetch }) =>
        ask(`https://${host}/`).then(
          () => "served",
          () => "refused",
        ),
      { name, determinism: "external", effects: ["net.read"], capabilities: [{ kind: "net.read", hosts: ["*"] }] },
    );
  const outer = calling(
    "outer",
    async (_, { tools }) => {
      const seen: unknown[] = [];
      for (const name of ["one", "one", "two", "one", "two"]) seen.push(await tools.call(name, {}));
      return seen;
    },
    {
      effects: ["net.read"],
      capabilities: [
        { kind: "tool.call", tools: ["*"] },
        { kind: "net.read", hosts: ["*"] },
      ],
    },
  );
  const hosts = ["example.com", "example.org"];
  const { kernel } = await openCalling([outer, asking("one", "example.com"), asking("two", "example.org")], {
    policy: {
      version: "1",
      posture: "permissive",
      grants: [
        { tool: "*", capability: { kind: "tool.call", tools: ["*"] } },
        { tool: "*", capability: { kind: "net.read", hosts } },
      ],
    },
    brokers: [
      netBroker({
        fetch: async () => {
          sent++;
          return new Response("");
        },
      }),
    ],
  });
  const grants = [
    { kind: "tool.call" as const, tools: ["*"] },
    read({ requests: 1 }),
    read({ hosts: ["example.org"] }),
  ];
  const result = await kernel.call("outer", {}, { grants });
  expect(JSON.stringify(result.ok ? result.data : result.error).match(/served|refused/g)).toEqual([
    "served",
    "refused",
    "served",
    "refused",
    "served",
  ]);
  expect(sent).toBe(3);
});
