import { fix, replace } from "./fix.ts";

const { construct } = Reflect;
const { getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, setPrototypeOf } = Object;
const RealError = Error;

/**
 * Takes positions away from errors: a stack names the shell and random addresses. The engine's own constructor goes out of reach with its limit: WebKit takes
 * a limit from an assignment even where the property cannot be written.
 */
export function hardenErrors(global: object): void {
  // A hook of V8 and QuickJS: the engine would call the tool wherever an error comes to be, also while it works for the host.
  fix(RealError, "prepareStackTrace", undefined);
  if (Object.hasOwn(RealError, "stackTraceLimit")) {
    Reflect.set(RealError, "stackTraceLimit", 0); // WebKit takes notice of an assignment only.
    fix(RealError, "stackTraceLimit", 0);
  }
  const stack = getOwnPropertyDescriptor(RealError.prototype, "stack");
  if (stack?.set !== undefined)
    Object.defineProperty(RealError.prototype, "stack", { get: () => "", set: stack.set, configurable: false });

  function HardenedError(this: unknown, ...given: unknown[]): Error {
    return construct(RealError, given, new.target ?? HardenedError) as Error;
  }
  fix(HardenedError, "length", 1);
  const isError: unknown = Reflect.get(RealError, "isError");
  if (typeof isError === "function") fix(HardenedError, "isError", isError);
  replace(global, "Error", RealError, HardenedError);
  for (const holder of [global, Reflect.get(global, "WebAssembly") as object | undefined])
    if (holder !== undefined) inheritFrom(HardenedError, holder);
}

/** The kinds of errors lead to their parent as well. */
function inheritFrom(hardened: object, holder: object): void {
  for (const name of getOwnPropertyNames(holder)) {
    const { value } = getOwnPropertyDescriptor(holder, name) as { readonly value?: unknown };
    if (typeof value === "function" && getPrototypeOf(value) === RealError) setPrototypeOf(value, hardened);
  }
}

/**
 * Refuses to make code out of text, in every realm. Under a policy the engine's own refusal would
 * quote that policy, with the page's nonce, and the address of its violation reports.
 */
export function hardenEvaluation(global: object): void {
  const refuse = (): never => {
    throw new EvalError("Code cannot be made out of text here.");
  };
  function refused(this: unknown): void {
    refuse();
  }
  fix(refused, "name", "eval");
  fix(global, "eval", refused);
  const functions = [() => {}, async () => {}, function* () {}, async function* () {}];
  const hardened = functions.map((each) => {
    const real = Reflect.get(each, "constructor") as { readonly name: string; readonly prototype: object };
    const name = real.name;
    function Hardened(this: unknown): void {
      refuse();
    }
    fix(Hardened, "name", name);
    fix(Hardened, "length", 1);
    fix(Hardened, "prototype", real.prototype);
    fix(real.prototype, "constructor", Hardened);
    return Hardened;
  });
  const [HardenedFunction, ...rest] = hardened;
  if (HardenedFunction === undefined) return;
  fix(global, "Function", HardenedFunction);
  for (const each of rest) setPrototypeOf(each, HardenedFunction);
}
