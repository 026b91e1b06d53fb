import { channelBus, memoryBus } from "@keyhole/bus";
import { afterwards } from "../mcp/support.ts";
import { describeBus } from "./contract.ts";

describeBus("in memory", () => {
  const bus = memoryBus();
  return { connect: () => bus.connect(), saysNobody: true };
});

describeBus("over BroadcastChannel", () => {
  const name = crypto.randomUUID();
  const connect = () => {
    const channel = new BroadcastChannel(name);
    afterwards(() => channel.close());
    return channelBus(channel);
  };
  return { connect, saysNobody: false };
});
