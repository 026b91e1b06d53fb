import type { MeterExports } from "../meter/meter-section.ts";
import { initialFuel, MAX_FUEL, readFuel, addFuel } from "../meter/fuel-global.ts";

/** A metered module, compiled: it serves any number of runs. */
export interface CompiledModule {
  readonly module: WebAssembly.Module;
  readonly names: MeterExports;
}

export interface RunBounds {
  readonly fuel: number;
  readonly memoryBytes: number;
}

/** How a run ended. Whoever sees the end first says it; what happens afterwards changes nothing. */
export type RunEnding =
  | { readonly kind: "returned"; readonly output: Uint8Array }
  | { readonly kind: "exited"; readonly code: number }
  /** It has asked for something that nobody has answered yet. */
  | { readonly kind: "unanswered" }
  /** It did what no program of its kind does. */
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "trapped"; readonly message: string }
  | { readonly kind: "output-too-large" | "out-of-fuel" | "too-deep" | "out-of-memory" };

/** A global that metering has added. */
interface Counter<Value> {
  value: Value;
}

const PAGE_BYTES = 65_536;

/** Unwinds the guest. It can catch it, and then it stands still at its next check: no fuel is left. */
export class RunStopped extends Error {}

/** Calls of the host, and buffers in them, that a run has for nothing. */
const FREE_SERVICES = 1_000;
const SERVICE_FUEL = 2_000;

/** The fuel that a run has left, and the services that it got. */
interface Account {
  readonly fuel: bigint;
  readonly served: number;
}

/**
 * One instance of a metered module, for one run. Nothing of a run reaches the next one, so that a run costs the same whenever and wherever
 * it takes place.
 */
export class Machine {
  readonly #names: MeterExports;
  readonly #bounds: RunBounds;
  #exports: WebAssembly.Exports | undefined;
  #fuelGlobal: Counter<bigint> | undefined;
  #ending: RunEnding | undefined;
  #fuelLeft: number;
  #served = 0;

  private constructor({ names }: CompiledModule, bounds: RunBounds) {
    this.#names = names;
    this.#bounds = { ...bounds, fuel: Math.min(bounds.fuel, MAX_FUEL) };
    this.#fuelLeft = this.#bounds.fuel;
  }

  /** Makes the instance, and gives it its fuel. A module that does not fit into its memory has ended with that. */
  static async create(
    compiled: CompiledModule,
    bounds: RunBounds,
    importsFor: (machine: Machine) => WebAssembly.Imports,
  ): Promise<Machine> {
    const machine = new Machine(compiled, bounds);
    try {
      machine.#fill((await WebAssembly.instantiate(compiled.module, importsFor(machine))).exports);
    } catch (error) {
      machine.#settle(
        error instanceof RangeError
          ? { kind: "out-of-memory" }
          : { kind: "trapped", message: `it could not be instantiated: ${messageOf(error)}` },
      );
    }
    return machine;
  }

  #fill(exports: WebAssembly.Exports): void {
    this.#exports = exports;
    this.#fuelGlobal = exports[this.#names.fuel] as unknown as Counter<bigint>;
    this.#fuelGlobal.value = initialFuel(this.#bounds.fuel);
    const pages = Math.floor(this.#bounds.memoryBytes / PAGE_BYTES);
    (exports[this.#names.pages] as unknown as Counter<number>).value = pages;
    if (this.peakMemoryBytes > pages * PAGE_BYTES) this.#settle({ kind: "out-of-memory" });
  }

  get ending(): RunEnding | undefined {
    return this.#ending;
  }

  get fuelUsed(): number {
    return this.#bounds.fuel - Math.max(0, this.#fuelLeft);
  }

  /** A memory never shrinks. */
  get peakMemoryBytes(): number {
    const memory = this.#exports?.["memory"];
    return memory instanceof WebAssembly.Memory ? memory.buffer.byteLength : 0;
  }

  /** The module's own start function, which metering has made an export. */
  get start(): string | undefined {
    return this.#names.start;
  }

  has(name: string): boolean {
    return typeof this.#exports?.[name] === "function";
  }

  /** A view that holds until the guest runs again. */
  bytes(): Uint8Array<ArrayBuffer> {
    const memory = this.#exports?.["memory"];
    return new Uint8Array(memory instanceof WebAssembly.Memory ? memory.buffer : new ArrayBuffer());
  }

  /**
   * Runs an export up to its end, which may be the end of the run.
   *
   * @param through how the function is called; it may return a promise
   * @returns the result of the function, or `undefined` when the run has ended
   */
  async enter(
    name: string,
    values: readonly unknown[],
    through: (enter: (...values: unknown[]) => unknown) => (...values: unknown[]) => unknown,
  ): Promise<unknown> {
    if (this.#ending !== undefined) return undefined;
    try {
      const value = await through(this.#exports?.[name] as (...values: unknown[]) => unknown)(...values);
      const { state } = this.#readFuel();
      if (state !== "running") this.#settle({ kind: state });
      return value;
    } catch (error) {
      this.#settle(this.#endingOf(error));
      return undefined;
    }
  }

  /** The first ending counts. */
  end(ending: RunEnding): void {
    this.#settle(ending);
  }

  /** Ends the run from within an import. */
  stop(ending: RunEnding): never {
    this.#settle(ending);
    throw new RunStopped(ending.kind);
  }

  /** Charges one fuel for each byte that crosses, before the host does the work. The host's own cost does not matter. */
  charge(bytes: number): void {
    const fuelGlobal = this.#fuelGlobal;
    if (fuelGlobal === undefined) return this.stop({ kind: "failed", message: "an import ran before the run" });
    fuelGlobal.value = addFuel(fuelGlobal.value, -bytes);
    if (this.#readFuel().state !== "running") this.stop({ kind: "out-of-fuel" });
  }

  /**
   * Charges fuel for services of the host, before the work. The first ones are free, because an
   * ordinary program needs no more. Later ones cost fuel: they take the host time and memory,
   * however few bytes cross.
   */
  serve(services: number): void {
    const before = Math.max(this.#served, FREE_SERVICES);
    this.#served += services;
    if (this.#served > before) this.charge((this.#served - before) * SERVICE_FUEL);
  }

  /** The account before an import. An interrupted import refunds its charge, so the guest pays once. */
  get account(): Account {
    return { fuel: this.#fuelGlobal?.value ?? 0n, served: this.#served };
  }

  refund({ fuel, served }: Account): void {
    if (this.#fuelGlobal === undefined || this.#ending !== undefined) return;
    this.#fuelGlobal.value = fuel;
    this.#served = served;
  }

  #endingOf(error: unknown): RunEnding {
    const { state } = this.#readFuel();
    if (state !== "running") return { kind: state };
    // The engine's own stack, where the estimate was too low: V8 and JavaScriptCore throw a RangeError, SpiderMonkey an InternalError.
    if (error instanceof RangeError || (error instanceof Error && error.name === "InternalError"))
      return { kind: "too-deep" };
    if (this.#wasRefusedMemory()) return { kind: "out-of-memory" };
    return { kind: "trapped", message: messageOf(error) };
  }

  #wasRefusedMemory(): boolean {
    return (this.#exports?.[this.#names.refused] as unknown as Counter<number> | undefined)?.value === 1;
  }

  #readFuel(): ReturnType<typeof readFuel> {
    return readFuel(this.#fuelGlobal?.value ?? 0n);
  }

  #settle(ending: RunEnding): void {
    if (this.#ending !== undefined) return;
    this.#fuelLeft = this.#fuelGlobal === undefined ? this.#bounds.fuel : this.#readFuel().fuel;
    const isFailure = ending.kind === "exited" && ending.code !== 0;
    this.#ending = isFailure && this.#wasRefusedMemory() ? { kind: "out-of-memory" } : ending;
    // A guest that catches what unwinds it goes no further than its next loop or call.
    if (this.#fuelGlobal !== undefined) this.#fuelGlobal.value = -1n;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "something was thrown";
}
