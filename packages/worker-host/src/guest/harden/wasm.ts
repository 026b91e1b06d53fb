import { replace, fix } from "./fix.ts";
import { declaresSharedMemory } from "./shared-memory.ts";

const { construct } = Reflect;

/**
 * Takes from WebAssembly what two threads could share: such a memory is a clock, and waiting on it is a timer. Exceptions lose the option that writes a stack
 * into them.
 */
export function hardenWebAssembly(): void {
  if (typeof WebAssembly !== "object") return;
  hardenMemory();
  hardenModule();
  if (typeof Reflect.get(WebAssembly, "Exception") === "function") hardenException();
}

function hardenMemory(): void {
  const { Memory } = WebAssembly;
  function HardenedMemory(this: unknown, descriptor: WebAssembly.MemoryDescriptor): WebAssembly.Memory {
    const { initial, maximum, shared } = descriptor;
    if (shared) throw new TypeError("shared memory is not available to tools");
    const own = { __proto__: null, initial, ...(maximum !== undefined && { maximum }) };
    return construct(Memory, [own], new.target ?? HardenedMemory) as WebAssembly.Memory;
  }
  replace(WebAssembly, "Memory", Memory, HardenedMemory);
}

function hardenModule(): void {
  const { Module } = WebAssembly;
  function HardenedModule(this: unknown, source: BufferSource): WebAssembly.Module {
    const bytes = bytesOf(source);
    if (bytes !== undefined && declaresSharedMemory(bytes))
      throw new WebAssembly.CompileError("shared memory is not available to tools");
    return construct(Module, [bytes ?? source], new.target ?? HardenedModule) as WebAssembly.Module;
  }
  for (const name of ["customSections", "exports", "imports"] as const) fix(HardenedModule, name, Module[name]);
  replace(WebAssembly, "Module", Module, HardenedModule);
}

interface ExceptionConstructor {
  readonly prototype: object;
}

function hardenException(): void {
  const Exception = Reflect.get(WebAssembly, "Exception") as ExceptionConstructor;
  // The third one is what asks for a stack.
  function HardenedException(this: unknown, tag: unknown, payload: unknown): unknown {
    return construct(Exception as never, [tag, payload], new.target ?? HardenedException);
  }
  Reflect.deleteProperty(Exception.prototype, "stack");
  replace(WebAssembly, "Exception", Exception, HardenedException);
}

const { isView } = ArrayBuffer;
const Bytes = Uint8Array;
const typed = Object.getPrototypeOf(Bytes.prototype) as object;
const part = (of: object, name: PropertyKey): ((this: unknown) => unknown) =>
  Object.getOwnPropertyDescriptor(of, name)?.get as (this: unknown) => unknown;
const { apply } = Reflect;
const byteLength = part(ArrayBuffer.prototype, "byteLength");
const viewParts = ["buffer", "byteOffset", "byteLength"] as const;
const ofTyped = viewParts.map((name) => part(typed, name));
const ofData = viewParts.map((name) => part(DataView.prototype, name));
const isTyped = part(typed, Symbol.toStringTag);

/**
 * An own copy, so the engine compiles exactly the read bytes. `undefined`: the engine refuses the
 * value.
 */
function bytesOf(source: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (isView(source)) {
    const [buffer, offset, length] = apply(isTyped, source, []) === undefined ? ofData : ofTyped;
    const view = [apply(buffer!, source, []), apply(offset!, source, []), apply(length!, source, [])] as const;
    return new Bytes(new Bytes(...(view as readonly [ArrayBuffer, number, number])));
  }
  try {
    apply(byteLength, source, []);
  } catch {
    return undefined;
  }
  return new Bytes(new Bytes(source as ArrayBuffer));
}
