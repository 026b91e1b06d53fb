import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memorySink } from "@keyhole/kernel";
import { callbackSink } from "@keyhole/kernel/audit";
import { type FileSink, fileSink } from "@keyhole/worker-host/node";
import { afterAll, beforeAll } from "vitest";
import { describeSink } from "./sink.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-sink-"));
});
afterAll(() => rm(folder, { recursive: true }));

describeSink("memory", { keeps: false }, () => ({ open: () => memorySink(), close: () => {} }));
describeSink("callback", { keeps: false }, () => ({ open: () => callbackSink(async () => {}), close: () => {} }));

let files = 0;
for (const fsync of ["batch", "second", "never"] as const) {
  describeSink(`file, fsync ${fsync}`, { keeps: true }, () => {
    const path = join(folder, `${files++}.jsonl`);
    let sink: FileSink | undefined;
    return {
      open: () => (sink = fileSink(path, { fsync })),
      close: () => sink?.close(),
      async tamper(seq, line) {
        const lines = (await readFile(path, "utf8")).split("\n");
        lines.splice(seq, 1, ...(line === undefined ? [] : [line]));
        await writeFile(path, lines.join("\n"));
      },
    };
  });
}
