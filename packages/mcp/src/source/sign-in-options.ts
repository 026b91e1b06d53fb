import type { OptionNames } from "@keyhole/kernel/foreign";

/** The result of a sign-in: secrets of this client. */
export interface SignInRecord {
  /** The server that they are for. No other server gets them. */
  readonly server: string;
  readonly client?: object;
  readonly tokens?: object;
}

export interface SignInStore {
  load(): Promise<SignInRecord | undefined>;
  save(record: SignInRecord): Promise<void>;
}

export interface McpSignInOptions {
  /** Authorization servers that may sign this client in. The source refuses a server that names another one. */
  readonly issuers: readonly string[];
  /** Other origins at which these issuers have their pages, tokens and registrations. Default: none. The source refuses every other origin. */
  readonly endpoints?: readonly string[];
  /** The address to which the authorization server sends the person back. */
  readonly redirectUrl: string;
  /** Opens the address for a person, and resolves with the address that the person came back to. */
  readonly visit: (address: string) => Promise<string>;
  /** The client as the one issuer knows it. Default: the client registers itself. */
  readonly client?: { readonly id: string; readonly secret?: string };
  /** An https address of this client's metadata, for issuers that take it as the client's id. */
  readonly clientMetadataUrl?: string;
  /** Default: in memory. */
  readonly store?: SignInStore;
}

export const signInOptions: OptionNames<McpSignInOptions> = {
  issuers: true,
  endpoints: true,
  redirectUrl: true,
  visit: true,
  client: true,
  clientMetadataUrl: true,
  store: true,
};
