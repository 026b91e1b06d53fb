import type { ModeTrigger, PolicyDocument, Tool, ToolPackage } from "@keyhole/kernel";
import type { SecretStore } from "@keyhole/kernel/secrets";
import { type BusEntry, readConfig } from "@keyhole/worker-host/config";
import { Misconfigured } from "../app/problem.ts";

/** The parts of a configuration for a kernel at the edge. */
export interface ConfiguredParts {
  readonly tools: readonly ToolPackage[];
  readonly pipelines: readonly Tool[];
  /**
   * The policy that holds, under the limits: `named` stands before that of the configuration, which
   * stands before `usual`.
   *
   * @throws {Misconfigured} for limits that the policy has too
   */
  readonly policy: (named: PolicyDocument | undefined, usual: PolicyDocument) => PolicyDocument;
  readonly modeTriggers?: readonly ModeTrigger[];
  readonly secrets?: (env: object) => SecretStore;
  readonly bus?: BusEntry;
}

/** Sections about files and programs, which Workers do not have: the bindings say where things are. */
const elsewhere = ["tools", "sink", "brokers"] as const;

/**
 * A configuration, as the build has put it into the Worker.
 *
 * @throws {Misconfigured} with the place of the fault
 */
export function configuredParts(document: unknown): ConfiguredParts {
  const read = readConfig(document);
  if (!read.ok) {
    const { path, message, hint } = read.fault;
    throw new Misconfigured(`The configuration is invalid at ${path || "its root"}. ${message} ${hint}`.trimEnd());
  }
  const { config } = read;
  const { policy, modeTriggers, secrets, bus } = config.document;
  const other = elsewhere.find((name) => config.document[name] !== undefined);
  if (other !== undefined)
    throw new Misconfigured(`The section \`${other}\` of the configuration is for Node. A Worker has bindings.`);
  return {
    tools: config.packages,
    pipelines: config.pipelines,
    policy(named, usual) {
      const limited = config.limited(named ?? (policy === undefined ? usual : undefined));
      if (limited.ok) return limited.policy;
      const { path, message, hint } = limited;
      const detail = `The policy is invalid with the configuration at ${path}. ${message} ${hint}`.trimEnd();
      throw new Misconfigured(detail, "The policy is not valid with the limits of the configuration.");
    },
    ...(modeTriggers && { modeTriggers }),
    ...(bus && { bus }),
    ...(secrets && { secrets: (env: object) => secretsOf(new Map(Object.entries(secrets)), env) }),
  };
}

function secretsOf(names: ReadonlyMap<string, { readonly env: string }>, env: object): SecretStore {
  const values = new Map<string, unknown>(Object.entries(env));
  return {
    get(name) {
      const value = values.get(names.get(name)?.env ?? "");
      return typeof value === "string" ? value : undefined;
    },
    list: (start) => [...names.keys()].filter((name) => name.startsWith(start)),
  };
}
