import { readFileSync } from "node:fs";
import { root } from "../sources.ts";
import { page, tableOf } from "./markdown.ts";

const folder = "packages/edge/src/app";

function read(file: string): string {
  return readFileSync(`${root}${folder}/${file}`, "utf8");
}

export function httpPage(): string {
  const routes = ["gateway.ts", "routes.ts"].flatMap((file) => routesIn(read(file)));
  const once = [...new Map(routes.map((cells) => [cells.slice(0, 2).join(), cells])).values()];
  const problems = [
    ...read("problem.ts").matchAll(/^ {2}([A-Z_]+): \{ status: (\d+), title: "([^"]+)"(?:, retryable: true)? \}/gm),
  ];
  return page(
    "HTTP",
    "For clients of the edge: each route with its scope, and the status of each code. [HTTP API](../http-api.md) has requests and answers.",
    `\`${folder}\``,
    [
      "## Routes",
      "",
      ...tableOf(["Method", "Path", "Scope"], once),
      "## Status of each code",
      "",
      ...tableOf(
        ["Code", "Status", "Title"],
        problems.map(([, code = "", status = "", title = ""]) => [`\`${code}\``, status, title]),
      ),
    ],
  );
}

function routesIn(source: string): readonly (readonly string[])[] {
  const found = source.matchAll(/app\.(get|post|put|delete)\(\s*"([^"]+)",\s*(?:allow\("([^"]+)"\))?/g);
  return [...found].map(([, method = "", path = "", scope]) => [
    method.toUpperCase(),
    `\`${path}\``,
    scope === undefined ? "none" : `\`${scope}\``,
  ]);
}
