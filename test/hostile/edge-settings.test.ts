import { globSync, readFileSync } from "node:fs";
import { jsonTextFault } from "@keyhole/kernel/foreign";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readTokens } from "../../packages/edge/src/app/auth.ts";
import { readJsonSetting } from "../../packages/edge/src/app/json-setting.ts";
import { root } from "../support/sources.ts";

const json = fc.json().filter((text) => jsonTextFault(text)?.reason !== "inexact-number");
const read = (text: string): unknown => readJsonSetting("KEYHOLE_POLICY", text);

it("a setting has the value of its JSON", () => {
  fc.assert(
    fc.property(json, (text) => {
      expect(read(text)).toEqual(JSON.parse(text));
    }),
  );
});

it("a setting with a name twice in one object is refused, wherever the object stands and however the name is written", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1 });
  fc.assert(
    fc.property(name, json, fc.boolean(), (twice, other, isEscaped) => {
      const units = Array.from({ length: twice.length }, (_, at) => twice.charCodeAt(at).toString(16).padStart(4, "0"));
      const again = isEscaped ? `"${units.map((unit) => `\\u${unit}`).join("")}"` : JSON.stringify(twice);
      const object = `{${JSON.stringify(twice)}: 1, "": ${other}, ${again}: 2}`;
      expect(() => read(`{"rules": [${other}, ${object}]}`)).toThrow("a name twice in one object");
    }),
  );
});

it("a token that stands twice in the table is refused", () => {
  const digest = "0".repeat(64);
  const entry = (scopes: string): string => `"${digest}": {"subject": "one", "scopes": [${scopes}]}`;
  expect(readTokens(`{${entry("")}}`).size).toBe(1);
  expect(() => readTokens(`{${entry("")}, ${entry('"tools:call"')}}`)).toThrow("KEYHOLE_TOKENS has a name twice");
});

/** Files of the service that parse JSON, and the reason why each of them may. */
const parsers = {
  "packages/edge/src/app/body.ts": "behind the check of the text",
  "packages/edge/src/app/json-setting.ts": "reads settings",
  "packages/edge/src/app/routes.ts": "headers that the gateway wrote",
};

it("no other code of the service parses JSON", () => {
  const files = globSync("packages/edge/src/{app,mcp,object,bus}/**/*.ts", { cwd: root });
  const parsing = files.filter((path) => readFileSync(`${root}${path}`, "utf8").includes("JSON.parse("));
  expect(parsing.toSorted()).toEqual(Object.keys(parsers));
});
