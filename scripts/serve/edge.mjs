import { join } from "node:path";
import { startEdge as startDev } from "../../packages/edge/src/dev/edge.ts";
import { tokensSetting } from "../../packages/edge/src/dev/tokens.ts";
import { root } from "../project.mjs";

/** Everything that a person at the playground does. */
export { scopes as allScopes } from "../../packages/edge/src/app/auth.ts";

/** @typedef {import("../../packages/edge/src/dev/edge.ts").Edge} Edge */

/**
 * Starts the project's own edge, for tests. Resolves when calls are served.
 *
 * @param {object} options
 * @param {number} options.port
 * @param {Parameters<typeof tokensSetting>[0]} options.tokens by the token itself
 * @param {readonly string[]} [options.origins] that may call from a page
 * @param {object} [options.policy] in place of the bundled one
 * @param {string} [options.config] a wrangler configuration in place of the project's own
 * @param {string} [options.state] where log and files are kept; without it they go with the edge
 * @returns {Promise<Edge>}
 */
export function startEdge({ port, tokens, origins = [], policy, config = join(root, "wrangler.toml"), state }) {
  const vars = {
    KEYHOLE_TOKENS: tokensSetting(tokens),
    KEYHOLE_ORIGINS: origins.join(" "),
    ...(policy && { KEYHOLE_POLICY: JSON.stringify(policy) }),
  };
  return startDev({ config, port, vars, state });
}
