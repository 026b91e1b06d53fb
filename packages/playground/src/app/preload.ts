/** Parts that a person needs next. They come while nothing else does, so that a press does not wait for them. */
const next = [
  () => import("../run/RunView.tsx"),
  () => import("../log/CallRows.tsx"),
  () => import("../approval/ApprovalDialog.tsx"),
  () => import("../decision/DecisionView.tsx"),
];

/** One after the other, once the kernel runs. What cannot be loaded now is asked for again where it is shown. */
export async function preload(): Promise<void> {
  for (const load of next) await load().catch(() => undefined);
}
