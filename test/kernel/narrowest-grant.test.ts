import {
  type Capability,
  type CallResult,
  createKernel,
  type GrantRule,
  policy as policyOf,
  type Need,
  type PolicyDocument,
} from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capabilityCovers, narrowestFor } from "../support/grants.ts";
import { openPolicy } from "../support/kernel.ts";
import { type AskedNeed, asking } from "../support/needs.ts";
import { sized } from "../support/size.ts";

/** A model writes the names, hosts and paths: also such as a grant reads for a wildcard. */
const name = fc.oneof(fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/), fc.constantFrom("*", "logs_*"));
const host = fc.oneof(
  fc.constantFrom("*.example.com", "*"),
  fc.stringMatching(/^[a-z]{1,4}\.(?:example\.com|example\.org|internal)$/),
  fc.constantFrom("10.0.0.1", "[::1]", "localhost"),
);
/** Segments as tools write them, and with what patterns and servers read in another way. */
const segment = fc.oneof(
  fc.stringMatching(/^[a-m]{1,3}$/),
  fc.constantFrom("a*", "[b]", "c?", "{d}", "%2e", "a%20b", ";v=1", "e e", "**"),
);
const netPath = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join("/")}`);
const filePath = fc
  .array(
    segment.filter((each) => !each.includes(":")),
    { minLength: 1, maxLength: 3 },
  )
  .map((segments) => segments.join("/"));
const bytes = fc.option(fc.nat(1_000), { nil: undefined });
const statement = fc.constantFrom("select", "insert", "update", "delete", "create", "drop" as const);

const netFields = fc.record({
  method: fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PROPFIND"),
  host,
  isPublic: fc.boolean(),
  port: fc.constantFrom(80, 443, 8080),
  path: netPath,
});
/** Each method is of one kind. */
const netNeed = netFields.map((fields) => ({
  kind: ["GET", "HEAD"].includes(fields.method) ? ("net.read" as const) : ("net.write" as const),
  ...fields,
}));
const fileNeed = fc
  .record({ kind: fc.constantFrom("fs.read" as const, "fs.write" as const), path: filePath, bytes })
  .map(({ bytes: size, ...rest }) => ({ ...rest, ...(size !== undefined && { bytes: size }) }));
const anyNeed: fc.Arbitrary<Need> = fc.oneof(
  netNeed,
  fileNeed,
  fc.record({ kind: fc.constant("db.read" as const), database: name, statements: fc.constant(["select" as const]) }),
  fc.record({
    kind: fc.constant("db.write" as const),
    database: name,
    statements: fc.uniqueArray(statement, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constantFrom("kv.read" as const, "kv.write" as const),
    key: fc.stringMatching(/^[a-z/!?[]{1,6}$/),
  }),
  fc.record({
    kind: fc.constant("process.spawn" as const),
    command: fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/),
    args: fc.array(fc.oneof(segment, fc.constantFrom("--force", "@file", "-")), { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant("tool.call" as const), tool: name }),
  fc.record({ kind: fc.constant("secret.use" as const), name, host }),
  fc.constantFrom({ kind: "clock" as const }, { kind: "random" as const }),
);

const covers = (capability: Capability, need: Need): boolean => capabilityCovers(capability, need, "authority");
const documentWith = (...grants: readonly GrantRule[]): PolicyDocument => ({ ...openPolicy, grants });
const rounds = { numRuns: sized(500, 20_000) };

/** What a grant cannot say exactly: everything below a path of the network, and keys that begin so. */
function isBelow(need: Need, other: Need): boolean {
  if ("method" in need && "method" in other)
    return need.path === "/" || other.path === need.path || other.path.startsWith(`${need.path.replace(/\/$/, "")}/`);
  return "key" in need && "key" in other
    ? other.key.startsWith(need.key)
    : JSON.stringify(need) === JSON.stringify(other);
}

/** Whether a capability can say it as it is. A command is always written out. */
const isPlain = (need: Need): boolean =>
  need.kind === "process.spawn" ||
  (!JSON.stringify(need).includes("*") &&
    !("path" in need && /[?{}[\]!;%]/.test(need.path)) &&
    !("key" in need && /[?{}[\]!]/.test(need.key)));

/** Texts with one character more, less or another. */
function textsNextTo(text: string): readonly string[] {
  const places = Array.from({ length: text.length + 1 }, (_, at) => [text.slice(0, at), text.slice(at)] as const);
  return places.flatMap(([before, after]) => [
    `${before}z${after}`,
    `${before}z${after.slice(1)}`,
    before + after.slice(1),
  ]);
}

/** Requests that differ from one in one character of one text. */
function neighboursOf(need: Need): readonly Need[] {
  return Object.entries(need).flatMap(([field, value]: readonly [string, unknown]) => {
    if (field === "kind" || field === "method") return [];
    if (typeof value === "string") return textsNextTo(value).map((each) => ({ ...need, [field]: each }));
    if (field !== "args") return [];
    const args = value as readonly string[];
    return args.flatMap((arg, at) => textsNextTo(arg).map((each) => ({ ...need, args: args.with(at, each) }) as Need));
  });
}

describe("the narrowest grant for a request", () => {
  it("covers it, and is a grant that a policy takes", () => {
    fc.assert(
      fc.property(anyNeed, (need) => {
        const capability = narrowestFor(need);
        if (!capability) {
          expect(isPlain(need)).toBe(false);
          return;
        }
        expect(covers(capability, need)).toBe(true);
        expect(policyOf(documentWith({ tool: "subject", caller: "ada", capability }))).toMatchObject({ ok: true });
      }),
      rounds,
    );
  });

  it("covers no other request: of another kind, host, port, method, path, command, argument, …", () => {
    fc.assert(
      fc.property(anyNeed.filter(isPlain), anyNeed, (need, other) => {
        const capability = narrowestFor(need);
        if (!capability) return expect.unreachable(JSON.stringify(need));
        const { bytes: most = Infinity } = { bytes: undefined, ...need };
        const isSmaller = "bytes" in other && (other.bytes ?? 0) <= most;
        const isSame =
          isBelow(need, other) || (isSmaller && "path" in need && "path" in other && need.path === other.path);
        if (covers(capability, other)) expect(isSame && need.kind === other.kind).toBe(true);
      }),
      rounds,
    );
  });

  it("covers no request whose texts differ from it in one character, whatever stands in them", () => {
    fc.assert(
      fc.property(anyNeed, (need) => {
        const capability = narrowestFor(need);
        if (!capability) return;
        expect(covers(capability, need)).toBe(true);
        for (const other of neighboursOf(need))
          if (!isBelow(need, other)) expect(covers(capability, other), JSON.stringify([capability, other])).toBe(false);
      }),
      rounds,
    );
  });

  it("covers no other request that differs from it in one thing", () => {
    fc.assert(
      fc.property(netNeed.filter(isPlain), netNeed, (need, other) => {
        const capability = narrowestFor(need);
        if (!capability) return expect.unreachable(JSON.stringify(need));
        for (const field of ["kind", "method", "host", "port", "path"] as const) {
          const changed: Need = { ...need, [field]: other[field] };
          if (need[field] === other[field] || (field === "path" && isBelow(need, changed))) continue;
          expect(covers(capability, changed), field).toBe(false);
        }
        expect(capability).toMatchObject({ requests: 1 });
      }),
      rounds,
    );
  });

  it("is never one for everything", () => {
    for (const need of [
      { kind: "fs.read", path: "" },
      { kind: "fs.write", path: "" },
      { kind: "kv.read", key: "", lists: true },
      { kind: "net.read", method: "GET", host: "a.example", port: 443, path: "/%2e%2e/a" },
    ] as const)
      expect(narrowestFor(need)).toBeUndefined();
  });
});

const wishes: readonly Capability[] = [
  { kind: "net.read", hosts: ["*"], methods: ["GET", "HEAD"] },
  { kind: "net.write", hosts: ["*"], methods: ["POST", "PUT", "DELETE"] },
  { kind: "fs.read", paths: ["**"] },
  { kind: "fs.write", paths: ["**"] },
  { kind: "db.read", databases: ["*"] },
  { kind: "kv.read", keys: ["*"] },
];
/** Some of each kind, so that calls get as far as their requests, and none that covers a request of these tests. */
const others: readonly GrantRule[] = (
  [
    { kind: "net.read", hosts: ["elsewhere.example"] },
    { kind: "net.write", hosts: ["elsewhere.example"] },
    { kind: "fs.read", paths: ["elsewhere"] },
    { kind: "fs.write", paths: ["elsewhere"] },
    { kind: "db.read", databases: ["elsewhere"] },
    { kind: "kv.read", keys: ["elsewhere"] },
  ] satisfies readonly Capability[]
).map((capability) => ({ tool: "*", capability }));

/** As an operator does it: the grant in the advice, copied into the policy. */
function suggestedIn(result: CallResult): GrantRule {
  if (result.ok) return expect.unreachable("it was allowed");
  expect(result.error).toMatchObject({ code: "CAPABILITY_DENIED", details: { reason: "not-granted" } });
  return JSON.parse(result.error.operatorHint.replace(/^[^{]*/, "")) as GrantRule;
}

describe("the grant that an operatorHint suggests", () => {
  const asked: fc.Arbitrary<AskedNeed> = fc
    .oneof(
      netNeed.map((need) => ({
        ...need,
        kind: /^(?:GET|HEAD)$/.test(need.method) ? ("net.read" as const) : ("net.write" as const),
      })),
      fileNeed,
      fc.record({
        kind: fc.constant("db.read" as const),
        database: name,
        statements: fc.constant(["select" as const]),
      }),
      fc.record({ kind: fc.constant("kv.read" as const), key: name }),
    )
    .filter((need) => isPlain(need) && !("method" in need && need.method === "PROPFIND"));

  it("lets exactly this request pass, and this caller", async () => {
    await fc.assert(
      fc.asyncProperty(asked, asked, async (need, other) => {
        const first = asking([need], wishes);
        const kernel = await createKernel({ policy: documentWith(...others), brokers: [first.broker] });
        kernel.registerTrusted(first.tool);
        const grant = suggestedIn(await kernel.call("subject", {}, { caller: "ada" }));
        const policy = documentWith(...others, grant);
        await kernel.setPolicy(policy);
        expect(await kernel.call("subject", {}, { caller: "ada" })).toMatchObject({ ok: true });
        expect(await kernel.call("subject", {}, { caller: "eve" })).toMatchObject({ ok: false });

        const second = asking([other], wishes);
        const next = await createKernel({ policy, brokers: [second.broker] });
        next.registerTrusted(second.tool);
        const result = await next.call("subject", {}, { caller: "ada" });
        expect(result.ok).toBe(covers(grant.capability, other));
      }),
      { numRuns: sized(60, 2_000) },
    );
  });
});
