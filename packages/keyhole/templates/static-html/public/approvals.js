import { visible } from "./keyhole/keyhole.js";

/** A question takes no answer before a person can have read it: an agent could end the question that the pointer is on, and another one takes its place. */
const readMs = 700;
const deny = { answer: "deny", approver: "page" };

/**
 * Shows a question until a person answers it or the kernel closes it. The kernel asks one at a time. Texts of a model go through `visible`, and never become HTML.
 */
export function askInPage({ tool, reason, input, grants }, signal) {
  return new Promise((resolve) => {
    const question = document.createElement("section");
    question.setAttribute("role", "alertdialog");
    question.setAttribute("aria-label", `${visible(tool)} asks`);
    const close = (answer) => {
      question.remove();
      resolve(answer);
    };
    question.append(
      textIn("p", `${tool} asks: ${reason}`),
      textIn("pre", JSON.stringify(input, undefined, 2)),
      textIn("p", grants.join(", ")),
      button("Allow once", () => close({ answer: "allow", scope: "once", approver: "page" })),
      " ",
      button("Deny", () => close(deny)),
    );
    signal.addEventListener("abort", () => close(deny), { once: true });
    document.getElementById("questions").append(question);
    setTimeout(() => {
      for (const each of question.querySelectorAll("button")) each.disabled = false;
    }, readMs);
  });
}

/** In the order of its characters: letters of Hebrew or Arabic would turn digits and signs between them around. */
function textIn(tag, text) {
  const inOrder = document.createElement("bdo");
  inOrder.dir = "ltr";
  inOrder.textContent = visible(text);
  const element = document.createElement(tag);
  element.append(inOrder);
  return element;
}

function button(text, onClick) {
  const element = textIn("button", text);
  element.disabled = true;
  element.addEventListener("click", onClick);
  return element;
}
