import { loadPolicy } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { explain, isProof, type ProofStep, verifyProof } from "@keyhole/kernel/policy";
import { visible } from "../ui/visible.ts";
import { type Given, type Member, members, readGiven } from "./read.ts";

/** Larger files make a page stand still; the command line takes them. */
const fileBytes = 64 << 20;

const byId = (id: string): HTMLElement => document.getElementById(id)!;

const form = byId("form");
const report = byId("report");

function placeOf(member: Member): HTMLElement {
  return document.querySelector<HTMLElement>(`[data-member="${member}"]`)!;
}

const areaOf = (member: Member): HTMLTextAreaElement => byId(member) as HTMLTextAreaElement;

for (const member of members) {
  const chooser = placeOf(member).querySelector("input")!;
  chooser.addEventListener("change", () => void takeFile(member, chooser.files?.[0]));
}

async function takeFile(member: Member, file: File | undefined): Promise<void> {
  if (file === undefined) return;
  if (file.size > fileBytes) {
    showFault(member, `${file.name} has more than ${fileBytes >> 20} MiB. The command keyhole verify takes it.`);
    return;
  }
  areaOf(member).value = await file.text();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void verify();
});

async function verify(): Promise<void> {
  for (const member of members) delete placeOf(member).dataset["invalid"];
  const given = Object.fromEntries(members.map((member) => [member, areaOf(member).value])) as Given;
  const read = readGiven(given);
  if (!read.ok) return showFault(read.member, read.message);
  const { proof, evidence } = read.value;
  const { ok, steps } = await verifyProof(proof, evidence);
  const algorithm = isProof(proof) ? hashOf(proof.policyHash) : undefined;
  const policy = evidence.policy === undefined ? undefined : loadPolicy(evidence.policy, evidence.variables, algorithm);
  const words = ok && isProof(proof) ? explain(proof, policy?.ok ? policy.value : undefined) : undefined;
  show(
    ok ? "good" : "bad",
    element("h2", verdictOf(ok, steps)),
    stepList(steps),
    ...(words ? [element("p", words.summary), list([...words.facts, ...words.toChange.map(changed)])] : []),
  );
}

const changed = (change: string): string => `For another answer: ${change}`;

function verdictOf(ok: boolean, steps: readonly ProofStep[]): string {
  if (!ok) return "This does not hold";
  const skipped = steps.filter(({ outcome }) => outcome === "skipped").length;
  return skipped === 0
    ? "Everything holds"
    : `What could be checked holds; ${skipped} of ${steps.length} checks could not be made`;
}

const marks = { passed: "✓", failed: "✗", skipped: "–" } as const satisfies Record<ProofStep["outcome"], string>;

function stepList(steps: readonly ProofStep[]): HTMLElement {
  const items = steps.map(({ level, name, outcome, reason }) => {
    const item = element("li");
    item.dataset["outcome"] = outcome;
    const mark = element("span", marks[outcome]);
    mark.className = "mark";
    mark.ariaHidden = "true";
    const words = [`Level ${level}, ${name}: ${outcome}.`, reason].filter((text) => text !== "").join(" ");
    item.append(mark, element("span", words));
    return item;
  });
  const steplist = element("ul");
  steplist.className = "steps";
  steplist.append(...items);
  return steplist;
}

function list(texts: readonly string[]): HTMLElement {
  const facts = element("ul");
  facts.className = "facts";
  facts.append(...texts.map((text) => element("li", text)));
  return facts;
}

function showFault(member: Member, message: string): void {
  const place = placeOf(member);
  place.dataset["invalid"] = "";
  place.closest("details")?.setAttribute("open", "");
  areaOf(member).focus();
  show("bad", element("h2", "This cannot be checked"), element("p", message));
}

function show(verdict: "good" | "bad", ...content: readonly HTMLElement[]): void {
  report.hidden = false;
  report.dataset["verdict"] = verdict;
  report.replaceChildren(...content);
}

/** Text only: nothing of a file becomes markup, and nothing of it can reorder what stands beside it. */
function element(name: string, text = ""): HTMLElement {
  const made = document.createElement(name);
  made.textContent = visible(text);
  return made;
}
