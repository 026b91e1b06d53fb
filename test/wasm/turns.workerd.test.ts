import { builtTestEngine } from "./built-engine.ts";
import { describeTurns } from "./turns.shared.ts";

describeTurns(async () => builtTestEngine());
