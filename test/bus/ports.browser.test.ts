import { channelBus } from "@keyhole/bus";
import { afterwards } from "../mcp/support.ts";
import { describeBus } from "./contract.ts";

describeBus("over BroadcastChannel in a page", () => {
  const name = crypto.randomUUID();
  const connect = () => {
    const channel = new BroadcastChannel(name);
    afterwards(() => channel.close());
    return channelBus(channel);
  };
  return { connect, saysNobody: false };
});
