// The sign that says whether everything is safe, and the words when it is not.

import { element, find } from "./shared.js";

export function showSaved(unsaved, minedVersion) {
  const sign = find("#saved");
  const draw = () => {
    const count = unsaved.count;
    const state = !count ? "saved" : unsaved.offline || unsaved.stale ? "offline" : "saving";
    sign.dataset.state = state;
    const words = { saved: "saved", saving: "saving …", offline: `offline: ${count} unsaved` };
    sign.textContent = words[state];
    sign.title = unsaved.offline
      ? `${unsaved.problem}; ${count} decisions lie in this browser and are sent again`
      : "";
    if (!unsaved.keeps) sign.title = "This browser keeps nothing: leave the window open.";
  };
  unsaved.addEventListener("change", draw);
  draw();

  unsaved.addEventListener("refused", ({ detail }) => {
    notice(`A decision was not accepted, and its item comes again: ${detail.error}`);
  });
  unsaved.addEventListener("stale", ({ detail }) => {
    const dialog = find("#stale");
    const count = unsaved.count;
    find("#stale-why").textContent = detail.error ?? "These frames were mined again meanwhile.";
    find("#stale-count").textContent = count
      ? `${count} of your decisions were not recorded; they lie in this browser.`
      : "All your decisions are recorded with the frames you saw.";
    if (!dialog.open) dialog.showModal();
  });
  find("#stale-reload")?.addEventListener("click", () => location.reload());

  const older = unsaved.entries.filter((entry) => entry.mined_version !== minedVersion);
  if (older.length) olderKept(unsaved, older);
}

function notice(text) {
  const line = element("p", "notice", text);
  const away = element("button", "plain", "close");
  away.type = "button";
  away.addEventListener("click", () => line.remove());
  line.append(" ", away);
  find("#notices").append(line);
}

// Decisions about an older mining that never reached the server; people may keep them as a file.
function olderKept(unsaved, older) {
  const text = `${older.length} decisions about an older mining never reached the server. `;
  const line = element("p", "notice", text);
  const save = element("a", "", "Save them as a file");
  const lines = older.map((entry) => JSON.stringify(entry)).join("\n");
  save.href = URL.createObjectURL(new Blob([lines], { type: "application/json" }));
  save.download = "unsaved-decisions.jsonl";
  const away = element("button", "plain", "forget them");
  away.type = "button";
  away.addEventListener("click", () => {
    unsaved.forget(older.map((entry) => entry.event.id));
    line.remove();
  });
  line.append(save, " or ", away);
  find("#notices").append(line);
}
