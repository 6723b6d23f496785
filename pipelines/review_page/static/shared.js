// What both pages share: who reviews, light or dark, and how to ask the server.

const NAME = "shiftlake.reviewer";
const THEME = "shiftlake.theme";
const ALLOWED = /^[\p{L}\p{N}_ .\-]{1,40}$/u;

export const source = document.body.dataset.source;
export const find = (selector) => document.querySelector(selector);

// A window keeps its reviewer, so that two people can review in two windows of one browser.
export function reviewer() {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
}

export function signIn(name) {
  const plain = name.trim().normalize("NFC");
  if (!ALLOWED.test(plain)) return false;
  sessionStorage.setItem(NAME, plain);
  localStorage.setItem(NAME, plain);
  return true;
}

export function signOut() {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
}

export async function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const answer = await fetch(`/api/${encodeURIComponent(source)}${path}${query && `?${query}`}`);
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(said.error), { status: answer.status });
  return said;
}

// An element with text, never with markup: names come from people and from files.
export function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

const WORDS = { usable: "accept", wrong_label: "wrong label" };

// A verdict as people say it.
export const worded = (verdict) => WORDS[verdict] ?? verdict;

// A class as people say it.
export const className = (names, label) => (names[label] ?? `class ${label}`).replaceAll("_", " ");

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  for (const button of document.querySelectorAll("[data-do=theme]")) {
    button.setAttribute("aria-pressed", String(theme === "light"));
  }
}

applyTheme(localStorage.getItem(THEME) ?? "dark");
for (const button of document.querySelectorAll("[data-do=theme]")) {
  button.addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "light" ? "dark" : "light";
    localStorage.setItem(THEME, theme);
    applyTheme(theme);
  });
}
