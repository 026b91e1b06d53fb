import { versionedId } from "../support/tool-names.ts";
import { checkArgument, checkCommand } from "../capability/matching/command-names.ts";
import { bringFamily } from "../capability/next-steps.ts";
import { builtInFamilies } from "../capability/families/index.ts";
import type { Families } from "../capability/registry.ts";
import * as limits from "../limits.ts";
import { decodeBase64 } from "../bytes/base64.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import { type Digest, type Hash, isDigest } from "../hash/hash.ts";
import { bytesOf, membersOf } from "../support/foreign.ts";
import type { JsonValue } from "../json/json.ts";
import { safeErrorField } from "../support/safe-error-field.ts";
import { snapshot } from "../json/snapshot.ts";
import type { Setup } from "../result.ts";
import { compileOwn } from "../schema/compile-own.ts";
import type { CompileWithParts, OwnValidator, SchemaError } from "../schema/types.ts";
import { declaredBy } from "./declared.ts";
import { checkManifest } from "./check-manifest.ts";
import type { Tool } from "./define.ts";
import { codeHashOf, manifestHash, packageHash } from "./hash.ts";
import type { ToolManifest } from "./manifest.ts";
import { manifestOf } from "./manifest-of.ts";
import type { RegisteredTool } from "./package.ts";
import { quote, refused } from "./refused.ts";
import { ownTargets } from "./own-targets.ts";
import { targetArguments } from "./targets.ts";
import { hasOwn } from "../support/guards.ts";

/**
 * Reads a package once, as foreign data, and checks all of it. A package's own digest may be in BLAKE3 or in the given algorithm; the tool's
 * is in the given one. A tool object is refused with `UNTRUSTED_TOOL`: its code would run in this realm.
 *
 * @param by Default BLAKE3.
 */
export function checkPackage(
  foreign: unknown,
  by: Hash = blake3Hash,
  families: Families = builtInFamilies,
): Setup<RegisteredTool> {
  return checkParts(takePackage(foreign).parts, by, [blake3Hash], families);
}

/**
 * Reads a tool object once and checks all of it. Its code runs in the kernel's own realm, with all that this realm can do.
 *
 * @param by Default BLAKE3.
 */
export function checkTrustedTool(
  foreign: unknown,
  by: Hash = blake3Hash,
  families: Families = builtInFamilies,
): Setup<RegisteredTool> {
  return checkParts(takeTool(foreign).parts, by, [], families);
}

/**
 * Checks all of what was read once.
 *
 * @param by The algorithm of the tool's digest.
 * @param others Algorithms in which the package's own digest may be as well.
 */
export function checkParts(
  parts: Setup<Parts>,
  by: Hash,
  others: readonly Hash[],
  families: Families,
): Setup<RegisteredTool> {
  if (!parts.ok) return parts;
  const { manifest: own, claimedHash, tool } = parts.value;
  const manifest = checkManifest(own, families);
  if (!manifest.ok) return manifest;
  const read = readBody(manifest.value, parts.value, families);
  if (!read.ok) return read;
  const body = read.value;
  const code = body.source === "module" || body.source === "wasm" ? body.code : null;
  const codeHash = code === null ? null : codeHashOf(code, by);
  const hash = codeHash === undefined ? undefined : manifestHash(manifest.value, codeHash, by);
  if (hash === undefined || codeHash === undefined) return refused("", "The package has no canonical form.");
  const claimedBy = isDigest(claimedHash) ? algorithmOf(claimedHash, [by, ...others]) : by;
  if (claimedBy === undefined) return unknownAlgorithm(by);
  const actual = claimedBy === by ? hash : packageHash(manifest.value, code, claimedBy);
  if (claimedHash !== undefined && claimedHash !== actual)
    return refused(
      "/hash",
      `The package says ${quote(claimedHash)}, its content is ${actual}.`,
      "",
      "PACKAGE_HASH_MISMATCH",
    );
  const schemas = compileSchemas(manifest.value, { ...families.schemaParts, trusted: tool !== undefined });
  if (!schemas.ok) return schemas;
  const ownAccesses = ownTargets(tool?.code.needs ?? [], manifest.value, families);
  if (!ownAccesses.ok) return ownAccesses;
  return {
    ok: true,
    value: {
      id: versionedId(manifest.value),
      manifest: manifest.value,
      hash,
      codeHash,
      ...schemas.value,
      declared: declaredBy(manifest.value, families),
      targets: targetArguments(manifest.value, families),
      own: ownAccesses.value,
      body,
    },
  };
}

function algorithmOf(digest: Digest, known: readonly Hash[]): Hash | undefined {
  return known.find(({ algorithm }) => digest.startsWith(`${algorithm}:`));
}

function unknownAlgorithm({ algorithm }: Hash): ReturnType<typeof refused> {
  return refused(
    "/hash",
    `The package's digest is in another algorithm than this kernel's, ${algorithm}.`,
    "Give the kernel that algorithm too, as `packageHashes: [blake3Hash]`, or pack the tool with the kernel's.",
    "PACKAGE_HASH_MISMATCH",
  );
}

/** The code in the form that the source says. */
function readBody(manifest: ToolManifest, { code, tool }: Parts, families: Families): Setup<RegisteredTool["body"]> {
  const { source, program, wasm } = manifest;
  if (program !== undefined && source !== "module")
    return refused("/program", "A program runs in an isolate of source `module`.");
  if (wasm && source !== "wasm") return refused("/wasm", "Only a tool of source `wasm` has it.");
  if ((manifest.process === undefined) === (source === "process"))
    return refused("/process", "A tool of source `process` has it, and no other.");
  if ((manifest.http === undefined) === (source === "http"))
    return refused("/http", "A tool of source `http` has it, and no other.");
  if (source === "http" && manifest.http && !tool)
    return code === ""
      ? { ok: true, value: { source, template: manifest.http } }
      : refused("/code", "A tool of source `http` has no code: `code` is empty.");
  if (manifest.process && !tool) return processBody(manifest, manifest.process, code, families);
  if (tool && source === "inline") return { ok: true, value: { source, code: tool.code } };
  if (source === "module" && typeof code === "string" && code !== "") {
    if (code.length > limits.codeBytes)
      return refused("/code", `\`code\` is longer than ${limits.codeBytes} characters.`);
    return { ok: true, value: { source, code } };
  }
  const bytes = typeof code === "string" && code.length <= limits.wasmBytes * 2 ? decodeBase64(code) : code;
  if (source === "wasm" && bytes instanceof Uint8Array) {
    if (bytes.length > limits.wasmBytes) return refused("/code", `\`code\` has more than ${limits.wasmBytes} bytes.`);
    return { ok: true, value: { source, code: bytes } };
  }
  if (source === "inline" || tool)
    return refused("/source", "A tool object has source `inline`, and a package with code has not.");
  const wanted = source === "wasm" ? "the bytes of a WebAssembly module, or their base64" : "the text of an ES module";
  return refused("/code", `\`code\` is ${wanted}.`);
}

/**
 * A program has all rights of its user. Its manifest declares so, and it runs only under a grant.
 */
function processBody(
  { capabilities }: ToolManifest,
  { command, args = [] }: NonNullable<ToolManifest["process"]>,
  code: unknown,
  families: Families,
): Setup<RegisteredTool["body"]> {
  if (code !== "") return refused("/code", "A tool of source `process` has no code: `code` is empty.");
  const fault = checkCommand(command) ?? args.map(checkArgument).find((each) => each !== undefined);
  if (fault) return refused("/process", `The command is invalid: ${fault}.`);
  const need = families.commands?.commandNeed?.(command, args);
  if (!need) return refused("/source", "This kernel knows no kind of capability for commands.", bringFamily);
  for (const { optional, target: _, ...wish } of capabilities) {
    const loaded = families.load(wish);
    if (!optional && hasOwn(loaded, "kind") && loaded.covers(need, "wish"))
      return { ok: true, value: { source: "process", command, args } };
  }
  return refused(
    "/capabilities",
    `A tool of source \`process\` needs the capability \`${need.kind}\` for its own command.`,
    JSON.stringify(need.narrowest()?.json),
  );
}

/** A package or a tool object, read once. */
export interface Taken {
  /** Its own name, also after a refusal. */
  readonly name: string | undefined;
  readonly parts: Setup<Parts>;
}

interface Parts {
  /** A copy, not yet looked at. */
  readonly manifest: JsonValue;
  /** Of a package: not yet looked at. */
  readonly code: unknown;
  readonly claimedHash: string | undefined;
  readonly tool?: Pick<Tool, "code">;
}

export function takeTool(foreign: unknown): Taken {
  try {
    const { definition, code } = membersOf(foreign);
    if (definition === undefined)
      return named({}, refused("", "The value is not a result of `defineTool`.", "Register packages with `register`."));
    // Its own code of this realm, which runs as often as the tool.
    const tool = { code: code as Tool["code"] };
    if (typeof tool.code.execute !== "function")
      return named({}, refused("/code/execute", "The tool has no function `execute`."));
    const plain = manifestOf({ definition } as Tool, "inline");
    return taken(plain, (manifest) => ({
      ok: true,
      value: { manifest, code: null, claimedHash: undefined, tool },
    }));
  } catch (error) {
    return named({}, unreadable(error));
  }
}

export function takePackage(foreign: unknown): Taken {
  try {
    const { definition, manifest, code, hash } = membersOf(foreign);
    if (definition !== undefined)
      return named(
        membersOf(definition),
        refused(
          "",
          "Got a tool object, whose file has already run in the kernel's own realm; expected a tool package.",
          'Import the file as "keyhole:./tool.ts" to pack it, or call `registerTrusted` for code that you trust.',
          "UNTRUSTED_TOOL",
        ),
      );
    return taken(manifest, (own) => {
      if (typeof hash !== "string") return refused("/hash", "The package has no hash.", "", "PACKAGE_HASH_MISMATCH");
      // A copy: the hashed code runs, also if the owner changes the original.
      const bytes = bytesOf(code);
      const text = typeof code === "string" ? code : undefined;
      const given = bytes && bytes.length <= limits.wasmBytes ? new Uint8Array(bytes) : (bytes ?? text);
      return { ok: true, value: { manifest: own, code: given, claimedHash: hash } };
    });
  } catch (error) {
    return named({}, unreadable(error));
  }
}

/** With a copy of the manifest. */
function taken(manifest: unknown, partsWith: (own: JsonValue) => Setup<Parts>): Taken {
  const plain = snapshot(manifest);
  if (!plain.ok) return named({}, refused(plain.error.path, plain.error.message));
  return named(Object(plain.value) as object, partsWith(plain.value));
}

function named({ name }: { readonly name?: unknown }, parts: Setup<Parts>): Taken {
  return { name: typeof name === "string" && name.length <= 64 ? name : undefined, parts };
}

function unreadable(error: unknown): Setup<never> {
  return refused("", `The package is unreadable: ${quote(safeErrorField(error, "message") ?? "")}.`);
}

/**
 * The kernel compares an output with its contract as it is, and fills in no defaults. It refuses
 * patterns without a time bound in packages, which can come from anywhere. Tools of this realm may
 * have them: they could loop without a pattern.
 */
function compileSchemas(
  { input, output }: ToolManifest,
  options: CompileWithParts,
): Setup<{ input: OwnValidator; output: OwnValidator | undefined }> {
  const forInput = compileOwn(input, options);
  if (!forInput.ok) return refusedSchema("/input", forInput.error);
  if (output.schema === undefined) return { ok: true, value: { input: forInput.validator, output: undefined } };
  const forOutput = compileOwn(output.schema, { ...options, defaults: "ignore" });
  if (!forOutput.ok) return refusedSchema("/output/schema", forOutput.error);
  return { ok: true, value: { input: forInput.validator, output: forOutput.validator } };
}

function refusedSchema(place: string, { schemaPath, message, hint }: SchemaError): Setup<never> {
  return refused(`${place}${schemaPath.replace(/^#/, "")}`, message, hint);
}
