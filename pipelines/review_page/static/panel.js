// What surrounds the pictures: how far we are, and what was said of this item before.

import { find, worded } from "./shared.js";

const plain = (count) => count.toLocaleString("en");

export function able(name, can) {
  for (const button of document.querySelectorAll(`[data-do=${name}]`)) button.disabled = !can;
}

export function showProgress({ done, left, pace, canGoBack }) {
  const bar = find("#bar");
  bar.max = Math.max(1, done + left);
  bar.value = done;
  find("#count").textContent = `${plain(done)} of ${plain(done + left)}`;
  find("#pace").textContent = left ? pace.text(left) : "";
  able("back", canGoBack);
}

export function showDecision(item, back) {
  const decision = item.decision;
  const said = find("#said");
  said.hidden = !decision;
  if (decision) {
    const why = decision.reasons?.length ? `: ${decision.reasons.join(", ")}` : "";
    const place = back ? `${back} back. ` : "";
    const verdict = worded(decision.verdict);
    said.textContent = `${place}You said ${verdict}${why}. A new verdict replaces it.`;
  }
  for (const button of document.querySelectorAll("[data-verdict]")) {
    button.setAttribute("aria-pressed", String(decision?.verdict === button.dataset.verdict));
  }
}
