import {
  type CallResult,
  type Capability,
  createKernel,
  type Kernel,
  type PolicyDocument,
  type PolicyRule,
  type ToolContext,
} from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { kvBroker, memoryKv } from "@keyhole/worker-host/brokers/kv";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { toolOf } from "../../support/kernel.ts";
import { sized } from "../../support/size.ts";

/** One kind, a request of which has its target in the argument `to`. */
interface Subject {
  readonly kind: string;
  readonly part: string;
  readonly declared: fc.Arbitrary<object>;
  readonly grants: fc.Arbitrary<object>;
  readonly targets: fc.Arbitrary<string>;
  readonly conditions: fc.Arbitrary<PolicyRule["when"]>;
  readonly ask: (to: string, context: ToolContext) => Promise<unknown>;
}

const some = <T>(...values: readonly T[]): fc.Arbitrary<T[]> =>
  fc.subarray([...values], { minLength: 1, maxLength: 2 });
const paths = some("**", "notes/**", "notes/a", "*/keys", "private/*");

const subjects: readonly Subject[] = [
  {
    kind: "fs.write",
    part: "path",
    declared: fc.record({ paths: fc.constantFrom(["**"], ["notes/**"]) }),
    grants: fc.record({ paths, except: some("notes/keys", "**/secret") }, { requiredKeys: ["paths"] }),
    targets: fc.constantFrom(
      "notes/a",
      "notes/keys",
      "notes/KEYS",
      "private/a",
      "notes/b/secret",
      "a/b/c",
      "",
      ".",
      "../up",
      "/abs",

      "notes//a",
      "notes/",
      "notes/./a",
      "notes/é",
      "notes/e\u0301",
      "notes\\a",
      "notes/%2e",
      "con",
      "C:/a",
      "a\0b",
    ),
    conditions: fc.constantFrom({ path: ["**/keys"] }, { path: ["private/**", "/admin"] }, { path: ["**/é"] }),
    ask: async (to, { files }) => files.write(to, "x"),
  },
  {
    kind: "net.read",
    part: "url",
    declared: fc.constantFrom({ hosts: ["*"] }, { hosts: ["*"], methods: ["GET"] }, { hosts: ["example.com"] }),
    grants: fc.record(
      {
        hosts: some("*", "*.example.com", "example.com", "127.0.0.1", "a.example.com"),
        paths: some("/docs", "/"),
        ports: fc.constantFrom([8080], [80, 443]),
        methods: fc.constantFrom(["GET"], ["HEAD"]),
      },
      { requiredKeys: ["hosts"] },
    ),
    targets: fc.constantFrom(
      "https://example.com/docs/a",
      "https://EXAMPLE.com./docs",
      "http://a.example.com:8080/",
      "https://example.com",
      "https://example.com/docs/../admin",
      "https://example.com/docs/%2e%2e/x",
      "https://example.com/docs/%252e%252e/x",
      "http://127.0.0.1/docs",
      "http://2130706433/",
      "http://[::ffff:7f00:1]/",
      "https://ada:pw@example.com/docs",
      "file:///etc/passwd",
      "https://example.com:0/",
      "https:///docs",
      "docs",
      "",
      "https://exa\tmple.com/docs",

      "https://example.com\\docs",
      "https://éxample.com/docs",
      "https://example.com/docs/%00",
      "//example.com/docs",
    ),
    conditions: fc.constantFrom(
      { host: ["a.example.com"] },
      { path: ["/docs/x", "a"] },
      { host: ["*"], path: ["/admin"] },
    ),
    ask: async (to, { fetch }) => fetch(to),
  },
  {
    kind: "kv.read",
    part: "key",
    declared: fc.constantFrom({ keys: ["*"] }, { keys: ["a/"] }),
    grants: fc.record({ keys: some("*", "a/", "a/b", "") }),
    targets: fc.constantFrom("a/b", "a/", "a", "b", "", ".", "*", "a/*", "é", "e\u0301", "a\u200eb", "a".repeat(400)),
    conditions: fc.constantFrom({ key: ["a/b"] }, { key: ["é"] }),
    ask: async (to, { kv }) => kv.get(to),
  },
];

const cases = fc.constantFrom(...subjects).chain((subject) =>
  fc.record({
    subject: fc.constant(subject),
    declared: subject.declared,
    granted: fc.array(subject.grants, { maxLength: 2 }),
    own: fc.option(fc.array(subject.grants, { maxLength: 1 }), { nil: undefined, freq: 4 }),
    to: subject.targets,
    conditions: fc.array(subject.conditions, { maxLength: 2 }),
    enforcement: fc.constantFrom("enforce", "enforce", "observe" as const),
  }),
);

type Case = typeof cases extends fc.Arbitrary<infer One> ? One : never;

async function open({ subject, declared, granted, conditions, enforcement }: Case): Promise<Kernel> {
  const { kind, part, ask } = subject;
  const document = {
    version: "1",
    posture: "permissive",
    enforcement,
    grants: granted.map((each) => ({ tool: "*", capability: { kind, ...each } })),
    rules: conditions.map((when, index) => ({ id: `r${index}`, effect: "deny", when, reason: "No." })),
  } as unknown as PolicyDocument;
  const kernel = await createKernel({
    policy: document,
    brokers: [filesBroker(memoryStore()), kvBroker(memoryKv()), netBroker({ fetch: async () => new Response("ok") })],
  });
  for (const [name, target] of [
    ["named", { target: { [part]: "/to" } }],
    ["plain", {}],
  ] as const)
    kernel.registerTrusted(
      toolOf(({ to }: { to: string }, context: ToolContext) => ask(to, context).then(() => 1), {
        name,
        effects: [kind],
        determinism: "external",
        capabilities: [{ kind, ...declared, ...target }],
      }),
    );
  return kernel;
}

const told = (result: CallResult): unknown =>
  result.ok ? "ok" : [result.error.code, result.error.message.replaceAll("named", "plain"), result.error.hint];

it("a decision with a target is what the gate says to the same request", async () => {
  const met = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const kernel = await open(one);
      const options = one.own && {
        grants: one.own.map((each) => ({ kind: one.subject.kind, ...each })) as Capability[],
      };
      const [named, plain] = await Promise.all(
        ["named", "plain"].map((tool) => kernel.call(tool, { to: one.to }, options ?? {})),
      );
      const end = named!.ok ? "ok" : `${named!.error.code} ${named!.meta.attempts}`;
      met.set(end, (met.get(end) ?? 0) + 1);
      if (end === "INVALID_INPUT 0") expect(plain!.ok).toBe(false);
      else expect(told(named!)).toEqual(told(plain!));
    }),
    { numRuns: sized(400, 10_000), seed: 9 },
  );
  // A tool that declares nothing of the method may use each: then the gate alone can tell.
  for (const end of ["ok", "CAPABILITY_DENIED 0", "CAPABILITY_DENIED 1", "INVALID_INPUT 0"])
    expect(met.get(end) ?? 0, end).toBeGreaterThan(0);
});
