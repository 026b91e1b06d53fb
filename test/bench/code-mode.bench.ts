// 100 calls of an isolated tool from one program (code mode) against the same calls made one by one by the kernel, in one run, in a page. The bar is 1.3.
import { fileURLToPath } from "node:url";
import { keyhole } from "../../scripts/keyhole-plugin.mjs";
import type { CodeModeFigures } from "./code-mode/ratio.ts";
import { atMost } from "./bar.ts";
import { figuresOf } from "./figures.ts";

const page = fileURLToPath(new URL("code-mode", import.meta.url));
const { oneByOneMs, programMs } = (await figuresOf(page, { plugins: [keyhole()] })) as CodeModeFigures;
const ratio = (programMs / oneByOneMs).toFixed(2);
console.log(
  `page: ${programMs.toFixed(1)} ms from one program, ${ratio} × ${oneByOneMs.toFixed(1)} ms one by one ${atMost(programMs / oneByOneMs, 1.3)}`,
);
