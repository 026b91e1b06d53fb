/** Names that take options, and are not in the table of what throws, by the reason. */
export const elsewhere: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "The result of the call, or the rejection of the kernel, says so: misspelt-options.test.ts.",
    ["Kernel.call", "Kernel.preview", "Kernel.health", "Kernel.resume", "composeKernel", "createKernel"],
  ],
  ["They pass them on to a kernel: below.", ["rerun", "runPipeline", "openConfigured"]],
  [
    "The same, of one kernel: code that calls it has the object that was given.",
    [
      "AgentKernel.call",
      "AgentKernel.list",
      "AgentKernel.preview",
      "AgentRun.call",
      "AgentRun.countsFuel",
      "AgentRun.fuelFor",
      "RunKernel.call",
    ],
  ],
  [
    "Only workerd has their module: edge-options.workerd.test.ts.",
    ["edgeHost", "edgeMcp", "kernelObject", "mcpGateway", "sqlContent"],
  ],
  [
    "A framework or the kernel calls them.",
    [
      "AiSdkTool.execute",
      "AnthropicRunnableTool.run",
      "CodemodeExecutor.execute",
      "OpenAiAgentsTool.invoke",
      "WebMcpTool.execute",
      "BrokerSession.spend",
      "CallPort.used",
    ],
  ],
  [
    "Others implement them: a bus, a bucket, a bundler, a server.",
    ["BusPort.subscribe", "R2BucketLike.list", "Esbuild.build", "McpEndpoint.open"],
  ],
  [
    "Parts that packages of this repository share.",
    [
      "Edge",
      "FairSemaphore",
      "FairSemaphore.isFull",
      "FairSemaphore.take",
      "Toolbox",
      "boundsOf",
      "answerBytesOf",
      "definitionWithin",
      "knownOptions",
      "knownCallOptions",
      "lineAsker",
      "busTools",
      "KeptResults",
    ],
  ],
  [
    "No options: data, whose members have names of their author.",
    ["checkPolicy", "questionSentence", "readEvidence", "IsolateFailure", "createHasher"],
  ],
  [
    "No options: functions of a program, which a class may have.",
    ["defaultModeTriggers", "modeTriggers", "Families", "Families.with"],
  ],
  [
    "A definition: the registration of the tool refuses an unknown member.",
    ["defineTool", "httpPackage", "processPackage", "wasmPackage"],
  ],
  ["On the way of each value that the kernel takes.", ["parseJson", "snapshot"]],
]);
