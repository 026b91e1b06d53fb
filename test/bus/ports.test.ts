import { channelBus, memoryBus } from "@keyhole/bus";
import { afterwards } from "../mcp/support.ts";
import { describeBus, messageChannel } from "./contract.ts";

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

describeBus("over the ends of a MessageChannel", messageChannel);
