import type { Member } from "./docstrings.ts";

export function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll(/(?<!\\)\|/g, "\\|")).join(" | ")} |`;
}

export function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [row(...titles), row(...titles.map(() => "---")), ...rows.map((cells) => row(...cells)), ""];
}

/** A row for each member; those of an object type behind it, with its name in front. */
export function membersTable(members: readonly Member[], title = "Member"): readonly string[] {
  return tableOf(
    [title, "Type", "Meaning"],
    members.flatMap((member) => rowsOf(member, "")),
  );
}

function rowsOf({ name, isOptional, type, text, members }: Member, front: string): readonly (readonly string[])[] {
  const path = `${front}${name}`;
  const shown = members.length > 0 ? "object" : type;
  const label = `\`${path}\`${isOptional ? "" : " (required)"}`;
  return [[label, code(shown), text], ...members.flatMap((member) => rowsOf(member, `${path}.`))];
}

export function code(text: string): string {
  if (text === "") return "";
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** @param reader for whom the page is, and what it gives, as two sentences */
export function page(title: string, reader: string, source: string, lines: readonly string[]): string {
  const written = `\`npm run write:reference\` writes this page from ${source}.`;
  return `${[`# ${title}`, "", reader, written, "", ...lines].join("\n").trimEnd()}\n`;
}
