import type { QuickJsExports } from "./exports.ts";

/** The values that the guest passes to a function of the host, and gets back. */
export type HostValue = string | Uint8Array | undefined;

/** Of a property: it can be written and configured, and is not enumerated. */
const hidden = 3;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Values on their way between the host and one QuickJS. A value in the guest is a pointer to a box; whoever gets one here frees it. */
export class GuestValues {
  readonly #exports: QuickJsExports;

  constructor(exports: QuickJsExports) {
    this.#exports = exports;
  }

  /** @throws TypeError for what is neither text nor bytes: reading it would run code of the guest, on the host's fuel */
  read(value: number): HostValue {
    const exports = this.#exports;
    if (exports.qjs_is_undefined(value)) return undefined;
    const isBytes = exports.qjs_is_array_buffer(value) !== 0;
    if (!isBytes && !exports.qjs_is_string(value)) throw new TypeError("Only texts and bytes cross to the host.");
    const length = exports.wasm_malloc(4);
    const at = isBytes ? exports.qjs_get_array_buffer(value, length) : exports.qjs_get_string_len(value, length);
    const size = new DataView(exports.memory.buffer).getUint32(length, true);
    exports.wasm_free(length);
    const bytes = new Uint8Array(exports.memory.buffer, at, size).slice();
    if (isBytes) return bytes;
    exports.qjs_free_cstring(at);
    return decoder.decode(bytes);
  }

  make(value: HostValue): number {
    if (value === undefined) return this.#exports.qjs_dup_value(this.#exports.qjs_get_undefined());
    return typeof value === "string" ? this.text(value) : this.bytes(value);
  }

  text(text: string): number {
    const bytes = encoder.encode(text);
    const at = this.write(bytes);
    const value = this.#exports.qjs_new_string(at, bytes.length);
    this.#exports.wasm_free(at);
    return value;
  }

  bytes(bytes: Uint8Array): number {
    const at = this.write(bytes);
    const value = this.#exports.qjs_new_uint8_array(at, bytes.length);
    this.#exports.wasm_free(at);
    return value;
  }

  throw(message: string): void {
    const box = this.#exports.qjs_new_error();
    const key = this.write(encoder.encode("message"));
    // Its own, also if its prototype has this name.
    this.#exports.qjs_define_prop_string(box, key, this.text(message), hidden);
    this.#exports.wasm_free(key);
    this.#exports.qjs_throw(box);
  }

  /** Defines the global `host` with a function of each name. */
  defineHost(names: readonly string[]): void {
    const object = this.#exports.qjs_new_object();
    for (const name of names) {
      const text = this.write(encoder.encode(name));
      const callee = this.#exports.qjs_new_host_function(text, name.length, 0);
      this.#exports.qjs_set_prop_string(object, text, callee);
      this.#exports.wasm_free(text);
    }
    const global = this.#exports.qjs_get_global();
    const name = this.write(encoder.encode("host"));
    this.#exports.qjs_set_prop_string(global, name, object);
    this.#exports.wasm_free(name);
    this.free(global);
  }

  evaluate(code: string, name: string, flags: number): number {
    const bytes = encoder.encode(code);
    const at = this.write(bytes);
    const fileName = this.write(encoder.encode(name));
    const result = this.#exports.qjs_eval(at, bytes.length, fileName, flags);
    this.#exports.wasm_free(at);
    this.#exports.wasm_free(fileName);
    return result;
  }

  /** Into the guest's memory, with a zero behind it. */
  write(bytes: Uint8Array): number {
    const at = this.#exports.wasm_malloc(bytes.length + 1);
    if (at === 0) throw new WebAssembly.RuntimeError("out of memory");
    const memory = new Uint8Array(this.#exports.memory.buffer);
    memory.set(bytes, at);
    memory[at + bytes.length] = 0;
    return at;
  }

  free(value: number): void {
    this.#exports.qjs_free_value(value);
  }
}
