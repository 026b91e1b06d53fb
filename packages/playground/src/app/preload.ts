/** Parts that a person needs next. They come while nothing else does, so that a press does not wait for them. */
const next = [
  () => import("../run/RunView.tsx"),
  () => import("../log/CallRows.tsx"),
  () => import("../actions/FindDialog.tsx"),
  () => import("../approval/ApprovalDialog.tsx"),
  () => import("../decision/DecisionView.tsx"),
];

/** One after the other, once the kernel runs. A part that does not load now loads again where the page shows it. */
export async function preload(): Promise<void> {
  for (const load of next) await load().catch(() => undefined);
}
