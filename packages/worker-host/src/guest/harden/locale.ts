import { fix } from "./fix.ts";

/**
 * Gives each method that asks for a locale one answer: the text of the language itself. Data of locales differs by engine and version, and the interpreter has none.
 * `Intl` and `Temporal`, which need such data, are not in the list of what stays. Call it after the clock is hardened.
 */
export function hardenLocale(): void {
  alias(Number.prototype, "toLocaleString", "toString");
  alias(BigInt.prototype, "toLocaleString", "toString");
  alias(String.prototype, "toLocaleLowerCase", "toLowerCase");
  alias(String.prototype, "toLocaleUpperCase", "toUpperCase");
  alias(Date.prototype, "toLocaleString", "toString");
  alias(Date.prototype, "toLocaleDateString", "toDateString");
  alias(Date.prototype, "toLocaleTimeString", "toTimeString");
  hardenCompare();
}

/** Without the arguments: the first is a locale, and to `toString` a radix. */
function alias(prototype: object, name: string, plain: string): void {
  const { apply } = Reflect;
  const real = Reflect.get(prototype, plain) as (this: unknown) => unknown;
  fix(prototype, name, function (this: unknown): unknown {
    return apply(real, this, []);
  });
}

/** The order of UTF-16 units. Texts that Unicode calls equal are equal (ECMA-262, 22.1.3.12). */
function hardenCompare(): void {
  const { apply } = Reflect;
  const { normalize } = String.prototype;
  const text = String;
  fix(String.prototype, "localeCompare", function (this: unknown, that: unknown): number {
    const [own, other] = [apply(normalize, this, []), apply(normalize, text(that), [])];
    if (own === other) return 0;
    return own < other ? -1 : 1;
  });
}
