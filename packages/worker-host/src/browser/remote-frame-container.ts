import * as Comlink from "comlink";
import { multiplexedEndpoint, ownPage } from "./multiplexed-endpoint.ts";
import { type FrameContainer, CONTAINER_ENDPOINT } from "./frame-container.ts";

/** The page's container, as its kernel worker uses it: `browserHost({ container: remoteFrameContainer() })`. */
export function remoteFrameContainer(page: Comlink.Endpoint = ownPage()): FrameContainer {
  const remote = Comlink.wrap<FrameContainer>(multiplexedEndpoint(page, CONTAINER_ENDPOINT));
  return {
    open: (id, port, shell) => remote.open(id, Comlink.transfer(port, [port]), shell),
    close: (id) => remote.close(id),
    watch: async (onLost) => {
      await remote.watch(Comlink.proxy(onLost));
    },
  };
}
