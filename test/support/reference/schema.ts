import { readFileSync } from "node:fs";
import { root } from "../sources.ts";
import { code, tableOf } from "./markdown.ts";

interface Schema {
  readonly [key: string]: unknown;
}

/** A row for each member at any depth. `[]` stands for each entry of a list, `*` for each name. */
export function schemaTable(path: string): readonly string[] {
  const schema: unknown = JSON.parse(readFileSync(root + path, "utf8"));
  const rows = new Map<string, readonly string[]>();
  if (isSchema(schema)) visit(schema, "", rows);
  return tableOf(["Member", "Value", "Meaning"], [...rows.values()]);
}

function visit(schema: Schema, path: string, rows: Map<string, readonly string[]>): void {
  const options = [...listOf(schema["oneOf"]), ...listOf(schema["anyOf"])];
  const ofAll = requiredIn(options[0]).filter((name) => options.every((option) => requiredIn(option).includes(name)));
  for (const option of options) visit({ ...option, required: ofAll }, path, rows);
  const required = requiredIn(schema);
  for (const [name, member] of Object.entries(isSchema(schema["properties"]) ? schema["properties"] : {})) {
    if (!isSchema(member) || name === "$schema") continue;
    const at = path === "" ? name : `${path}.${name}`;
    // Kinds of capabilities have a shape each: a member that several have is one row with all their values.
    const [label = "", value = "", text = ""] = rowOf(at, member, required.includes(name));
    const before = rows.get(at)?.[1] ?? value;
    rows.set(at, [label, before.includes(value) ? before : `${before} ${value}`, rows.get(at)?.[2] ?? text]);
    visit(member, at, rows);
  }
  if (isSchema(schema["items"])) visit(schema["items"], `${path}[]`, rows);
  if (isSchema(schema["additionalProperties"])) visit(schema["additionalProperties"], `${path}.*`, rows);
}

function rowOf(at: string, member: Schema, isRequired: boolean): readonly string[] {
  const text = typeof member["description"] === "string" ? member["description"] : "";
  return [`\`${at}\`${isRequired ? " (required)" : ""}`, valueOf(member), text];
}

function valueOf(schema: Schema): string {
  if ("const" in schema) return code(JSON.stringify(schema["const"]));
  if (Array.isArray(schema["enum"])) return schema["enum"].map((each) => code(JSON.stringify(each))).join(" ");
  const options = [...listOf(schema["oneOf"]), ...listOf(schema["anyOf"])].map(valueOf);
  if (options.length > 0) return [...new Set(options)].join(" or ");
  if (schema["type"] === "array" && isSchema(schema["items"])) return `list of ${valueOf(schema["items"])}`;
  const limits = Object.entries(limitTexts).flatMap(([name, text]) =>
    typeof schema[name] === "number" && Number.isSafeInteger(schema[name] + 1) && schema[name] > -1e15
      ? [`${text} ${String(schema[name])}`]
      : [],
  );
  const type = Array.isArray(schema["type"]) ? schema["type"].join(" or ") : String(schema["type"] ?? "any");
  return [type, ...limits].join(", ");
}

const limitTexts = {
  minimum: "at least",
  maximum: "at most",
  maxLength: "characters at most",
} as const;

function requiredIn(schema: Schema | undefined): readonly unknown[] {
  return Array.isArray(schema?.["required"]) ? (schema["required"] as unknown[]) : [];
}

function listOf(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isSchema) : [];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
