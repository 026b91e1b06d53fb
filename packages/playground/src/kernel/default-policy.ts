import type { PolicyDocument } from "@keyhole/kernel";
import policy from "../../policy.json" with { type: "json" };

/**
 * The policy of a new page, and of the edge of `npm start`: files and values below `workspace`, the example database, and no host until the person adds one.
 */
// A JSON import widens its literals; the kernel checks the document itself.
export const startPolicy: PolicyDocument = policy as PolicyDocument;
