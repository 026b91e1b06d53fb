export { callSuspender, type SuspenderOptions } from "./suspender.ts";
