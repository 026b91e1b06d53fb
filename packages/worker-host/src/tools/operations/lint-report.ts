import { compileSchema, type FromSchema } from "@keyhole/kernel/schema";
import { lineOf } from "./clean.ts";
import { unreadable } from "./program.ts";

export const severities = ["error", "warning", "note"] as const;
type Severity = (typeof severities)[number];

export interface Finding {
  /** As the linter says it. */
  readonly path: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly severity: Severity;
  readonly rule: string | null;
  readonly message: string;
}

const place = { type: "integer", minimum: 0 } as const;
const text = { type: "string" } as const;

/** The fields of SARIF 2.1.0 (OASIS) that the tool reads. */
const sarif = {
  type: "object",
  properties: {
    version: { const: "2.1.0" },
    runs: {
      type: "array",
      items: {
        type: "object",
        properties: {
          results: {
            type: "array",
            items: {
              type: "object",
              properties: {
                ruleId: text,
                level: { enum: ["none", "note", "warning", "error"] },
                message: { type: "object", properties: { text }, required: ["text"] },
                locations: {
                  type: "array",
                  items: {
                    type: "object",
                    properties: {
                      physicalLocation: {
                        type: "object",
                        properties: {
                          artifactLocation: { type: "object", properties: { uri: text } },
                          region: { type: "object", properties: { startLine: place, startColumn: place } },
                        },
                      },
                    },
                  },
                },
              },
              required: ["message"],
            },
          },
        },
      },
    },
  },
  required: ["version", "runs"],
} as const;

/** Output of `eslint --format=json`. */
const eslint = {
  type: "array",
  items: {
    type: "object",
    properties: {
      filePath: text,
      messages: {
        type: "array",
        items: {
          type: "object",
          properties: {
            ruleId: { type: ["string", "null"] },
            severity: { enum: [1, 2] },
            message: text,
            line: place,
            column: place,
          },
          required: ["severity", "message"],
        },
      },
    },
    required: ["filePath", "messages"],
  },
} as const;

/** One line of `mypy --output=json`. Its columns begin with 0, and -1 is none. */
const mypy = {
  type: "object",
  properties: {
    file: text,
    line: { type: "integer" },
    column: { type: "integer" },
    message: text,
    code: { type: ["string", "null"] },
    severity: { enum: severities },
  },
  required: ["file", "line", "column", "message", "severity"],
} as const;

/** @throws {Error} where the output is not what the schema describes */
function reader<const S extends object>(schema: S): (linter: string, output: string) => FromSchema<S> {
  const compiled = compileSchema(schema);
  if (!compiled.ok) throw new Error(compiled.error.message);
  const { validator } = compiled;
  return (linter, output) => {
    const result = validator.validate(jsonOf(linter, output));
    const [first] = result.ok ? [] : result.errors;
    if (result.ok) return result.value as FromSchema<S>;
    throw unreadable(linter, lineOf(`${first?.instancePath ?? ""} ${first?.keyword ?? "json"}`, 300));
  };
}

function jsonOf(linter: string, output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    throw unreadable(linter, "it is no JSON");
  }
}

const [asSarif, asEslint, asMypy] = [reader(sarif), reader(eslint), reader(mypy)];

export function readSarif(linter: string, output: string): readonly Finding[] {
  return asSarif(linter, output).runs.flatMap(({ results = [] }) =>
    results.map(({ ruleId, level = "warning", message, locations }) => {
      const { artifactLocation, region } = locations?.[0]?.physicalLocation ?? {};
      return {
        path: lineOf(pathOf(artifactLocation?.uri ?? "")),
        line: region?.startLine ?? null,
        column: region?.startColumn ?? null,
        severity: level === "none" ? "note" : level,
        rule: ruleId === undefined ? null : lineOf(ruleId, ruleLength),
        message: lineOf(message.text, messageLength),
      } satisfies Finding;
    }),
  );
}

export function readEslint(linter: string, output: string): readonly Finding[] {
  return asEslint(linter, output).flatMap(({ filePath, messages }) =>
    messages.map(
      ({ ruleId = null, severity, message, line, column }) =>
        ({
          path: lineOf(filePath),
          line: line ?? null,
          column: column ?? null,
          severity: severity === 2 ? "error" : "warning",
          rule: ruleId === null ? null : lineOf(ruleId, ruleLength),
          message: lineOf(message, messageLength),
        }) satisfies Finding,
    ),
  );
}

export function readMypy(linter: string, output: string): readonly Finding[] {
  const lines = output.split("\n").filter((each) => each !== "");
  return lines.map((each) => {
    const { file, line, column, message, code = null, severity } = asMypy(linter, each);
    return {
      path: lineOf(file),
      line: line < 1 ? null : line,
      column: column < 0 ? null : column + 1,
      severity,
      rule: code === null ? null : lineOf(code, ruleLength),
      message: lineOf(message, messageLength),
    };
  });
}

const ruleLength = 200;
const messageLength = 1_000;

/** A path from a URI of a file. */
function pathOf(uri: string): string {
  try {
    return decodeURIComponent(uri.replace(/^file:\/\/(?=\/)/, ""));
  } catch {
    return uri;
  }
}
