/**
 * Tells the frames that came into the page since the call and are still there. Test files share a page, so frames of an
 * earlier file can stand in it.
 */
export function newFrames(): () => readonly Element[] {
  const before = new Set(document.querySelectorAll("iframe"));
  return () => [...document.querySelectorAll("iframe")].filter((frame) => !before.has(frame));
}
