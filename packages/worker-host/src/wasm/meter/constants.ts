import { readVector } from "./immediates.ts";
import { shape, shapes } from "./opcodes.ts";
import type { Reader } from "./reader.ts";
import { MeterRefusal } from "./refusal.ts";
import { checkStored } from "./stored.ts";
import { heapType, hex, valueType } from "./types.ts";

const END = 0x0b;

/** Reads the types of the module's own globals. */
export function checkGlobals(reader: Reader | undefined): void {
  for (let count = reader?.u32() ?? 0; reader !== undefined && count > 0; count--) {
    checkStored(valueType(reader), "a global variable");
    reader.byte();
    skipConstant(reader);
  }
}

/** Moves behind a constant expression. */
function skipConstant(reader: Reader): void {
  for (let opcode = reader.byte(); opcode !== END; opcode = reader.byte()) {
    switch (shapes[opcode]) {
      case shape.plain:
        break;
      case shape.index:
        reader.u32();
        break;
      case shape.signed32:
        reader.skipLeb(5);
        break;
      case shape.signed64:
        reader.skipLeb(10);
        break;
      case shape.float32:
        reader.skip(4);
        break;
      case shape.float64:
        reader.skip(8);
        break;
      case shape.heapType:
        heapType(reader);
        break;
      case shape.prefixVector:
        readVector(reader);
        break;
      case shape.prefixGc:
        throw new MeterRefusal("UNSUPPORTED_GC", "A constant of the module uses instructions of garbage collection.");
      default:
        throw new MeterRefusal("UNSUPPORTED_FEATURE", `The constant instruction ${hex(opcode)} is unknown here.`);
    }
  }
}
