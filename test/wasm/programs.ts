import wasm from "./programs/programs.json" with { type: "json" };
import { type Bytes, bytesOf } from "./bytes.ts";

export interface Program {
  readonly name: string;
  readonly bytes: Bytes;
  readonly argument: number;
  readonly value: number;
  /** As wasmtime 49.0.0 counts it. */
  readonly fuel: number;
  /** The fuel that is left when half of that fuel was given: our own count, which takes a segment's fuel before it runs. */
  readonly leftOfHalf: number;
}

/** Built by `programs/build.sh` from the sources beside it. */
export const programs: readonly Program[] = [
  { name: "sieve", bytes: bytesOf(wasm.sieve), argument: 200_000, value: 17_984, fuel: 6_736_590, leftOfHalf: -9 },
  { name: "sha256", bytes: bytesOf(wasm.sha256), argument: 2, value: 238_802_104, fuel: 17_866_806, leftOfHalf: -20 },
  { name: "matmul", bytes: bytesOf(wasm.matmul), argument: 1, value: -5_881_728, fuel: 221_456_406, leftOfHalf: -17 },
  { name: "vm", bytes: bytesOf(wasm.vm), argument: 20_000, value: 1_670_611_243, fuel: 47_734_847, leftOfHalf: -16 },
  { name: "fib", bytes: bytesOf(wasm.fib), argument: 25, value: 75_025, fuel: 2_670_635, leftOfHalf: -26 },
];
