import { connectEdge } from "@keyhole/worker-host/edge";
import { describe } from "vitest";
import { openService, tokenOf } from "../edge/service.ts";
import { clientTools, kernelClientContract } from "./kernel-client.ts";

describe("a client of an edge", () => {
  kernelClientContract(async () => {
    const service = await openService({}, undefined, clientTools);
    return connectEdge("https://edge.example", tokenOf("all"), {
      fetch: (url, init) => service.send(url.slice("https://edge.example".length), init),
    });
  });
});
