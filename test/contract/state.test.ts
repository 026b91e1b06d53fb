import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memorySink } from "@keyhole/kernel";
import { type FileSink, fileSink } from "@keyhole/worker-host/node";
import { afterAll, beforeAll } from "vitest";
import { describeState } from "./state.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-state-"));
});
afterAll(() => rm(folder, { recursive: true }));

describeState("memory", () => {
  const sink = memorySink();
  return { open: () => sink, kill: () => {} };
});

let files = 0;
describeState("a file", () => {
  const path = join(folder, `${files++}.jsonl`);
  let sink: FileSink | undefined;
  return {
    open: () => (sink = fileSink(path, { fsync: "never" })),
    kill: () => sink?.close(),
  };
});
