import * as Comlink from "comlink";
import { lane, ownPage } from "./lane.ts";
import { type FrameStage, STAGE_LANE } from "./stage.ts";

/** The page's stage, as its kernel worker uses it: `browserHost({ stage: remoteStage() })`. */
export function remoteStage(page: Comlink.Endpoint = ownPage()): FrameStage {
  const remote = Comlink.wrap<FrameStage>(lane(page, STAGE_LANE));
  return {
    open: (id, port, shell) => remote.open(id, Comlink.transfer(port, [port]), shell),
    close: (id) => remote.close(id),
    watch: async (onLost) => {
      await remote.watch(Comlink.proxy(onLost));
    },
  };
}
