/**
 * Whether an object is a plain object or a plain array, of this realm or another one (a frame, a `vm` context).
 *
 * An `Array.prototype` of any realm is itself an array, which the prototype of a subclass is not; a
 * foreign `Object.prototype` owns `isPrototypeOf`. A forger of either gains nothing: only own
 * properties count.
 */
export function isPlainObject(value: object): boolean {
  const proto: object | null = Reflect.getPrototypeOf(value);
  if (Array.isArray(value)) return Array.isArray(proto);
  return proto === Object.prototype || !proto || Object.hasOwn(proto, "isPrototypeOf");
}
