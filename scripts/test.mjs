// Runs the quick suite: every subject, host and engine once. The last line is `N passed, N failed`; a TypeScript project
// that compiles is one passed test. Arguments go to vitest: `npm test -- test/kernel` runs a part.
import { runSuite } from "./test/suite.mjs";

process.exitCode = (await runSuite(process.argv.slice(2))) ? 0 : 1;
