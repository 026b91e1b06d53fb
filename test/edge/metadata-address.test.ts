import { oauthTokens } from "@keyhole/mcp";
import { expect, it } from "vitest";
import { accessBy } from "../../packages/edge/src/mcp/access.ts";

const issuer = "https://login.example.com";

it.each(["", "/", "/mcp", "/mcp/", "/a/b?c=d"])(
  "the metadata is served at the address that a challenge names, for a resource with the path %j",
  async (path) => {
    const oauth = oauthTokens({ issuer, resource: `https://tools.example.com${path}`, keys: { keys: [] } });
    const door = accessBy(oauth);
    const refused = (await oauth.authenticate(new Request("https://tools.example.com/mcp"))) as Response;
    const [, url = ""] = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
    expect(door.metadata(new Request(url))?.status).toBe(200);
    expect(door.metadata(new Request(`${url}x`))).toBeUndefined();
  },
);
