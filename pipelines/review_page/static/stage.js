// The place where pictures are judged: side by side or alternating in one place, zoomed alike.

import { Slides } from "./slides.js";

// Each picture stays this long; under three changes a second, so that nobody is harmed by it.
const FLICKER = 360;
const HELD = 350;
const LARGEST = 12;

export class Stage {
  #root;
  #slides = new Slides();
  #current = null;
  #timer = null;
  #pressed = 0;
  #zoom = 1;
  #x = 0;
  #y = 0;
  #drag = null;

  constructor(root) {
    this.#root = root;
    root.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    root.addEventListener("pointerdown", (event) => this.#grab(event));
    root.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) {
      root.addEventListener(name, () => (this.#drag = null));
    }
    root.addEventListener("dblclick", (event) => {
      if (this.#zoom > 1) this.resetZoom();
      else this.#zoomAt(event, 2.5);
    });
    addEventListener("blur", () => this.release(true));
  }

  // Make the pictures of an item ready, without showing them.
  prepare(item) {
    this.#slides.of(item);
  }

  // Show an item; resolves with "seen" once it is painted, "missing" if a picture cannot be had,
  // "away" if the server does not answer.
  async show(item) {
    this.#current = item;
    this.stopFlicker();
    const slide = this.#slides.of(item);
    this.#root.replaceChildren(slide.element);
    this.#root.classList.toggle("alone", item.pictures.length === 1);
    this.resetZoom();
    try {
      await slide.ready;
    } catch (problem) {
      return problem.away ? "away" : "missing";
    }
    await new Promise((done) => requestAnimationFrame(done));
    return "seen";
  }

  clear() {
    this.#current = null;
    this.stopFlicker();
    this.#root.replaceChildren();
  }

  // -- flicker: a tap turns it on or off, and while the key is held it flickers ----------------

  get flickers() {
    return this.#timer !== null;
  }

  press() {
    if (this.#current?.pictures.length !== 2) return;
    this.#pressed = this.flickers ? 0 : performance.now();
    if (this.flickers) this.stopFlicker();
    else this.startFlicker();
  }

  release(lost = false) {
    if (this.#pressed && (lost || performance.now() - this.#pressed > HELD)) this.stopFlicker();
    this.#pressed = 0;
  }

  startFlicker() {
    this.#root.classList.add("one");
    this.#timer = setInterval(() => this.#root.classList.toggle("second"), FLICKER);
    this.#root.dispatchEvent(new CustomEvent("flicker", { detail: true, bubbles: true }));
  }

  stopFlicker() {
    if (!this.flickers) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#root.classList.remove("one", "second");
    this.#root.dispatchEvent(new CustomEvent("flicker", { detail: false, bubbles: true }));
  }

  // -- zoom: both pictures show the same part ---------------------------------------------------

  zoom(factor) {
    this.#setZoom(this.#zoom * factor, this.#x * factor, this.#y * factor);
  }

  resetZoom() {
    this.#setZoom(1, 0, 0);
  }

  #wheel(event) {
    if (!event.target.closest(".frame")) return;
    event.preventDefault();
    this.#zoomAt(event, Math.exp(-event.deltaY / 400));
  }

  #zoomAt(event, factor) {
    const frame = event.target.closest(".frame");
    if (!frame) return;
    const box = frame.getBoundingClientRect();
    const x = event.clientX - box.left - box.width / 2;
    const y = event.clientY - box.top - box.height / 2;
    const zoom = Math.min(LARGEST, Math.max(1, this.#zoom * factor));
    const grown = zoom / this.#zoom;
    this.#setZoom(zoom, x - (x - this.#x) * grown, y - (y - this.#y) * grown);
  }

  #setZoom(zoom, x, y) {
    this.#zoom = Math.min(LARGEST, Math.max(1, zoom));
    const frame = this.#root.querySelector(".frame");
    const reach = (side) => ((this.#zoom - 1) * (side ?? 0)) / 2;
    const within = (value, side) => Math.max(-reach(side), Math.min(reach(side), value));
    this.#x = within(x, frame?.clientWidth);
    this.#y = within(y, frame?.clientHeight);
    const style = this.#root.style;
    this.#root.classList.toggle("zoomed", this.#zoom > 1);
    style.setProperty("--zoom", this.#zoom);
    style.setProperty("--x", `${this.#x}px`);
    style.setProperty("--y", `${this.#y}px`);
  }

  #grab(event) {
    if (this.#zoom === 1 || event.button !== 0) return;
    this.#drag = { x: event.clientX - this.#x, y: event.clientY - this.#y };
    this.#root.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (this.#drag) {
      this.#setZoom(this.#zoom, event.clientX - this.#drag.x, event.clientY - this.#drag.y);
    }
  }
}
