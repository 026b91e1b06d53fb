import { configuredWithoutFiles } from "./same-host.ts";

configuredWithoutFiles();
