import type { Ask, Governed } from "@keyhole/kernel";
import { count, defineFamily, type Family, isLiteral, isText, patterns } from "@keyhole/kernel/families";

declare module "@keyhole/kernel" {
  interface CapabilityTypes {
    "mqtt.publish": MqttCapability;
  }
  interface EffectTypes {
    "mqtt.publish": true;
  }
  interface NeedTypes {
    "mqtt.publish": MqttNeed;
  }
  interface RequestConditions {
    readonly topic?: readonly string[];
  }
  interface ToolLists {
    readonly topics?: Governed;
  }
}

interface MqttCapability {
  readonly kind: "mqtt.publish";
  /** Exact, or `sensors/#` for every topic below `sensors`. */
  readonly topics: readonly string[];
  /** Messages of one call. */
  readonly messages?: number;
}

interface MqttNeed {
  readonly kind: "mqtt.publish";
  readonly topic: string;
}

/** A kind that nobody but this file knows: publishing to a message broker. */
export const mqttPublish: Family = /* @__PURE__ */ defineFamily<MqttCapability, MqttNeed>({
  kind: "mqtt.publish",
  title: "Publishes messages",
  effect: "changes",
  fields: { topics: /* @__PURE__ */ patterns(checkFilter), messages: count },
  need: { topic: isText },
  covers:
    ({ topics }) =>
    ({ topic }) =>
      topics.some((filter) => isBelow(topic, filter)),
  describe: ({ topics }) => topics.join(", "),
  target: ({ topic }) => topic,
  narrowest: ({ topic }) => (checkTopic(topic) ? undefined : { kind: "mqtt.publish", topics: [topic], messages: 1 }),
  isNarrow: ({ topics }) => isLiteral(topics) && topics.every((each) => !each.includes("#")),
  budget: ({ messages }) => ({ requests: messages }),
  conditions: {
    topic: {
      check: checkFilter,
      // Brokers differ in whether letters of another case are another topic.
      touches: (filters) => (need) => filters.some((filter) => isBelow(need.topic.toLowerCase(), filter.toLowerCase())),
      list: {
        name: "topics",
        covers: (filters) => (need) => filters.some((filter) => isBelow(need.topic, filter)),
        text: ({ topic }) => topic,
      },
    },
  },
  targetArguments: {
    required: ["topic"],
    needs({ topic = "" }) {
      const fault = checkTopic(topic);
      return fault ? `The topic is refused: ${fault}.` : [{ kind: "mqtt.publish", topic }];
    },
  },
  sample: ({ topic = "example" }) => ({ kind: "mqtt.publish", topic }),
});

/** Wildcards are for filters: some brokers would deliver a message to `#` to every subscriber. */
function checkTopic(topic: string): string | undefined {
  return topic === "" || /[#+\0]/.test(topic) ? "a topic has neither `#` nor `+`" : undefined;
}

function checkFilter(filter: string): string | undefined {
  return checkTopic(filter.endsWith("/#") ? filter.slice(0, -2) : filter);
}

function isBelow(topic: string, filter: string): boolean {
  return topic === filter || (filter.endsWith("/#") && topic.startsWith(filter.slice(0, -1)));
}

/** The guest's half. */
export function mqttGuest(ask: Ask): { readonly publish: (topic: string, text: string) => Promise<void> } {
  return {
    async publish(topic, text) {
      await ask({
        kind: "mqtt.publish",
        operation: "publish",
        arguments: { topic: String(topic), text: String(text) },
      });
    },
  };
}
