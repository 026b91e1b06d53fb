import "./interpreter.shared.ts";
