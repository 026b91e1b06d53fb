import { inject } from "vitest";
import { server } from "vitest/browser";

/** Origin of the canary that only this browser can reach. */
export const canary: string = inject("canaries")[server.browser]!;
