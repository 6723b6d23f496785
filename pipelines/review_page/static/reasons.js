// Why a pair is dissimilar. What the program suspects is said only after the verdict.

import { pressed } from "./keys.js";
import { find } from "./shared.js";

export class Reasons {
  #chips = [...document.querySelectorAll("[data-reason]")];
  #item = null;
  isOpen = false;

  constructor() {
    for (const chip of this.#chips) {
      chip.addEventListener("click", (event) => {
        this.#flip(chip);
        if (event.detail) chip.blur();
      });
    }
  }

  get chosen() {
    return this.#chips
      .filter((chip) => chip.getAttribute("aria-pressed") === "true")
      .map((chip) => chip.dataset.reason);
  }

  show(item) {
    this.#item = item;
    const before = item?.decision?.reasons ?? [];
    for (const chip of this.#chips) {
      chip.setAttribute("aria-pressed", String(before.includes(chip.dataset.reason)));
      chip.classList.remove("suggested");
    }
    this.close();
  }

  open() {
    this.isOpen = true;
    find("#reasons").classList.add("open");
    pressed("dissimilar", true);
    for (const chip of this.#chips) {
      chip.classList.toggle("suggested", chip.dataset.reason === this.#item?.suggested);
    }
    this.#hint();
  }

  close() {
    this.isOpen = false;
    pressed("dissimilar", this.#item?.decision?.verdict === "dissimilar");
    find("#reasons").classList.remove("open");
  }

  toggle(number) {
    const chip = this.#chips[number - 1];
    if (chip) this.#flip(chip);
  }

  // Whether a reason is named; if none is, say that one is wanted.
  ready() {
    if (this.chosen.length) return true;
    const hint = find("#reasons-hint");
    hint.textContent = "Name at least one reason.";
    hint.classList.add("wanted");
    return false;
  }

  #flip(chip) {
    const on = chip.getAttribute("aria-pressed") === "true";
    chip.setAttribute("aria-pressed", String(!on));
    this.#hint();
  }

  #hint() {
    const hint = find("#reasons-hint");
    hint.classList.remove("wanted");
    hint.textContent = "What sets them apart?";
  }
}
