import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { modes } from "@keyhole/kernel";
import { saveMode, savedMode } from "../../packages/playground/src/client/saved-mode.ts";
import { restorePolicy, savePolicy } from "../../packages/playground/src/client/saved-policy.ts";
import { type SavedKey, SavedValues } from "../../packages/playground/src/client/saved.ts";
import { startPolicy } from "../../packages/playground/src/kernel/default-policy.ts";
import { readPolicy } from "../../packages/playground/src/policy/edit.ts";

const theme: SavedKey = { area: "local", key: "keyhole.theme", what: "the colours" };

interface Fault {
  reads?: boolean;
  writes?: boolean;
}

/** Storage that fails as a browser's does: at the mention, at a read, or at a write. */
function storage(fault: Fault = {}, stored: Record<string, string> = {}) {
  const values = new Map(Object.entries(stored));
  const fail = (name: string): never => {
    throw new DOMException("refused", name);
  };
  const area = {
    getItem: (key: string) => (fault.reads === true ? fail("SecurityError") : (values.get(key) ?? null)),
    setItem: (key: string, value: string) =>
      void (fault.writes === true ? fail("QuotaExceededError") : values.set(key, value)),
    removeItem: (key: string) => void (fault.writes === true ? fail("SecurityError") : values.delete(key)),
  };
  return { values, fault, saved: new SavedValues({ local: () => area, session: () => area }) };
}

describe("saved values", () => {
  it("are read again after a reload", () => {
    const { saved, values } = storage();
    expect(saved.write(theme, "dark")).toBe(true);
    expect(values.get("keyhole.theme")).toBe("dark");
    expect(saved.read(theme)).toBe("dark");
    expect(saved.unsaved()).toEqual([]);
    expect(saved.write(theme, undefined)).toBe(true);
    expect(saved.read(theme)).toBeUndefined();
  });

  it("stay in memory, and are named, when the storage is full", () => {
    const { saved, values } = storage({ writes: true }, { "keyhole.theme": "light" });
    let heard = 0;
    saved.subscribe(() => heard++);
    expect(saved.write(theme, "dark")).toBe(false);
    expect(saved.read(theme)).toBe("dark");
    expect(values.get("keyhole.theme")).toBe("light");
    expect(saved.unsaved()).toEqual(["the colours"]);
    expect(heard).toBe(1);
  });

  it("are no longer named once a later write succeeds", () => {
    const { saved, fault, values } = storage({ writes: true });
    saved.write(theme, "dark");
    fault.writes = false;
    expect(saved.write(theme, "light")).toBe(true);
    expect(saved.unsaved()).toEqual([]);
    expect(values.get("keyhole.theme")).toBe("light");
  });

  it("do not throw where the browser refuses storage", () => {
    const refuse = (): never => {
      throw new DOMException("refused", "SecurityError");
    };
    const saved = new SavedValues({ local: refuse, session: refuse });
    expect(saved.read(theme)).toBeUndefined();
    expect(saved.write(theme, "dark")).toBe(false);
    expect(saved.read(theme)).toBe("dark");
    const { saved: unreadable } = storage({ reads: true });
    expect(unreadable.read(theme)).toBeUndefined();
  });

  it("are the page's only way to the browser's storage", () => {
    const root = fileURLToPath(new URL("../../packages/playground/src/", import.meta.url));
    const users = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path))
      .filter((path) => /\b(?:local|session)Storage\b/.test(readFileSync(root + path, "utf8")));
    expect(users).toEqual(["client/saved.ts"]);
  });
});

describe("the saved mode", () => {
  it.each(modes)("%s holds at the next start", (mode) => {
    const { saved } = storage({}, { "keyhole.mode": "LOCKDOWN" });
    saveMode(mode, saved);
    expect(savedMode(saved)).toBe(mode);
  });

  it("is NORMAL where nothing is saved, and LOCKDOWN where the value is no mode", () => {
    expect(savedMode(storage().saved)).toBe("NORMAL");
    for (const text of ["", "normal", '"NORMAL"', "OPEN"])
      expect(savedMode(storage({}, { "keyhole.mode": text }).saved)).toBe("LOCKDOWN");
  });
});

describe("the saved policy", () => {
  const kernel = async (document: unknown) => {
    const read = readPolicy(JSON.stringify(document));
    return read.ok ? { ok: true as const, value: read.document } : read;
  };

  it("is applied at the next start", async () => {
    const { saved } = storage();
    savePolicy(startPolicy as never, saved);
    expect(await restorePolicy(kernel, saved)).toEqual({ policy: startPolicy });
  });

  it.each(["{", "null", "1", '{"version":"1","posture":"lenient"}', `${"[".repeat(100_000)}${"]".repeat(100_000)}`])(
    "leaves the start policy in force, with a warning, when it is %.40s",
    async (text) => {
      const { saved, values } = storage({}, { "keyhole.policy": text });
      const restored = await restorePolicy(kernel, saved);
      expect(restored.policy).toBeUndefined();
      expect(restored.warning).toMatch(/^The saved policy cannot be used: .+ The start policy is in force\./s);
      expect(values.get("keyhole.policy")).toBe(text);
    },
  );

  it("does not stop the start when the kernel throws at it", async () => {
    const { saved } = storage({}, { "keyhole.policy": "{}" });
    const restored = await restorePolicy(() => Promise.reject(new RangeError("too deep")), saved);
    expect(restored.warning).toContain("too deep");
  });
});
