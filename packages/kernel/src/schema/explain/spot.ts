import { at, type Context, type Keywords, type Place } from "../context.ts";
import { isObject } from "../equal.ts";
import { isList } from "../../support/guards.ts";
import type { JsonObject } from "../types.ts";
import { received } from "./describe.ts";
import type { ErrorList } from "./error-list.ts";
import { isSecret } from "./secrets.ts";

/** A part of a value against a subschema that it may not conform to. */
export class Spot {
  readonly from: Place;
  readonly value: unknown;
  /** Where it is: in the value, and in the schema as it was walked. */
  readonly instance: string;
  readonly walked: string;
  readonly errors: ErrorList;
  /** Whether the value may be missing. */
  readonly optional: boolean;
  readonly secrets: ReadonlySet<string>;
  readonly context: Context;
  /** Whether the text of the value is secret. */
  readonly hidden: boolean;

  constructor(
    from: Place,
    value: unknown,
    instance: string,
    walked: string,
    errors: ErrorList,
    optional: boolean,
    secrets: ReadonlySet<string>,
    context: Context,
  ) {
    this.from = from;
    this.value = value;
    this.instance = instance;
    this.walked = walked;
    this.errors = errors;
    this.optional = optional;
    this.secrets = secrets;
    this.context = context;
    this.hidden = isSecret(instance, secrets);
  }

  /** The value where it is an object; else an empty one. */
  get object(): JsonObject {
    return isObject(this.value) ? this.value : {};
  }

  /** The value where it is an array; else an empty one. */
  get items(): readonly unknown[] {
    return isList(this.value) ? this.value : [];
  }

  isSecret(path: string): boolean {
    return this.secrets.has(path);
  }

  /** Adds an error about this value, or about what is at another path. */
  add(
    step: string,
    expected: string,
    hint?: string,
    what: string = received(this.value, this.hidden),
    instancePath: string = this.instance,
  ): void {
    const tail = step && `/${step}`;
    this.errors.add({
      instancePath,
      schemaPath: this.walked + tail,
      location: this.from.path + tail,
      keyword: step.split("/", 1)[0] || "false",
      expected,
      received: what,
      hint,
    });
  }
}

/** The names of `properties`. */
export const knownNames = (place: Keywords): readonly string[] => Object.keys(at(place, "properties").schema ?? {});
