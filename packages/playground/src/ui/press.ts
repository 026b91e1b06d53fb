/** The device of a press. `virtual` is a screen reader, or a script of assistive technology. */
export type Device = "mouse" | "pen" | "touch" | "keyboard" | "virtual";

export interface Press {
  readonly device: Device;
}

const devices = ["mouse", "pen", "touch"] as const satisfies readonly Device[];

/** A click that a key made counts no presses; one of a screen reader has the same form. Firefox before 129 names no device: then it is the strictest. */
export function pressOf(click: MouseEvent): Press {
  const named = "pointerType" in click ? devices.find((each) => each === click.pointerType) : undefined;
  if (named !== undefined) return { device: named };
  return { device: click.detail === 0 ? "keyboard" : "mouse" };
}
