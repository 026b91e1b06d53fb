// The first import: on an older Node it throws before any other module does.
import "./refuse-older-node.ts";

export { fileSink, type FileSink, type FileSinkOptions, LogInUse } from "./file-sink.ts";
export { nodeHost, type NodeHostOptions } from "./host.ts";
export { nodeDatabase, type NodeDatabase } from "./database.ts";
export { exposeInspector, type Inspector, type InspectorOptions } from "./inspector.ts";
export { nodeKv, type NodeKv, type NodeKvOptions } from "./kv.ts";
export { parsePolicyText, type PolicyText, type PolicyTextRead, readPolicyFile } from "./policy-text.ts";
export { processPackage, type ProcessDefinition } from "../process/package.ts";
export { nodeResources } from "./resources.ts";
export { environmentSecrets, type EnvironmentSecretsOptions } from "./secrets.ts";
export { spawnBroker, type SpawnBrokerOptions, type SpawnCommand } from "./spawn.ts";
export { nodeStore } from "./store.ts";
export { terminalApprover, type TerminalApproverOptions } from "./terminal.ts";
