// Prints what each package weighs: lines of code without blanks and comments, files, public names. test/architecture/weight.test.ts
// holds them.
import { weights } from "../test/support/weight.ts";

console.table(Object.fromEntries(weights()));
