import type { Capability, Need } from "./capability.ts";
import { describeCommand } from "./commands.ts";
import { defaultStatements } from "./covers.ts";
import type { Grant } from "./grant.ts";

/** One line per capability, for people: what an approval shows and a refusal names. */
export function describeCapability(capability: Capability): string {
  const { kind } = capability;
  switch (kind) {
    case "net.read":
    case "net.write": {
      const { hosts, ports, paths } = capability;
      return `${kind} ${hosts.join(", ")}${ports ? ` on port ${ports.join(", ")}` : ""}${paths ? ` under ${paths.join(", ")}` : ""}`;
    }
    case "fs.read":
    case "fs.write":
      return `${kind} ${capability.paths.join(", ")}${capability.except ? ` except ${capability.except.join(", ")}` : ""}`;
    case "db.read":
    case "db.write":
      return `${kind} ${capability.databases.join(", ")} (${(capability.statements ?? defaultStatements[kind]).join(", ")})`;
    case "kv.read":
    case "kv.write":
      return `${kind} ${capability.keys.map((key) => (key === "" || key === "*" ? "every key" : `${key}…`)).join(", ")}`;
    case "process.spawn":
      return `${kind} ${capability.commands.map(describeCommand).join(", ")}`;
    case "tool.call":
      return `${kind} ${capability.tools.join(", ")}`;
    case "secret.use":
      return `${kind} ${capability.names.join(", ")} for ${capability.hosts.join(", ")}`;
    case "clock":
    case "random":
      return kind;
  }
}

/**
 * What all layers of a grant let through together, one line per kind. Patterns are not intersected: where two layers differ, both are named, the later
 * ones first.
 */
export function describeGrant({ declared, layers, kinds }: Grant): readonly string[] {
  return kinds.map((kind) => {
    const ofKind = [declared, ...layers]
      .map((layer) => layer.filter((capability) => capability.kind === kind))
      .filter((layer, index) => index > 0 || !layer.some(isWhole));
    const texts = ofKind.map((layer) => [...new Set(layer.map(describeCapability))].toSorted().join(" or "));
    return [...new Set(texts.toReversed())].join(", within ");
  });
}

/** A wish for everything of its kind says nothing about what is granted. */
function isWhole(capability: Capability): boolean {
  const { kind: _, optional: __, ...constraints } = capability as Capability & { readonly optional?: boolean };
  const values: readonly unknown[] = Object.values(constraints);
  const [only] = values;
  return values.length === 1 && Array.isArray(only) && (only.includes("*") || only.includes("**"));
}

/** What a request is about, for the log and for refusals. Without query, fragment, parameters and arguments: they can carry secrets. */
export function targetOf(need: Need): string {
  switch (need.kind) {
    case "net.read":
    case "net.write":
      return `${need.method} ${need.host}:${need.port}${need.path}`;
    case "fs.read":
    case "fs.write":
      return need.path;
    case "db.read":
    case "db.write":
      return `${need.statements.join("+")} ${need.database}`;
    case "kv.read":
    case "kv.write":
      return need.lists ? `${need.key}*` : need.key;
    case "process.spawn":
      return need.command;
    case "tool.call":
      return need.tool;
    case "secret.use":
      return `${need.name} for ${need.host}`;
    case "clock":
    case "random":
      return need.kind;
  }
}
