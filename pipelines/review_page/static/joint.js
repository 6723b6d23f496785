// Joint review: what each reviewer said, what each says now, and what follows from it.

import { ask, className, element, find, worded } from "./shared.js";

const CYCLES = {
  anchor: ["usable", "bad", "unsure"],
  pair: ["similar", "dissimilar", "unsure", "wrong_label"],
};
const EVERY = 2000;

export class Joint {
  #me;
  #names;
  #settled;
  #item = null;
  #drafts = new Map();

  // `settled` is called with an item on which everybody has voted meanwhile, elsewhere.
  constructor(me, classNames, settled) {
    this.#me = me;
    this.#names = classNames;
    this.#settled = settled;
    setInterval(() => this.#refresh(), EVERY);
  }

  show(item) {
    this.#item = item;
    this.#drafts.clear();
    this.#draw();
    this.#refresh();
  }

  // What is recorded if the votes stay as they are shown.
  votes() {
    return (this.#item?.votes ?? [])
      .map((vote) => ({ ...vote, verdict: this.#now(vote) }))
      .filter((vote) => vote.verdict);
  }

  turn(number) {
    const vote = this.#item?.votes[number - 1];
    if (!vote) return;
    const cycle = CYCLES[this.#item.kind];
    const next = (cycle.indexOf(this.#now(vote)) + 1) % cycle.length;
    this.#drafts.set(vote.reviewer, cycle[next]);
    this.#draw();
  }

  #now(vote) {
    return this.#drafts.get(vote.reviewer) ?? vote.joint ?? vote.verdict;
  }

  async #refresh() {
    const item = this.#item;
    if (!item || document.hidden) return;
    try {
      const said = await ask("/votes", { subject: item.subject });
      if (item !== this.#item) return;
      // Drawn anew only where something changed, so that the focus stays where it is.
      const changed = JSON.stringify(item.votes) !== JSON.stringify(said.votes);
      item.votes = said.votes;
      if (changed) this.#draw();
      if (!item.decision && said.votes.every((vote) => vote.joint)) this.#settled(item);
    } catch {
      // The sign of unsaved decisions says that the server is away.
    }
  }

  #draw() {
    const votes = this.#item?.votes ?? [];
    const rows = votes.map((vote, position) => {
      const now = this.#now(vote);
      const state = this.#drafts.has(vote.reviewer)
        ? "changed here"
        : vote.joint
          ? "voted"
          : "not yet voted";
      const words = now ? worded(now) : "no vote";
      const hint = element("kbd", "", String(position + 1));
      const button = element("button", `vote ${now ?? ""}`, hint, ` ${words}`);
      button.type = "button";
      button.setAttribute("aria-label", `vote of ${vote.reviewer}: ${words}; press to change`);
      button.addEventListener("click", () => this.turn(position + 1));
      const added = vote.labels.map((label) => className(this.#names, label));
      const why = [...vote.reasons, ...added.map((name) => `+ ${name}`)].join(", ");
      const first = vote.verdict ? worded(vote.verdict) : "has not seen it";
      const row = element(
        "tr",
        vote.reviewer === this.#me ? "me" : "",
        element("th", "", vote.reviewer),
        element("td", vote.verdict ? "" : "faint", why ? `${first}: ${why}` : first),
        element("td", "words", vote.note),
        element("td", "", button),
        element("td", "faint", state),
      );
      row.firstChild.scope = "row";
      return row;
    });
    const body = find("#votes tbody");
    const focused = [...body.querySelectorAll("button")].indexOf(document.activeElement);
    body.replaceChildren(...rows);
    body.querySelectorAll("button")[focused]?.focus();
    const wanted = CYCLES[this.#item?.kind]?.[0];
    const count = votes.filter((vote) => this.#now(vote) === wanted).length;
    const absent = votes.filter((vote) => !this.#now(vote)).length;
    const accepted = 2 * count > votes.length;
    const rejected = 2 * (count + absent) <= votes.length;
    const result = find("#result");
    const outcome = accepted ? "accepted" : rejected ? "rejected" : "open";
    result.dataset.outcome = outcome;
    const words = outcome === "open" ? "still open" : outcome;
    result.textContent = votes.length
      ? `${count} of ${votes.length} ${worded(wanted)}: ${words}`
      : "";
  }
}
