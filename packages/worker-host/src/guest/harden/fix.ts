// Taken before the tool is loaded, which may replace them.
const { defineProperty } = Object;

/** A property that tool code can neither replace nor remove. */
export function fix(target: object, key: PropertyKey, value: unknown): void {
  // Without a prototype: a tool that gives `Object.prototype` a getter changes no descriptor of ours.
  defineProperty(target, key, {
    __proto__: null,
    value,
    writable: false,
    enumerable: false,
    configurable: false,
  } as PropertyDescriptor);
}

/** Puts `hardened` where `real` was: its name, its prototype, and the way back from an instance. */
export function replace(holder: object, name: string, real: { readonly prototype: object }, hardened: object): void {
  fix(hardened, "name", name);
  fix(hardened, "prototype", real.prototype);
  fix(real.prototype, "constructor", hardened);
  fix(holder, name, hardened);
}
