const { getPrototypeOf } = Object;

/**
 * Whether an object is a plain object or a plain array, of this realm or another one (a frame, a `vm` context).
 *
 * A foreign `Object.prototype` is known by having no prototype and owning `isPrototypeOf`; a foreign `Array.prototype` by being an
 * array itself, which the prototype of a subclass is not.
 */
export function isPlain(value: object): boolean {
  const proto: object | null = getPrototypeOf(value);
  if (!Array.isArray(value)) return proto === Object.prototype || proto === null || isObjectPrototype(proto);
  return proto === Array.prototype || (Array.isArray(proto) && isObjectPrototype(getPrototypeOf(proto)));
}

function isObjectPrototype(value: object | null): boolean {
  return value !== null && getPrototypeOf(value) === null && Object.hasOwn(value, "isPrototypeOf");
}
