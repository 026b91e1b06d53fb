import { compileSchema } from "@keyhole/kernel/schema";
import { metaSchemas } from "./meta-schemas/index.ts";
import { describe, expect, it } from "vitest";

const drafts = ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"];

describe("the official meta-schemas", () => {
  it.each([...metaSchemas.keys()])("compile: %s", (uri) => {
    expect(compileSchema({ $ref: uri }, { resources: metaSchemas })).toMatchObject({ ok: true });
  });

  it.each([...metaSchemas])("name themselves: %s", (uri, document) => {
    expect((document as { readonly $id: string }).$id.replace(/#$/, "")).toBe(uri);
  });

  it.each(drafts)("tell a schema from another object: %s", (uri) => {
    const compiled = compileSchema({ $ref: uri }, { resources: metaSchemas });
    if (!compiled.ok) throw new Error(compiled.error.message);
    const { validator } = compiled;
    expect(validator.check({ type: "object", properties: { a: { minLength: 1 } } })).toBe(true);
    for (const wrong of [{ type: "no" }, { properties: { a: { minLength: -1 } } }, { required: [1] }, [], 1])
      expect(validator.check(wrong)).toBe(false);
  });

  it.each(drafts)("take each other and themselves: %s", (uri) => {
    const compiled = compileSchema({ $ref: uri }, { resources: metaSchemas });
    if (!compiled.ok) throw new Error(compiled.error.message);
    for (const document of metaSchemas.values()) expect(compiled.validator.check(document)).toBe(true);
  });

  it("are refused by name where they are not passed", () => {
    expect(compileSchema({ $ref: drafts[0] })).toMatchObject({ ok: false, error: { code: "REF_UNRESOLVED" } });
  });
});
