import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { entriesOf } from "./lists.ts";
import { PinBox } from "./pin-box.ts";

/**
 * The prompts of one server. A prompt instructs a model as the description of a tool does, so each definition is pinned the same way: a changed or a new prompt waits for a
 * person. The source pins no resources: their list is data, and each is read in a call of its own, by its address.
 */
export class Prompts extends PinBox {
  /** Compares what the server lists with the pins. */
  async read(client: Client, limits: RequestOptions = {}): Promise<void> {
    await this.take(await entriesOf(client, "prompts", limits));
  }

  /** @throws Error for a prompt that waits for a person, or that the server does not list */
  assertOpen(name: string): void {
    const state = this.all.find(({ serverName }) => serverName === name)?.state;
    if (state === "open") return;
    const prompt = `The prompt ${JSON.stringify(name.slice(0, 100))}`;
    if (state === "changed" || state === "new")
      throw new Error(`${prompt} is ${state}. Keyhole blocks it until a person confirms it.`);
    throw new Error(`${prompt} is not one that the server offers.`);
  }
}
