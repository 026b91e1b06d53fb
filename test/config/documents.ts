/** One configuration as each format writes it. */
export const inJson = `{
  "version": "1",
  "http": {
    "weather": {
      "description": "Tells the temperature of a city.",
      "request": {
        "url": "https://api.example.com/v1/weather{?city}",
        "headers": { "authorization": "Bearer {secret.weather}" },
        "responses": { "200": { "output": { "celsius": { "$from": "body#/temp" } } } }
      },
      "input": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] }
    }
  },
  "pipelines": {
    "report": {
      "description": "Tells the temperature of a city, under its name.",
      "input": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] },
      "steps": [{ "id": "now", "tool": "weather", "input": { "city": { "$from": "input#/city" } } }],
      "output": { "city": { "$from": "input#/city" }, "celsius": { "$from": "now#/celsius" } }
    }
  },
  "policy": {
    "version": "1",
    "posture": "standard",
    "grants": [
      { "tool": "weather", "capability": { "kind": "net.read", "hosts": ["api.example.com"] } },
      { "tool": "weather", "capability": { "kind": "secret.use", "names": ["weather"], "hosts": ["api.example.com"] } },
      { "tool": "report", "capability": { "kind": "tool.call", "tools": ["weather"] } }
    ],
    "rules": [
      {
        "id": "no-atlantis",
        "effect": "deny",
        "when": { "tool": ["weather"], "arguments": [{ "at": "/city", "equals": "Atlantis" }] },
        "reason": "It sank."
      }
    ]
  },
  "limits": { "weather": { "callsPerHour": 3 } },
  "modeTriggers": [{ "on": "errors", "codes": ["TIMEOUT"], "count": 5, "windowMs": 60000, "to": "DEGRADED" }],
  "secrets": { "weather": { "env": "KEYHOLE_TEST_WEATHER" } }
}
`;

export const inYaml = `# The same in YAML.
version: "1"
http:
  weather:
    description: Tells the temperature of a city.
    request:
      url: https://api.example.com/v1/weather{?city}
      headers:
        authorization: Bearer {secret.weather}
      responses:
        "200":
          output:
            celsius: { $from: "body#/temp" }
    input:
      type: object
      properties:
        city: { type: string }
      required: [city]
pipelines:
  report:
    description: Tells the temperature of a city, under its name.
    input:
      type: object
      properties:
        city: { type: string }
      required: [city]
    steps:
      - id: now
        tool: weather
        input: { city: { $from: "input#/city" } }
    output:
      city: { $from: "input#/city" }
      celsius: { $from: "now#/celsius" }
policy:
  version: "1"
  posture: standard
  grants:
    - tool: weather
      capability: { kind: net.read, hosts: [api.example.com] }
    - tool: weather
      capability: { kind: secret.use, names: [weather], hosts: [api.example.com] }
    - tool: report
      capability: { kind: tool.call, tools: [weather] }
  rules:
    - id: no-atlantis
      effect: deny
      when:
        tool: [weather]
        arguments: [{ at: /city, equals: Atlantis }]
      reason: It sank.
limits:
  weather: { callsPerHour: 3 }
modeTriggers:
  - { on: errors, codes: [TIMEOUT], count: 5, windowMs: 60000, to: DEGRADED }
secrets:
  weather: { env: KEYHOLE_TEST_WEATHER }
`;

export const inToml = `# The same in TOML.
version = "1"

[http.weather]
description = "Tells the temperature of a city."

[http.weather.request]
url = "https://api.example.com/v1/weather{?city}"
headers = { authorization = "Bearer {secret.weather}" }
responses.200.output.celsius."$from" = "body#/temp"

[http.weather.input]
type = "object"
properties.city.type = "string"
required = ["city"]

[pipelines.report]
description = "Tells the temperature of a city, under its name."
output = { city = { "$from" = "input#/city" }, celsius = { "$from" = "now#/celsius" } }

[pipelines.report.input]
type = "object"
properties.city.type = "string"
required = ["city"]

[[pipelines.report.steps]]
id = "now"
tool = "weather"
input.city."$from" = "input#/city"

[policy]
version = "1"
posture = "standard"

[[policy.grants]]
tool = "weather"
capability = { kind = "net.read", hosts = ["api.example.com"] }

[[policy.grants]]
tool = "weather"
capability = { kind = "secret.use", names = ["weather"], hosts = ["api.example.com"] }

[[policy.grants]]
tool = "report"
capability = { kind = "tool.call", tools = ["weather"] }

[[policy.rules]]
id = "no-atlantis"
effect = "deny"
reason = "It sank."

[policy.rules.when]
tool = ["weather"]
arguments = [{ at = "/city", equals = "Atlantis" }]

[limits.weather]
callsPerHour = 3

[[modeTriggers]]
on = "errors"
codes = ["TIMEOUT"]
count = 5
windowMs = 60000
to = "DEGRADED"

[secrets.weather]
env = "KEYHOLE_TEST_WEATHER"
`;

export const inTs = `// The same as a module.
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

export default ${inJson
  .replaceAll(/"([A-Za-z]+)":/g, "$1:")
  .replaceAll(/\{ type: "object", properties: \{ city: \{ type: "string" \} \}, required: \["city"\] \}/g, "city")
  .trimEnd()};
`;

export const formats = { json: inJson, yaml: inYaml, toml: inToml, ts: inTs } as const;
