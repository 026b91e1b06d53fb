import { type ArgumentPattern, type Capability, type CommandPattern, type Need, statementKinds } from "@keyhole/kernel";
import fc from "fast-check";
import { attenuate, covers, grantOf } from "../support/grants.ts";

const some = <T>(...values: T[]): fc.Arbitrary<T[]> => fc.subarray(values, { minLength: 1 });

const argument: fc.Arbitrary<ArgumentPattern> = fc.constantFrom<ArgumentPattern>(
  "log",
  "-n",
  { oneOf: ["log", "status"] },
  { prefix: "" },
  { prefix: "--format=" },
  { path: ["src/**"] },
  { number: { max: 5 } },
);
const command: fc.Arbitrary<CommandPattern> = fc.record(
  {
    command: fc.constantFrom("git", "ls"),
    args: fc.oneof(
      fc.array(argument, { maxLength: 2 }),
      argument.map((rest) => [{ rest }]),
    ),
  },
  { requiredKeys: ["command"] },
);

const capability: fc.Arbitrary<Capability> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("net.read" as const, "net.write" as const),
    hosts: some("example.com", "*.example.com", "*", "127.0.0.1", "a.example.com"),
    ports: some(80, 443, 8080),
    paths: some("/", "/api", "/api/v1"),
  }),
  fc.record({
    kind: fc.constantFrom("fs.read" as const, "fs.write" as const),
    paths: some("**", "docs/**", "docs/*", "docs/a"),
    except: fc.subarray(["docs/a", "src/**"]),
    fileBytes: fc.nat(20),
  }),
  fc.record({
    kind: fc.constantFrom("db.read" as const, "db.write" as const),
    databases: some("*", "shop_*", "shop_eu", "payroll"),
    statements: some(...statementKinds),
  }),
  fc.record({
    kind: fc.constantFrom("kv.read" as const, "kv.write" as const),
    keys: some("", "*", "users/", "users/a"),
    valueBytes: fc.nat(20),
  }),
  fc.record({
    kind: fc.constant("process.spawn" as const),
    commands: fc.array(command, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant("browser.page" as const),
    hosts: some("*", "*.example.com", "example.com", "127.0.0.1"),
    navigations: fc.nat(4),
  }),
  fc.record({ kind: fc.constant("tool.call" as const), tools: some("*", "echo", "read_*") }),
  fc.record({
    kind: fc.constant("secret.use" as const),
    names: some("*", "api_*", "api_key"),
    hosts: some("*", "example.com", "*.example.com"),
  }),
  fc.constantFrom<Capability>({ kind: "clock" }, { kind: "random" }),
);

const need: fc.Arbitrary<Need> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("net.read" as const, "net.write" as const),
    method: fc.constantFrom("GET", "POST"),
    host: fc.constantFrom("example.com", "a.example.com", "127.0.0.1", "other.org"),
    isPublic: fc.boolean(),
    port: fc.constantFrom(80, 443, 8080),
    path: fc.constantFrom("/", "/api", "/api/v1/x", "/other"),
  }),
  fc.record({
    kind: fc.constantFrom("fs.read" as const, "fs.write" as const),
    path: fc.constantFrom("docs/a", "docs/b/c", "src/x"),
    bytes: fc.nat(25),
  }),
  fc.record({
    kind: fc.constantFrom("db.read" as const, "db.write" as const),
    database: fc.constantFrom("shop_eu", "shop_us", "payroll"),
    statements: fc.subarray([...statementKinds]),
  }),
  fc.record({
    kind: fc.constantFrom("kv.read" as const, "kv.write" as const),
    key: fc.constantFrom("users/a", "users/b", "x", ""),
    bytes: fc.nat(25),
  }),
  fc.record({
    kind: fc.constant("process.spawn" as const),
    command: fc.constantFrom("git", "ls"),
    args: fc.array(fc.constantFrom("log", "-n", "5", "9", "src/a", "--format=x", "--upload-pack=x", "@f"), {
      maxLength: 3,
    }),
  }),
  fc.record({
    kind: fc.constant("browser.page" as const),
    method: fc.constant("GET"),
    host: fc.constantFrom("example.com", "a.example.com", "127.0.0.1"),
    isPublic: fc.boolean(),
    port: fc.constantFrom(80, 443),
    path: fc.constant("/"),
    navigation: fc.nat(5),
  }),
  fc.record({ kind: fc.constant("tool.call" as const), tool: fc.constantFrom("echo", "read_file", "pay") }),
  fc.record({
    kind: fc.constant("secret.use" as const),
    name: fc.constantFrom("api_key", "root"),
    host: fc.constantFrom("example.com", "a.example.com", "127.0.0.1"),
    isPublic: fc.boolean(),
  }),
  fc.constantFrom<Need>({ kind: "clock" }, { kind: "random" }),
);

/** A tool that wants everything: then the layers alone decide. */
const wish: readonly Capability[] = [
  { kind: "net.read", hosts: ["*"] },
  { kind: "net.write", hosts: ["*"] },
  { kind: "fs.read", paths: ["**"] },
  { kind: "fs.write", paths: ["**"] },
  { kind: "db.read", databases: ["*"] },
  { kind: "db.write", databases: ["*"], statements: [...statementKinds] },
  { kind: "kv.read", keys: ["*"] },
  { kind: "kv.write", keys: ["*"] },
  { kind: "process.spawn", commands: [{ command: "git", args: [{ rest: { prefix: "" } }] }, { command: "ls" }] },
  { kind: "browser.page", hosts: ["*"], methods: ["GET", "WEBSOCKET"] },
  { kind: "tool.call", tools: ["*"] },
  { kind: "secret.use", names: ["*"], hosts: ["*"] },
  { kind: "clock" },
  { kind: "random" },
];

const layer: fc.Arbitrary<readonly Capability[]> = fc.oneof(
  fc.array(capability, { maxLength: 12 }),
  fc.array(capability, { maxLength: 6 }).map((more) => [...wish, ...more]),
);

export interface ChainReport {
  /** Needs that some child covered: what makes the comparison mean something. */
  readonly covered: number;
  readonly kinds: ReadonlySet<string>;
  /** The first chain in which a child had more than its parent. */
  readonly counterexample: string | undefined;
}

/** Random declarations, narrowed again and again: no child covers what its parent, or any one of its layers, does not. */
export function checkChains(runs: number, seed: number): ChainReport {
  let covered = 0;
  const kinds = new Set<string>();
  const property = fc.property(
    layer,
    fc.array(layer, { minLength: 2, maxLength: 5 }),
    need,
    (declared, layers, asked) => {
      let parent = grantOf(declared, [layers[0]!]);
      for (const each of layers.slice(1)) {
        const child = attenuate(parent, each);
        const isCovered = covers(child, asked);
        if (isCovered && !(covers(parent, asked) && covers(grantOf(declared, [each]), asked))) return false;
        if (isCovered) {
          covered++;
          kinds.add(asked.kind);
        }
        parent = child;
      }
      return true;
    },
  );
  const { failed, counterexample } = fc.check(property, { numRuns: runs, seed });
  return { covered, kinds, counterexample: failed ? JSON.stringify(counterexample) : undefined };
}
