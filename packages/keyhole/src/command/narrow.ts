/**
 * Help within a terminal that is narrower than its two columns. Words break at spaces, further in than their line. A command stays whole, so that a person can copy it.
 *
 * @param columns of the terminal
 */
export function narrowed(text: string, columns: number): string {
  return text
    .split("\n")
    .flatMap((line) => (line.length <= columns || line.startsWith("  keyhole ") ? [line] : brokenUp(line, columns)))
    .join("\n");
}

function brokenUp(line: string, columns: number): readonly string[] {
  // Each with the spaces in front of it, which are more between two columns.
  const words = line.trim().match(/ *[^ ]+/g) ?? [];
  const longest = Math.max(...words.map((word) => word.trim().length));
  const indent = Math.min(line.search(/\S/), Math.max(0, columns - longest));
  const further = " ".repeat(Math.min(indent + 2, Math.max(0, columns - longest)));
  const lines: string[] = [];
  let present = " ".repeat(indent);
  for (const word of words) {
    if (present.trim() !== "" && present.length + word.length > columns) {
      lines.push(present);
      present = further + word.trim();
    } else present += word;
  }
  return [...lines, present];
}
