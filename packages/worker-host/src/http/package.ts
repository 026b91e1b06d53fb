import {
  blake3Hash,
  type HttpMethod,
  type InferGiven,
  type InferOutput,
  kindOfMethod,
  manifestOf,
  type OutputSource,
  packageHash,
  type SchemaSource,
  type Tier,
  type ToolDefinition,
  type ToolManifest,
  type ToolPackage,
} from "@keyhole/kernel";
import { capabilitiesOf, compileTemplate } from "./compile.ts";

/** The definition of a request by its author: a {@link ToolDefinition} without functions. */
export type HttpDefinition<Input extends SchemaSource, Output extends OutputSource> = Omit<
  ToolDefinition<Input, Output>,
  "setup" | "check" | "health" | "execute" | "program" | "wasm" | "process" | "body" | "http"
> &
  Required<Pick<ToolManifest, "http">>;

/**
 * Makes a tool of a request. Effects, capabilities, tier and whether it is idempotent follow from the template, unless the definition says more. The template is
 * checked when the tool is registered, and the package's digest covers it.
 *
 * @example
 * const weather = httpPackage({
 *   name: "weather",
 *   version: "1.0.0",
 *   description: "Tells the temperature at a place.",
 *   http: { url: "https://api.example.com/v1/forecast{?latitude,longitude}" },
 *   input: { type: "object", properties: { latitude: { type: "number" }, longitude: { type: "number" } } },
 *   output: { kind: "json" },
 * });
 */
export function httpPackage<const Input extends SchemaSource, const Output extends OutputSource>(
  definition: HttpDefinition<Input, Output>,
): ToolPackage<InferGiven<Input>, InferOutput<Output>> & { readonly code: "" } {
  const { method = "GET" } = definition.http;
  const plain = manifestOf({ definition, code: { execute } }, "http");
  const compiled = compileTemplate(definition.http, plain.input, plain.output);
  const whole = {
    effects: [kindOfMethod(method)],
    // A template that is wrong needs none: registration says what is wrong.
    capabilities: compiled.ok ? capabilitiesOf(compiled.plan) : [],
    determinism: "external" as const,
    ...traits[method],
    ...definition,
  };
  const manifest = manifestOf({ definition: whole, code: { execute } }, "http");
  return { manifest, code: "", hash: packageHash(manifest, null, blake3Hash) ?? "" };
}

/** RFC 9110, 9.2. */
const traits = {
  GET: { tier: 1, idempotent: true },
  HEAD: { tier: 1, idempotent: true },
  POST: { tier: 2, idempotent: false },
  PUT: { tier: 2, idempotent: true },
  PATCH: { tier: 2, idempotent: false },
  DELETE: { tier: 3, idempotent: true },
} satisfies Record<HttpMethod, { readonly tier: Tier; readonly idempotent: boolean }>;

/** Never called: the request is all of the tool. */
function execute(): never {
  throw new TypeError("a request has no function of JavaScript");
}
