/*
 * Shapes of messages of a guest. Each member is read once; what a shape gives is our own, and holds nothing else.
 */

/** The result of a shape for any other value. */
export const wrong: unique symbol = Symbol("wrong");

export interface Shape<Value> {
  readonly read: (value: unknown) => Value | typeof wrong;
  /** Whether an object may lack the member. */
  readonly isOptional?: true;
}

/** Values of which a guard says whether they are right. */
export function guarded<Value>(isRight: (value: unknown) => value is Value): Shape<Value> {
  return { read: (value) => (isRight(value) ? value : wrong) };
}

/** One of some texts. */
export function oneOf<const Text extends string>(texts: readonly Text[]): Shape<Text> {
  return { read: (value) => texts.find((text) => text === value) ?? wrong };
}

export function text(most: number): Shape<string> {
  return guarded((value): value is string => typeof value === "string" && value.length <= most);
}

/** A member that an object may lack. */
export function optional<Value>({ read }: Shape<Value>): Shape<Value> {
  return { read, isOptional: true };
}

export function orUndefined<Value>({ read }: Shape<Value>): Shape<Value | undefined> {
  return { read: (value) => (value === undefined ? undefined : read(value)) };
}

/** An object of these members and no others. */
export function object<Value extends object>(members: {
  readonly [Name in keyof Value]-?: Shape<Value[Name]>;
}): Shape<Value> {
  const shapes = Object.entries<Shape<unknown>>(members);
  return {
    read(value) {
      if (typeof value !== "object" || value === null) return wrong;
      const given = new Map<string, unknown>(Object.entries(value));
      const own: Record<string, unknown> = {};
      for (const [name, { read, isOptional }] of shapes) {
        if (isOptional && !given.has(name)) continue;
        const member = given.has(name) ? read(given.get(name)) : wrong;
        if (member === wrong) return wrong;
        own[name] = member;
        given.delete(name);
      }
      return given.size === 0 ? (own as Value) : wrong;
    },
  };
}

/** One of several objects, told apart by the text in one of their members. */
export interface Variant<Value> extends Shape<Value> {
  /** Whether the member names one of them. */
  readonly knows: (value: object) => boolean;
}

export function variant<By extends string, Value extends { readonly [Name in By]: string }>(
  by: By,
  shapes: { readonly [Name in Value[By]]: Shape<Extract<Value, { readonly [Each in By]: Name }>> },
): Variant<Value> {
  const known = new Map<unknown, Shape<Value>>(Object.entries<Shape<Value>>(shapes));
  const shapeOf = (value: object): Shape<Value> | undefined =>
    Object.hasOwn(value, by) ? known.get(Reflect.get(value, by)) : undefined;
  return {
    knows: (value) => shapeOf(value) !== undefined,
    read: (value) => (typeof value === "object" && value !== null ? (shapeOf(value)?.read(value) ?? wrong) : wrong),
  };
}
