// Not from the complete kernel: `keyhole --help` loads none of it.
import { visible } from "@keyhole/kernel/visible";

interface Stream {
  readonly isTTY?: boolean;
  write(text: string, done?: () => void): boolean;
}

/**
 * The way to a stream for all that the command says. A terminal gets no character that steers it: a tool's output could hide the next question.
 * A pipe or a file gets the text itself.
 */
export function outlet(stream: Stream): Stream["write"] {
  return (text, done) => stream.write(stream.isTTY === true ? visible(text) : text, done);
}
