/** The imports of `quickjs.wasm`. All of them lead to {@link VmHost.call} alone. */
export interface VmHost {
  readonly memory: () => WebAssembly.Memory;
  readonly call: (name: string, values: readonly number[]) => number;
  /** Asked every few thousand steps of the guest, outside of the host's functions. 0: it goes on. */
  readonly interrupt: () => unknown;
}

/** WASI's errors (preview 1, `errno`). */
const badFile = 8;

const decoder = new TextDecoder();

export function vmImports({ memory, call, interrupt }: VmHost): WebAssembly.Imports {
  return {
    env: {
      host_call(name: number, length: number, _self: number, count: number, values: number) {
        const { buffer } = memory();
        const text = decoder.decode(new Uint8Array(buffer, name, length).slice());
        return call(text, count === 0 ? [] : [...new Uint32Array(buffer, values, count)]);
      },
      host_interrupt: interrupt,
      host_promise_rejection() {},
      host_module_normalize: () => 0,
      host_module_load: () => 0,
      host_get_timezone_offset: () => 0,
    },
    wasi_snapshot_preview1: {
      // The shell keeps this clock for calls that were granted it; everything else sees the hardened one.
      clock_time_get(_clock: number, _precision: bigint, at: number) {
        new DataView(memory().buffer).setBigUint64(at, BigInt(Date.now()) * 1_000_000n, true);
        return 0;
      },
      // The seed of QuickJS' own generator, which the hardened realm replaces.
      random_get: () => 0,
      fd_close: () => badFile,
      fd_fdstat_get: () => badFile,
      fd_seek: () => badFile,
      fd_write: () => badFile,
    },
  };
}
