import { hasOwn } from "../support/guards.ts";
import { versionedId } from "../support/tool-names.ts";
import type { Clock } from "../isolate/clock.ts";
import type { JsonObject } from "../json/json.ts";
import type { Kernel } from "../kernel-api.ts";
import type { Tool, ToolContext } from "../tool/define.ts";
import { readDefinition, type ReadDefinition } from "./definition.ts";
import { differencesOf } from "./difference.ts";
import type { ForeignTool, ForeignToolState } from "./foreign-tool.ts";
import { toolName } from "./names.ts";
import { memoryPins, type ToolPin, type ToolPinStore } from "./pins.ts";
import { TokenBucket } from "./token-bucket.ts";

const MOST_TOOLS = 1_000;
/** How many tools a server can have put into the kernel and taken out of it: each is an event of the log. Twice all tools, and then one a minute. */
const changeRate = { most: 2 * MOST_TOOLS, everyMs: 60_000 };

interface Entry {
  readonly name: string;
  readonly serverName: string;
  pin: ToolPin | undefined;
  seen: ToolPin | undefined;
  state: ForeignToolState;
  reason: string | undefined;
  /** In the kernel. */
  id: string | undefined;
}

/** A tool that can be called, and stays so only as long as `assertOpen` says. */
export interface OpenTool {
  readonly serverName: string;
  readonly definition: JsonObject;
  /** Of the definition. */
  readonly hash: string;
  /** @throws Error when the tool is blocked: the server changed it, or lists it no longer */
  assertOpen(): void;
}

/** Performs a call of the kernel's tool. */
export type ForeignCall = (input: JsonObject, context: ToolContext) => Promise<unknown>;

export interface ToolboxOptions {
  /** Of the source: it begins the names of its tools. */
  readonly name: string;
  /** Default: in memory. */
  readonly pins?: ToolPinStore | undefined;
  /** A definition waits for a person. */
  readonly onChange?: ((tool: ForeignTool) => void) | undefined;
  /** The tool of the kernel that stands for a pinned definition. */
  readonly toolOf: (name: string, pin: ToolPin, call: ForeignCall) => Tool<never, unknown>;
  /** Says why an entry of the server's list is no definition. Default: each with a name is one. */
  readonly faultOf?: (entry: unknown) => string | undefined;
  readonly clock: Clock;
  /** So many changes of the last list did not become changes of the kernel's tools. */
  readonly onLeftOut: (count: number) => void;
  /** Makes a call that the kernel allowed. */
  readonly call: (tool: OpenTool, input: JsonObject, context: ToolContext) => Promise<unknown>;
}

type Registry = Pick<Kernel, "registerTrusted" | "unregister">;

/** The tools of one server in a kernel: each as it was pinned, and open only while the server lists that very definition. */
export class Toolbox {
  readonly #kernel: Registry;
  readonly #options: ToolboxOptions;
  readonly #pins: ToolPinStore;
  readonly #entries = new Map<string, Entry>();
  readonly #byId = new Map<string, Entry>();
  readonly #changes: TokenBucket;
  #leftOut = 0;

  constructor(kernel: Registry, options: ToolboxOptions) {
    this.#changes = new TokenBucket(options.clock, changeRate);
    this.#kernel = kernel;
    this.#options = options;
    this.#pins = options.pins ?? memoryPins();
  }

  get tools(): readonly ForeignTool[] {
    const entries = [...this.#entries.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return entries.map(shown);
  }

  /** The definitions that models are shown, in the order of their names. */
  get shownPins(): readonly ToolPin[] {
    const pins = [...this.#entries.values()].flatMap(({ id, pin }) => (id !== undefined && pin ? [pin] : []));
    return pins.toSorted((a, b) => (a.tool < b.tool ? -1 : 1));
  }

  /** By the id of the kernel's tool. */
  pinOf(id: string): ToolPin | undefined {
    return this.#byId.get(id)?.pin;
  }

  /** Compares all that the server lists with the pins. The source pins a new server as it is. */
  async take(listed: readonly unknown[]): Promise<void> {
    if (listed.length > MOST_TOOLS) throw new RangeError(`The server lists more than ${MOST_TOOLS} tools.`);
    const seen = seenOf(listed, this.#options.faultOf);
    const stored = await this.#pins.read(this.#options.name);
    const pins = new Map((stored ?? []).map((pin) => [pin.tool, pin]));
    if (stored === undefined) {
      for (const [tool, read] of seen) if (read.ok && !read.hasUnseen) pins.set(tool, read.pin);
      await this.#save(pins);
    }
    for (const serverName of new Set([...pins.keys(), ...seen.keys(), ...this.#entries.keys()]))
      await this.#compare(this.#entryOf(serverName), pins.get(serverName), seen.get(serverName));
    // A server can list other names each time. The toolbox forgets unpinned names with its list.
    for (const [serverName, { id, pin }] of this.#entries)
      if (id === undefined && pin === undefined && !seen.has(serverName)) this.#entries.delete(serverName);
    if (this.#leftOut > 0) this.#options.onLeftOut(this.#leftOut);
    this.#leftOut = 0;
  }

  /** Whether the server may change one more tool of the kernel. */
  #mayChange(): boolean {
    const may = this.#changes.take();
    if (!may) this.#leftOut++;
    return may;
  }

  async confirm(serverName: string, hash: string): Promise<boolean> {
    const entry = this.#entries.get(serverName);
    const isWaiting = entry?.state === "changed" || entry?.state === "new";
    if (!isWaiting || entry.seen?.hash !== hash) return false;
    const { seen } = entry;
    const pinned = [...this.#entries.values()].flatMap(({ pin }) => (pin ? [[pin.tool, pin] as const] : []));
    await this.#save(new Map(pinned).set(serverName, seen));
    entry.pin = seen;
    await this.#register(entry, "open", true);
    return true;
  }

  async clear(): Promise<void> {
    for (const entry of this.#entries.values()) await this.#unregister(entry);
  }

  async #save(pins: ReadonlyMap<string, ToolPin>): Promise<void> {
    await this.#pins.write(this.#options.name, [...pins.values()]);
  }

  #entryOf(serverName: string): Entry {
    const known = this.#entries.get(serverName);
    if (known) return known;
    const name = toolName(this.#options.name, serverName);
    const nothing = { pin: undefined, seen: undefined, reason: undefined, id: undefined };
    const entry: Entry = { name, serverName, state: "gone", ...nothing };
    this.#entries.set(serverName, entry);
    return entry;
  }

  async #compare(entry: Entry, pin: ToolPin | undefined, read: ReadDefinition | undefined): Promise<void> {
    const before = `${entry.state} ${entry.seen?.hash}`;
    entry.pin = pin;
    entry.seen = read?.ok === true ? read.pin : undefined;
    if (read === undefined) await this.#block(entry, "gone");
    else if (!read.ok) await this.#block(entry, "refused", read.reason);
    else if (!pin) await this.#block(entry, "new");
    else if (pin.hash === read.pin.hash) await this.#register(entry);
    else await this.#change(entry);
    const isWaiting = entry.state === "changed" || entry.state === "new";
    if (isWaiting && before !== `${entry.state} ${entry.seen?.hash}`) this.#options.onChange?.(shown(entry));
  }

  /** Its pinned definition stays listed: a call reports the reason. */
  async #change(entry: Entry): Promise<void> {
    entry.state = "changed"; // At once: calls that have started do not get through.
    if (entry.id === undefined) await this.#register(entry, "changed");
  }

  async #block(entry: Entry, state: ForeignToolState, reason?: string): Promise<void> {
    entry.state = state;
    entry.reason = reason;
    // The toolbox blocks a tool that stays listed: a call reports it.
    if (entry.id !== undefined && this.#mayChange()) await this.#unregister(entry);
  }

  async #register(entry: Entry, state: "open" | "changed" = "open", isConfirmed = false): Promise<void> {
    const { pin, name } = entry;
    if (!pin) return;
    const { toolOf, call } = this.#options;
    const tool = toolOf(name, pin, (input, context) => call(openTool(entry, pin), input, context));
    const id = versionedId({ name, version: tool.definition.version });
    if (entry.id !== id) {
      if (!isConfirmed && !this.#mayChange())
        return this.#block(entry, "refused", "The server changes its tools too often.");
      await this.#unregister(entry);
      const registered = this.#kernel.registerTrusted(tool, this);
      if (!registered.ok) return this.#block(entry, "refused", `${registered.error.path}: ${registered.error.message}`);
      entry.id = id;
      this.#byId.set(id, entry);
    }
    entry.reason = undefined;
    entry.state = state;
  }

  async #unregister(entry: Entry): Promise<void> {
    const { id } = entry;
    if (id === undefined) return;
    entry.id = undefined;
    this.#byId.delete(id);
    await this.#kernel.unregister(id);
  }
}

function openTool(entry: Entry, called: ToolPin): OpenTool {
  return {
    serverName: entry.serverName,
    definition: called.definition,
    hash: called.hash,
    assertOpen() {
      const { state, pin, name } = entry;
      if (state === "changed")
        throw new Error(
          `The server changed the definition of ${name}. The kernel blocks the tool until a person confirms the change.`,
        );
      if (state !== "open" || pin?.hash !== called.hash)
        throw new Error(`The server does not offer ${name} as it was called.`);
    },
  };
}

/** Definitions by name. The source refuses two definitions of one name: a call could mean either. */
function seenOf(listed: readonly unknown[], faultOf: ToolboxOptions["faultOf"]): ReadonlyMap<string, ReadDefinition> {
  const seen = new Map<string, ReadDefinition>();
  for (const [at, entry] of listed.entries()) {
    const named = isNamed(entry) ? entry : undefined;
    const name = named?.name ?? `(entry ${at + 1})`;
    const reason = seen.has(name) ? "The server lists two tools of this name." : faultOf?.(entry);
    if (named && reason === undefined) seen.set(name, readDefinition(named));
    else seen.set(name, { ok: false, reason: reason ?? "The definition has no name." });
  }
  return seen;
}

function isNamed(entry: unknown): entry is { readonly name: string } {
  return typeof entry === "object" && entry !== null && hasOwn(entry, "name") && typeof entry.name === "string";
}

function shown({ name, serverName, state, pin, seen, reason }: Entry): ForeignTool {
  const isOther = seen !== undefined && pin?.hash !== seen.hash;
  const differences = isOther ? differencesOf(pin?.definition ?? {}, seen.definition) : [];
  const hash = (seen ?? pin)?.hash ?? "";
  return { name, serverName, state, hash, differences, ...(reason !== undefined && { reason }) };
}
