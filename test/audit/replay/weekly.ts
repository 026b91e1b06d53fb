import { defineTool } from "@keyhole/kernel/tool";

/** Sees all that a sealed tool can see: the network, files, the clock and chance in every guise, failures, several things at the same time. */
export default defineTool({
  name: "weekly",
  version: "1.0.0",
  description: "Writes a report.",
  determinism: "external",
  effects: ["net.read", "fs.read", "fs.write"],
  capabilities: [
    { kind: "net.read", hosts: ["example.com"] },
    { kind: "fs.read", paths: ["**"] },
    { kind: "fs.write", paths: ["**"] },
  ],
  input: { type: "object", properties: { week: { type: "integer" } }, required: ["week"] },
  output: { kind: "json" },
  execute: async ({ week }, { fetch, files, now, random, log }) => {
    const order: string[] = [];
    const noted = async <Value>(name: string, work: Promise<Value>): Promise<Value | string> => {
      const value = await work.catch((error: unknown) => (error instanceof Error ? error.message : "threw"));
      order.push(name);
      return value;
    };
    const sales = await noted(
      "sales",
      fetch(`https://example.com/sales?week=${week}`).then((response) => response.text()),
    );
    const [notes, absent] = await Promise.all([
      noted(
        "notes",
        files.read("notes.txt").then((bytes) => new TextDecoder().decode(bytes)),
      ),
      noted(
        "absent",
        files.read("absent.txt").then(() => "there"),
      ),
    ]);
    log(`week ${week}`);
    const report = {
      week,
      sales,
      notes,
      absent,
      order,
      at: new Date(now()).toISOString(),
      sameClock: Date.now() === now(),
      chance: [random(), Math.random(), Math.random()],
      words: ["é", "ﬁ", "ß"].map((word) => word.normalize("NFKD").toUpperCase()),
      number: 0.1 + 0.2,
    };
    await files.write("report.json", JSON.stringify(report));
    return report;
  },
});
