import { visible } from "./keyhole.js";

/** Shows each question until a person answers it, or the kernel closes it. Texts of a model go through `visible`, and never become HTML. */
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
      button("Deny", () => close({ answer: "deny", approver: "page" })),
    );
    signal.addEventListener("abort", () => close({ answer: "deny", approver: "page" }), { once: true });
    document.getElementById("questions").append(question);
  });
}

function textIn(tag, text) {
  const element = document.createElement(tag);
  element.textContent = visible(text);
  return element;
}

function button(text, onClick) {
  const element = textIn("button", text);
  element.addEventListener("click", onClick);
  return element;
}
