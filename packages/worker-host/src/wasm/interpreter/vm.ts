import type { Image } from "../../protocol/suspended-call.ts";
import { initialFuel, MAX_STACK_BYTES, readFuel, type FuelState, addFuel } from "../meter/fuel-global.ts";
import type { Engine } from "./engine.ts";
import type { QuickJsExports } from "./exports.ts";
import { vmImports } from "./imports.ts";
import { type Turns, turnsOf } from "./turns.ts";
import { GuestValues, type HostValue } from "./values.ts";

/** Functions that the guest's shell can call, by name. What they throw becomes an error of the guest. */
export type HostFunctions = Readonly<Record<string, (values: readonly HostValue[]) => HostValue>>;

export interface Slice {
  readonly fuelUsed: number;
  readonly state: FuelState["state"] | "trapped";
}

const PAGE_BYTES = 65_536;
const moduleFlag = 1;
/** QuickJS' own bound for its stack in memory: it ends in a `RangeError` that the tool can catch. */
const GUEST_STACK_BYTES = 262_144;
/** More than reading and writing values takes. */
const HOST_FUEL = 10 ** 13;

/** One QuickJS with its memory. After a slice that did not end as `running` it must not be entered again. */
export class Vm {
  readonly #exports: QuickJsExports;
  readonly #values: GuestValues;
  readonly #fuelGlobal: { value: bigint };
  readonly #pages: { value: number };
  readonly #turns: Turns;
  #dispatch = 0;
  #fuel = 0;
  #usedInSlice = 0;
  #successorFuel: number | undefined;

  private constructor(engine: Engine, host: HostFunctions, sharesThread: boolean) {
    const functions: HostFunctions = { ...host };
    this.#turns = turnsOf(sharesThread, () => readFuel(this.#fuelGlobal.value).fuel);
    const { exports } = new WebAssembly.Instance(
      engine.module,
      vmImports({
        memory: () => this.#exports.memory,
        call: (name, values) => this.#hostCall(functions, name, values),
        interrupt: this.#turns.interrupt,
      }),
    );
    this.#exports = exports as unknown as QuickJsExports;
    this.#values = new GuestValues(this.#exports);
    this.#fuelGlobal = exports[engine.names.fuel] as unknown as { value: bigint };
    this.#pages = exports[engine.names.pages] as unknown as { value: number };
  }

  /**
   * Starts a machine and runs the shell in it, which hands over its function for messages with `host.ready(function)`.
   *
   * @throws Error when the shell does not come up: a bug of ours
   */
  static boot(engine: Engine, host: HostFunctions, shell: string, fuel: number): Vm {
    const vm = new Vm(engine, host, false);
    const slice = vm.#run(fuel, 2 ** 28, () => {
      const exports = vm.#exports;
      exports._initialize();
      exports.qjs_init();
      exports.qjs_set_max_stack_size(GUEST_STACK_BYTES);
      vm.#values.defineHost(["ready", "evaluate", ...Object.keys(host)]);
      vm.#values.free(vm.#values.evaluate(shell, "shell", 0));
      while (vm.#hasJob()) exports.qjs_execute_pending_job();
      exports.qjs_set_interrupt_handler(1);
    });
    if (slice.state !== "running" || vm.#dispatch === 0) throw new Error(`The shell did not start: ${slice.state}.`);
    return vm;
  }

  /** @param sharesThread whether other work waits on this thread while the guest computes */
  static restore(engine: Engine, host: HostFunctions, image: Image, sharesThread: boolean): Vm {
    const vm = new Vm(engine, host, sharesThread);
    const { memory, __stack_pointer: stackPointer } = vm.#exports;
    const missing = (image.memory.length - memory.buffer.byteLength) / PAGE_BYTES;
    if (missing > 0) memory.grow(missing);
    new Uint8Array(memory.buffer).set(image.memory);
    vm.#exports.qjs_set_runtime_and_context(image.runtime, image.context);
    stackPointer.value = image.stackPointer;
    vm.#dispatch = image.dispatch;
    return vm;
  }

  /** Only between slices. */
  image(): Image {
    const { memory, __stack_pointer: stackPointer } = this.#exports;
    return {
      memory: new Uint8Array(memory.buffer).slice(),
      stackPointer: stackPointer.value,
      runtime: this.#exports.qjs_get_runtime_ptr(),
      context: this.#exports.qjs_get_context_ptr(),
      dispatch: this.#dispatch,
    };
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** The fuel that the running slice had used when the guest called the host. */
  get usedInSlice(): number {
    return this.#usedInSlice;
  }

  /** Only from within a function of the host: behind it the slice goes on with this fuel, whatever it had left, and what it used so far is not counted by it. */
  handOver(fuel: number): void {
    this.#successorFuel = fuel;
  }

  /** A slice that is being delivered does not go on, and never settles. */
  stop(): void {
    this.#turns.stop();
  }

  /** Hands the shell a message and lets the guest run until it has nothing more to do. One at a time. */
  async deliver(fuel: number, memoryBytes: number, text: string, body?: Uint8Array): Promise<Slice> {
    this.#begin(fuel, memoryBytes);
    let trapped = false;
    try {
      this.#limitMemory(memoryBytes);
      const values = [this.#values.text(text), body ? this.#values.bytes(body) : this.#exports.qjs_get_undefined()];
      const result = await this.#call(this.#dispatch, values);
      for (const value of [...values, result]) this.#values.free(value);
      const executeJob = this.#turns.enter(this.#exports.qjs_execute_pending_job);
      while (this.#hasJob()) await executeJob();
    } catch {
      trapped = true;
    }
    return this.#end(trapped);
  }

  #run(fuel: number, memoryBytes: number, work: () => void): Slice {
    this.#begin(fuel, memoryBytes);
    let trapped = false;
    try {
      work();
    } catch {
      trapped = true;
    }
    return this.#end(trapped);
  }

  #begin(fuel: number, memoryBytes: number): void {
    this.#fuel = fuel;
    this.#fuelGlobal.value = initialFuel(fuel, MAX_STACK_BYTES);
    this.#pages.value = Math.max(Math.ceil(memoryBytes / PAGE_BYTES), this.memoryBytes / PAGE_BYTES);
  }

  /** QuickJS counts what it allocates, and says so in an error that the tool can catch. */
  #limitMemory(memoryBytes: number): void {
    this.#exports.qjs_set_memory_limit(Math.min(memoryBytes, 2 ** 31 - 1));
  }

  #end(trapped: boolean): Slice {
    const { fuel: left, state } = readFuel(this.#fuelGlobal.value);
    const fuelUsed = Math.min(this.#fuel, this.#fuel - left);
    return { fuelUsed, state: trapped && state === "running" ? "trapped" : state };
  }

  #hasJob(): boolean {
    return this.#exports.qjs_is_job_pending() !== 0 && readFuel(this.#fuelGlobal.value).state === "running";
  }

  /** @returns a box for the guest, or 0 after an error was thrown in it */
  #hostCall(functions: HostFunctions, name: string, values: readonly number[]): number {
    const { fuel, state } = readFuel(this.#fuelGlobal.value);
    // The check stands where it counts: a step without fuel has no effect.
    if (state !== "running") throw new WebAssembly.RuntimeError("the slice has ended");
    this.#usedInSlice = this.#fuel - fuel;
    if (name === "ready") {
      this.#dispatch = this.#exports.qjs_dup_value(values[0]!);
      return this.#exports.qjs_dup_value(this.#exports.qjs_get_undefined());
    }
    if (name === "evaluate") return this.#evaluateTool(String(this.#values.read(values[0]!)));
    const work = Object.hasOwn(functions, name) ? functions[name] : undefined;
    // The host reads the name from the guest's memory.
    if (work === undefined) throw new WebAssembly.RuntimeError("no such function of the host");
    return this.#serve(work, values);
  }

  /** The host's work costs one fuel per byte that crosses, whatever it costs the host. */
  #serve(work: HostFunctions[string], values: readonly number[]): number {
    const before = this.#fuelGlobal.value;
    this.#fuelGlobal.value = addFuel(before, HOST_FUEL);
    this.#successorFuel = undefined;
    let bytes = 0;
    const measured = (value: HostValue): HostValue => {
      bytes += value?.length ?? 0;
      return value;
    };
    let box = 0;
    let failure: string | undefined;
    try {
      const result = measured(work(values.map((value) => measured(this.#values.read(value)))));
      box = this.#values.make(result);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw error; // The end of the slice goes through.
      failure = error instanceof Error ? error.message : "";
    }
    this.#fuelGlobal.value = addFuel(before, this.#handedOver(readFuel(before).fuel) - bytes);
    // The guest sees its own errors being made: that is its work.
    if (failure !== undefined) this.#values.throw(failure);
    return box;
  }

  /** @returns how much more than `left` the slice has from here on */
  #handedOver(left: number): number {
    if (this.#successorFuel === undefined) return 0;
    this.#fuel = this.#successorFuel;
    this.#turns.begin(this.#fuel);
    return this.#fuel - left;
  }

  /** From within a call of the guest: this function is on the stack, and a stack with it cannot be put aside. */
  #evaluateTool(code: string): number {
    this.#exports.qjs_set_interrupt_handler(0);
    const result = this.#values.evaluate(code, "tool", moduleFlag);
    this.#exports.qjs_set_interrupt_handler(1);
    return result;
  }

  async #call(callee: number, values: readonly number[]): Promise<number> {
    const list = this.#exports.wasm_malloc(values.length * 4);
    new Uint32Array(this.#exports.memory.buffer, list, values.length).set(values);
    const call = this.#turns.enter(this.#exports.qjs_call as (...values: unknown[]) => unknown);
    const result = (await call(callee, this.#exports.qjs_get_undefined(), values.length, list)) as number;
    this.#exports.wasm_free(list);
    return result;
  }
}
