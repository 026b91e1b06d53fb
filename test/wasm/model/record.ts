/**
 * Writes what the reference interpreter says of all random modules. In the repository:
 *
 * node --conditions=keyhole-source test/wasm/model/record.ts
 */
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { encode } from "./encode.ts";
import { expected, fingerprint } from "./expected.ts";
import { type Generator, generators, given, MODULES, type RecordedModule, toRecord } from "./recorded.ts";

const all = Object.fromEntries(
  Object.entries(generators).map(([name, generate]) => [
    name,
    Array.from({ length: MODULES }, (_, seed): RecordedModule => {
      const program = generate(seed);
      return [fingerprint(encode(program)), ...expected(program, given).map(toRecord)];
    }),
  ]),
) as Record<Generator, RecordedModule[]>;
writeFileSync(new URL("recorded.json.gz", import.meta.url), gzipSync(JSON.stringify(all), { level: 9 }));
