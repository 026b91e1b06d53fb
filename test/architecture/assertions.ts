import type { SourceAssertion, SourceFile } from "../support/sources.ts";

/**
 * Type assertions per thousand lines of each package: `as` without `as const`, and `!`. A ceiling can only go down; the goal of every
 * package is 5 and 3.
 */
export const ceilings: Readonly<Record<string, Readonly<Record<SourceAssertion["kind"], number>>>> = {
  kernel: { as: 5, "!": 0.6 },
  "worker-host": { as: 9.2, "!": 2.8 },
  agents: { as: 8.5, "!": 0 },
  edge: { as: 3.9, "!": 1.5 },
  keyhole: { as: 4.4, "!": 2.1 },
  mcp: { as: 5.5, "!": 2 },
  playground: { as: 4.2, "!": 1.8 },
};

/** Below a ceiling by more than this, and the ceiling follows. Less is the work of somebody who changed a few lines. */
const slack = 1.5;

const partOf = (path: string): string => path.split("/")[1] ?? "";

/** Ceilings that are passed, and ceilings that are too high by now. */
export function assertionFaults(files: readonly SourceFile[], most: typeof ceilings = ceilings): string[] {
  const parts = Map.groupBy(files, ({ path }) => partOf(path));
  return [...parts].flatMap(([part, own]) =>
    (["as", "!"] as const).flatMap((kind) => {
      const lines = own.reduce((sum, { lineCount }) => sum + lineCount, 0);
      const count = own.flatMap(({ assertions }) => assertions).filter((each) => each.kind === kind).length;
      const rate = (1000 * count) / lines;
      const ceiling = most[part]?.[kind] ?? 0;
      const got = `${part}: ${rate.toFixed(2)} × ${kind} in 1000 lines`;
      if (rate > ceiling) return [`${got}, ceiling ${ceiling}. Use a guard or a better type.`];
      if (rate < ceiling - slack) return [`${got}: lower its ceiling, ${ceiling}, in test/architecture/assertions.ts.`];
      return [];
    }),
  );
}
