import { expect, it } from "vitest";
import { declaresSharedMemory } from "../../packages/worker-host/src/guest/harden/shared-memory.ts";

const head = [0, 97, 115, 109, 1, 0, 0, 0];
const shared = (...sections: readonly (readonly number[])[]): boolean =>
  declaresSharedMemory(new Uint8Array([...head, ...sections.flat()]));
const custom = [0, 3, 1, 120, 5];

it.each<[string, readonly (readonly number[])[]]>([
  ["of one page", [[5, 4, 1, 3, 1, 1]]],
  ["behind other sections", [custom, [1, 4, 1, 96, 0, 0], [5, 4, 1, 3, 1, 1], custom]],
  ["that is the second one", [[5, 6, 2, 0, 1, 3, 1, 1]]],
  ["behind one with a page size", [[5, 7, 2, 8, 1, 0, 3, 1, 1]]],
  ["of 64 bits", [[5, 4, 1, 7, 1, 1]]],
  ["whose section has a long length", [[5, 0x84, 0x80, 0x80, 0x80, 0, 1, 3, 1, 1]]],
  ["whose limits have long numbers", [[5, 13, 2, 1, 0x81, 0x80, 0x80, 0x80, 0, 0x81, 0, 3, 1, 1]]],
])("finds a shared memory %s", (_, sections) => {
  expect(shared(...sections)).toBe(true);
});

it.each<[string, readonly (readonly number[])[]]>([
  ["no memory", []],
  ["a memory of its own", [[5, 3, 1, 0, 1]]],
  ["a bounded one", [[5, 4, 1, 1, 1, 2]]],
  ["the bytes of a shared one elsewhere", [[0, 6, 5, 4, 1, 3, 1, 1]]],
  ["a section that ends early", [[5, 4, 1]]],
  ["a length beyond its end", [[5, 0xff, 0xff, 0xff, 0xff, 15]]],
])("finds none in a module with %s", (_, sections) => {
  expect(shared(...sections)).toBe(false);
});

it("takes what the engine takes", () => {
  const compiles = (...sections: readonly (readonly number[])[]): boolean =>
    WebAssembly.validate(new Uint8Array([...head, ...sections.flat()]));
  expect(compiles([5, 4, 1, 3, 1, 1])).toBe(true);
  expect(compiles([5, 0x84, 0x80, 0x80, 0x80, 0, 1, 3, 1, 1])).toBe(true);
});

it("finds it under another getter of the length, too", () => {
  const typed = Object.getPrototypeOf(Uint8Array.prototype) as object;
  const real = Object.getOwnPropertyDescriptor(typed, "length")!;
  Object.defineProperty(typed, "length", { get: () => 0, configurable: true });
  try {
    expect(shared([5, 4, 1, 3, 1, 1])).toBe(true);
  } finally {
    Object.defineProperty(typed, "length", real);
  }
});
