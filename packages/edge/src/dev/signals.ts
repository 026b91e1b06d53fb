const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Takes over a signal that would end this process, so that the caller ends in order. */
export function silently<Made>(make: () => Made): Made {
  const before = signals.map((signal) => [signal, process.listeners(signal)] as const);
  try {
    return make();
  } finally {
    for (const [signal, known] of before)
      for (const listener of process.listeners(signal)) if (!known.includes(listener)) process.off(signal, listener);
  }
}
