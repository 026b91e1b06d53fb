import { gatewayWorker, kernelObject, type KernelObjectClass } from "@keyhole/edge";
import { edgeMcp } from "@keyhole/edge/mcp";
import type { PolicyDocument } from "@keyhole/kernel";
import saveNote from "keyhole:../tools/save-note.ts";
import wordCount from "keyhole:../tools/word-count.ts";
import policy from "../policy.json";

// An import of JSON widens its literals; the kernel checks the document itself.
const Configured: KernelObjectClass = kernelObject({
  tools: [saveNote, wordCount],
  policy: policy as unknown as PolicyDocument,
  mcp: edgeMcp(), // `/mcp`, for MCP clients
});

/** The kernel of one tenant. */
export class KernelObject extends Configured {}
export default gatewayWorker;
