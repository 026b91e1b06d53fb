import type { HttpTemplate, JsonValue, OutputContract } from "@keyhole/kernel";
import { usedBy } from "./body.ts";
import { type Checked, fault } from "./place.ts";

export type Responses = NonNullable<HttpTemplate["responses"]>;

/** References to what a reply is made of. */
const sources = ["body", "headers", "status", "input"];

export function checkResponses(
  responses: Responses,
  outputKind: OutputContract["kind"],
): Checked<{ readonly responses: Responses }> {
  for (const [status, response] of Object.entries(responses)) {
    const at = `/http/responses/${status}`;
    if (!("error" in response) && response.output !== undefined && outputKind !== "json" && outputKind !== "text")
      return fault(`${at}/output`, `An output of kind ${outputKind} is the body as it is.`);
    const [name, template = null] =
      "error" in response ? ["error/message", response.error.message] : ["output", response.output];
    const used = usedBy(template, `${at}/${name}`, sources);
    if (!used.ok) return used;
  }
  return { ok: true, responses };
}

/** Whether a template needs the body as JSON. */
export function referencesBody(template: JsonValue | undefined): boolean {
  const used = template === undefined ? undefined : usedBy(template, "", sources);
  return used?.ok === true && used.references.some(({ source }) => source === "body");
}
