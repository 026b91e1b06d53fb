/** The Worker that the world talks to. It knows who asks and which kernel that is; the kernels are Durable Objects. */
import { createGateway } from "./app/gateway.ts";
import type { Env } from "./env.ts";

export { KernelObject } from "./object/kernel-object.ts";

const gateway: ExportedHandler<Env> = createGateway<Env>(
  ({ KEYHOLE_TOKENS, KEYHOLE_ORIGINS }) => ({ tokens: KEYHOLE_TOKENS, origins: KEYHOLE_ORIGINS }),
  (request, { tenant }, env) => env.KERNEL.getByName(tenant).fetch(request),
);

export default gateway;
