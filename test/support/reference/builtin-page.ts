import { globSync } from "node:fs";
import type { Tool } from "../../../packages/kernel/src/tool/define.ts";
import { root } from "../sources.ts";
import { page, tableOf } from "./markdown.ts";

const folder = "packages/worker-host/src/tools";

/** Every tool that the project ships, as its own manifest states it. */
export async function builtinPage(): Promise<string> {
  const [general, operations] = await Promise.all([rowsOf(`${folder}/*.ts`), rowsOf(`${folder}/operations/*.ts`)]);
  const titles = ["Tool", "Tier", "Effects", "Determinism", "Description"];
  return page(
    "Built-in tools",
    "For agent developers and operators: the manifest of each tool in `@keyhole/worker-host`.",
    `\`${folder}\``,
    [
      "## Tools",
      "",
      ...tableOf(titles, general),
      "## Tools of an operations agent",
      "",
      ...tableOf([...titles, "Modes"], operations),
    ],
  );
}

async function rowsOf(pattern: string): Promise<readonly (readonly string[])[]> {
  const paths = globSync(pattern, { cwd: root }).filter((path) => !/index|-at|\.d\.ts$/.test(path));
  const loaded = await Promise.all(paths.map(async (path) => (await import(`${root}${path}`)) as { default?: Tool }));
  const definitions = loaded.flatMap((each) => (each.default ? [each.default.definition] : []));
  return definitions
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, tier, effects = [], determinism, description, modes }) => [
      `\`${name}\``,
      String(tier ?? 0),
      effects.map((effect) => `\`${effect}\``).join(", "),
      determinism ?? "pure",
      description,
      ...(pattern.includes("operations") ? [modes?.join(", ") ?? "all"] : []),
    ]);
}
