import { boundary } from "./boundary.mjs";
import { chain } from "./chain.mjs";
import { edge } from "./edge.mjs";
import { hosts } from "./hosts.mjs";
import { life } from "./life.mjs";
import { overview } from "./overview.mjs";

/** The pictures of docs/pictures, by file name. */
export const pictures = { overview, boundary, life, hosts, edge, chain };
