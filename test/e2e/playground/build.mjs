// Builds what `npm start` serves, as it does: only where a source is younger.
import { buildAll, isBuilt } from "../../../scripts/serve/build.mjs";

if (!isBuilt()) await buildAll();
