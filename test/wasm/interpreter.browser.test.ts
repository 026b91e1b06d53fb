import { testEngine } from "./engine.ts";
import { describeInterpreter } from "./interpreter.shared.ts";

describeInterpreter(testEngine, { part: "engine" });
