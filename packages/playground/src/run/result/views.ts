import { imageTypeOf } from "./image.ts";
import { type Table, tableOf } from "./table.ts";

/** How a result can be looked at. */
export type View =
  | { readonly id: "tree"; readonly text: "Tree"; readonly value: unknown }
  | { readonly id: "table"; readonly text: "Table"; readonly table: Table }
  | { readonly id: "text"; readonly text: "Text"; readonly content: string }
  | { readonly id: "image"; readonly text: "Image"; readonly bytes: Uint8Array; readonly type: string }
  | { readonly id: "hex"; readonly text: "Hex"; readonly bytes: Uint8Array }
  | { readonly id: "raw"; readonly text: "Raw"; readonly content: () => string };

/** The page does not search a longer text for JSON. */
const mostParsed = 2 << 20;

/** The best one first. */
export function viewsOf(data: unknown): readonly View[] {
  if (data instanceof Uint8Array) return viewsOfBytes(data);
  if (typeof data === "string") return viewsOfText(data);
  const table = tableOf(data);
  const tree: View = { id: "tree", text: "Tree", value: data };
  const raw: View = { id: "raw", text: "Raw", content: () => JSON.stringify(data, undefined, 2) ?? "undefined" };
  const text = onlyText(data);
  return [
    ...(text === undefined ? [] : [text]),
    ...(table === undefined ? [] : [{ id: "table", text: "Table", table } satisfies View]),
    tree,
    raw,
  ];
}

function viewsOfText(content: string): readonly View[] {
  const parsed = parse(content);
  const text: View = { id: "text", text: "Text", content };
  return parsed === undefined ? [text] : [{ id: "tree", text: "Tree", value: parsed }, text];
}

function viewsOfBytes(bytes: Uint8Array): readonly View[] {
  const hex: View = { id: "hex", text: "Hex", bytes };
  const type = imageTypeOf(bytes);
  if (type !== undefined) return [{ id: "image", text: "Image", bytes, type }, hex];
  const content = decoded(bytes);
  return content === undefined ? [hex] : [{ id: "text", text: "Text", content }, hex];
}

/** An object whose one long member is a text of several lines is read as that text. */
function onlyText(data: unknown): View | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const values = Object.values(data);
  const long = values.filter((each): each is string => typeof each === "string" && each.includes("\n"));
  const [content] = long;
  const isOnly = long.length === 1 && values.every((each) => typeof each !== "object" || each === null);
  return isOnly && content !== undefined ? { id: "text", text: "Text", content } : undefined;
}

/** Objects and lists alone: a number or a word is a text. */
function parse(text: string): unknown {
  if (text.length > mostParsed || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
