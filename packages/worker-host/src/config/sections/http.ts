import { checkPackage, type JsonObject, type ToolPackage, pointerOf } from "@keyhole/kernel";
import { compileTemplate } from "../../http/compile.ts";
import { type HttpDefinition, httpPackage } from "../../http/package.ts";
import { type ConfigFault, named } from "../fault.ts";

type Definition = HttpDefinition<JsonObject, { readonly kind: "json" }>;

/** A tool that is a request: its manifest, in which `request` is the template. Name and version are the configuration's. */
export interface HttpEntry extends Partial<Omit<Definition, "name" | "http">> {
  readonly description: string;
  readonly request: Definition["http"];
}

/** Members of a manifest that an entry can have. */
export const httpMembers = [
  "version",
  "title",
  "description",
  "category",
  "tier",
  "risk",
  "modes",
  "approval",
  "idempotent",
  "request",
  "effects",
  "determinism",
  "capabilities",
  "bounds",
  "input",
  "output",
] as const;

export const httpSection: JsonObject = named({
  type: "object",
  properties: Object.fromEntries(httpMembers.map((name) => [name, {}])),
  required: ["description", "request"],
  additionalProperties: false,
});

export function readHttp(entries: Readonly<Record<string, HttpEntry>>): readonly ToolPackage[] | ConfigFault {
  const packages: ToolPackage[] = [];
  for (const [name, { request, ...entry }] of Object.entries(entries)) {
    const pkg: ToolPackage = httpPackage({
      version: "1.0.0",
      input: { type: "object", additionalProperties: false },
      output: { kind: "json" },
      ...entry,
      name,
      http: request,
    });
    const at = pointerOf(["http", name]);
    const checked = checkPackage(pkg);
    if (!checked.ok) return { ...checked.error, path: at + placeIn(checked.error.path) };
    const compiled = compileTemplate(request, pkg.manifest.input, pkg.manifest.output);
    if (!compiled.ok) return { hint: "", ...compiled, path: at + placeIn(compiled.path) };
    packages.push(pkg);
  }
  return packages;
}

function placeIn(path: string): string {
  return path.replace(/^\/http(?=\/|$)/, "/request");
}
