import { serviceTests } from "./service-tests.ts";

/** The same where no server can listen: the function that answers stands in the place of the platform's `fetch`. */
export function servicesOverFetch(): void {
  let isAsking = false;
  serviceTests("fetch", async (answer) => ({
    origin: "https://api.example.com",
    isAsking: () => isAsking,
    send: (request) => {
      const { signal, method } = request;
      // In a page the broker asks so before it sends a secret in a query: does a policy report the address?
      isAsking = method === "OPTIONS";
      if (isAsking) return Promise.resolve(new Response(null, { status: 204 }));
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(new Error("aborted"))),
      );
      return Promise.race([answer(request), aborted]);
    },
    close: async () => {},
  }));
}
