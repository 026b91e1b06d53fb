import { type Capability, policy } from "@keyhole/kernel";
import { counted } from "../../io.ts";
import type { RecordedCall } from "./recorded-calls.ts";

export interface Suggested<Value> {
  readonly value: Value;
  /** For the person who reads the policy. */
  readonly comment: string;
}

/** Exists nowhere: a grant of it lets a tool start that declares the kind, and covers no request. */
const NOTHING = "nothing-was-recorded";

/** The grant of a kind without a recorded request. */
const nothingOf: Readonly<Record<string, Capability>> = {
  "fs.read": { kind: "fs.read", paths: [NOTHING] },
  "fs.write": { kind: "fs.write", paths: [NOTHING] },
  "net.read": { kind: "net.read", hosts: [`${NOTHING}.invalid`] },
  "net.write": { kind: "net.write", hosts: [`${NOTHING}.invalid`] },
  "kv.read": { kind: "kv.read", keys: [NOTHING] },
  "kv.write": { kind: "kv.write", keys: [NOTHING] },
  "db.read": { kind: "db.read", databases: [NOTHING] },
  "db.write": { kind: "db.write", databases: [NOTHING] },
  "tool.call": { kind: "tool.call", tools: [NOTHING] },
  "secret.use": { kind: "secret.use", names: [NOTHING], hosts: [`${NOTHING}.invalid`] },
  "process.spawn": { kind: "process.spawn", commands: [{ command: NOTHING }] },
  "browser.page": { kind: "browser.page", hosts: [`${NOTHING}.invalid`] },
};

/** Kinds that a tool has without a request: no log can tell whether it used them. */
const silent: Readonly<Record<string, Capability>> = { clock: { kind: "clock" }, random: { kind: "random" } };

export interface LeastCapabilities {
  readonly capabilities: readonly Suggested<Capability>[];
  /** Recorded targets that no capability says literally. A tool, and a model behind it, chose them: a grant with a wildcard would cover other things too. */
  readonly unsaid: readonly string[];
}

/** The capabilities that the requests of one tool and caller need, by kind. `undefined` in place of a kind that this command does not know. */
export function leastCapabilities(kind: string, calls: readonly RecordedCall[]): LeastCapabilities | undefined {
  const sure = (capabilities: readonly Suggested<Capability>[]): LeastCapabilities => ({ capabilities, unsaid: [] });
  if (Object.hasOwn(silent, kind))
    return sure([{ value: silent[kind]!, comment: "Used without a request: the log cannot tell whether it was." }]);
  const perCall = calls.map(({ uses }) => uses.filter((use) => use.kind === kind).map(({ target }) => target));
  const targets = [...new Set(perCall.flat())].sort();
  const nothing = Object.hasOwn(nothingOf, kind) ? nothingOf[kind] : undefined;
  if (nothing === undefined) return undefined;
  if (targets.length === 0)
    return sure([{ value: nothing, comment: "Granted at the time, and no request is on record." }]);
  const { literal = [], unsaid = [] } = Object.groupBy(targets, (target) =>
    isLiteral(capabilitiesOf(kind, [target], perCall)) ? "literal" : "unsaid",
  );
  if (literal.length === 0)
    return { capabilities: [{ value: nothing, comment: "No grant fits a recorded request literally." }], unsaid };
  const count = `${counted(perCall.flat().length, "request")} in ${counted(calls.length, "call")}.`;
  const capabilities = capabilitiesOf(kind, literal, perCall) ?? [];
  return { capabilities: capabilities.map((each) => ({ ...each, comment: `${count}${each.comment}` })), unsaid };
}

/** Whether there are any, none has a wildcard, and a policy takes them. */
function isLiteral(suggested: readonly Suggested<Capability>[] = []): boolean {
  const grants = suggested.map(({ value }) => ({ tool: "*", capability: value }));
  return (
    grants.length > 0 &&
    // An empty text is every key.
    suggested.every(({ value }) => !/\*|""/.test(JSON.stringify(value))) &&
    policy({ version: "1", posture: "strict", grants }).ok
  );
}

function capabilitiesOf(
  kind: string,
  targets: readonly string[],
  perCall: readonly (readonly string[])[],
): readonly Suggested<Capability>[] | undefined {
  const one = (value: Capability, comment = ""): readonly Suggested<Capability>[] => [{ value, comment }];
  switch (kind) {
    case "fs.read":
    case "fs.write":
      return one({ kind, paths: targets });
    case "kv.read":
    case "kv.write":
      return one(
        { kind, keys: unique(targets.map((target) => target.replace(/\*$/, ""))) },
        " A key also grants the keys that begin with it.",
      );
    case "tool.call":
      return one({ kind, tools: targets });
    case "process.spawn":
      // The log holds no arguments, and a command without them is another one.
      return [];
    case "db.read":
    case "db.write":
      return groups(targets, (target) => /^(\S+) (.+)$/.exec(target)).map(([database, matches]) => ({
        value: {
          kind,
          databases: [database],
          statements: unique(matches.flatMap(([, statements = ""]) => statements.split("+"))),
        } as unknown as Capability,
        comment: "",
      }));
    case "secret.use":
      return groups(targets, (target) => /^(.+) for (\S+)$/.exec(target)).map(([host, matches]) => ({
        value: { kind, names: unique(matches.map(([, name = ""]) => name)), hosts: [host] },
        comment: "",
      }));
    case "net.read":
    case "net.write":
    case "browser.page":
      return webCapabilities(kind, targets, perCall);
    default:
      return undefined;
  }
}

/** One for each method and place, with as many requests as the busiest call made. */
function webCapabilities(
  kind: "net.read" | "net.write" | "browser.page",
  targets: readonly string[],
  perCall: readonly (readonly string[])[],
): readonly Suggested<Capability>[] {
  const form = /^([A-Z]+ \S+:\d+)(\/\S*)$/;
  const places = groups(targets, (target) => {
    const [all, place, path] = form.exec(target) ?? [];
    return all === undefined ? null : [all, path!, place!];
  });
  return places.map(([place, matches]) => {
    const [, method = "", host = "", port = ""] = /^([A-Z]+) (\S+):(\d+)$/.exec(place) ?? [];
    const busiest = Math.max(...perCall.map((call) => call.filter((each) => form.exec(each)?.[1] === place).length));
    const paths = unique(matches.map(([, path = ""]) => path));
    const value = { kind, hosts: [host], ports: [Number(port)], paths, methods: [method] };
    return kind === "browser.page"
      ? {
          value,
          comment: `${below(paths)} The log has the first request of each page, and not what the page asked for itself.`,
        }
      : { value: { ...value, requests: busiest }, comment: below(paths) };
  });
}

/** No grant says a path alone. */
function below(paths: readonly string[]): string {
  return paths.includes("/") ? " `/` grants every path of the host." : " A path also grants the paths below it.";
}

/** Targets by their last part. The command omits a target of another form, tries the rest, and reports the omission. */
function groups(
  targets: readonly string[],
  read: (target: string) => readonly string[] | null,
): readonly (readonly [last: string, matches: readonly (readonly string[])[]])[] {
  const byLast = new Map<string, (readonly string[])[]>();
  for (const target of targets) {
    const parts = read(target);
    const last = parts?.at(-1);
    if (parts !== null && last !== undefined) byLast.set(last, [...(byLast.get(last) ?? []), parts]);
  }
  return [...byLast];
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
