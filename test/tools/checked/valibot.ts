import { defineTool } from "@keyhole/kernel/tool";
import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";

const isInside = (text: string): boolean => !text.includes("..");
const input = v.object({ path: v.pipe(v.string(), v.check(isInside, "The path leaves the folder.")) });
// Its own toStandardJsonSchema() refuses each check that JSON Schema cannot say.
const plain = (): Record<string, unknown> => ({ ...toJsonSchema(input, { errorMode: "ignore" }) });

export default defineTool({
  name: "valibot",
  version: "1.0.0",
  description: "Takes a path.",
  input: { "~standard": { ...input["~standard"], jsonSchema: { input: plain, output: plain } } },
  output: { kind: "json" },
  execute: (input) => input,
});
