import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import * as formats from "ajv-formats";
import type { Check } from "./contest.ts";

function newAjv(source: boolean): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, code: { source, esm: false } });
  const add = (formats.default as unknown as { default?: unknown }).default ?? formats.default;
  (add as (to: unknown) => void)(ajv);
  return ajv;
}

/** Code that ajv generates here. */
export const compiledByAjv = (schema: object): Check => newAjv(false).compile(schema);

/** The source of a CommonJS module, for hosts that generate no code. */
export function moduleByAjv(schema: object): string {
  const ajv = newAjv(true);
  const generate = ((standalone as unknown as { default?: unknown }).default ?? standalone) as (
    by: Ajv2020,
    check: unknown,
  ) => string;
  return generate(ajv, ajv.compile(schema));
}
