import { formatOf } from "../../schema/formats/index.ts";
import type { Extension } from "../extension.ts";

/** Tests `format` in the schemas of tools. Without it the kernel refuses a tool whose schema has a format. */
export function schemaFormats(): Extension {
  return { name: "schemaFormats", schemaParts: { formatOf } };
}
