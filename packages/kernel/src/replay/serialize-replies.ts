/**
 * Lets answers through one at a time, each in a task of its own, when all that followed from the one before has run. So what a tool does depends on the
 * order of its answers and on nothing else, and the same order gives the same run again. It costs one turn of the event loop per answer.
 */
export function serializeReplies(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((resolve) => setTimeout(resolve, 0)));
    return last;
  };
}
