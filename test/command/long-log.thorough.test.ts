import { expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioOf } from "../support/command-files.ts";

/* A log that is larger than any memory: 2 GB of events, made while they are read. */

const logBytes = 2 ** 31;

function* events(): Generator<Uint8Array, void, undefined> {
  const payload = JSON.stringify({ tool: "echo@1.0.0", note: "x".repeat(900) });
  for (let seq = 0, made = 0; made < logBytes;) {
    const lines: string[] = [];
    for (let each = 0; each < 256; each++, seq++)
      lines.push(
        `{"seq":${seq},"time":"2026-01-01T00:00:00Z","type":"tool.completed","callId":"c${seq}","sessionId":"s","payload":${payload},"prev":"","hash":""}\n`,
      );
    const chunk = Buffer.from(lines.join(""));
    made += chunk.length;
    yield chunk;
  }
}

it.each([
  ["log show", ["log", "show", "log.jsonl", "--last", "3"]],
  ["log show --tool", ["log", "show", "log.jsonl", "--tool", "none", "--last", "3"]],
  ["log export", ["log", "export", "log.jsonl", "--format", "csv"]],
  ["policy suggest", ["policy", "suggest", "log.jsonl"]],
])("%s reads 2 GB in bounded memory", async (_, words) => {
  let mostBytes = 0;
  const io = ioOf({});
  const before = process.memoryUsage().rss;
  const files = {
    ...io.files,
    async *chunks() {
      for (const chunk of events()) {
        mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
        yield chunk;
      }
    },
  };
  const { exitCode } = await runCommand(words, { ...io, files });
  expect(exitCode).toBe(0);
  const mebibytes = ((mostBytes - before) / 1_048_576).toFixed(0);
  process.stdout.write(`${words.slice(0, 2).join(" ")}: ${mebibytes} MiB more at most\n`);
  expect(mostBytes - before).toBeLessThan(512 * 1_048_576);
});
