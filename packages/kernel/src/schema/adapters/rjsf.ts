import { knownOptions } from "../../json/known-options.ts";
import { compileSchema } from "../compile-schema.ts";
import { explainEach } from "../explain/index.ts";
import { compileOptions, type CompileOptions, type ValidationError, type Validator } from "../types.ts";
import { pointerTokens } from "../../json/pointer.ts";
import { asTheirs, compiled } from "./compiled.ts";
import {
  errorHandler,
  errorSchemaOf,
  isPlainObject,
  propertyOf,
  type RjsfError,
  type RjsfErrorSchema,
  withHandled,
} from "./rjsf-errors.ts";

export type { RjsfError, RjsfErrorSchema, RjsfHandler } from "./rjsf-errors.ts";

/** The property `validator` of a form, as versions 5 and 6 of react-jsonschema-form call it. */
export interface RjsfValidator {
  validateFormData(
    formData: unknown,
    schema: unknown,
    customValidate?: (formData: never, errors: never, uiSchema?: never, errorSchema?: never) => unknown,
    transformErrors?: (errors: never, uiSchema?: never) => unknown,
    uiSchema?: unknown,
  ): { errors: RjsfError[]; errorSchema: RjsfErrorSchema };
  isValid(schema: unknown, formData: unknown, rootSchema: unknown): boolean;
  /** The errors are ours: `never` fits whatever the form takes them for. */
  rawValidation(schema: unknown, formData?: unknown): { errors?: never[]; validationError?: Error };
  /** Forgets compiled schemas. */
  reset(): void;
}

/** Where the form's whole schema is, for parts of it that refer to it. */
const rootUri = "keyhole:rjsf-root";

/** Schemas of forms that change: the adapter compiles older ones again. */
const KEPT = 200;

/**
 * The validator of a react-jsonschema-form: no code is generated, so the form works under a strict Content-Security-Policy. A member that is `undefined`, as an emptied field
 * leaves it, is absent.
 *
 * @param options The draft is draft 7, as the form's default validator has it.
 * @example
 * <Form schema={schema} validator={rjsfValidator()} />
 */
export function rjsfValidator(options: CompileOptions = {}): RjsfValidator {
  const given = knownOptions(options, compileOptions, "rjsfValidator");
  const settings: CompileOptions = { draft: "draft-07", defaults: "ignore", explain: explainEach, ...given };
  const kept = new Map<string, Validator | undefined>();
  const partOf = (schema: unknown, rootSchema: unknown): Validator | undefined => {
    const key = JSON.stringify([schema, rootSchema]);
    if (!kept.has(key)) {
      const resources = new Map([...(settings.resources ?? []), [rootUri, rootSchema] as const]);
      const part = compileSchema(ofRoot(schema), { ...settings, resources });
      if (kept.size >= KEPT) kept.clear();
      kept.set(key, part.ok ? part.validator : undefined);
    }
    return kept.get(key);
  };
  const errorsOf = (schema: unknown, formData: unknown): readonly ValidationError[] => {
    const result = compiled(schema, settings).validate(formData);
    return result.ok ? [] : result.errors;
  };
  return {
    validateFormData(formData, schema, customValidate, transformErrors, uiSchema) {
      let found: RjsfError[];
      try {
        found = errorsOf(schema, formData).map(rjsfError);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { errors: [{ stack: message }], errorSchema: { $schema: { __errors: [message] } } };
      }
      const errors: RjsfError[] = asTheirs(transformErrors?.(asTheirs(found), asTheirs(uiSchema)) ?? found);
      const errorSchema = errorSchemaOf(errors);
      if (customValidate === undefined) return { errors, errorSchema };
      const handler = errorHandler(formData);
      const handled = customValidate(asTheirs(formData), asTheirs(handler), asTheirs(uiSchema), asTheirs(errorSchema));
      return withHandled(errors, asTheirs(handled));
    },
    isValid: (schema, formData, rootSchema) => partOf(schema, rootSchema)?.validate(formData).ok === true,
    rawValidation(schema, formData) {
      try {
        const errors = errorsOf(schema, formData);
        return errors.length === 0 ? {} : { errors: errors.map(asTheirs) };
      } catch (error) {
        return { validationError: asTheirs(error) };
      }
    },
    reset: () => kept.clear(),
  };
}

/** A reference into the document itself means the root of the form. */
function ofRoot(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(ofRoot);
  if (!isPlainObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === "$ref" && typeof value === "string" && value.startsWith("#")
        ? [key, rootUri + value]
        : [key, ofRoot(value)],
    ),
  );
}

function rjsfError({ instancePath, schemaPath, keyword, message, expected, received }: ValidationError): RjsfError {
  return {
    name: keyword,
    property: propertyOf(pointerTokens(instancePath)),
    message: `expected ${expected}, got ${received}`,
    params: {},
    schemaPath: `#${schemaPath}`,
    stack: message,
  };
}
