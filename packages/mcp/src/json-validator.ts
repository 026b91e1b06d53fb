import { compileSchema } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";

type Verdict<T> =
  | { valid: true; data: T; errorMessage: undefined }
  | { valid: false; data: undefined; errorMessage: string };

/** The slot of both packages of the SDK. */
interface JsonValidator {
  getValidator<T>(schema: object): (input: unknown) => Verdict<T>;
}

/**
 * The kernel's validator for the SDK's slot `jsonSchemaValidator`. It makes no code of texts, and its work on a schema has a bound.
 *
 * @throws TypeError for a schema that the kernel refuses. The SDK expects that.
 */
export const jsonValidator: JsonValidator = {
  getValidator<T>(schema: object) {
    const compiled = compileSchema(schema, { explain });
    if (!compiled.ok) throw new TypeError(`${compiled.error.code}: ${compiled.error.message}`);
    const { validator } = compiled;
    return (input: unknown): Verdict<T> => {
      const result = validator.validate(input);
      if (result.ok) return { valid: true, data: result.value as T, errorMessage: undefined };
      const faults = result.errors.map((each) => `${each.instancePath}: ${each.message}`);
      return { valid: false, data: undefined, errorMessage: faults.join("; ") };
    };
  },
};
