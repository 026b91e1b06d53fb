import { testEngine } from "./engine.ts";
import { describeSuspension } from "./suspend.shared.ts";

describeSuspension(testEngine);
