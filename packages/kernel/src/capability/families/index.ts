import { Families } from "../registry.ts";
import { explain } from "../../schema/explain/index.ts";
import { formatOf } from "../../schema/formats/index.ts";
import { linearPatterns } from "../../schema/regex/pattern.ts";
import { browserPage } from "./browser-page.ts";
import { clock, random } from "./clock.ts";
import { dbRead, dbWrite } from "./db.ts";
import { fsRead, fsWrite } from "./fs.ts";
import { kvRead, kvWrite } from "./kv.ts";
import { netRead, netWrite } from "./net.ts";
import { processSpawn } from "./process-spawn.ts";
import { secretUse } from "./secret-use.ts";
import { toolCall } from "./tool-call.ts";

/*
 * `@keyhole/kernel/families`: the kinds of capability, and what it takes to define another one.
 */
export { defineFamily } from "../define-family.ts";
export type { ConditionSpec, ConditionValues, Family, FamilySpec, OfKind, Reading } from "../family.ts";
export {
  areTexts,
  type CapabilityFault,
  count,
  type Field,
  type Guard,
  isAmount,
  isFlag,
  isLiteral,
  isText,
  listOf,
  optional,
  type OptionalField,
  orAbsent,
  patterns,
} from "../fields.ts";
export { Families };
export {
  browserPage,
  clock,
  dbRead,
  dbWrite,
  fsRead,
  fsWrite,
  kvRead,
  kvWrite,
  netRead,
  netWrite,
  processSpawn,
  random,
  secretUse,
  toolCall,
};

/** The families that the kernel's own brokers and extensions serve, with explanations. */
export const builtInFamilies: Families = /* @__PURE__ */ new Families(
  [
    netRead,
    netWrite,
    fsRead,
    fsWrite,
    dbRead,
    dbWrite,
    kvRead,
    kvWrite,
    processSpawn,
    browserPage,
    toolCall,
    secretUse,
    clock,
    random,
  ],
  { formatOf, linearPatterns, explain },
);
