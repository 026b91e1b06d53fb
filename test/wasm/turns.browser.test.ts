import { testEngine } from "./engine.ts";
import { describeTurns } from "./turns.shared.ts";

describeTurns(testEngine);
