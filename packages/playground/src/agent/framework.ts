import { config } from "zod/v4/core";

// The framework's schemas would try `new Function`, which the page's policy forbids and reports.
config({ jitless: true });

// A fault that the framework sees in a person's model is no fault of the page.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

export { streamText } from "ai";
