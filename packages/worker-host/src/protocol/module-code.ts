import { IsolateFailure, type RegisteredTool, type SetupError } from "@keyhole/kernel";
import { importAt } from "./import-at.ts";

/** Of the code, in a message. */
const EXCERPT_LENGTH = 40;

/**
 * The fault of a JavaScript package, for {@link IsolateHost.check}. An import would reach what a
 * shell cannot take away: modules of the platform, the module's own address, and the address to
 * which a page reports violations of its policy.
 */
export function moduleFault({ body }: RegisteredTool): SetupError | undefined {
  const at = body.source === "module" ? importAt(body.code) : undefined;
  if (at === undefined || body.source !== "module") return undefined;
  const excerpt = JSON.stringify(body.code.slice(at, at + EXCERPT_LENGTH));
  return {
    code: "INVALID_MANIFEST",
    path: "/code",
    message: `The code can contain an import at character ${at}: ${excerpt}.`,
    hint: "Bundle all that the tool needs into its module. Inside of a string write the word in two parts.",
  };
}

/**
 * The code of a package in JavaScript, for an isolate.
 *
 * @throws IsolateFailure `TOOL_ERROR` for code that can import. A program of a call was never registered.
 */
export function moduleCode(tool: RegisteredTool): string {
  if (tool.body.source !== "module") throw new TypeError("a tool of another source has no module of JavaScript");
  const fault = moduleFault(tool);
  if (fault === undefined) return tool.body.code;
  throw new IsolateFailure("TOOL_ERROR", fault.message, { operatorHint: fault.hint });
}
