// Builds the playground as one HTML file, for any static host: `npm run build:one-file`. Prints its path and size.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./project.mjs";
import { buildOneFile } from "./serve/one-file.mjs";

const folder = join(root, "packages/playground/build");
const html = await buildOneFile();
mkdirSync(folder, { recursive: true });
const path = join(folder, "keyhole-playground.html");
writeFileSync(path, html);
const mebibytes = (/** @type {number} */ bytes) => `${(bytes / 1_048_576).toFixed(1)} MiB`;
const bytes = Buffer.byteLength(html);
console.log(`${path}: ${mebibytes(bytes)}, ${mebibytes(gzipSync(html).length)} with gzip`);
