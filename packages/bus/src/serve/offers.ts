import type { JsonObject, Kernel, ToolManifest, ToolSummary } from "@keyhole/kernel";
import { readDefinition } from "@keyhole/kernel/foreign-tools";
import { busCategory } from "../wire/category.ts";

/** A tool, as a kernel describes it to callers. */
export interface Offer {
  readonly manifest: ToolManifest;
  readonly definition: JsonObject;
  /** Of the definition. A request names it. */
  readonly hash: string;
}

/** Tools of a kernel that a bus can carry, the highest version of each. Tools from a bus are offered only by name, so that two kernels do not offer each other's for ever. */
export class Offers {
  readonly #kernel: Kernel;
  readonly #named: ReadonlySet<string> | undefined;
  readonly #known = new WeakMap<ToolManifest, Offer>();
  #all: ReadonlyMap<string, Offer> | undefined;

  constructor(kernel: Kernel, named: readonly string[] | undefined) {
    this.#kernel = kernel;
    this.#named = named && new Set(named);
  }

  /** The kernel's tools changed. */
  forget(): void {
    this.#all = undefined;
  }

  /** By name. */
  get all(): ReadonlyMap<string, Offer> {
    return (this.#all ??= this.#read());
  }

  /** Without those that no call of the caller could start. */
  of(caller: string): readonly Offer[] {
    return [...this.#read(caller).values()];
  }

  #read(caller?: string): ReadonlyMap<string, Offer> {
    const offers = new Map<string, Offer>();
    for (const { manifest } of this.#kernel.list(caller === undefined ? {} : { caller })) {
      if (offers.has(manifest.name) || !this.#isOffered(manifest)) continue;
      const offer = this.#offerOf(manifest);
      if (offer) offers.set(manifest.name, offer);
    }
    return offers;
  }

  #isOffered({ name, category, body, output }: ToolSummary["manifest"]): boolean {
    if (body || output.kind === "stream") return false;
    return this.#named ? this.#named.has(name) : category !== busCategory;
  }

  #offerOf(manifest: ToolManifest): Offer | undefined {
    const known = this.#known.get(manifest);
    if (known) return known;
    const read = readDefinition(definitionOf(manifest));
    if (!read.ok) return undefined;
    const offer = { manifest, definition: read.pin.definition, hash: read.pin.hash };
    this.#known.set(manifest, offer);
    return offer;
  }
}

function definitionOf(manifest: ToolManifest): { readonly name: string } & JsonObject {
  const { name, version, title, description, tier, effects, input, output } = manifest;
  const { kind, schema, mediaType } = output;
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    description,
    tier,
    effects: [...effects],
    inputSchema: input,
    output: { kind, ...(schema && { schema }), ...(mediaType !== undefined && { mediaType }) },
  };
}
