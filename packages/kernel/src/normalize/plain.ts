/**
 * Whether an object is a plain object or a plain array, of this realm or another one (a frame, a `vm` context).
 *
 * A foreign `Array.prototype` is itself an array, which the prototype of a subclass is not; a foreign `Object.prototype` owns
 * `isPrototypeOf`. Who forges either gains nothing: only own properties are read.
 */
export function isPlain(value: object): boolean {
  const proto: object | null = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return proto === Array.prototype || Array.isArray(proto);
  return proto === Object.prototype || proto === null || Object.hasOwn(proto, "isPrototypeOf");
}
