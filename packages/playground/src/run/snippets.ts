import type { JsonValue, ToolSummary } from "@keyhole/kernel";

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** The call, as a person makes it elsewhere. A token is a variable: the copied text has none. */
export function snippetsOf({ manifest }: ToolSummary, input: JsonValue, address: string): readonly Snippet[] {
  const { name, version } = manifest;
  const pretty = JSON.stringify(input, undefined, 2);
  const body = JSON.stringify({ input, version });
  return [
    {
      id: "typescript",
      title: "TypeScript",
      text: [
        `const result = await kernel.call(${JSON.stringify(name)}, ${pretty}, { version: ${JSON.stringify(version)} });`,
        "if (!result.ok) throw new Error(result.error.message);",
        "console.log(result.data);",
      ].join("\n"),
    },
    {
      id: "curl",
      title: "curl",
      text: [
        `curl -s -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
        `  -d ${shellQuoted(body)} \\`,
        `  ${shellQuoted(`${address}/v1/tools/${encodeURIComponent(name)}/calls`)}`,
      ].join("\n"),
    },
    {
      id: "mcp",
      title: "MCP",
      text: JSON.stringify(
        { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } },
        undefined,
        2,
      ),
    },
  ];
}

/** One word of a POSIX shell, with any content: within single quotes nothing has a meaning but the quote itself. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
