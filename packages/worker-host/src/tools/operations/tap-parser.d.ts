import type { LineParser } from "./line-parser.ts";

export const Parser: new () => LineParser;
