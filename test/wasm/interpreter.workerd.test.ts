import { builtTestEngine } from "./built-engine.ts";
import { describeInterpreter } from "./interpreter.shared.ts";

describeInterpreter(async () => builtTestEngine(), { part: "engine" });
