import { readFile } from "node:fs/promises";
import { builtInFamilies, policy as policyOf } from "@keyhole/kernel";
import { manifestFileSchema, packageFileSchema, policyFileSchema } from "@keyhole/kernel/document-schemas";
import { compileSchema } from "@keyhole/kernel/schema";
import * as catalogue from "@keyhole/worker-host/tools";
import fc from "fast-check";
import { wasmPackage } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { documentSchema } from "../../packages/kernel/src/policy/document/schema.ts";
import { readPage } from "../docs/markdown.ts";
import { root } from "../support/sources.ts";

const packed = Object.values(catalogue).filter((each) => typeof each === "object" && "manifest" in each);
const files = { policy: policyFileSchema, manifest: manifestFileSchema, package: packageFileSchema };
const check = {
  policy: checkOf(policyFileSchema),
  manifest: checkOf(manifestFileSchema),
  package: checkOf(packageFileSchema),
};
const documents = [readPage("docs/policy.md"), readPage("README.md")]
  .flatMap(({ blocks }) => blocks)
  .filter(({ info }) => info === "json policy")
  .map(({ text }): unknown => JSON.parse(text));

function checkOf(schema: unknown): (value: unknown) => boolean {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(compiled.error.message);
  return (value) => compiled.validator.check(value);
}

/** Every property of every schema, as a path, with its description. */
function propertiesOf(schema: unknown, path = ""): readonly (readonly [string, string | undefined])[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema as Record<string, unknown>).flatMap(([key, value]) => {
    const inner = propertiesOf(value, key === "properties" ? path : `${path}/${key}`);
    if (key !== "properties" || typeof value !== "object" || value === null) return inner;
    const own = Object.entries(value as Record<string, { readonly description?: string }>);
    return [...own.map(([name, { description }]) => [`${path}/${name}`, description] as const), ...inner];
  });
}

/** These take their meaning from the member that holds them. */
const withoutText =
  /\/(?:examples\/items|match|notMatch|arguments\/items|args\/items|input|rest|number|modes|sizes|keep|rate|wasm|process|body|normalization)\//;

describe("published schemas of files", () => {
  it.each(Object.entries(files))("are written by `npm run write:schemas`: %s", async (name, schema) => {
    const text = await readFile(`${root}packages/kernel/schemas/${name}.schema.json`, "utf8");
    expect(JSON.parse(text)).toEqual(schema);
  });

  it.each(Object.entries(files))("describe each property: %s", (_, schema) => {
    const properties = propertiesOf(schema);
    const silent = properties.filter(([path, text]) => text === undefined && !withoutText.test(`${path}/`));
    expect(silent.map(([path]) => path)).toEqual([]);
    expect(properties.length).toBeGreaterThan(20);
  });

  it("refuse an unknown member of each file", () => {
    const manifest = { name: "a", version: "1.0.0", description: "A.", input: {}, output: { kind: "json" } };
    expect(check.manifest({ $schema: "./manifest.schema.json", ...manifest })).toBe(true);
    expect(check.manifest({ ...manifest, grants: [] })).toBe(false);
    expect(check.manifest({ ...manifest, source: "process" })).toBe(false);
    expect(check.package({ ...packed[0], grants: [] })).toBe(false);
    expect(check.policy({ version: "1", posture: "strict", allow: [] })).toBe(false);
  });
});

describe("the published schema of policies", () => {
  it("accepts each policy of the docs, also with a reference to the schema", () => {
    expect(documents.filter((document) => !check.policy(document))).toEqual([]);
    expect(documents.length).toBeGreaterThan(8);
  });

  it("accepts variables where a text has a pattern", () => {
    const when = { method: ["${METHOD}"], time: { after: "${START}" } };
    const rules = [{ id: "a", effect: "deny", when, reason: "No." }];
    expect(check.policy({ version: "1", posture: "strict", rules })).toBe(true);
    const wrong = [{ ...rules[0], when: { method: ["get"] } }];
    expect(check.policy({ version: "1", posture: "strict", rules: wrong })).toBe(false);
  });

  it("accepts exactly what the kernel's own schema accepts", () => {
    const own = checkOf(documentSchema(builtInFamilies));
    const places = documents.flatMap((document) => placesOf(document).map((place) => [document, place] as const));
    const value = fc.oneof(fc.constantFrom(null, 0, -1, "", "x", [], {}, true, ["x"]), fc.jsonValue({ maxDepth: 1 }));
    fc.assert(
      fc.property(fc.constantFrom(...places), value, ([document, place], put) => {
        const changed = withValueAt(document, place, put);
        expect(check.policy(changed)).toBe(own(changed));
      }),
    );
  });
});

describe("a policy with a reference to its schema", () => {
  const policy = { version: "1", posture: "standard" };

  it("has the digest of the policy without it", () => {
    const plain = policyOf(policy);
    const named = policyOf({ $schema: "node_modules/@keyhole/kernel/schemas/policy.schema.json", ...policy });
    expect(named.ok && named.value.hash).toBe(plain.ok && plain.value.hash);
    expect(named.ok && named.value.document).toEqual(policy);
  });

  it("is refused where the reference is not a text", () => {
    expect(policyOf({ $schema: 1, ...policy })).toMatchObject({
      error: { code: "INVALID_POLICY", path: "/$schema" },
    });
  });
});

describe("the published schema of manifests", () => {
  it("accepts the manifest of an example, whose package is without the reference", async () => {
    const folder = `${root}packages/playground/src/tools/primes/`;
    const [text, bytes] = await Promise.all([
      readFile(`${folder}primes.json`, "utf8"),
      readFile(`${folder}primes.wasm`),
    ]);
    const manifest = JSON.parse(text);
    expect(check.manifest(manifest)).toBe(true);
    const { $schema, ...plain } = manifest;
    expect($schema).toContain("schemas/manifest.schema.json");
    const [named, unnamed] = [manifest, plain].map((each) => wasmPackage(each, bytes));
    expect(named).toMatchObject({ ok: true });
    expect(named).toEqual(unnamed);
  });
});

describe("the published schema of packages", () => {
  it.each(packed.map((each) => [each.manifest.name, each] as const))("accepts %s", (_, each) => {
    expect(check.package({ $schema: "package.schema.json", ...each })).toBe(true);
  });
});

type Place = readonly (string | number)[];

function placesOf(value: unknown, place: Place = []): readonly Place[] {
  if (typeof value !== "object" || value === null) return [place];
  const keys = Array.isArray(value) ? [...value.keys()] : [...Object.keys(value), "unknown"];
  return [place, ...keys.flatMap((key) => placesOf((value as Record<string, unknown>)[key], [...place, key]))];
}

function withValueAt(document: unknown, [key, ...rest]: Place, put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(document)) return document.map((each, at) => (at === key ? withValueAt(each, rest, put) : each));
  const members = document as Record<string, unknown>;
  return { ...members, [key]: withValueAt(members[key], rest, put) };
}
