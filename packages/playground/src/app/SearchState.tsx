import { parseUrl, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { loadSearch } from "../client/search-settings.ts";
import { Button } from "../ui/Button.tsx";

/** Below the list of tools: whether there is a search, and the way to set one up. */
export function SearchState({ onOpen }: { readonly onOpen: () => void }): ReactNode {
  const address = loadSearch();
  return (
    <div className="stack-s over tool-setup">
      <p className="hint">
        {address === undefined
          ? "web_search is not here: no search engine is set up."
          : `web_search asks ${visible(parseUrl(address)?.host ?? address)}.`}
      </p>
      <Button look="quiet" icon="sliders" onPress={onOpen}>
        {address === undefined ? "Set up web search" : "Change web search"}
      </Button>
    </div>
  );
}
