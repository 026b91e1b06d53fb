// Builds what `npm start` serves, as it does: only where a source is younger. Says why it cannot.
import { buildAll, isBuilt } from "../../../scripts/serve/build.mjs";

try {
  if (!isBuilt()) await buildAll();
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
