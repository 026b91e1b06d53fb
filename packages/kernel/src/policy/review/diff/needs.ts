import type { CapabilityKind } from "../../../capability/capability.ts";
import type { OfKind } from "../../../capability/family.ts";
import { statementKinds } from "../../../capability/families/db.ts";
import { kindOfMethod, readMethods } from "../../../capability/net-request.ts";
import { globPaths } from "./glob-values.ts";
import { commandValues } from "./command-values.ts";
import type { NeedPart } from "./need-part.ts";
import {
  distinct,
  globValues,
  hostValues,
  nameValues,
  pairsOf,
  prefixValues,
  unmentioned,
  urlPathValues,
} from "./patterns.ts";

interface NeedShape {
  /** A capability that covers {@link need}: one member is put in its place at a time. */
  readonly capability: OfKind;
  readonly need: OfKind;
  readonly parts: Readonly<Record<string, NeedPart>>;
  /** The declaration of the tool that makes a request. */
  readonly declares: (need: OfKind) => OfKind;
}

const of = (kind: string, members: object = {}): OfKind => ({ kind, ...members });

const host: NeedPart = {
  members: ["hosts"],
  condition: "host",
  values: ({ texts }) =>
    hostValues(texts).flatMap((each) => [
      { host: each, isPublic: true },
      { host: each, isPublic: false },
    ]),
};

const size = (member: string, needMember: string = "bytes"): NeedPart => ({
  members: [member],
  values: ({ numbers }) =>
    distinct([0, ...numbers.flatMap((limit) => [limit, limit + 1])]).map((amount) => ({ [needMember]: amount })),
});

const mostHeaders = 8;

function net(kind: "net.read" | "net.write"): NeedShape {
  const isOwn = (method: string): boolean => kindOfMethod(method) === kind;
  const others = kind === "net.read" ? readMethods : ["POST", "PUT", "PATCH", "DELETE", "PURGE"];
  const usual = kind === "net.read" ? "GET" : "POST";
  return {
    capability: of(kind, { hosts: ["example.com"] }),
    need: of(kind, { method: usual, host: "example.com", isPublic: true, port: 443, path: "/" }),
    parts: {
      host,
      method: {
        members: ["methods"],
        condition: "method",
        values: ({ texts }) =>
          distinct([...others, ...texts])
            .filter(isOwn)
            .map((method) => ({ method })),
      },
      path: {
        members: ["paths"],
        condition: "path",
        values: ({ texts }) => urlPathValues(texts.filter((each) => each.startsWith("/"))).map((path) => ({ path })),
        isWhole: ({ texts }) => pairsOf(texts.filter((each) => each.startsWith("/"))),
      },
      port: {
        members: ["ports"],
        values: ({ numbers }) => distinct([443, 80, 8_443, 65_535, ...numbers]).map((port) => ({ port })),
      },
      headers: {
        members: ["headers"],
        values: ({ texts }) =>
          subsets([...texts.slice(0, mostHeaders), `x-${unmentioned}`]).map((headers) => ({ headers })),
        isWhole: ({ texts }) => texts.length <= mostHeaders,
      },
    },
    declares: (need) => of(kind, { hosts: ["*"], methods: [text(need, "method")] }),
  };
}

/** A page asks as `net.*` does, with the methods of both and one for WebSockets. */
function page(): NeedShape {
  const { parts, ...shape } = net("net.read");
  const methods = [...readMethods, "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "WEBSOCKET", "PURGE"];
  const method: NeedPart = {
    members: ["methods"],
    condition: "method",
    values: ({ texts }) => distinct([...methods, ...texts]).map((each) => ({ method: each })),
  };
  return {
    capability: { ...shape.capability, kind: "browser.page" },
    need: { ...shape.need, kind: "browser.page" },
    parts: { ...parts, method, navigations: size("navigations", "navigation") },
    declares: (need) => ({ ...shape.declares(need), kind: "browser.page" }),
  };
}

/** A rule about paths can name those of the network, too. */
const globsIn = (texts: readonly string[]): readonly string[] => texts.filter((each) => !each.startsWith("/"));

function files(kind: "fs.read" | "fs.write"): NeedShape {
  return {
    capability: of(kind, { paths: ["**"] }),
    need: of(kind, { path: "example" }),
    parts: {
      path: {
        members: ["paths", "except"],
        condition: "path",
        values: ({ texts }) => globValues(globsIn(texts)).map((path) => ({ path })),
        isWhole: ({ texts }) => globPaths(globsIn(texts)).isWhole,
      },
      size: size("fileBytes"),
      ...(kind === "fs.write" && { change: { members: ["operations"], values: () => [{}, { removes: true }] } }),
    },
    declares: () => of(kind, { paths: ["**"] }),
  };
}

function databases(kind: "db.read" | "db.write"): NeedShape {
  const known = kind === "db.read" ? ["select"] : statementKinds;
  return {
    capability: of(kind, { databases: ["example"] }),
    need: of(kind, { database: "example", statements: [kind === "db.read" ? "select" : "update"] }),
    parts: {
      database: {
        members: ["databases"],
        condition: "database",
        values: ({ texts }) => nameValues(texts).map((database) => ({ database })),
      },
      statements: {
        members: ["statements"],
        values: () =>
          subsets(known)
            .filter((each) => each.length > 0)
            .map((statements) => ({ statements })),
      },
    },
    declares: () => of(kind, { databases: ["*"], statements: [...known] }),
  };
}

function keys(kind: "kv.read" | "kv.write"): NeedShape {
  return {
    capability: of(kind, { keys: ["*"] }),
    need: of(kind, { key: "example" }),
    parts: {
      key: {
        members: ["keys"],
        condition: "key",
        values: ({ texts }) =>
          prefixValues(texts).flatMap((key) => (key === "" ? [{ key, lists: true }] : [{ key }, { key, lists: true }])),
      },
      size: size("valueBytes"),
    },
    declares: () => of(kind, { keys: ["*"] }),
  };
}

const source = (kind: "clock" | "random"): NeedShape => ({
  capability: of(kind),
  need: of(kind),
  parts: {},
  declares: () => of(kind),
});

/** Each kind of the kernel has its row. A kind that another broker brings has none. */
const shapes: ReadonlyMap<string, NeedShape> = new Map(
  Object.entries({
    "net.read": net("net.read"),
    "net.write": net("net.write"),
    "browser.page": page(),
    "fs.read": files("fs.read"),
    "fs.write": files("fs.write"),
    "db.read": databases("db.read"),
    "db.write": databases("db.write"),
    "kv.read": keys("kv.read"),
    "kv.write": keys("kv.write"),
    "process.spawn": {
      capability: of("process.spawn", { commands: [{ command: "example" }] }),
      need: of("process.spawn", { command: "example", args: [] }),
      parts: { command: { members: ["commands"], condition: "command", ...commandValues } },
      declares: (need) =>
        of("process.spawn", { commands: [{ command: text(need, "command"), args: argumentsOf(need) }] }),
    },
    "secret.use": {
      capability: of("secret.use", { names: ["example"], hosts: ["example.com"] }),
      need: of("secret.use", { name: "example", host: "example.com", isPublic: true }),
      parts: {
        host,
        name: {
          members: ["names"],
          condition: "secret",
          values: ({ texts }) =>
            nameValues([...texts, ...texts.map((each) => each.replaceAll("-", "_"))]).map((name) => ({ name })),
        },
      },
      declares: () => of("secret.use", { names: ["*"], hosts: ["*"] }),
    },
    "tool.call": {
      capability: of("tool.call", { tools: ["example"] }),
      need: of("tool.call", { tool: "example" }),
      parts: {
        tool: {
          members: ["tools"],
          condition: "calls",
          values: ({ texts }) => nameValues(texts).map((tool) => ({ tool })),
        },
      },
      declares: () => of("tool.call", { tools: ["*"] }),
    },
    clock: source("clock"),
    random: source("random"),
  } satisfies Partial<Record<CapabilityKind, NeedShape>>),
);

/** `undefined` for a kind that is not the kernel's own. */
export function shapeOf(kind: string): NeedShape | undefined {
  return shapes.get(kind);
}

/** The declaration that a tool needs to make a request. */
export function declarationFor(need: OfKind): OfKind {
  return shapes.get(need.kind)?.declares(need) ?? need;
}

function text(need: OfKind, name: string): string {
  const value: unknown = new Map<string, unknown>(Object.entries(need)).get(name);
  return typeof value === "string" ? value : "";
}

function argumentsOf(need: OfKind): readonly string[] {
  const value: unknown = new Map<string, unknown>(Object.entries(need)).get("args");
  return Array.isArray(value) ? value.map(String) : [];
}

function subsets<T>(list: readonly T[]): readonly (readonly T[])[] {
  return list.reduce<readonly (readonly T[])[]>(
    (known, each) => [...known, ...known.map((some) => [...some, each])],
    [[]],
  );
}
