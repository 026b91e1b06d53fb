import { useEffect, useState } from "react";
import { type EdgeLink, takeEdgeLink } from "../client/edge-settings.ts";

/** The last opened link, until the person answers. A link in the address bar of an open page comes without a reload. */
export function useEdgeLink(startLink: EdgeLink | undefined): readonly [EdgeLink | undefined, () => void] {
  const [link, setLink] = useState(startLink);
  useEffect(() => {
    const take = (): void => {
      const taken = takeEdgeLink();
      if (taken !== undefined) setLink(taken);
    };
    window.addEventListener("hashchange", take);
    return () => window.removeEventListener("hashchange", take);
  }, []);
  return [link, () => setLink(undefined)];
}
