import { knownOptions } from "../../json/known-options.ts";
import { compileOptions, type CompileOptions } from "../types.ts";
import { asTheirs, compiled } from "./compiled.ts";

/** A validator as versions 1 and 2 of the MCP SDK call it. */
export interface McpJsonSchemaValidator {
  /** @throws TypeError for a schema that does not compile */
  getValidator<Data>(schema: unknown): (input: unknown) => McpValidation<Data>;
}

/** As the SDK declares it, without `readonly`: else its own types do not take it. */
export type McpValidation<Data> =
  | { valid: true; data: Data; errorMessage: undefined }
  | { valid: false; data: undefined; errorMessage: string };

/**
 * The option `jsonSchemaValidator` of clients and servers of the MCP SDK: no code is generated, so it runs under a strict Content-Security-Policy and on Workers. `data` is a
 * copy without defaults filled in.
 *
 * @example
 * const client = new Client(info, { jsonSchemaValidator: mcpJsonSchemaValidator() });
 */
export function mcpJsonSchemaValidator(options: CompileOptions = {}): McpJsonSchemaValidator {
  const given = knownOptions(options, compileOptions, "mcpJsonSchemaValidator");
  return {
    getValidator<Data>(schema: unknown) {
      const validator = compiled(schema, { defaults: "ignore", ...given });
      return (input: unknown): McpValidation<Data> => {
        const result = validator.validate(input);
        if (result.ok) return { valid: true, data: asTheirs(result.value), errorMessage: undefined };
        const errorMessage = result.errors.map(({ message }) => message).join(" ");
        return { valid: false, data: undefined, errorMessage };
      };
    },
  };
}
