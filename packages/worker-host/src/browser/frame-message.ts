/** Page to frame. */
export type PageMessage = { readonly type: "start"; readonly script: string } | { readonly type: "ping" };

/** Frame to page. The frame's own script sends these; no tool can. */
export type FrameMessage =
  | { readonly type: "up" }
  | { readonly type: "started" }
  | { readonly type: "pong" }
  /** The worker's script ended with an error before it had begun. */
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "blocked"; readonly directive: string };
