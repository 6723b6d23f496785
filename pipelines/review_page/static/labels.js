// Classes that are seen but not yet among the labels, named by typing.

import { className, element, find } from "./shared.js";

const SHOWN = 8;

export class Missing {
  #names;
  #input = find("#add-label");
  #list = find("#classes");
  #found = [];
  #marked = 0;
  #labels = new Set();
  chosen = [];

  constructor(names) {
    this.#names = names;
    this.#input.addEventListener("input", () => this.#complete());
    this.#input.addEventListener("focus", () => this.#complete());
    this.#input.addEventListener("blur", () => this.#close());
    this.#input.addEventListener("keydown", (event) => this.#key(event));
  }

  show(item) {
    this.chosen = [...(item?.decision?.labels ?? [])];
    this.#labels = new Set(item?.labels ?? []);
    this.#input.value = "";
    this.#close();
    this.#draw();
  }

  focus() {
    this.#input.focus();
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.#found.length) {
      event.preventDefault();
      this.#marked = (this.#marked + step + this.#found.length) % this.#found.length;
      this.#options();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.#input.value && this.#found.length) this.#take(this.#found[this.#marked]);
      else this.#input.blur();
    } else if (event.key === "Escape") {
      this.#input.value = "";
      this.#input.blur();
    } else if (event.key === "Backspace" && !this.#input.value) {
      this.chosen.pop();
      this.#draw();
    }
  }

  #complete() {
    const typed = this.#input.value.trim().toLowerCase();
    const words = typed.split(/[\s_]+/).filter(Boolean);
    const rank = (name) => (name.startsWith(typed) ? 0 : name.includes(` ${typed}`) ? 1 : 2);
    this.#found = this.#names
      .map((name, label) => ({ label, plain: name.toLowerCase().replaceAll("_", " ") }))
      .filter(({ label }) => !this.#labels.has(label) && !this.chosen.includes(label))
      .filter(({ plain }) => words.length && words.every((word) => plain.includes(word)))
      .sort((a, b) => rank(a.plain) - rank(b.plain) || a.plain.localeCompare(b.plain))
      .slice(0, SHOWN)
      .map(({ label }) => label);
    this.#marked = 0;
    this.#options();
  }

  #options() {
    this.#list.replaceChildren(
      ...this.#found.map((label, position) => {
        const option = element("li", "", className(this.#names, label));
        option.id = `class-${label}`;
        option.role = "option";
        option.ariaSelected = String(position === this.#marked);
        option.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          this.#take(label);
        });
        return option;
      }),
    );
    this.#list.hidden = !this.#found.length;
    this.#input.ariaExpanded = String(!this.#list.hidden);
    const marked = this.#found[this.#marked];
    if (marked === undefined) this.#input.removeAttribute("aria-activedescendant");
    else this.#input.setAttribute("aria-activedescendant", `class-${marked}`);
  }

  #take(label) {
    this.chosen.push(label);
    this.#input.value = "";
    this.#complete();
    this.#draw();
  }

  #close() {
    this.#found = [];
    this.#options();
  }

  #draw() {
    find("#added").replaceChildren(
      ...this.chosen.map((label) => {
        const name = className(this.#names, label);
        const chip = element("button", "label added", `${name} ×`);
        chip.type = "button";
        chip.setAttribute("aria-label", `remove the label ${name}`);
        chip.addEventListener("click", () => {
          this.chosen = this.chosen.filter((one) => one !== label);
          this.#draw();
        });
        return chip;
      }),
    );
  }
}
