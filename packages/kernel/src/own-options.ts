import type { Broker } from "./capability/broker.ts";
import { isFamily } from "./capability/define-family.ts";
import type { Family } from "./capability/family.ts";
import { Families } from "./capability/registry.ts";
import type { IsolateHost } from "./isolate/port.ts";
import type { Reuse } from "./isolate/pool/slot.ts";
import type { ComposedKernelOptions, KernelOptions } from "./kernel-api.ts";
import { isList } from "./support/guards.ts";
import { knownOptions, type OptionNames } from "./json/known-options.ts";
import type { SchemaParts } from "./schema/index.ts";
import type { Mode } from "./tool/manifest.ts";
import { knownMode } from "./tool/modes.ts";

/** The options of a kernel as it has them: its own data, and objects of the embedding program that are used by calling them. */
export interface OwnKernelOptions extends Omit<
  ComposedKernelOptions,
  "brokers" | "families" | "host" | "inline" | "mode" | "reuse"
> {
  /** The first that runs a source runs it. */
  readonly hosts: readonly IsolateHost[];
  readonly families: Families;
  readonly brokers: ReadonlyMap<string, Broker>;
  readonly mode: Mode;
  readonly reuse: ReadonlyMap<string, Reuse>;
}

const reuses: readonly unknown[] = ["always", "session", "call"] satisfies Reuse[];

/** The options of both kinds of kernel. */
const shared = {
  host: true,
  reuse: true,
  policy: true,
  brokers: true,
  families: true,
  sink: true,
  verifyEarlier: true,
  clock: true,
  mode: true,
  secrets: true,
  signer: true,
  hash: true,
  normalizers: true,
} as const;
const partNames: OptionNames<ComposedKernelOptions> = {
  ...shared,
  packageHashes: true,
  inline: true,
  extensions: true,
  schemaParts: true,
  checkPolicy: true,
  operations: true,
};
const kernelNames: OptionNames<KernelOptions> = {
  ...shared,
  approver: true,
  cache: true,
  content: true,
  modeTriggers: true,
  resources: true,
  suspender: true,
};

/**
 * The options of a kernel with every extension, each read once.
 *
 * @throws TypeError for a name that no option has: a misspelt `policy` would be no policy
 */
export function readKernelOptions(given: KernelOptions): KernelOptions {
  return knownOptions(given, kernelNames, "The kernel");
}

/** @throws TypeError for what is none of its options: a bug of the embedding program */
export function readComposedOptions(given: ComposedKernelOptions): OwnKernelOptions {
  const options = knownOptions(given, partNames, "The kernel");
  const { host, inline, brokers = [], families, mode = "NORMAL", reuse = {}, ...rest } = options;
  const hosts = [host, inline].flatMap((each) => (each ? checkedHost(each) : []));
  if (!isList(brokers)) throw new TypeError("`brokers` is not a list of brokers.");
  const { extensions = [], secrets, schemaParts } = rest;
  const served = [...hosts.flatMap((each) => each.brokers), ...brokers];
  if (!served.every(({ families: kinds }) => isList(kinds) && kinds.every(isFamily)))
    throw new TypeError("A broker lacks `families`: a list of results of `defineFamily`.");
  for (const [tool, each] of Object.entries(reuse))
    if (!reuses.includes(each))
      throw new TypeError(`\`reuse\` of ${tool} is ${reuses.join(", ")}, not ${String(each)}.`);
  return {
    ...rest,
    hosts,
    families: assertSecrets(
      familiesOf(families, [...served, ...extensions, ...(secrets ? [secrets] : [])], schemaParts),
      rest,
    ),
    brokers: new Map(served.flatMap((broker) => broker.families.map(({ kind }) => [kind, broker] as const))),
    mode: knownMode(mode),
    reuse: new Map(Object.entries(reuse)),
  };
}

function checkedHost(host: IsolateHost): IsolateHost {
  const { name, sources, brokers } = host;
  if (typeof name === "string" && isList(sources) && isList(brokers)) return host;
  throw new TypeError("The host lacks `name`, `sources` or `brokers`.");
}

/** The kinds of a kernel: given ones, and those of its brokers, extensions and secrets. */
function familiesOf(
  given: Iterable<Family> = [],
  owners: readonly { readonly families?: readonly Family[] }[],
  schemaParts: Partial<SchemaParts> | undefined,
): Families {
  const brought = owners.flatMap(({ families = [] }) => families);
  return (given instanceof Families ? given : new Families(given)).with(brought, schemaParts);
}

/** A keeper without its kind would hold secrets that no policy can grant. */
function assertSecrets(families: Families, { secrets }: Pick<ComposedKernelOptions, "secrets">): Families {
  if (secrets && !families.secrets) throw new TypeError("`secrets` lacks `families`: the kind that grants secrets.");
  return families;
}
