import { builtTestEngine } from "./built-engine.ts";
import { describeSuspension } from "./suspend.shared.ts";

describeSuspension(async () => builtTestEngine());
