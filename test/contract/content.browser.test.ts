import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { contentStore } from "@keyhole/worker-host/content";
import { describeContentStore } from "./content.ts";

let folders = 0;
describeContentStore("in OPFS", () => contentStore(opfsStore({ folder: `content-${folders++}` })));
