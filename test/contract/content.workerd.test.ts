import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { contentStore } from "@keyhole/worker-host/content";
import { bindings } from "../edge/bindings.ts";
import { describeContentStore } from "./content.ts";

let stores = 0;
describeContentStore("in R2", () => contentStore(r2Store(bindings.FILES, { prefix: `content-${stores++}/` })));
