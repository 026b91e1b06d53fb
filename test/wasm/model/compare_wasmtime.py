"""What wasmtime makes of random modules.

Reads one JSON object a line: {"name", "wasm": base64, "calls": [{"kind", "value", "fuel", "memory", "refusedPages", "caughtFromCallee"}, ...]}, and prints
each call that ends differently, then how many were compared. Two differences are wasmtime's own: growth that fails costs its pages there, and what a callee
used is forgotten when its caller catches what it threw.
"""

import base64
import json
import sys

import wasmtime

LARGE = 10**12
PAGES = 4

config = wasmtime.Config()
config.consume_fuel = True
config.wasm_exceptions = True
config.wasm_function_references = True
config.wasm_gc = True
engine = wasmtime.Engine(config)


def fingerprint(store, memory):
    digest = 0x811C9DC5 ^ memory.data_len(store)
    for byte in memory.read(store, 0, 2048):
        digest = ((digest ^ byte) * 0x01000193) & 0xFFFFFFFF
    return digest


def attempt(main, store, value):
    try:
        return "returned", main(store, value) & 0xFFFFFFFF
    except (wasmtime.Trap, wasmtime.WasmtimeError):
        return "ended", None


compared = 0
for line in sys.stdin:
    entry = json.loads(line)
    store = wasmtime.Store(engine)
    store.set_limits(memory_size=PAGES * 65536)
    module = wasmtime.Module(engine, base64.b64decode(entry["wasm"]))
    exports = wasmtime.Instance(store, module, []).exports(store)
    for value, call in zip((1, 2, 4), entry["calls"]):
        kind = call["kind"]
        if kind in ("out-of-fuel", "too-deep"):
            break
        store.set_fuel(LARGE)
        seen = attempt(exports["main"], store, value)
        result = call["value"] & 0xFFFFFFFF if kind == "returned" else None
        want = ("returned" if kind == "returned" else "ended", result)
        fuel = LARGE - store.get_fuel()
        counts = kind in ("returned", "uncaught") and not call["caughtFromCallee"]
        same = seen == want and fingerprint(store, exports["memory"]) == call["memory"]
        if not same or (counts and fuel != call["fuel"] + call["refusedPages"]):
            print(entry["name"], value, seen, fuel, call)
        compared += 1
print("compared", compared)
