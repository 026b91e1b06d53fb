import type { LoadedCapability } from "../capability/family.ts";
import type { CustomNormalizer } from "../normalize/normalizer.ts";
import type { OwnValidator } from "../schema/types.ts";
import type { ContentReference } from "../bytes/content-reference.ts";
import type { Tool } from "./define.ts";
import type { HttpTemplate } from "./http-template.ts";
import type { ToolStream } from "./infer.ts";
import type { ToolManifest } from "./manifest.ts";
import type { Target, TargetArguments } from "./targets.ts";

declare const types: unique symbol;

/**
 * One self-contained, hash-pinned artifact that every host runs: the manifest, the code, and the
 * digest over both. The code of a source `module` is the text of one ES module without imports,
 * whose default export has the tool's functions (a {@link Tool}). The code of a source `wasm` is a
 * WebAssembly module, or its base64 in a JSON package. The code of a source `process` or `http` is
 * empty: the manifest names a program of the host, or is the request.
 */
export interface ToolPackage<Input = unknown, Output = unknown> {
  readonly manifest: ToolManifest;
  readonly code: string | Uint8Array;
  /** {@link packageHash} of manifest and code; of bytes, not of their base64. */
  readonly hash: string;
  /** Only for the compiler: `kernel.call` infers its types from it. */
  readonly [types]?: { readonly input: Input; readonly output: Output };
}

/** A package as a file of JSON holds it, whose type knows texts and no words of a list. Registration checks it. */
export interface PackageFile {
  readonly manifest: object;
  /** A module of WebAssembly in base64. */
  readonly code: string;
  readonly hash: string;
}

/** The package type of a defined tool, whose code is text: `PackageOf<typeof import("./echo.ts").default>`. */
export type PackageOf<T> =
  T extends Tool<never, infer Output, infer Given>
    ? ToolPackage<Given, ResultOf<Output>> & { readonly code: string }
    : never;

/** The data of a result: for a streamed output it is a reference. */
type ResultOf<Output> = Output extends ToolStream ? ContentReference : Output;

/** A tool that passed registration: its schemas are compiled and its hash is verified. */
export interface RegisteredTool {
  /** `name@version`. */
  readonly id: string;
  readonly manifest: ToolManifest;
  readonly hash: string;
  /** Hash of the package into whose module the program of one call was put. */
  readonly composedOf?: string;
  /** Of the code alone; `null` for an inline tool, for a process and for a request. */
  readonly codeHash: string | null;
  readonly input: OwnValidator;
  readonly output: OwnValidator | undefined;
  /** The capabilities of its manifest, as the families of their kinds loaded them. */
  readonly declared: readonly LoadedCapability[];
  /** Arguments that name targets of requests. */
  readonly targets: readonly TargetArguments[];
  /** The accesses that its trusted code makes by itself, one in each. */
  readonly own: readonly Target[];
  /** Where the manifest names one. */
  readonly normalizer?: CustomNormalizer;
  readonly body:
    | { readonly source: "inline"; readonly code: Tool["code"] }
    /** An ES module without imports; its default export is a {@link Tool}. */
    | { readonly source: "module"; readonly code: string }
    /** A WebAssembly module. The kernel's own copy, which does not change. */
    | { readonly source: "wasm"; readonly code: Uint8Array }
    /** A program of the host. */
    | { readonly source: "process"; readonly command: string; readonly args: readonly string[] }
    /** A request. */
    | { readonly source: "http"; readonly template: HttpTemplate };
}
