import { pointKind } from "./metering-points.ts";
import { numeric, RELAXED_FROM, vectorShape, vectorShapes } from "./opcodes.ts";
import type { Reader } from "./reader.ts";
import { MeterRefusal } from "./refusal.ts";

/** Reads what follows `0xfc`. @returns how the instruction's work is counted, where that depends on an operand */
export function readNumeric(body: Reader): number | undefined {
  const operation = body.u32();
  if (operation <= numeric.saturatingUpTo) return undefined;
  switch (operation) {
    case numeric.memoryInit:
      body.u32();
      if (body.u32() !== 0) throw multiMemory();
      return pointKind.bulk;
    case numeric.memoryCopy:
      if (body.u32() !== 0 || body.u32() !== 0) throw multiMemory();
      return pointKind.bulk;
    case numeric.memoryFill:
      if (body.u32() !== 0) throw multiMemory();
      return pointKind.bulk;
    case numeric.tableInit:
    case numeric.tableCopy:
      body.u32();
      body.u32();
      return pointKind.bulk;
    case numeric.tableFill:
      body.u32();
      return pointKind.bulk;
    case numeric.tableGrow:
      body.u32();
      return pointKind.growTable;
    case numeric.dataDrop:
    case numeric.elementDrop:
    case numeric.tableSize:
      body.u32();
      return undefined;
    default:
      throw new MeterRefusal("UNSUPPORTED_FEATURE", `The instruction 0xfc ${operation} is unknown here.`);
  }
}

/** Reads what follows `0xfd`. */
export function readVector(body: Reader): void {
  const operation = body.u32();
  if (operation >= RELAXED_FROM) {
    throw new MeterRefusal(
      "UNSUPPORTED_RELAXED_SIMD",
      "The module uses relaxed vector instructions, whose results differ between machines.",
    );
  }
  switch (vectorShapes[operation]) {
    case vectorShape.plain:
      return;
    case vectorShape.memory:
      return readMemoryArgument(body);
    case vectorShape.sixteen:
      return body.skip(16);
    case vectorShape.lane:
      return body.skip(1);
    case vectorShape.memoryLane:
      readMemoryArgument(body);
      return body.skip(1);
    default:
      throw new MeterRefusal("UNSUPPORTED_FEATURE", `The instruction 0xfd ${operation} is unknown here.`);
  }
}

export function readMemoryArgument(body: Reader): void {
  // Bit 6 of the alignment says that the index of a memory follows.
  if (body.u32() >= 0x40) throw multiMemory();
  body.skipLeb(5);
}

export function multiMemory(): MeterRefusal {
  return new MeterRefusal("UNSUPPORTED_MULTI_MEMORY", "The module uses more than one memory.");
}
