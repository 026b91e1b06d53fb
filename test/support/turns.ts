/** One turn of the event loop: all that waits for nothing but promises has gone on by then. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Counts the turns that others have of the event loop, and does something in each. */
export function countTurns(each: (turn: number) => void = () => {}): { stop(): number } {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    each(++turns);
    setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop() {
      isOver = true;
      return turns;
    },
  };
}
