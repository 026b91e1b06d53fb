import { compileSchema } from "@keyhole/kernel/schema";
import { expect, it } from "vitest";
import { person } from "../../playground/person.ts";
import { publishedTools } from "./published.ts";

it("the playground's form alone gives a valid input for 100 published tools and more", async () => {
  const tools = await publishedTools();
  expect(tools.length).toBeGreaterThanOrEqual(100);
  const faults = tools.flatMap(({ name, inputSchema }) => {
    const compiled = compileSchema(inputSchema);
    const somebody = person();
    const input = somebody.fill(inputSchema);
    const isValid = compiled.ok && compiled.validator.validate(input).ok;
    return isValid && somebody.json.length === 0
      ? []
      : [`${name}: ${somebody.json.join(" ")} ${JSON.stringify(input)}`];
  });
  expect(faults).toEqual([]);
});
