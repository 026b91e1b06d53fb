import { policy as policyOf, visible } from "@keyhole/kernel";
import { hashOf, type Judged, verdictReason, verdictTexts } from "@keyhole/kernel/audit";
import {
  explain,
  type FailureReport,
  type ProofEvidence,
  type ProofReport,
  type ProofStep,
  stepText,
  verifyEvidence,
} from "@keyhole/kernel/policy";
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
  const text = await file.text();
  outdate();
  areaOf(member).value = text;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void verify();
});

/** A verdict is about the fields as they were. */
let checks = 0;

// A chosen file, too.
form.addEventListener("input", outdate);

function outdate(): void {
  checks++;
  report.hidden = true;
  delete report.dataset["verdict"];
  report.replaceChildren();
}

async function verify(): Promise<void> {
  outdate();
  const check = checks;
  for (const member of members) delete placeOf(member).dataset["invalid"];
  report.hidden = false;
  report.replaceChildren(element("h2", "Checking…"));
  // Much evidence keeps the page busy: first it shows that.
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  const given = Object.fromEntries(members.map((member) => [member, areaOf(member).value])) as Given;
  const read = await readGiven(given);
  if (check !== checks) return;
  if (!read.ok) return showFault(read.member, read.message);
  const { evidence, trusted } = read.value;
  const found = await verifyEvidence(read.value, trusted);
  const words = wordsOf(found, evidence);
  if (check === checks) show(found, stepList(found.steps), ...words);
}

/** The content of the proof. The verdict above names the key that vouches for it. */
function wordsOf(report: ProofReport | FailureReport, { policy }: ProofEvidence): readonly HTMLElement[] {
  const isClaim = "claimed" in report;
  const proof = isClaim ? report.claimed : "proof" in report ? report.proof : undefined;
  if (proof === undefined) return [];
  const loaded = policy === undefined ? undefined : policyOf(policy, { hash: hashOf(proof.policyHash) });
  const { summary, facts, toChange } = explain(proof, loaded?.ok ? loaded.value : undefined);
  return [element("p", isClaim ? `Claimed: ${summary}` : summary), list([...facts, ...toChange.map(changed)])];
}

const changed = (change: string): string => `For another answer: ${change}`;

const marks = { passed: "✓", failed: "✗", skipped: "–", unvouched: "~" } as const satisfies Record<
  ProofStep["outcome"],
  string
>;

function stepList(steps: readonly ProofStep[]): HTMLElement {
  const items = steps.map((step) => {
    const { level, name, outcome, reason } = step;
    const item = element("li");
    item.dataset["outcome"] = outcome;
    const mark = element("span", marks[outcome]);
    mark.className = "mark";
    mark.ariaHidden = "true";
    const text = outcome === "passed" ? `${name} ${reason}`.trimEnd() + ", passed" : `${name}, ${stepText(step)}`;
    item.append(mark, element("span", `Level ${level}, ${text}`));
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
  show({ verdict: "inconclusive", reason: message });
}

function show(judged: Judged, ...content: readonly HTMLElement[]): void {
  const { verdict } = judged;
  report.hidden = false;
  report.dataset["verdict"] = verdict;
  report.replaceChildren(element("h2", verdictTexts[verdict]), element("p", verdictReason(judged)), ...content);
}

/** Text only: nothing of a file becomes markup, and nothing of it can reorder what stands beside it. */
function element(name: string, text = ""): HTMLElement {
  const made = document.createElement(name);
  made.textContent = visible(text);
  return made;
}
