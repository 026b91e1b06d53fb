import type { Kernel } from "@keyhole/kernel";
import { visible } from "../io.ts";

/** Says why a kernel that opened its log refuses calls. Without the words a client sees only refusals. */
export async function healthNote(kernel: Kernel, log: string): Promise<string> {
  const { reasons, log: state } = await kernel.health();
  if (reasons.length === 0) return "";
  const next =
    state.earlier === "damaged"
      ? " Put back a whole copy, or move the log and its .checkpoint away. Then counts, labels and revocations begin empty."
      : "";
  return `${visible(log)}: ${reasons.join(" ")}${next}\n`;
}
