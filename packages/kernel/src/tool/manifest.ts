import type { Bounds } from "../bounds/bounds.ts";
import type { Capability, Effect } from "../capability/capability.ts";
import type { JsonObject } from "../json/json.ts";
import type { HttpTemplate } from "./http-template.ts";

/** Whether an effect can change anything. Families hold to the name: a kind `NOUN.read` only reads. */
export function changesWorld(effect: string): boolean {
  return !effect.endsWith(".read");
}

export const determinisms = ["pure", "seeded", "external", "nondeterministic"] as const;
/**
 * `pure`: output depends on input alone. `seeded`: also on the call's seed and logical clock. `external`: same code, outside
 * data. `nondeterministic`: anything.
 */
export type Determinism = (typeof determinisms)[number];

export const tierNames = ["safe", "standard", "elevated", "restricted", "dangerous"] as const;
/** How dangerous a tool is, 0 (safe) to 4 (dangerous). A policy's posture answers per tier. */
export type Tier = 0 | 1 | 2 | 3 | 4;

export const risks = ["low", "medium", "high", "critical"] as const;
export type Risk = (typeof risks)[number];

/** From the mildest. RECOVERY is left by hand, or for LOCKDOWN. */
export const modes = ["NORMAL", "ALERT", "DEGRADED", "RECOVERY", "LOCKDOWN"] as const;
/** The state of the whole kernel. Anything but `NORMAL` only tightens. */
export type Mode = (typeof modes)[number];

/**
 * The place where a tool's code runs. `inline`: the kernel's own realm, trusted. `module`
 * (JavaScript) and `wasm` (a WebAssembly module, under fuel): a dedicated isolate. `process`: a
 * WASI command in an isolate or, on Node, a program outside of isolates with the rights of the
 * host's user. `http`: no code; the tool is a request that the broker for the network makes.
 */
export const toolSources = ["inline", "module", "wasm", "process", "http"] as const;
export type ToolSource = (typeof toolSources)[number];

export const outputKinds = ["json", "text", "binary", "stream"] as const;

export interface OutputContract {
  /**
   * `stream`: bytes that stream to the caller while the tool runs; no part of the kernel buffers
   * them.
   */
  readonly kind: (typeof outputKinds)[number];
  /** JSON Schema of a `json` output. */
  readonly schema?: JsonObject;
  readonly mediaType?: string;
  /**
   * Of a `binary` output: the array that the tool returns leaves with its memory instead of as a copy, where it covers the whole of an `ArrayBuffer`. The tool has it no more then, in any
   * of its views; returned again, it is refused. Default `false`.
   */
  readonly transfer?: boolean;
}

export interface BodyContract {
  readonly mediaType?: string;
}

/** A capability that a tool asks for. */
export type DeclaredCapability = Capability & {
  /** Whether a call runs without it. Default: without it the call is refused. */
  readonly optional?: boolean;
  /**
   * The arguments that name the target of the tool's requests, as JSON Pointers (RFC 6901) into the input: `path` of `fs.*`, `url` and `method` of `net.*`, `key` of
   * `kv.*`, `database` of `db.*`, `tool` of `tool.call`. A call that names a target needs a grant for it, also where the capability is optional. It is denied before a
   * person is asked where every request to the target would be refused. Default: only the gate checks targets.
   */
  readonly target?: Readonly<Record<string, string>>;
};

/** The description of a tool by its author: data, checked at registration, hashed with the code. */
export interface ToolManifest {
  /** Lower-case letters, digits and `_`, starting with a letter, at most 64: a valid function name for every model. */
  readonly name: string;
  /** SemVer 2.0.0. */
  readonly version: string;
  readonly title?: string;
  /** Written for the model that chooses the tool. */
  readonly description: string;
  readonly category?: string;
  readonly effects: readonly Effect[];
  readonly determinism: Determinism;
  readonly tier: Tier;
  readonly risk?: Risk;
  /** Modes in which it may run, from NORMAL on: it runs in one if all milder ones are named, too. Default: all; the mode's own rules apply on top. */
  readonly modes?: readonly Mode[];
  /** `always`: every call asks, under every policy. Default `policy`. */
  readonly approval?: "policy" | "always";
  /** Whether running it twice with the same input does no more than once. Default `false`. */
  readonly idempotent?: boolean;
  /**
   * The property of the input that holds a program: the body of an async function, which runs in the tool's own isolate. Only for packages; their code sees it as
   * `keyholeProgram(tools, console, input)`.
   */
  readonly program?: string;
  readonly source: ToolSource;
  /** The arguments and environment of a WASI command. Only for source `wasm`. */
  readonly wasm?: {
    /** Behind the program's name. Default: none. */
    readonly args?: readonly string[];
    /** Default: empty. */
    readonly environment?: Readonly<Record<string, string>>;
  };
  /**
   * The command that a tool of source `process` is, by the name under which a host offers it. It gets the input as JSON on stdin, and what it writes to stdout is
   * the output.
   */
  readonly process?: {
    readonly command: string;
    /** Default: none. */
    readonly args?: readonly string[];
  };
  /** The request that a tool of source `http` is. */
  readonly http?: HttpTemplate;
  readonly capabilities: readonly DeclaredCapability[];
  /** Only what differs from the kernel's defaults (`limits.ts`). */
  readonly bounds: Partial<Bounds>;
  /** JSON Schema of the input; its type is `object`. */
  readonly input: JsonObject;
  /** Beside its input it takes bytes, as a stream: `context.body`. Default: it takes none. */
  readonly body?: BodyContract;
  readonly output: OutputContract;
  /** A normal form that the kernel was given (`createKernel({ normalizers })`), in place of the one of the output's kind. */
  readonly normalization?: { readonly custom: string };
}
