// Keys and buttons do the same: a button names its action, and the key beside it.

const typing = (target) => target.closest?.("input, textarea, select, dialog[open]");
const actions = {};
let allowed = true;
let only = null;

// Verdicts wait until the pictures are painted; if a picture is missing one verdict is left.
export function enable(all, exception = null) {
  allowed = all;
  only = exception;
  document.body.classList.toggle("waiting", !all);
  document.body.classList.toggle("unseen", Boolean(exception));
}

export function pressed(name, on) {
  document.querySelector(`[data-do=${name}]`)?.setAttribute("aria-pressed", String(on));
}

function run(button) {
  const verdict = button.dataset.verdict ?? button.dataset.judges;
  if (button.disabled || !button.checkVisibility()) return;
  if (verdict && (!allowed || (only && verdict !== only))) return;
  actions[button.dataset.do]?.(button);
}

export function bindKeys(does) {
  Object.assign(actions, does);
  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", (event) => {
      run(button);
      // After a click of the mouse the keys belong to the page again.
      if (event.detail) button.blur();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key === "Escape") actions.escape?.();
    // A button or link that has the focus takes its own keys.
    const focused = event.target.closest?.("button, a, summary");
    if (focused && (event.key === " " || event.key === "Enter")) return;
    const key = event.key.toLowerCase();
    if (/^[1-9]$/.test(key) && !event.repeat && allowed) actions.digit?.(Number(key));
    const button = [...document.querySelectorAll("[data-key]")].find(
      (one) =>
        one.checkVisibility() && one.dataset.key.split(" ").includes(key === " " ? "space" : key),
    );
    if (!button) return;
    event.preventDefault();
    // A key that is held must not accept what nobody has looked at.
    if (!event.repeat || button.dataset.repeats !== undefined) run(button);
  });
}
