import { clock, random } from "./clock.ts";
import { dbRead, dbWrite } from "./db.ts";
import { fsRead, fsWrite } from "./fs.ts";
import { kvRead, kvWrite } from "./kv.ts";
import { netRead, netWrite } from "./net.ts";
import { processSpawn } from "./process-spawn.ts";
import { secretUse } from "./secret-use.ts";
import { toolCall } from "./tool-call.ts";
import { Families } from "../registry.ts";

/** The families that the kernel's own brokers and extensions serve. */
export const builtInFamilies: Families = /* @__PURE__ */ new Families([
  netRead,
  netWrite,
  fsRead,
  fsWrite,
  dbRead,
  dbWrite,
  kvRead,
  kvWrite,
  processSpawn,
  toolCall,
  secretUse,
  clock,
  random,
]);
