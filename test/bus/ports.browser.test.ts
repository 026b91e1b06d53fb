import { channelBus } from "@keyhole/bus";
import { afterwards } from "../mcp/support.ts";
import { describeBus, messageChannel } from "./contract.ts";

describeBus("over BroadcastChannel in a page", () => {
  const name = crypto.randomUUID();
  const connect = () => {
    const channel = new BroadcastChannel(name);
    afterwards(() => channel.close());
    return channelBus(channel);
  };
  return { connect, saysNobody: false };
});

describeBus("over the ends of a MessageChannel in a page", messageChannel);
