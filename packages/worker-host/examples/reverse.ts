// Turns a text around: {"text":"abc"} gives "cba". A module without WASI, in AssemblyScript.
//
//   npx --package assemblyscript@0.28.20 asc reverse.ts -O3 --runtime stub --use abort=reverse/abort -o reverse.wasm

/** Where the host writes the input. */
export function alloc(length: i32): usize {
  return heap.alloc(length);
}

/** The output's place in the upper half, its length in the lower half; bit 31 set for what went wrong. */
export function run(at: usize, length: i32): u64 {
  const input = String.UTF8.decodeUnsafe(at, length);
  const from = input.indexOf('"text":"');
  const to = input.lastIndexOf('"');
  if (from < 0 || to < from + 8) return output("there is no text in the input", true);
  let turned = "";
  for (let i = to - 1; i >= from + 8; i--) turned += input.charAt(i);
  return output(turned, false);
}

function output(text: string, isError: bool): u64 {
  const bytes = String.UTF8.encode(text);
  const length: u64 = bytes.byteLength | (isError ? 0x80000000 : 0);
  return ((changetype<usize>(bytes) as u64) << 32) | length;
}

/** What AssemblyScript calls when a check of its own fails. */
function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  unreachable();
}
