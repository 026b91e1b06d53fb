import type { ReactNode } from "react";
import { Text } from "./Json.tsx";
import { visible } from "@keyhole/kernel";

/** As much of Markdown as the project's own pages use: headings, paragraphs, lists, tables, fenced and inline code, bold; no comments. Its text never becomes HTML. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  return <div className="stack-l prose">{blocksOf(text).map(renderBlock)}</div>;
}

type Block =
  | { readonly kind: "heading" | "paragraph" | "code"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly string[] }
  | { readonly kind: "table"; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };

const fence = /^```[^\n]*\n([\s\S]*?)^```[ \t]*$/gm;

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let end = 0;
  for (const match of text.matchAll(fence)) {
    blocks.push(...proseOf(text.slice(end, match.index)), { kind: "code", text: match[1] ?? "" });
    end = match.index + match[0].length;
  }
  return [...blocks, ...proseOf(text.slice(end))];
}

function proseOf(text: string): readonly Block[] {
  const parts = text.split(/\n\s*\n/).map((part) => part.trim());
  return parts.filter((part) => part !== "" && !/^<!--[^>]*-->$/.test(part)).flatMap(blockOf);
}

function blockOf(part: string): readonly Block[] {
  const heading = /^#{1,6} ([^\n]*)\n?/.exec(part);
  if (heading !== null) return [{ kind: "heading", text: heading[1] ?? "" }, ...proseOf(part.slice(heading[0].length))];
  if (/^[-*] /.test(part))
    return [
      { kind: "list", items: part.split(/\n(?=[-*] )/).map((item) => item.slice(2).replaceAll(/\s*\n\s*/g, " ")) },
    ];
  if (part.startsWith("|")) return tableOf(part);
  return [{ kind: "paragraph", text: part.replaceAll(/\s*\n\s*/g, " ") }];
}

function tableOf(part: string): readonly Block[] {
  const [head = [], , ...rows] = part.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return [{ kind: "table", head, rows }];
}

/** Blocks never move: the text is fixed, so that a position is an identity. */
function renderBlock(block: Block, index: number): ReactNode {
  switch (block.kind) {
    case "heading":
      return <h3 key={index}>{inline(block.text)}</h3>;
    case "paragraph":
      return <p key={index}>{inline(block.text)}</p>;
    case "code":
      return <Text key={index} text={block.text.trimEnd()} label="Example" />;
    case "table":
      return (
        <table key={index}>
          <thead>
            <tr>
              {block.head.map((cell) => (
                <th key={cell}>{inline(cell)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {block.rows.map((row) => (
              <tr key={row.join()}>
                {row.map((cell, column) => (
                  <td key={column}>{inline(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
    case "list":
      return (
        <ul key={index}>
          {block.items.map((item) => (
            <li key={item}>{inline(item)}</li>
          ))}
        </ul>
      );
  }
}

/** One line of it: code and bold. */
export function Inline({ text }: { readonly text: string }): ReactNode {
  return inline(text);
}

function inline(text: string): ReactNode[] {
  return visible(text)
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .map((part, index) => {
      if (part.startsWith("`")) return <code key={index}>{part.slice(1, -1)}</code>;
      return part.startsWith("**") ? (
        <strong key={index}>{part.slice(2, -2)}</strong>
      ) : (
        part.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
      );
    });
}
