import { Writer } from "./writer.ts";

/** Instructions that metering writes. Source: WebAssembly core specification 3.0, section 5.4. */
export const op = {
  unreachable: 0x00,
  block: 0x02,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  delegate: 0x18,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  memorySize: 0x3f,
  i32Const: 0x41,
  i64Const: 0x42,
  i32LessUnsigned: 0x49,
  i32Eqz: 0x45,
  i32Equal: 0x46,
  i64Eqz: 0x50,
  i64LessSigned: 0x53,
  i32Sub: 0x6b,
  i64Sub: 0x7d,
  i64And: 0x83,
  i64Or: 0x84,
  i64ShiftLeft: 0x86,
  i64ExtendUnsigned: 0xad,
} as const;

export const valueType = { i32: 0x7f, i64: 0x7e } as const;
export const blockType = { empty: 0x40 } as const;

/** A function's instructions, as bytes. */
export class CodeWriter extends Writer {
  /** An instruction on a local or a global. */
  indexed(instruction: number, index: number): void {
    this.byte(instruction);
    this.u32(index);
  }

  i64(value: number): void {
    this.byte(op.i64Const);
    this.signed(value);
  }
}
