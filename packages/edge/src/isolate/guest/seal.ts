import * as workers from "cloudflare:workers";

// Taken before a tool loads.
const { freeze, getPrototypeOf, hasOwn, prototype: rootPrototype } = Object;

/**
 * Freezes the class of a shell and all that workerd's own module exports, each with its prototype
 * and the classes that it extends. Members of the language itself stay as they are on every host.
 * So a tool that gets hold of a shell cannot replace a method of the shell, or one that the shell
 * calls. Call it before the load of any tool code.
 */
export function sealShell(shell: object): void {
  for (const exported of [shell, ...Object.values(workers)]) {
    if (typeof exported !== "function") continue;
    freeze(exported);
    // No function but a class has one.
    for (let at: unknown = exported; isClass(at); at = getPrototypeOf(at)) {
      freeze(at);
      if (at.prototype !== rootPrototype) freeze(at.prototype);
    }
  }
}

function isClass(value: unknown): value is { readonly prototype: unknown } {
  return typeof value === "function" && hasOwn(value, "prototype");
}
