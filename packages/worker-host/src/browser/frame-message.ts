/** The frame's first message, to its parent's window, with the port of all others. */
export interface FrameHello {
  readonly type: "up";
  /** The frame's own. Its window can have another document by then, which a page around this one put there; that document has no key. */
  readonly key: string;
}

/** Page to frame. It crosses a port of the frame's document, which ends with the document. */
export type PageMessage = { readonly type: "start"; readonly script: string } | { readonly type: "ping" };

/** Frame to page, over the same port. The frame's own script sends these; no tool can. */
export type FrameMessage =
  | { readonly type: "started" }
  | { readonly type: "pong" }
  /** The worker's script ended with an error before it had begun. */
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "blocked"; readonly directive: string };
