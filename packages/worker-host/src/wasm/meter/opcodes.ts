/**
 * The immediates behind an instruction's opcode, and its effect on the flow. The meter refuses every instruction that is absent here.
 * Source: WebAssembly core specification 3.0, section 5.4, and the index of instructions; `0x06`, `0x07`, `0x09`, `0x18`, `0x19` are the
 * exception handling that engines had before it.
 */
export const shape = {
  refused: 0,
  /** No immediates, one fuel. */
  plain: 1,
  /** One index or one byte. */
  index: 2,
  twoIndices: 3,
  memory: 4,
  signed32: 5,
  signed64: 6,
  float32: 7,
  float64: 8,
  heapType: 9,
  selectTyped: 10,
  /** No immediates, no fuel. */
  free: 11,
  block: 12,
  loop: 13,
  if: 14,
  else: 15,
  end: 16,
  branch: 17,
  branchIf: 18,
  branchTable: 19,
  branchOnNull: 20,
  unreachable: 21,
  return: 22,
  call: 23,
  callIndirect: 24,
  tailCall: 25,
  tailCallIndirect: 26,
  throw: 27,
  throwRef: 28,
  try: 29,
  catch: 30,
  catchAll: 31,
  delegate: 32,
  rethrow: 33,
  tryTable: 34,
  memoryGrow: 35,
  prefixNumeric: 36,
  prefixVector: 37,
  prefixGc: 38,
  prefixThreads: 39,
} as const;

export type Shape = keyof typeof shape;

/** Opcodes and inclusive ranges of them. */
type Opcodes = readonly (number | readonly [number, number])[];

const opcodes = {
  refused: [],
  plain: [0x1b, [0x45, 0xc4], 0xd1, 0xd3, 0xd4],
  index: [[0x20, 0x26], 0x3f, 0xd2],
  twoIndices: [],
  memory: [[0x28, 0x3e]],
  signed32: [0x41],
  signed64: [0x42],
  float32: [0x43],
  float64: [0x44],
  heapType: [0xd0],
  selectTyped: [0x1c],
  free: [0x01, 0x1a],
  block: [0x02],
  loop: [0x03],
  if: [0x04],
  else: [0x05],
  end: [0x0b],
  branch: [0x0c],
  branchIf: [0x0d],
  branchTable: [0x0e],
  branchOnNull: [0xd5, 0xd6],
  unreachable: [0x00],
  return: [0x0f],
  call: [0x10, 0x14],
  callIndirect: [0x11],
  tailCall: [0x12, 0x15],
  tailCallIndirect: [0x13],
  throw: [0x08],
  throwRef: [0x0a],
  try: [0x06],
  catch: [0x07],
  catchAll: [0x19],
  delegate: [0x18],
  rethrow: [0x09],
  tryTable: [0x1f],
  memoryGrow: [0x40],
  prefixNumeric: [0xfc],
  prefixVector: [0xfd],
  prefixGc: [0xfb],
  prefixThreads: [0xfe],
} satisfies Record<Shape, Opcodes>;

/** The immediates behind `0xfd` and a number: fixed-width vectors. Numbers from 256 on are relaxed vectors. */
const vectors = {
  memory: [
    [0, 11],
    [92, 93],
  ],
  /** 16 bytes: a constant, or the lanes of a shuffle. */
  sixteen: [12, 13],
  lane: [[21, 34]],
  memoryLane: [[84, 91]],
  plain: [
    [14, 20],
    [35, 83],
    [94, 153],
    [155, 255],
  ],
} satisfies Record<string, Opcodes>;

export const vectorShape = { refused: 0, memory: 1, sixteen: 2, lane: 3, memoryLane: 4, plain: 5 } as const;

export const RELAXED_FROM = 256;

/** The immediates behind `0xfc` and a number. */
export const numeric = {
  saturatingUpTo: 7,
  memoryInit: 8,
  dataDrop: 9,
  memoryCopy: 10,
  memoryFill: 11,
  tableInit: 12,
  elementDrop: 13,
  tableCopy: 14,
  tableGrow: 15,
  tableSize: 16,
  tableFill: 17,
} as const;

function lookup(table: Readonly<Record<string, Opcodes>>, values: Readonly<Record<string, number>>): Uint8Array {
  const shapes = new Uint8Array(256);
  for (const [name, listed] of Object.entries(table)) {
    for (const each of listed) {
      const [from, to] = typeof each === "number" ? [each, each] : each;
      shapes.fill(values[name]!, from, to + 1);
    }
  }
  return shapes;
}

/** By opcode. */
export const shapes: Uint8Array = lookup(opcodes, shape);
/** By the number behind `0xfd`, up to 255. */
export const vectorShapes: Uint8Array = lookup(vectors, vectorShape);
