const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Makes something that ends this process when it gets a signal, and takes that from it: whoever called us ends in order. */
export function silently<Made>(make: () => Made): Made {
  const before = signals.map((signal) => [signal, process.listeners(signal)] as const);
  try {
    return make();
  } finally {
    for (const [signal, known] of before)
      for (const listener of process.listeners(signal)) if (!known.includes(listener)) process.off(signal, listener);
  }
}
