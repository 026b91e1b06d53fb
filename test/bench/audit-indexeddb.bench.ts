// The audit log in IndexedDB, beside memory in the same page: events a second that are appended, in batches as a kernel makes them and in others,
// and read back and verified. In a profile on the disk: a private one keeps its databases in memory.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Figures, report } from "./audit/rows.ts";
import { figuresOf } from "./figures.ts";

const page = fileURLToPath(new URL("audit/page", import.meta.url));
const profile = await mkdtemp(join(tmpdir(), "keyhole-bench-"));
try {
  report((await figuresOf(page, { profile })) as Record<string, Figures>);
} finally {
  await rm(profile, { recursive: true });
}
