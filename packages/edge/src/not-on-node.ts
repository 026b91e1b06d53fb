// In place of the package where Node imports it.
throw new Error("@keyhole/edge runs on Cloudflare Workers; Node cannot import it.");
