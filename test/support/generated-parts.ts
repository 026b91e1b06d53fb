/** A part of a page that a program writes, between its two marks. */
export const generatedPart = /(<!-- generated [^>]*-->\n\n)([\s\S]*?)(\n\n<!-- end -->)/g;

/** The page with these parts in place of its generated ones, in their order. */
export function withGenerated(page: string, parts: readonly string[]): string {
  const rest = [...parts];
  return page.replaceAll(generatedPart, (_, open: string, before: string, end: string) =>
    [open, rest.shift() ?? before, end].join(""),
  );
}

export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, titles.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
