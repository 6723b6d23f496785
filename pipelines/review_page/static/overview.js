// The overview: who I am, how far everybody is, how well they agree, and what came of it.

import { ask, element, find, reviewer, signIn, signOut, source } from "./shared.js";
import { showSaved } from "./saved.js";
import { Unsaved } from "./unsaved.js";

const ORDER = "shiftlake.order";
const RATERS = "shiftlake.raters";
const EVERY = 5000;

const named = new URLSearchParams(location.search).get("reviewer");
if (named !== null) {
  signIn(named);
  history.replaceState(null, "", location.pathname);
}

const session = await ask("");
const unsaved = new Unsaved(source);
showSaved(unsaved, session.mined_version);
unsaved.addEventListener("recorded", () => draw());
unsaved.flush();

const number = (value) => (value ?? 0).toLocaleString("en");
const percent = (value) => (value === null ? "–" : `${(100 * value).toFixed(0)} %`);
const decimal = (value) => (value === null ? "–" : value.toFixed(2));
const seconds = (value) => (value === null ? "–" : `${value.toFixed(1)} s`);

function row(name, cells, heads = false) {
  const made = element("tr");
  const first = element("th", "", name);
  first.scope = heads ? "col" : "row";
  made.append(first, ...cells.map((cell) => element(heads ? "th" : "td", "right", cell)));
  return made;
}

function table(id, heads, rows) {
  find(`#${id} thead`).replaceChildren(row(heads[0], heads.slice(1), true));
  find(`#${id} tbody`).replaceChildren(...rows.map(([name, ...cells]) => row(name, cells)));
}

function passes(said) {
  for (const article of document.querySelectorAll("[data-pass]")) {
    const pass = said.passes[article.dataset.pass];
    const go = article.querySelector(".go");
    const mine = pass.mine;
    article.querySelector("progress").max = Math.max(1, mine ? mine.total : pass.total);
    article.querySelector("progress").value = mine ? mine.total - mine.left : pass.done;
    const settled = article.dataset.pass === "joint" ? "settled" : "decided";
    const all = `${number(pass.done)} of ${number(pass.total)} ${settled}`;
    const own = mine ? `${number(mine.left)} left for you; ` : "";
    article.querySelector(".count").textContent = `${own}${all}`;
    go.hidden = !mine?.total;
    go.textContent = mine && !mine.left ? "Look again" : mine?.left < mine?.total ? "Continue" : "Review";
    go.classList.toggle("main", Boolean(mine?.left));
  }
}

async function draw() {
  const me = reviewer();
  const asked = !find("#sign-in").hidden;
  find("#sign-in").hidden = Boolean(me);
  // Only once: somebody may be elsewhere on the page when it is drawn again.
  if (!me && !asked) find("#name").focus();
  find("#signed").hidden = !me;
  find("#who").textContent = me ?? "";
  const said = await ask("/status", {
    ...(me ? { reviewer: me } : {}),
    raters: localStorage.getItem(RATERS) ?? 0,
  });
  if (said.mined_version !== session.mined_version) {
    unsaved.dispatchEvent(new CustomEvent("stale", { detail: {} }));
    return;
  }
  find("#facts").textContent =
    `${number(said.n_anchors)} anchors, ${number(said.n_pairs)} pairs, mined as ${said.mined_version}`;
  passes(said);
  find("#people").hidden = !said.reviewers.length;
  table(
    "reviewers",
    ["", "anchors", "pairs", "joint votes", "usual time", "similar", "as the majority", "same verdict twice"],
    said.reviewers.map((one) => [
      one.reviewer, number(one.anchors), number(one.pairs), number(one.joint),
      seconds(one.seconds), percent(one.accept_rate), percent(one.with_majority),
      one.repeated ? `${percent(one.steady)} of ${number(one.repeated)}` : "–",
    ]),
  );
  table("funnel", ["", "reviewed", "accepted", ""], said.funnel.map((one) => [
    one.name, number(one.reviewed), number(one.accepted), percent(one.share),
  ]));
  table("agreement", ["", "kappa", "reviewers", "items"], said.agreement.map((one) => [
    one.name, decimal(one.kappa), number(one.raters), number(one.n),
  ]));
  const judged = said.suspicion.filter((band) => band.judged);
  find("#suspected").hidden = !judged.length;
  const similar = (n, objected) => (n ? `${percent(1 - objected / n)} of ${number(n)}` : "–");
  table("suspicion", ["suspicion", "pairs", "similar", "at random"], said.suspicion.map((band) => [
    `${decimal(band.lowest)} to ${decimal(band.highest)}`, number(band.pairs),
    similar(band.judged, band.objected), similar(band.drawn_judged, band.drawn_objected),
  ]));
  const names = said.reviewers.map((one) => one.reviewer);
  find("#names").hidden = !names.length;
  find("#names").replaceChildren("Here already: ", ...names.flatMap((name, position) => {
    const button = element("button", "plain", name);
    button.type = "button";
    button.addEventListener("click", () => enter(name));
    return position ? [" ", button] : [button];
  }));
  const open = said.pending;
  find("#pending").textContent = open.pairs || open.anchors
    ? `Still open: ${number(open.anchors)} anchors and ${number(open.pairs)} pairs. They are left out of a version that is frozen now.`
    : "Everything is decided.";
  find("#freeze").disabled = !me || !said.reviewers.length;
  find("#freeze").dataset.open = String(open.pairs + open.anchors);
  if (said.frozen.length && !find("#frozen").textContent) {
    find("#frozen").textContent = `Frozen before: ${said.frozen.join(", ")}`;
  }
}

function enter(name) {
  if (signIn(name)) {
    draw();
    return;
  }
  const field = find("#name");
  field.setCustomValidity("1 to 40 letters, digits, spaces, dots, hyphens or underscores");
  field.reportValidity();
}

find("#sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  enter(find("#name").value);
});
find("#name").addEventListener("input", () => find("#name").setCustomValidity(""));
find("#leave").addEventListener("click", () => {
  signOut();
  draw();
  find("#name").focus();
});
for (const [id, name, usual] of [["#order", ORDER, "suspicious"], ["#raters", RATERS, "0"]]) {
  find(id).value = localStorage.getItem(name) ?? usual;
  find(id).addEventListener("change", () => {
    localStorage.setItem(name, find(id).value);
    draw();
  });
}

let sure = false;
find("#freeze").addEventListener("click", async () => {
  const button = find("#freeze");
  if (Number(button.dataset.open) && !sure) {
    sure = true;
    button.textContent = "Freeze it with what is open left out";
    return;
  }
  button.disabled = true;
  try {
    const answer = await fetch(`/api/${encodeURIComponent(source)}/freeze`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ mined_version: session.mined_version, allow_pending: sure }),
    });
    const said = await answer.json();
    find("#frozen").textContent = answer.ok
      ? `Frozen as ${said.version}: ${number(said.anchors)} anchors and ${number(said.pairs)} pairs are accepted.`
      : said.error;
  } catch {
    find("#frozen").textContent = "The server does not answer.";
  }
  sure = false;
  button.textContent = "Freeze this review";
  draw();
});

await draw();
setInterval(() => {
  if (!document.hidden) draw().catch(() => {});
}, EVERY);
