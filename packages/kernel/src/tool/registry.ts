import { present } from "../support/guards.ts";
import type { Families } from "../capability/registry.ts";
import type { Hash } from "../hash/hash.ts";
import type { CustomNormalizers } from "../normalize/normalizer.ts";
import type { Setup, SetupError } from "../result.ts";
import { checkParts, takePackage, takeTool } from "./check-package.ts";
import type { RegisteredTool } from "./package.ts";
import { compareVersions, parseRange, parseVersion, type Version } from "../support/semver.ts";
import { letsThrough } from "./modes.ts";
import type { ToolFilter, ToolSummary } from "./summary.ts";

export type Resolution = { readonly ok: true; readonly tool: RegisteredTool } | (Unresolved & { readonly ok: false });

/** Why a name or a version names no tool, with the values for a text. */
export type Unresolved =
  | { readonly why: "refused"; readonly error: SetupError }
  | {
      readonly why: "unknown";
      readonly names: readonly string[];
      /** Whether a hint can name a tool. */
      readonly isNamed: (name: string) => boolean;
    }
  | {
      readonly why: "range" | "version";
      readonly range: string;
      /** Versions that a hint can name. */
      readonly known: readonly string[];
    };

export interface RegistryOptions {
  readonly hash: Hash;
  /** In which the digests of packages may be as well. */
  readonly packageHashes: readonly Hash[];
  readonly families: Families;
  readonly normalizers: CustomNormalizers;
  /** The objection of a tool's host to it. */
  readonly faultOf: (tool: RegisteredTool) => SetupError | undefined;
}

/** Every registered tool, by name and version. Names and versions come from packages: they are only ever keys of a `Map`. */
export class Registry {
  readonly #hash: Hash;
  readonly #packageHashes: readonly Hash[];
  readonly #families: Families;
  readonly #normalizers: CustomNormalizers;
  /** Versions of one name, highest first. */
  readonly #tools = new Map<string, RegisteredTool[]>();
  /** Where tools come from that are not the program's own. */
  readonly #sources = new WeakMap<RegisteredTool, object>();
  /** Why a package of that name was refused: registration results are easily dropped, so the first call says it again. */
  readonly #refusals = new Map<string, SetupError>();
  readonly #faultOf: (tool: RegisteredTool) => SetupError | undefined;

  constructor({ hash, packageHashes, families, normalizers, faultOf }: RegistryOptions) {
    this.#hash = hash;
    this.#packageHashes = packageHashes;
    this.#families = families;
    this.#normalizers = normalizers;
    this.#faultOf = faultOf;
  }

  /**
   * A name belongs to one source, because grants and rules are about names: a higher version of another source would inherit them.
   *
   * @param trust `tool`: a tool object that is trusted to run in this realm
   * @param source default: the program
   */
  add(foreign: unknown, trust: "package" | "tool", source?: object): Setup<RegisteredTool> {
    const { name, parts } = (trust === "tool" ? takeTool : takePackage)(foreign);
    const checked = this.#normalized(checkParts(parts, this.#hash, this.#packageHashes, this.#families));
    if (!checked.ok) return this.#refuse(name, checked.error);
    const tool = checked.value;
    const fault = this.#faultOf(tool);
    if (fault) return this.#refuse(name, fault);
    const versions = this.#tools.get(tool.manifest.name) ?? [];
    const taken = this.#taken(tool, versions, source);
    if (taken) return { ok: false, error: { code: "ALREADY_REGISTERED", ...taken } };
    if (source) this.#sources.set(tool, source);
    versions.push(tool);
    versions.sort((a, b) => compareVersions(versionOf(b), versionOf(a)));
    this.#tools.set(tool.manifest.name, versions);
    this.#refusals.delete(tool.manifest.name);
    return checked;
  }

  #taken(
    { id, manifest: { name } }: RegisteredTool,
    versions: readonly RegisteredTool[],
    source: object | undefined,
  ): Omit<SetupError, "code"> | undefined {
    if (versions.some((other) => this.#sources.get(other) !== source))
      return {
        path: "/name",
        message: `The kernel has a tool ${name} of another source.`,
        hint: "Use another name, or unregister that tool in all versions.",
      };
    if (!versions.some((other) => other.id === id)) return undefined;
    return {
      path: "/version",
      message: `${id} is registered already.`,
      hint: "Raise the version, or register the tool once.",
    };
  }

  #normalized(checked: Setup<RegisteredTool>): Setup<RegisteredTool> {
    const name = checked.ok ? checked.value.manifest.normalization?.custom : undefined;
    if (!checked.ok || name === undefined) return checked;
    const normalizer = this.#normalizers.get(name);
    if (normalizer) return { ok: true, value: { ...checked.value, normalizer } };
    return {
      ok: false,
      error: {
        code: "INVALID_MANIFEST",
        path: "/normalization/custom",
        message: `This kernel has no normalizer ${JSON.stringify(name.slice(0, 100))}.`,
        hint: "Give the kernel `normalizers`.",
      },
    };
  }

  /** Unregisters the tool of an id, `name@version`, and returns it. */
  remove(id: string): RegisteredTool | undefined {
    for (const [name, versions] of this.#tools) {
      const place = versions.findIndex((tool) => tool.id === id);
      if (place < 0) continue;
      const [removed] = versions.splice(place, 1);
      if (versions.length === 0) this.#tools.delete(name);
      return removed;
    }
    return undefined;
  }

  /** This very registration: another one under its id is another tool. */
  has(tool: RegisteredTool): boolean {
    return this.#tools.get(tool.manifest.name)?.includes(tool) === true;
  }

  /** This very version. */
  find(name: string, version: string): RegisteredTool | undefined {
    return this.#tools.get(name)?.find(({ manifest }) => manifest.version === version);
  }

  /** @param isShown Whether a hint can name a tool to the caller. No hint is made without it. */
  resolve(name: string, range: string | undefined, isShown: (tool: RegisteredTool) => boolean): Resolution {
    const versions = this.#tools.get(name);
    if (!versions) return this.#unknown(name, isShown);
    if (range === undefined) return { ok: true, tool: present(versions[0]) };
    const matches = parseRange(range);
    const tool = matches && versions.find((candidate) => matches(versionOf(candidate)));
    if (tool) return { ok: true, tool };
    return { ok: false, why: matches ? "version" : "range", range, known: shownVersions(versions, isShown) };
  }

  list(filter: ToolFilter = {}): readonly ToolSummary[] {
    const text = filter.text?.toLowerCase();
    return [...this.#tools]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, versions]) => versions)
      .filter(({ manifest }) => {
        const { mode, category, tier, effect } = filter;
        if (mode !== undefined && !letsThrough(manifest.modes, mode)) return false;
        if (category !== undefined && manifest.category !== category) return false;
        if (tier !== undefined && manifest.tier !== tier) return false;
        if (effect !== undefined && !manifest.effects.some((each) => each === effect)) return false;
        return (
          text === undefined ||
          `${manifest.name}\n${manifest.title ?? ""}\n${manifest.description}`.toLowerCase().includes(text)
        );
      })
      .map(summaryOf);
  }

  #refuse(name: string | undefined, error: SetupError): Setup<RegisteredTool> {
    if (name !== undefined && this.#refusals.size < 1_000) this.#refusals.set(name, error);
    return { ok: false, error };
  }

  #unknown(name: string, isShown: (tool: RegisteredTool) => boolean): Resolution {
    const error = this.#refusals.get(name);
    if (error) return { ok: false, why: "refused", error };
    const isNamed = (each: string): boolean => this.#tools.get(each)?.some(isShown) === true;
    return { ok: false, why: "unknown", names: [...this.#tools.keys()], isNamed };
  }
}

export function summaryOf({ id, hash, codeHash, manifest }: RegisteredTool): ToolSummary {
  return { id, hash, codeHash, manifest };
}

function shownVersions(
  versions: readonly RegisteredTool[],
  isShown: (tool: RegisteredTool) => boolean,
): readonly string[] {
  return versions.flatMap((tool) => (isShown(tool) ? [tool.manifest.version] : []));
}

/** It was checked when the tool was registered. */
const versionOf = ({ manifest }: RegisteredTool): Version => present(parseVersion(manifest.version));
