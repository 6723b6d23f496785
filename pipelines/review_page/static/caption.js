// What the pictures are labelled with; it can be hidden, so that it does not lead the eye.

import { className, element, find } from "./shared.js";
import { pressed } from "./keys.js";

const HIDDEN = "shiftlake.caption_hidden";

export class Caption {
  #names;

  constructor(names) {
    this.#names = names;
    this.#apply();
  }

  show(item) {
    const labels = item?.labels ?? [];
    find("#labels").replaceChildren(
      ...labels.map((label) => element("b", "label", className(this.#names, label))),
    );
  }

  toggle() {
    const hidden = localStorage.getItem(HIDDEN) === "1";
    localStorage.setItem(HIDDEN, hidden ? "0" : "1");
    this.#apply();
  }

  #apply() {
    const hidden = localStorage.getItem(HIDDEN) === "1";
    find("#caption").classList.toggle("blind", hidden);
    find("#labels").setAttribute("aria-hidden", String(hidden));
    pressed("caption", hidden);
  }
}
